#include "tracing/import/source_trace.h"

#include <algorithm>

namespace rankscope::tracing {

StringTable::StringTable() { intern(""); }

std::uint32_t StringTable::intern(std::string_view text)
{
    if (const auto it = ids_.find(text); it != ids_.end())
        return it->second;
    const auto id = static_cast<std::uint32_t>(texts_.size());
    const auto [it, isNew] = ids_.emplace(std::string(text), id);
    texts_.push_back(&it->first); // keys of a node-based map stay where they are
    return id;
}

std::int64_t KernelFactTable::intern(const KernelFacts& facts)
{
    if (facts == KernelFacts{})
        return SourceEvent::kNone;
    const auto [it, isNew] = ids_.try_emplace(facts, static_cast<std::int64_t>(facts_.size()));
    if (isNew)
        facts_.push_back(&it->first);
    return it->second;
}

const KernelFacts& KernelFactTable::operator[](std::int64_t id) const
{
    static const KernelFacts kNothing;
    return id == SourceEvent::kNone ? kNothing : *facts_[static_cast<std::size_t>(id)];
}

const SourceAction* actionOf(const SourceTrace& trace, std::optional<std::int64_t> correlation)
{
    if (!correlation || trace.actionLaunches.empty())
        return nullptr;
    const auto after = std::ranges::upper_bound(trace.actionLaunches, *correlation, {}, &ActionLaunches::correlation);
    if (after == trace.actionLaunches.begin())
        return nullptr;
    const ActionLaunches& launches = *std::prev(after);
    return *correlation <= launches.correlation + (launches.count - 1) ? &trace.actions[launches.action] : nullptr;
}

void applyAction(const SourceTrace& trace, SourceEvent& kernel)
{
    if (trace.actionLaunches.empty() || kernel.correlation == SourceEvent::kNone)
        return;
    const SourceAction* action = actionOf(trace, kernel.correlation);
    // Few traces name their optimizer: its kernels stay computation, so that shares of traces can be compared.
    if (action && action->pass != Pass::Optimizer) {
        kernel.pass = action->pass;
        kernel.microBatch = action->microBatch;
    }
}

void findTimeBounds(SourceTrace& trace)
{
    constexpr std::int64_t kHour = 3'600'000'000'000;
    std::vector<std::int64_t> begins = trace.events ? trace.events->sample() : std::vector<std::int64_t>{};
    for (const SourcePart& part : trace.parts)
        begins.push_back(part.beginNs);
    if (begins.empty())
        return;
    std::ranges::sort(begins);
    const auto at = [&](std::size_t percent) { return begins[(begins.size() - 1) * percent / 100]; };
    std::int64_t length = 0, margin = 0;
    if (__builtin_sub_overflow(at(90), at(10), &length) || __builtin_mul_overflow(length, 16, &margin)
        || __builtin_add_overflow(margin, kHour, &margin))
        return;
    if (__builtin_sub_overflow(at(50), margin, &trace.lowestNs))
        trace.lowestNs = std::numeric_limits<std::int64_t>::min();
    if (__builtin_add_overflow(at(50), margin, &trace.highestNs))
        trace.highestNs = std::numeric_limits<std::int64_t>::max();
}

} // namespace rankscope::tracing
