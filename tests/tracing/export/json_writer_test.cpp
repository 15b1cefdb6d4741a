#include "tracing/export/json_writer.h"

#include <gtest/gtest.h>

#include <cmath>

namespace rankscope::tracing {

TEST(ValidUtf8, KeepsWhatIsValidAndReplacesEveryOtherByte)
{
    EXPECT_EQ(validUtf8("µs 漢 🚀"), "µs 漢 🚀");
    EXPECT_EQ(validUtf8("a\xFFz"), "a\xEF\xBF\xBDz");
    EXPECT_EQ(validUtf8("\xC0\xAF"), "\xEF\xBF\xBD\xEF\xBF\xBD"); // overlong "/"
    EXPECT_EQ(validUtf8("\xED\xA0\x80"), "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD"); // a surrogate
    EXPECT_EQ(validUtf8("\xE2\x82"), "\xEF\xBF\xBD\xEF\xBF\xBD"); // cut off
}

TEST(JsonWriter, WritesNullWhereJsonHasNoValue)
{
    JsonWriter json;
    json.beginArray();
    json.value(std::nan("")).value(INFINITY).value(std::optional<std::int32_t>()).value(1.5).value(true).value("x");
    json.endArray();
    EXPECT_EQ(json.text(), "[\n null,\n null,\n null,\n 1.5,\n true,\n \"x\"\n]\n");
}

} // namespace rankscope::tracing
