#include "tracing/analysis/path_shares.h"

#include "tracing/analysis/ledger/compute_share.h"
#include "tracing/analysis/ledger/replay.h"
#include "tracing/analysis/ledger_lane.h"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>

namespace rankscope::tracing {

namespace {

using ledger::Label;

/// Sums pieces of paths.
class PathSum {
public:
    PathSum(const LedgerSource& source, const ledger::LedgerResult& result)
        : input_(source.input)
        , result_(result)
        , computeShares_(result.ranks.size())
    {
        for (const ledger::RankInput& rank : input_.ranks)
            recordsCpuTime_.push_back(
                std::ranges::any_of(rank.compute, [](const ledger::ComputeOp& op) { return op.cpu.has_value(); }));
    }

    void add(const ledger::PathSegment& piece)
    {
        const auto rank = static_cast<std::size_t>(piece.rank);
        const std::int64_t ns = piece.end - piece.begin;
        std::int64_t withoutCore = 0;
        if (piece.label == Label::Compute && recordsCpuTime_[rank]) {
            const ledger::ComputeShare& share = computeShare(rank);
            withoutCore = share.descheduledUpTo(piece.end) - share.descheduledUpTo(piece.begin);
        }
        add(rank, SpanClass::Descheduled, Dimension::None, withoutCore);
        add(rank, spanClassOf(piece.label), dimensionOf(piece), ns - withoutCore);
    }

    std::vector<PathShare> shares() const
    {
        std::vector<PathShare> shares;
        for (const auto& [what, ns] : sums_) {
            const auto& [rank, label, dimension] = what;
            shares.push_back({ rank, label, dimension, ns });
        }
        std::ranges::stable_sort(shares, std::ranges::greater(), &PathShare::ns);
        return shares;
    }

private:
    void add(std::size_t rank, SpanClass label, Dimension dimension, std::int64_t ns)
    {
        if (ns > 0)
            sums_[{ result_.ranks[rank].rank, label, dimension }] += ns;
    }

    const ledger::ComputeShare& computeShare(std::size_t rank)
    {
        auto& share = computeShares_[rank];
        return share ? *share : share.emplace(input_.ranks[rank]);
    }

    /// Of what is neither transfer nor wait, none.
    Dimension dimensionOf(const ledger::PathSegment& piece) const
    {
        const bool isCommunication
            = piece.label == Label::Transfer || piece.label == Label::Wait || piece.label == Label::Unsplit;
        if (!isCommunication || piece.part < 0)
            return Dimension::None;
        const auto& part
            = input_.ranks[static_cast<std::size_t>(piece.rank)].parts[static_cast<std::size_t>(piece.part)];
        return input_.instances[part.instance].dimension;
    }

    const ledger::LedgerInput& input_;
    const ledger::LedgerResult& result_;
    std::vector<bool> recordsCpuTime_; ///< by rank index: without CPU times nothing is known to be descheduled
    std::vector<std::optional<ledger::ComputeShare>> computeShares_; ///< of the ranks that the path came through
    std::map<std::tuple<std::int32_t, SpanClass, Dimension>, std::int64_t> sums_;
};

} // namespace

std::vector<PathShare> pathShares(
    const LedgerSource& source, const ledger::LedgerResult& result, const std::vector<Window>& stretches)
{
    PathSum sum(source, result);
    for (const Window& stretch : stretches) {
        for (const ledger::PathSegment& piece : ledger::criticalPath(result, stretch.beginNs, stretch.endNs))
            sum.add(piece);
    }
    return sum.shares();
}

} // namespace rankscope::tracing
