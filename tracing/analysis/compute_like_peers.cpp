#include "tracing/analysis/compute_like_peers.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace rankscope::tracing {

namespace {

using ledger::ComputeOp;
using ledger::Ns;
using ledger::Ratio;

using Kind = std::tuple<Pass, DataType, std::int32_t, std::int64_t, std::int64_t>;
constexpr Kind kOther{}; ///< what does not say its work

Kind kindOf(const ComputeOp& op)
{
    const std::int64_t flop = op.flop.value_or(0), bytes = op.bytes.value_or(0);
    return flop == 0 && bytes == 0 ? kOther : Kind{ op.pass, op.dtype, op.threads, flop, bytes };
}

/// Without what it waited for a core.
Ns timeOf(const ComputeOp& op)
{
    const Ns wall = std::max<Ns>(0, op.end - op.begin);
    return op.cpu && op.threads > 0 ? std::min(wall, *op.cpu / op.threads) : wall;
}

struct Sum {
    Ns total = 0;
    std::int64_t count = 0;
};
using Times = std::map<Kind, Sum>;

Times timesOf(const ledger::RankInput& rank)
{
    Times times;
    for (const ComputeOp& op : rank.compute) {
        if (op.pass == Pass::Optimizer || op.end == ledger::kStillOpen)
            continue;
        Sum& sum = times[kindOf(op)];
        sum.total += timeOf(op);
        ++sum.count;
    }
    return times;
}

/// One rank beside one of its peers.
class Comparison {
public:
    Comparison(const Times& own, const Times& peer)
        : peer_(&peer)
    {
        Ns ownOthers = 0, peersOthers = 0, ownAll = 0;
        for (const auto& [kind, sum] : own) {
            ownAll += sum.total;
            if (const Sum* same = sameAtPeer(kind))
                total_ += static_cast<double>(same->total) / static_cast<double>(same->count)
                    * static_cast<double>(sum.count);
            else
                ownOthers += sum.total;
        }
        for (const auto& [kind, sum] : peer) {
            if (kind == kOther || !own.contains(kind))
                peersOthers += sum.total;
        }
        others_ = { std::min(ownOthers, peersOthers), std::max<Ns>(1, ownOthers) };
        total_ += static_cast<double>(std::min(ownOthers, peersOthers));
        isSlower_ = total_ >= static_cast<double>(ownAll);
    }

    /// The rank's compute, were it like the peer.
    double total() const { return total_; }

    Ratio of(const Kind& kind, const Sum& own) const
    {
        if (isSlower_)
            return {};
        const Sum* same = sameAtPeer(kind);
        if (!same)
            return others_;
        // Means, as the ratio of integers that it is up to rounding.
        return { same->total / same->count, std::max<Ns>(1, own.total / own.count) };
    }

private:
    const Sum* sameAtPeer(const Kind& kind) const
    {
        const auto it = kind == kOther ? peer_->end() : peer_->find(kind);
        return it == peer_->end() ? nullptr : &it->second;
    }

    const Times* peer_;
    double total_ = 0;
    Ratio others_{};
    bool isSlower_ = false;
};

} // namespace

std::array<std::vector<Ratio>, 3> computeLikePeers(
    const ledger::LedgerInput& input, std::size_t rank, const std::vector<std::size_t>& peers)
{
    const Times own = timesOf(input.ranks[rank]);
    std::vector<Times> times;
    for (const std::size_t peer : peers)
        times.push_back(timesOf(input.ranks[peer]));
    std::vector<Comparison> byTotal;
    for (const Times& peer : times)
        byTotal.emplace_back(own, peer);
    std::array<std::vector<Ratio>, 3> result;
    if (byTotal.empty())
        return result;
    std::ranges::stable_sort(byTotal, {}, &Comparison::total);
    const std::array chosen{ &byTotal.front(), &byTotal[byTotal.size() / 2], &byTotal.back() };
    for (const ComputeOp& op : input.ranks[rank].compute) {
        const auto sum = own.find(kindOf(op));
        const bool stays = op.pass == Pass::Optimizer || sum == own.end();
        for (std::size_t i = 0; i < chosen.size(); ++i)
            result[i].push_back(stays ? Ratio{} : chosen[i]->of(sum->first, sum->second));
    }
    return result;
}

} // namespace rankscope::tracing
