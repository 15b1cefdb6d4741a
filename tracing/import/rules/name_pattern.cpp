#include "tracing/import/rules/name_pattern.h"

#include <algorithm>
#include <charconv>

namespace rankscope::tracing {

Result<NamePattern> NamePattern::parse(std::string_view text)
{
    if (text.empty())
        return Error("an empty name matches nothing");
    NamePattern pattern;
    while (!text.empty()) {
        if (text.front() == '*') {
            pattern.pieces_.push_back({ Kind::Any, "" });
            text.remove_prefix(1);
        } else if (text.front() == '{') {
            const std::size_t end = text.find('}');
            const std::string_view field = text.substr(1, end == std::string_view::npos ? end : end - 1);
            const Kind kind = field == "step" ? Kind::Step
                : field == "micro_batch"      ? Kind::MicroBatch
                : field == "stage"            ? Kind::Stage
                : field == "number"           ? Kind::Number
                                              : Kind::Text;
            if (end == std::string_view::npos || kind == Kind::Text)
                return Error("{" + std::string(field.substr(0, 40))
                    + "} is no gap; expected {step}, {micro_batch}, {stage} or {number}");
            pattern.pieces_.push_back({ kind, "" });
            text.remove_prefix(end + 1);
        } else {
            const std::string_view literal = text.substr(0, text.find_first_of("*{"));
            pattern.pieces_.push_back({ Kind::Text, std::string(literal) });
            text.remove_prefix(literal.size());
        }
    }
    return pattern;
}

bool NamePattern::hasNumbers() const
{
    return std::ranges::any_of(
        pieces_, [](const Piece& piece) { return piece.kind != Kind::Text && piece.kind != Kind::Any; });
}

bool NamePattern::takeNumber(std::string_view name, std::size_t& at, std::int64_t& value)
{
    if (at >= name.size() || name[at] < '0' || name[at] > '9')
        return false;
    const auto [end, code] = std::from_chars(name.data() + at, name.data() + name.size(), value);
    at = static_cast<std::size_t>(end - name.data());
    return code == std::errc();
}

void NamePattern::keep(Kind kind, std::int64_t value, Numbers& numbers)
{
    if (kind == Kind::Step)
        numbers.step = value;
    else if (kind == Kind::MicroBatch)
        numbers.microBatch = value;
    else if (kind == Kind::Stage)
        numbers.stage = value;
}

/// Where a piece does not fit, the last `*` takes one letter more: at most name times pattern steps.
std::optional<NamePattern::Numbers> NamePattern::match(std::string_view name) const
{
    Numbers numbers;
    std::size_t at = 0, piece = 0;
    std::optional<std::size_t> star;
    std::size_t starEnd = 0;
    for (;;) {
        bool fits = false;
        if (piece == pieces_.size()) {
            if (at == name.size())
                return numbers;
        } else if (const Piece& p = pieces_[piece]; p.kind == Kind::Any) {
            if (piece + 1 == pieces_.size())
                return numbers;
            star = piece;
            starEnd = at;
            fits = true;
        } else if (p.kind == Kind::Text) {
            fits = name.substr(at).starts_with(p.text);
            at += fits ? p.text.size() : 0;
        } else {
            std::int64_t value = 0;
            fits = takeNumber(name, at, value);
            if (fits)
                keep(p.kind, value, numbers);
        }
        if (fits) {
            ++piece;
        } else {
            if (!star || starEnd >= name.size())
                return std::nullopt;
            at = ++starEnd;
            piece = *star + 1;
        }
    }
}

} // namespace rankscope::tracing
