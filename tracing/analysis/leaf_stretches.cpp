#include "tracing/analysis/leaf_stretches.h"

#include "tracing/model/interval.h"
#include "tracing/analysis/ledger/ledger.h"
#include "tracing/analysis/ledger/ledger_rows.h"
#include "tracing/analysis/trace_ledger.h"

#include <algorithm>
#include <set>

namespace rankscope::tracing {

namespace {

using ledger::Label;
using ledger::Leaf;
using ledger::Segment;

bool isCompute(Leaf leaf)
{
    switch (leaf) {
    case Leaf::Useful:
    case Leaf::Recompute:
    case Leaf::Redundant:
    case Leaf::PrecisionDeficit:
    case Leaf::MemoryBound:
    case Leaf::BelowRoofline:
    case Leaf::Compute:
    case Leaf::Optimizer:
    case Leaf::Descheduled:
        return true;
    default:
        return false;
    }
}

/// Whether some of the kernel's time can be in the leaf.
bool mayHold(const ledger::ComputeOp& op, Leaf leaf)
{
    switch (leaf) {
    case Leaf::Optimizer:
    case Leaf::Recompute:
        return op.pass == (leaf == Leaf::Optimizer ? Pass::Optimizer : Pass::Recompute);
    case Leaf::Descheduled:
        return op.cpu && *op.cpu < (op.end - op.begin) * op.threads;
    case Leaf::Redundant:
        return op.redundantFlop > 0;
    default:
        return op.pass != Pass::Optimizer && op.pass != Pass::Recompute;
    }
}

/// (rank, part) of the waits that are blamed on the choice's culprit and cause.
std::set<std::pair<std::int32_t, std::size_t>> blamedParts(const ledger::LedgerResult& result, const LeafChoice& choice)
{
    std::set<std::pair<std::int32_t, std::size_t>> parts;
    for (const ledger::WaitRecord& wait : result.waits) {
        const bool blamed = std::ranges::any_of(wait.rows, [&](const ledger::CauseRow& row) {
            return row.culprit == choice.culprit && row.cause == choice.cause && row.ns > 0;
        });
        if (blamed)
            parts.emplace(wait.rank, wait.part);
    }
    return parts;
}

class StretchFinder {
public:
    StretchFinder(const ledger::LedgerInput& input, const ledger::LedgerResult& result, const LeafChoice& choice)
        : input_(input)
        , result_(result)
        , choice_(choice)
    {
        if (!choice.cause.empty())
            blamed_ = blamedParts(result, choice);
    }

    Intervals of(std::size_t rank, const ledger::RankLedger& ranks) const
    {
        std::vector<Window> found;
        for (const Segment& segment : ranks.segments) {
            if (matches(rank, ranks.rank, segment))
                found.push_back({ segment.begin, segment.end });
        }
        found = unionOf(std::move(found));
        return isCompute(choice_.leaf.leaf) ? intersection(found, kernels(rank)) : found;
    }

private:
    bool matches(std::size_t rank, std::int32_t worldRank, const Segment& segment) const
    {
        const bool onKernels = segment.label == Label::Compute || segment.label == Label::Descheduled;
        if (onKernels || isCompute(choice_.leaf.leaf))
            return onKernels && isCompute(choice_.leaf.leaf);
        if (ledger::leafOf(input_, result_, rank, segment) != choice_.leaf)
            return false;
        return choice_.cause.empty()
            || (segment.part >= 0 && blamed_.contains({ worldRank, static_cast<std::size_t>(segment.part) }));
    }

    Intervals kernels(std::size_t rank) const
    {
        std::vector<Window> found;
        for (const ledger::ComputeOp& op : input_.ranks[rank].compute) {
            if (mayHold(op, choice_.leaf.leaf))
                found.push_back({ op.begin, op.end });
        }
        return unionOf(std::move(found));
    }

    const ledger::LedgerInput& input_;
    const ledger::LedgerResult& result_;
    const LeafChoice& choice_;
    std::set<std::pair<std::int32_t, std::size_t>> blamed_;
};

} // namespace

LeafStretches leafStretches(
    const ledger::LedgerInput& input, const ledger::LedgerResult& result, const LeafChoice& choice)
{
    const StretchFinder finder(input, result, choice);
    LeafStretches stretches;
    for (std::size_t r = 0; r < result.ranks.size(); ++r) {
        const std::int32_t rank = result.ranks[r].rank;
        if (choice.rank && *choice.rank != rank)
            continue;
        for (const Window& interval : finder.of(r, result.ranks[r]))
            stretches[rank].push_back({ interval.beginNs, interval.endNs });
    }
    return stretches;
}

Result<LeafStretches> readLeafStretches(TraceReader& reader, const RunFacts& facts, const LeafChoice& choice)
{
    const auto source = readLedgerSource(reader, facts);
    if (!source)
        return source.error();
    return leafStretches(source->input, ledger::computeLedger(source->input), choice);
}

} // namespace rankscope::tracing
