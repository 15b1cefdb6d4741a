#include "tracing/cli/steps.h"

#include <fmt/format.h>

#include <charconv>

namespace rankscope::tracing {

namespace {

bool parseNumber(std::string_view text, std::int64_t& number)
{
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    return error == std::errc() && end == text.data() + text.size();
}

} // namespace

Result<StepRange> parseSteps(const std::string& text)
{
    const std::string_view all(text);
    const std::size_t colon = all.find(':');
    StepRange range;
    const bool good = parseNumber(all.substr(0, colon), range.first)
        && (colon == std::string_view::npos ? ((range.last = range.first), true)
                                            : parseNumber(all.substr(colon + 1), range.last));
    if (!good || range.last < range.first)
        return Error(fmt::format("--steps {}: expected A:B with A not greater than B, such as 10:20", text));
    return range;
}

} // namespace rankscope::tracing
