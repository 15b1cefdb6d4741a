#include "tests/support/temporary_directory.h"
#include "tracing/import/flight_recorder/pickle.h"
#include "tracing/import/importer.h"
#include "tracing/import/trace_format.h"
#include "tracing/store/trace_reader.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

namespace rankscope::tracing {

namespace {

using namespace std::string_literals;
constexpr Window kAll{ INT64_MIN / 4, INT64_MAX / 4 };

/// Writes pickles by hand (protocol 2), as PyTorch's C++ writer does.
class PickleText {
public:
    PickleText& none() { return add("N"); }
    PickleText& number(std::int64_t value)
    {
        add("\x8a\x08"s); // LONG1, 8 bytes
        for (int i = 0; i < 8; ++i)
            text_.push_back(static_cast<char>(value >> (8 * i)));
        return *this;
    }
    PickleText& text(const std::string& value)
    {
        add("X");
        for (int i = 0; i < 4; ++i)
            text_.push_back(static_cast<char>(value.size() >> (8 * i)));
        return add(value);
    }
    PickleText& add(const std::string& code)
    {
        text_ += code;
        return *this;
    }
    std::string done() const { return "\x80\x02"s + text_ + "."; }

private:
    std::string text_;
};

/// One entry; `completed` 0: not yet.
void entry(PickleText& out, const std::string& name, int number, std::int64_t created, std::int64_t started,
    std::int64_t completed)
{
    out.add("}(").text("process_group").text("0").text("default_pg").add("\x86");
    out.text("collective_seq_id").number(number).text("profiling_name").text(name);
    out.text("time_created_ns").number(created).text("time_discovered_started_ns");
    started ? out.number(started) : out.none();
    out.text("time_discovered_completed_ns");
    completed ? out.number(completed) : out.none();
    out.text("state").text(completed ? "completed" : "started");
    out.text("input_sizes")
        .add("](](")
        .number(2)
        .number(3)
        .add("ee")
        .text("input_dtypes")
        .add("](")
        .text("Float")
        .add("e");
    out.add("u");
}

std::string dump(bool second)
{
    PickleText out;
    out.add("}(").text("version").text("2.4").text("pg_config").add("}(").text("0").add("}(");
    out.text("name").text("0").text("desc").text("default_pg").text("ranks").text("[0, 1]").add("uu");
    out.text("entries").add("](");
    entry(out, "nccl:all_reduce", 7, 1000, 1100, 2000);
    entry(out, "nccl:all_reduce", 8, 3000, 3100, second ? 0 : 5000);
    entry(out, "nccl:broadcast", 9, 6000, 0, 0);
    out.add("eu");
    return out.done();
}

} // namespace

TEST(FlightRecorder, EntriesBecomePartsAndHungOnesStayOpenToTheLastKnownMoment)
{
    const support::TemporaryDirectory folder;
    std::ofstream(folder / "nccl_trace_rank_0", std::ios::binary) << dump(false);
    std::ofstream(folder / "nccl_trace_rank_1", std::ios::binary) << dump(true);
    const std::string out = (folder / "run.rsdb").string();
    const auto report
        = importTraces({ (folder / "nccl_trace_rank_0").string(), (folder / "nccl_trace_rank_1").string() }, out);
    ASSERT_TRUE(report) << report.error().message();
    EXPECT_EQ(report->ranks, 2);
    EXPECT_EQ(report->worldSize, 2);
    std::int64_t open = 0;
    for (const Loss& loss : report->losses)
        open += loss.kind == "collective not completed" ? loss.count : 0;
    EXPECT_EQ(open, 3); // rank 0: the broadcast; rank 1: the second all-reduce and the broadcast
    auto reader = std::move(*TraceReader::open(out));
    const auto matches = *reader.matches(kAll);
    ASSERT_EQ(matches.size(), 3u);
    EXPECT_EQ(matches[0].sequence, 7);
    EXPECT_EQ(matches[0].partsPresent, 2);
    const auto parts = *reader.partsOf(matches[1].id);
    ASSERT_EQ(parts.size(), 2u);
    EXPECT_EQ(parts[0].bytes, 24); // 2 x 3 floats
    // The run begins at 1100; rank 0 left at 5000, rank 1 hangs until 6000, when its broadcast was put in line.
    std::vector<std::int64_t> ends{ parts[0].endNs, parts[1].endNs };
    std::ranges::sort(ends);
    EXPECT_EQ(ends[0], 3900);
    EXPECT_EQ(ends[1], 4900);
}

TEST(FlightRecorder, PlainDataOfAllProtocolsIsRead)
{
    // pickle.dumps({"a": [1, 2.5, None, True, (3,)], "b": -1}) with protocols 2 and 4.
    for (const std::string& bytes : { "\x80\x02}q\0(X\x01\0\0\0aq\x01]q\x02(K\x01G@\x04\0\0\0\0\0\0N\x88K\x03\x85q\x03"
                                      "eX\x01\0\0\0bq\x04J\xff\xff\xff\xffu."s,
             "\x80\x04\x95\x27\0\0\0\0\0\0\0}\x94(\x8c\x01"
             "a\x94]\x94(K\x01G@\x04\0\0\0\0\0\0N\x88K\x03\x85\x94"
             "e\x8c\x01"
             "b\x94J\xff\xff\xff\xffu."s }) {
        const auto pickle = Pickle::parse(bytes);
        ASSERT_TRUE(pickle) << pickle.error().message();
        const auto list = pickle->find(pickle->root(), "a");
        ASSERT_TRUE(list);
        const auto& items = pickle->items(*list);
        ASSERT_EQ(items.size(), 5u);
        EXPECT_EQ(pickle->integer(items[0]), 1);
        EXPECT_EQ(pickle->real(items[1]), 2.5);
        EXPECT_EQ(pickle->kind(items[2]), Pickle::Kind::None);
        EXPECT_EQ(pickle->integer(items[3]), 1);
        EXPECT_EQ(pickle->integer(pickle->items(items[4])[0]), 3);
        EXPECT_EQ(pickle->integer(*pickle->find(pickle->root(), "b")), -1);
    }
}

TEST(FlightRecorder, WhateverIsNotPlainDataIsRefusedByName)
{
    const auto message = [](const std::string& bytes) {
        const auto pickle = Pickle::parse(bytes);
        return pickle ? "accepted"s : pickle.error().message();
    };
    // pickle of os.system("true"), by GLOBAL and by STACK_GLOBAL
    EXPECT_NE(message("\x80\x02"
                      "cposix\nsystem\nX\x04\0\0\0true\x85R."s)
                  .find("wants to load posix.system"),
        std::string::npos);
    EXPECT_NE(message("\x80\x04\x8c\x05posix\x8c\x06system\x93\x8c\x04true\x85R."s).find("wants to load posix.system"),
        std::string::npos);
    EXPECT_NE(message("\x80\x03"
                      "C\x01"
                      "a."s)
                  .find("holds bytes"),
        std::string::npos);
    EXPECT_NE(message("\x80\x04\x8f."s).find("holds a set"), std::string::npos);
}

TEST(FlightRecorder, DamageEndsInAnErrorAndSharingCostsNothing)
{
    const std::string whole = dump(false);
    for (std::size_t length = 0; length < whole.size(); ++length)
        EXPECT_FALSE(Pickle::parse(whole.substr(0, length))) << length;
    EXPECT_FALSE(Pickle::parse("\x80\x02"
                               "e."s)); // no mark
    EXPECT_FALSE(Pickle::parse("\x80\x02"
                               "h\x05."s)); // nothing stored
    EXPECT_FALSE(Pickle::parse("\x80\x02\x8b\xff\xff\xff\xff."s)); // a number of 4 GiB
    EXPECT_FALSE(Pickle::parse("\x80\x02Na."s)); // appends to None
    // A list that holds itself, and one that holds another twice, thirty levels deep.
    EXPECT_TRUE(Pickle::parse("\x80\x02]q\0h\0"
                              "a."s));
    std::string bomb = "\x80\x02]q\0"s;
    for (int i = 0; i < 30; ++i)
        bomb += "](h"s + static_cast<char>(i) + "h" + static_cast<char>(i) + "eq" + static_cast<char>(i + 1);
    EXPECT_TRUE(Pickle::parse(bomb + "."));
}

} // namespace rankscope::tracing
