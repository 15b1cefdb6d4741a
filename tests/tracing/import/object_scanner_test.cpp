#include "tracing/import/json/brace_scan.h"
#include "tracing/import/json/object_scanner.h"

#include <gtest/gtest.h>

#include <cstring>

namespace rankscope::tracing {

namespace {

/// Hands a text out in pieces of the given size, as a slow file system would.
class TextSource : public ByteSource {
public:
    TextSource(std::string text, std::size_t piece)
        : text_(std::move(text))
        , piece_(piece)
    {
    }
    Result<std::size_t> read(std::span<char> buffer) override
    {
        const std::size_t n = std::min({ piece_, buffer.size(), text_.size() - at_ });
        std::memcpy(buffer.data(), text_.data() + at_, n);
        at_ += n;
        return n;
    }

private:
    std::string text_;
    std::size_t piece_;
    std::size_t at_ = 0;
};

struct Scanned {
    std::vector<std::string> objects;
    std::map<std::string, std::string> values;
    bool terminated = false;
    std::int64_t skipped = 0;
};

Scanned scan(const std::string& text, std::size_t piece = 7)
{
    TextSource source(text, piece);
    ObjectScanner scanner(source);
    Scanned out;
    for (bool more = true; more;) {
        std::string objects;
        std::vector<std::size_t> ends;
        const auto result = scanner.next(64, objects, ends);
        more = result && *result;
        std::size_t begin = 0;
        for (const std::size_t end : ends) {
            out.objects.push_back(objects.substr(begin, end - begin));
            begin = end;
        }
    }
    out.values = scanner.values();
    out.terminated = scanner.terminated();
    out.skipped = scanner.skipped();
    return out;
}

using Objects = std::vector<std::string>;

} // namespace

TEST(ObjectScanner, BareArrayAndObjectWithEventsGiveTheSame)
{
    const Objects events{ R"({"ph":"X","args":{"a":[1,2]}})", R"({"ph":"i"})" };
    const std::string array = "[" + events[0] + ",\n " + events[1] + "]";
    EXPECT_EQ(scan(array).objects, events);
    const Scanned object = scan(R"({"schemaVersion": 1, "traceEvents": )" + array + R"(, "baseTimeNanoseconds": 17})");
    EXPECT_EQ(object.objects, events);
    EXPECT_EQ(object.values.at("schemaVersion"), "1");
    EXPECT_EQ(object.values.at("baseTimeNanoseconds"), "17");
    EXPECT_TRUE(object.terminated);
}

TEST(ObjectScanner, BracesInStringsAreNoBraces)
{
    const Objects events{ R"({"ph":"X","name":"a{b\"}c"})", R"({"ph":"X","name":"\\"})" };
    EXPECT_EQ(scan("[" + events[0] + "," + events[1] + "]").objects, events);
}

TEST(ObjectScanner, AFileThatEndsInsideAnEventGivesTheWholeOnes)
{
    const Scanned scanned = scan(R"([{"ph":"X","ts":1},{"ph":"X","ts":2},{"ph":"X","t)");
    EXPECT_EQ(scanned.objects, (Objects{ R"({"ph":"X","ts":1})", R"({"ph":"X","ts":2})" }));
    EXPECT_FALSE(scanned.terminated);
}

TEST(ObjectScanner, AFileThatEndsBetweenEventsIsNotTerminated)
{
    const Scanned scanned = scan(R"([{"ph":"X","ts":1},)");
    EXPECT_EQ(scanned.objects.size(), 1u);
    EXPECT_FALSE(scanned.terminated);
}

TEST(ObjectScanner, GarbageBetweenEventsCostsOnlyItself)
{
    const Scanned scanned = scan(R"([{"ph":"X","ts":1}, oops 17 {"ph":"X","ts":2}])");
    EXPECT_EQ(scanned.objects, (Objects{ R"({"ph":"X","ts":1})", R"({"ph":"X","ts":2})" }));
    EXPECT_EQ(scanned.skipped, 1);
}

TEST(ObjectScanner, ResultDoesNotDependOnHowTheFileArrives)
{
    std::string text = R"({"deviceProperties": [{"id": 0, "name": "x}"}], "traceEvents": [)";
    for (int i = 0; i < 100; ++i)
        text += (i ? ",\n" : "") + std::string(R"({"ph": "X", "name": "k\"{)")
            + std::string(static_cast<std::size_t>(i), 'a') + R"(", "ts": )" + std::to_string(i) + "}";
    text += "]}";
    const Scanned whole = scan(text, text.size());
    ASSERT_EQ(whole.objects.size(), 100u);
    for (const std::size_t piece : { 1, 3, 63, 64, 65 })
        EXPECT_EQ(scan(text, piece).objects, whole.objects) << piece;
}

TEST(ObjectScanner, EmptyAndForeignFilesHoldNoEvents)
{
    EXPECT_TRUE(scan("").objects.empty());
    EXPECT_TRUE(scan("a,b,c\n1,2,3\n").objects.empty());
    EXPECT_TRUE(scan("[4, 5, 6]").objects.empty());
}

} // namespace rankscope::tracing
