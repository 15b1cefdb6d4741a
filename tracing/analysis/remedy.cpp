#include "tracing/analysis/remedy.h"

#include "tracing/analysis/compute_like_peers.h"
#include "tracing/analysis/lateness.h"

#include <algorithm>
#include <map>
#include <utility>

namespace rankscope::tracing {

namespace {

using ledger::Label;
using ledger::Ratio;
using ledger::ReplayChange;

constexpr std::int64_t kForEver = INT64_MAX / 4;

/// Shortest, median and longest.
std::array<std::int64_t, 3> spread(std::vector<std::int64_t> times)
{
    std::ranges::sort(times);
    return { times.front(), times[times.size() / 2], times.back() };
}

/// Time under the label before each of the instants, which rise.
std::vector<std::int64_t> timeBefore(
    const std::vector<ledger::Segment>& segments, Label label, const std::vector<std::int64_t>& instants)
{
    std::vector<std::int64_t> result;
    std::int64_t sum = 0;
    auto next = segments.begin();
    for (const std::int64_t at : instants) {
        for (; next != segments.end() && next->end <= at; ++next)
            sum += next->label == label ? next->end - next->begin : 0;
        const bool cuts = next != segments.end() && next->label == label && next->begin < at;
        result.push_back(sum + (cuts ? at - next->begin : 0));
    }
    return result;
}

} // namespace

Remedies::Remedies(const ledger::LedgerInput& input, const ledger::LedgerResult& recorded, std::vector<Window> counted)
    : input_(input)
    , recorded_(recorded)
    , counted_(std::move(counted))
    , times_(recorded.ranks.size())
{
    std::size_t operations = 0;
    for (std::size_t r = 0; r < recorded.ranks.size(); ++r) {
        for (const ledger::Segment& segment : recorded.ranks[r].segments)
            times_[r][static_cast<std::size_t>(segment.label)] += segment.end - segment.begin;
        operations += input.ranks[r].compute.size() + input.ranks[r].parts.size() + input.ranks[r].copies.size();
    }
    if (operations > 0 && operations <= ledger::ReplayGraph::kMostOps)
        time_.emplace(graph_.emplace(input, recorded), counted_);
    // Without a change a replay gives the recorded times: where they are known it need not run.
    for (const Window& stretch : counted_)
        baselineNs_ += stretch.durationNs();
    if (canReplay() && counted_.empty())
        baselineNs_ = of({}).predictedNs;
}

Prediction Remedies::of(const ReplayChange& change) const
{
    const std::int64_t ns = time_->of(change, ledger::replay(*graph_, change));
    return { baselineNs_, ns, ns, ns };
}

std::vector<std::size_t> Remedies::peersOf(std::size_t rank) const
{
    std::vector<std::size_t> others, sameStage;
    for (std::size_t r = 0; r < input_.ranks.size(); ++r) {
        if (r == rank)
            continue;
        others.push_back(r);
        if (input_.ranks[r].stage && input_.ranks[r].stage == input_.ranks[rank].stage)
            sameStage.push_back(r);
    }
    return sameStage.empty() ? others : sameStage;
}

std::optional<Prediction> Remedies::withoutCause(std::int32_t culprit, std::string_view cause) const
{
    const auto own = std::ranges::find(input_.ranks, culprit, &ledger::RankInput::rank);
    const std::optional<Label> label = labelOfCause(cause);
    const bool curable = label && *label != Label::Copy && *label != Label::Planned && *label != Label::Descheduled;
    if (!canReplay() || !curable || own == input_.ranks.end())
        return std::nullopt;
    const auto rank = static_cast<std::size_t>(own - input_.ranks.begin());
    const std::vector<std::size_t> peers = peersOf(rank);
    std::vector<std::int64_t> times;
    for (const std::size_t peer : peers)
        times.push_back(timeOf(peer, *label));
    const std::int64_t ownNs = timeOf(rank, *label);
    if (times.empty() || ownNs <= spread(times)[1])
        return std::nullopt;
    std::array<ReplayChange, 3> changes;
    if (*label == Label::Compute) {
        auto like = computeLikePeers(input_, rank, peers);
        for (std::size_t i = 0; i < changes.size(); ++i)
            changes[i].kernelTimes[culprit] = std::move(like[i]);
    } else if (*label == Label::Transfer) {
        const auto lengths = spread(times);
        for (std::size_t i = 0; i < changes.size(); ++i)
            changes[i].transferOfRank[culprit] = { std::min(lengths[i], ownNs), ownNs };
    } else {
        changes = gapsLikePeers(rank, peers, *label);
    }
    const std::array<std::int64_t, 3> lengths{ of(changes[0]).predictedNs, of(changes[1]).predictedNs,
        of(changes[2]).predictedNs };
    return Prediction{ baselineNs_, lengths[1], std::ranges::min(lengths), std::ranges::max(lengths) };
}

std::vector<std::vector<std::int64_t>> Remedies::sections(const std::vector<std::size_t>& ranks) const
{
    // Entries by instance, for those that every rank takes part in.
    std::map<std::size_t, std::vector<std::int64_t>> entries;
    for (std::size_t i = 0; i < ranks.size(); ++i) {
        for (const ledger::PartOp& part : input_.ranks[ranks[i]].parts) {
            auto& row = entries[part.instance];
            if (row.size() == i)
                row.push_back(part.begin);
        }
    }
    std::erase_if(entries, [&](const auto& entry) { return entry.second.size() != ranks.size(); });
    std::vector<std::vector<std::int64_t>> inOrder;
    for (auto& [instance, row] : entries)
        inOrder.push_back(std::move(row));
    std::ranges::sort(inOrder);
    std::vector<std::vector<std::int64_t>> begins(ranks.size(), { -kForEver });
    for (const auto& row : inOrder) {
        bool rises = true;
        for (std::size_t i = 0; i < row.size(); ++i)
            rises = rises && row[i] > begins[i].back();
        for (std::size_t i = 0; rises && i < row.size(); ++i)
            begins[i].push_back(row[i]);
    }
    for (auto& row : begins)
        row.push_back(kForEver);
    return begins;
}

std::array<ReplayChange, 3> Remedies::gapsLikePeers(
    std::size_t rank, const std::vector<std::size_t>& peers, Label label) const
{
    std::vector<std::size_t> ranks{ rank };
    ranks.insert(ranks.end(), peers.begin(), peers.end());
    const auto begins = sections(ranks);
    std::vector<std::vector<std::int64_t>> before;
    for (std::size_t i = 0; i < ranks.size(); ++i)
        before.push_back(timeBefore(recorded_.ranks[ranks[i]].segments, label, begins[i]));
    std::array<ReplayChange, 3> changes;
    for (std::size_t k = 0; k + 1 < begins[0].size(); ++k) {
        const std::int64_t own = before[0][k + 1] - before[0][k];
        if (own <= 0)
            continue;
        std::vector<std::int64_t> times;
        for (std::size_t i = 1; i < ranks.size(); ++i)
            times.push_back(before[i][k + 1] - before[i][k]);
        const auto lengths = spread(times);
        for (std::size_t i = 0; i < changes.size(); ++i) {
            changes[i].gapTimes[{ input_.ranks[rank].rank, label }].push_back(
                { begins[0][k], begins[0][k + 1], { std::min(lengths[i], own), own } });
        }
    }
    return changes;
}

std::optional<std::array<ReplayChange, 3>> Remedies::likePeers(std::int32_t rankNumber) const
{
    const auto own = std::ranges::find(input_.ranks, rankNumber, &ledger::RankInput::rank);
    if (own == input_.ranks.end() || input_.ranks.size() < 2)
        return std::nullopt;
    const auto rank = static_cast<std::size_t>(own - input_.ranks.begin());
    const std::vector<std::size_t> peers = peersOf(rank);
    std::array<ReplayChange, 3> changes;
    for (const Label label :
        { Label::Host, Label::Launch, Label::Data, Label::Checkpoint, Label::KernelGap, Label::Unattributed }) {
        const auto gaps = gapsLikePeers(rank, peers, label);
        for (std::size_t i = 0; i < changes.size(); ++i)
            changes[i].gapTimes.insert(gaps[i].gapTimes.begin(), gaps[i].gapTimes.end());
    }
    auto like = computeLikePeers(input_, rank, peers);
    for (std::size_t i = 0; i < changes.size(); ++i)
        changes[i].kernelTimes[rankNumber] = std::move(like[i]);
    return changes;
}

std::optional<Prediction> Remedies::withoutGaps(Label label) const
{
    if (!canReplay())
        return std::nullopt;
    ReplayChange change;
    for (const ledger::RankInput& rank : input_.ranks)
        change.gapTimes[{ rank.rank, label }] = { { -kForEver, kForEver, { 0, 1 } } };
    return of(change);
}

std::optional<Prediction> Remedies::withTransfer(Dimension dimension, ledger::Ratio kept) const
{
    if (!canReplay())
        return std::nullopt;
    ReplayChange change;
    change.transferOfDimension[dimension] = kept;
    return of(change);
}

std::optional<Prediction> Remedies::withoutTransfers() const
{
    if (!canReplay())
        return std::nullopt;
    ReplayChange change;
    for (const ledger::RankInput& rank : input_.ranks)
        change.transferOfRank[rank.rank] = { 0, 1 };
    return of(change);
}

std::optional<Prediction> Remedies::withCores() const
{
    if (!canReplay())
        return std::nullopt;
    ReplayChange change;
    change.onCpu = true;
    return of(change);
}

std::int64_t Remedies::timeOf(std::size_t rank, Label label) const
{
    return times_[rank][static_cast<std::size_t>(label)];
}

} // namespace rankscope::tracing
