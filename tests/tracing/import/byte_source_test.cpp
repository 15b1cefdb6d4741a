#include "tracing/import/byte_source.h"

#include "tests/support/temporary_directory.h"

#include <gtest/gtest.h>
#include <zlib.h>
#include <zstd.h>

#include <fstream>

namespace rankscope::tracing {

namespace {

class ByteSources : public testing::Test {
protected:
    static std::string gzip(const std::string& text)
    {
        z_stream stream{};
        EXPECT_EQ(deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
        std::string packed(deflateBound(&stream, static_cast<uLong>(text.size())), '\0');
        stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
        stream.avail_in = static_cast<uInt>(text.size());
        stream.next_out = reinterpret_cast<Bytef*>(packed.data());
        stream.avail_out = static_cast<uInt>(packed.size());
        EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
        packed.resize(stream.total_out);
        deflateEnd(&stream);
        return packed;
    }
    static std::string zstandard(const std::string& text)
    {
        std::string packed(ZSTD_compressBound(text.size()), '\0');
        packed.resize(ZSTD_compress(packed.data(), packed.size(), text.data(), text.size(), 3));
        return packed;
    }

    /// All of a file with these bytes; isCutOff_ says whether its compression ends too early.
    std::string read(const std::string& bytes)
    {
        const std::string path = (folder_ / "file").string();
        std::ofstream(path, std::ios::binary) << bytes;
        auto source = ByteSource::open(path);
        EXPECT_TRUE(source);
        std::string all, buffer(1000, '\0');
        for (;;) {
            const auto n = (*source)->read(buffer);
            EXPECT_TRUE(n);
            if (!n || *n == 0)
                break;
            all.append(buffer, 0, *n);
        }
        isCutOff_ = (*source)->truncated();
        return all;
    }

    support::TemporaryDirectory folder_;
    bool isCutOff_ = false;
};

/// 100 kB that do not repeat too soon.
std::string text()
{
    std::string text;
    for (int i = 0; text.size() < 100'000; ++i)
        text += std::to_string(i * i) + ",";
    return text;
}

} // namespace

TEST_F(ByteSources, PlainGzipAndZstandardGiveTheSameBytes)
{
    EXPECT_EQ(read(text()), text());
    EXPECT_EQ(read(gzip(text())), text());
    EXPECT_FALSE(isCutOff_);
    EXPECT_EQ(read(zstandard(text())), text());
    EXPECT_FALSE(isCutOff_);
}

TEST_F(ByteSources, MembersAndFramesOneBehindAnotherAreOneFile)
{
    EXPECT_EQ(read(gzip(text()) + gzip("end")), text() + "end");
    EXPECT_FALSE(isCutOff_);
    EXPECT_EQ(read(zstandard(text()) + zstandard("end")), text() + "end");
    EXPECT_FALSE(isCutOff_);
}

TEST_F(ByteSources, WhatIsCutOffGivesItsBeginAndSaysSo)
{
    for (const std::string& packed : { gzip(text()), zstandard(text()) }) {
        const std::string some = read(packed.substr(0, packed.size() - 10));
        EXPECT_TRUE(text().starts_with(some));
        EXPECT_TRUE(isCutOff_);
    }
    EXPECT_FALSE(read(gzip(text()).substr(0, 20'000)).empty());
}

} // namespace rankscope::tracing
