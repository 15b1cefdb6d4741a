#include "tracing/import/annotation_rules.h"

#include <array>
#include <charconv>
#include <utility>

namespace rankscope::tracing {

namespace {

std::optional<std::int64_t> numberAt(std::string_view text)
{
    std::int64_t value = 0;
    const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
    return code == std::errc() && end != text.data() ? std::optional(value) : std::nullopt;
}

/// torch.distributed.pipelining: "PP:" or "PP_" stage, F, B, I or W, micro-batch.
std::optional<AnnotationMeaning> pipelineAction(std::string_view name)
{
    if (!name.starts_with("PP:") && !name.starts_with("PP_"))
        return std::nullopt;
    const std::string_view rest = name.substr(3);
    const std::size_t letter = rest.find_first_of("FBIW");
    const auto stage = numberAt(rest);
    if (!stage || letter == std::string_view::npos || letter == 0)
        return std::nullopt;
    const auto microBatch = numberAt(rest.substr(letter + 1));
    if (!microBatch)
        return std::nullopt;
    AnnotationMeaning meaning;
    const bool forward = rest[letter] == 'F';
    meaning.kind = forward ? RangeKind::Forward : RangeKind::Backward;
    meaning.pass = forward ? Pass::Forward : rest[letter] == 'W' ? Pass::Weight : Pass::Backward;
    meaning.stage = static_cast<std::int32_t>(*stage);
    meaning.microBatch = static_cast<std::int32_t>(*microBatch);
    return meaning;
}

} // namespace

AnnotationMeaning meaningOf(std::string_view name)
{
    if (name.starts_with("ProfilerStep#"))
        return { RangeKind::Step, Pass::None, numberAt(name.substr(13)), {}, {} };
    if (const auto action = pipelineAction(name))
        return *action;
    struct Rule {
        std::string_view begin;
        RangeKind kind;
        Pass pass;
    };
    static constexpr std::array<Rule, 18> kRules{ {
        { "enumerate(DataLoader)", RangeKind::Data, Pass::None },
        { "Optimizer.step", RangeKind::Optimizer, Pass::Optimizer },
        { "## optimizer ##", RangeKind::Optimizer, Pass::Optimizer },
        { "optimizer-step", RangeKind::Optimizer, Pass::Optimizer },
        { "optimizer", RangeKind::Optimizer, Pass::Optimizer },
        { "## forward ##", RangeKind::Forward, Pass::Forward },
        { "forward-compute", RangeKind::Forward, Pass::Forward },
        { "ForwardPass", RangeKind::Forward, Pass::Forward },
        { "Forward", RangeKind::Forward, Pass::Forward },
        { "forward", RangeKind::Forward, Pass::Forward },
        { "## backward ##", RangeKind::Backward, Pass::Backward },
        { "backward-compute", RangeKind::Backward, Pass::Backward },
        { "BackwardPass", RangeKind::Backward, Pass::Backward },
        { "Backward", RangeKind::Backward, Pass::Backward },
        { "backward", RangeKind::Backward, Pass::Backward },
        { "save_checkpoint", RangeKind::Checkpoint, Pass::None },
        { "checkpoint", RangeKind::Checkpoint, Pass::None },
        { "validation", RangeKind::Validation, Pass::None },
    } };
    for (const Rule& rule : kRules) {
        if (!name.starts_with(rule.begin))
            continue;
        const std::string_view rest = name.substr(rule.begin.size());
        // "forward" alone or before a number or mark; "forward_hook" and "backwardable" are somebody else's names.
        const bool ends
            = rest.empty() || rest.front() == ' ' || rest.front() == '#' || rest.front() == '(' || rest.front() == '/';
        const bool isWord = rule.begin.back() == '#' || rule.begin.back() == ')';
        if (!ends && !isWord)
            continue;
        AnnotationMeaning meaning{ rule.kind, rule.pass, {}, {}, {} };
        if (rest.starts_with(' ')) {
            if (const auto number = numberAt(rest.substr(1)))
                meaning.microBatch = static_cast<std::int32_t>(*number);
        }
        return meaning;
    }
    return {};
}

} // namespace rankscope::tracing
