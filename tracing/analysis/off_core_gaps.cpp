#include "tracing/analysis/off_core_gaps.h"

#include "tracing/analysis/ledger/intervals.h"
#include "tracing/analysis/ledger/largest_remainder.h"

#include <algorithm>
#include <vector>

namespace rankscope::tracing {

namespace {

using ledger::Interval;
using ledger::Ns;

/// What of a sorted, disjoint list lies in the range, cut at its ends.
std::vector<Interval> within(const std::vector<Interval>& all, const Range& range)
{
    std::vector<Interval> out;
    auto it = std::ranges::upper_bound(all, range.beginNs, {}, &Interval::end);
    for (; it != all.end() && it->begin < range.endNs; ++it)
        out.push_back({ std::max(it->begin, range.beginNs), std::min(it->end, range.endNs) });
    return out;
}

std::vector<Interval> gapsIn(const Range& range, const std::vector<Interval>& busy)
{
    std::vector<Interval> gaps;
    Ns at = range.beginNs;
    for (const Interval& interval : busy) {
        if (interval.begin > at)
            gaps.push_back({ at, interval.begin });
        at = std::max(at, interval.end);
    }
    if (at < range.endNs)
        gaps.push_back({ at, range.endNs });
    return gaps;
}

} // namespace

void addOffCoreGaps(ledger::RankInput& rank, std::span<const Range> ranges)
{
    std::vector<Interval> compute, busy;
    std::vector<ledger::ComputeOp> kernels = rank.compute;
    std::ranges::sort(kernels, {}, &ledger::ComputeOp::begin);
    for (const ledger::ComputeOp& op : kernels)
        compute.push_back({ op.begin, op.end });
    compute = ledger::unite(std::move(compute));
    busy = compute;
    for (const ledger::PartOp& part : rank.parts)
        busy.push_back({ part.begin, part.end });
    for (const ledger::CopyOp& copy : rank.copies)
        busy.push_back({ copy.begin, copy.end });
    busy = ledger::unite(std::move(busy));

    for (const Range& range : ranges) {
        const std::vector<Interval> here = within(busy, range);
        const std::vector<Interval> gaps = gapsIn(range, here);
        const Ns gapsNs = ledger::lengthOf(gaps);
        // A wait that yields uses no CPU time either; it stays communication.
        Ns lost = range.endNs - range.beginNs - *range.cpuNs
            - (ledger::lengthOf(here) - ledger::lengthOf(within(compute, range)));
        auto kernel = std::ranges::lower_bound(kernels, range.beginNs, {}, &ledger::ComputeOp::begin);
        for (; kernel != kernels.end() && kernel->begin < range.endNs; ++kernel) {
            if (kernel->cpu && kernel->threads > 0)
                lost -= std::max<Ns>(0, kernel->end - kernel->begin - *kernel->cpu / kernel->threads);
        }
        lost = std::clamp<Ns>(lost, 0, gapsNs);
        Ns passed = 0;
        for (const Interval& gap : gaps) {
            const Ns before = ledger::mulDiv(lost, passed, gapsNs);
            passed += gap.end - gap.begin;
            const Ns off = ledger::mulDiv(lost, passed, gapsNs) - before;
            if (off <= 0)
                continue;
            ledger::ComputeOp waiting;
            waiting.begin = gap.begin;
            waiting.end = gap.begin + off;
            waiting.cpu = 0;
            waiting.launch = gap.begin;
            rank.compute.push_back(waiting);
        }
    }
}

} // namespace rankscope::tracing
