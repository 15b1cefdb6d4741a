#include "tracing/analysis/off_core_gaps.h"

#include "tracing/model/interval.h"
#include "tracing/analysis/ledger/largest_remainder.h"

#include <algorithm>
#include <vector>

namespace rankscope::tracing {

namespace {

using ledger::Ns;

/// What of the set lies in the range, found by search: a run has many short ranges.
Intervals within(const Intervals& all, const Range& range)
{
    const auto first = std::ranges::upper_bound(all, range.beginNs, {}, &Window::endNs);
    const auto last = std::ranges::lower_bound(first, all.end(), range.endNs, {}, &Window::beginNs);
    return clipped(std::span(first, last), { range.beginNs, range.endNs });
}

} // namespace

void addOffCoreGaps(ledger::RankInput& rank, std::span<const Range> ranges)
{
    std::vector<ledger::ComputeOp> kernels = rank.compute;
    std::ranges::sort(kernels, {}, &ledger::ComputeOp::begin);
    std::vector<Window> stretches;
    for (const ledger::ComputeOp& op : kernels)
        stretches.push_back({ op.begin, op.end });
    const Intervals compute = unionOf(stretches);
    for (const ledger::PartOp& part : rank.parts)
        stretches.push_back({ part.begin, part.end });
    for (const ledger::CopyOp& copy : rank.copies)
        stretches.push_back({ copy.begin, copy.end });
    const Intervals busy = unionOf(std::move(stretches));

    for (const Range& range : ranges) {
        const Window whole{ range.beginNs, range.endNs };
        const Intervals here = within(busy, range);
        const Intervals gaps = difference(std::span(&whole, 1), here);
        const Ns gapsNs = totalNs(gaps);
        // A wait that yields uses no CPU time either; it stays communication.
        Ns lost = range.endNs - range.beginNs - *range.cpuNs - (totalNs(here) - totalNs(within(compute, range)));
        auto kernel = std::ranges::lower_bound(kernels, range.beginNs, {}, &ledger::ComputeOp::begin);
        for (; kernel != kernels.end() && kernel->begin < range.endNs; ++kernel) {
            if (kernel->cpu && kernel->threads > 0)
                lost -= std::max<Ns>(0, kernel->end - kernel->begin - *kernel->cpu / kernel->threads);
        }
        lost = std::clamp<Ns>(lost, 0, gapsNs);
        Ns passed = 0;
        for (const Window& gap : gaps) {
            const Ns before = ledger::mulDiv(lost, passed, gapsNs);
            passed += gap.durationNs();
            const Ns off = ledger::mulDiv(lost, passed, gapsNs) - before;
            if (off <= 0)
                continue;
            ledger::ComputeOp waiting;
            waiting.begin = gap.beginNs;
            waiting.end = gap.beginNs + off;
            waiting.cpu = 0;
            waiting.launch = gap.beginNs;
            rank.compute.push_back(waiting);
        }
    }
}

} // namespace rankscope::tracing
