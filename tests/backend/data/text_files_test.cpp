#include "backend/data/text_files.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include <fstream>

namespace rankscope::backend {

namespace fs = std::filesystem;

namespace {

class TextFiles : public testing::Test {
protected:
    void SetUp() override
    {
        const auto* test = testing::UnitTest::GetInstance()->current_test_info();
        folder_ = fs::path(testing::TempDir()) / (std::string("text_files_") + test->name());
        fs::remove_all(folder_);
        fs::create_directories(folder_);
    }
    void TearDown() override { fs::remove_all(folder_); }

    fs::path write(const std::string& name, const std::string& bytes)
    {
        fs::create_directories((folder_ / name).parent_path());
        std::ofstream(folder_ / name, std::ios::binary) << bytes;
        return folder_ / name;
    }
    fs::path writeGzip(const std::string& name, const std::string& bytes)
    {
        gzFile file = gzopen((folder_ / name).c_str(), "wb");
        gzwrite(file, bytes.data(), static_cast<unsigned>(bytes.size()));
        gzclose(file);
        return folder_ / name;
    }

    fs::path folder_;
};

} // namespace

TEST_F(TextFiles, ReadsAPlainFileAndItsGzipAlike)
{
    const auto plain = readText(write("a.txt", "caf\xc3\xa9\n"));
    const auto packed = readText(writeGzip("a.txt.gz", "caf\xc3\xa9\n"));
    ASSERT_TRUE(plain && packed);
    EXPECT_EQ(plain->bytes, "caf\xc3\xa9\n");
    EXPECT_EQ(packed->bytes, plain->bytes);
}

TEST_F(TextFiles, JoinsAFolderInTheOrderOfPathsAndListsWhatIsNoText)
{
    write("b.txt", "second ");
    write("c/e.txt", "third");
    writeGzip("a.gz", "first ");
    write("picture.png", std::string("\x89PNG\0", 5));
    const auto text = readText(folder_);
    ASSERT_TRUE(text);
    EXPECT_EQ(text->bytes, "first second third");
    EXPECT_EQ(text->files.size(), 3u);
    EXPECT_EQ(text->skipped, std::vector{ folder_ / "picture.png" });
}

TEST_F(TextFiles, SaysWhyThereIsNoText)
{
    const std::string where = folder_.string();
    const auto message = [&](const fs::path& path) { return readText(path).error().message(); };
    EXPECT_EQ(message(folder_ / "gone"), where + "/gone: no such file or folder");
    EXPECT_EQ(message(write("empty", "")), where + "/empty: the file is empty");
    EXPECT_EQ(message(write("latin", "caf\xe9 au lait")),
        where + "/latin: not UTF-8 text; convert it, for example with iconv -t UTF-8");
    fs::create_directory(folder_ / "none");
    EXPECT_EQ(message(folder_ / "none"), where + "/none: no UTF-8 text in this folder");
}

TEST_F(TextFiles, SaysThatAGzipFileIsCutShort)
{
    const fs::path path = writeGzip("long.gz", [] {
        std::string text;
        for (int i = 0; i < 100'000; ++i)
            text += std::to_string(i * 7919 % 10007);
        return text;
    }());
    fs::resize_file(path, fs::file_size(path) / 2);
    const auto text = readText(path);
    ASSERT_FALSE(text);
    EXPECT_NE(text.error().message().find("cannot be read to its end"), std::string::npos);
}

TEST(Utf8, RefusesOverlongFormsSurrogatesAndNul)
{
    EXPECT_TRUE(isUtf8Text("z\xc3\x9f\xe6\xb0\xb4\xf0\x9f\x8d\x8c"));
    EXPECT_FALSE(isUtf8Text("\xc0\xaf"));
    EXPECT_FALSE(isUtf8Text("\xe0\x80\xaf"));
    EXPECT_FALSE(isUtf8Text("\xed\xa0\x80"));
    EXPECT_FALSE(isUtf8Text("\xf4\x90\x80\x80"));
    EXPECT_FALSE(isUtf8Text("\xe6\xb0"));
    EXPECT_FALSE(isUtf8Text(std::string_view("a\0b", 3)));
}

TEST(Fingerprint, IsFnv1a)
{
    // Published test vectors of FNV-1a, 64 bits.
    EXPECT_EQ(fingerprint(""), 0xcbf29ce484222325u);
    EXPECT_EQ(fingerprint("foobar"), 0x85944171f73967e8u);
}

} // namespace rankscope::backend
