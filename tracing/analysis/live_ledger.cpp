#include "tracing/analysis/live_ledger.h"

#include "tracing/analysis/ledger/ledger.h"
#include "tracing/analysis/ledger/ledger_rows.h"
#include "tracing/analysis/ledger/lifecycle.h"
#include "tracing/model/check.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <tuple>
#include <utility>

namespace rankscope::tracing {

namespace {

using ledger::Leaf;
using ledger::LedgerRow;

/// The matcher gives up the oldest when it has more of them that lack parts.
constexpr std::size_t kMostOpen = 65536;

bool isDown(Leaf leaf) { return leaf == Leaf::DownDetect || leaf == Leaf::DownRestart || leaf == Leaf::DownRestore; }

bool isWork(Leaf leaf)
{
    return leaf != Leaf::Start && leaf != Leaf::Lost && leaf != Leaf::Planned && leaf != Leaf::Shutdown
        && !isDown(leaf);
}

/// What every step's figures rest on: where it changes all are counted again. Groups are only added.
std::vector<std::string> groundOf(const RunFacts& facts)
{
    std::vector<std::string> ground{ fmt::format("{} {}", facts.run.worldSize, facts.window.beginNs) };
    for (const RankInfo& rank : facts.ranks) {
        ground.push_back(fmt::format("{} {} {} {} {}", rank.rank, rank.node, rank.stage.value_or(-1), rank.clockErrorNs,
            rank.peakFlops.value_or(0)));
    }
    for (const LinkSpeed& link : facts.links)
        ground.push_back(fmt::format("{} {} {} {}", link.from, link.to, link.latencyNs, link.bytesPerSecond));
    for (const auto& [key, value] : facts.provenance) {
        if (key.starts_with("config."))
            ground.push_back(key + value);
    }
    return ground;
}

bool sameFailures(std::span<const AttemptFailure> a, std::span<const AttemptFailure> b)
{
    const auto parts = [](const AttemptFailure& failure) {
        return std::tie(failure.attempt, failure.detectedNs, failure.ranks, failure.reformedNs, failure.restoredStep);
    };
    return std::ranges::equal(a, b, {}, parts, parts);
}

/// A failure's begin is the last sign of life of those that failed: is it in what was read?
bool knowsProgress(const LedgerSource& source, const ledger::Failure& failure)
{
    return std::ranges::all_of(source.input.ranks, [&](const ledger::RankInput& rank) {
        if (std::ranges::find(failure.faulty, rank.rank) == failure.faulty.end())
            return true;
        const auto isKnown = [&](const auto& op) { return op.end > source.firmNs && op.begin < failure.detected; };
        return std::ranges::any_of(rank.compute, isKnown) || std::ranges::any_of(rank.parts, isKnown)
            || std::ranges::any_of(rank.copies, isKnown);
    });
}

void addRanks(RunLedger& run, const RunFacts& facts)
{
    for (const RankInfo& info : facts.ranks) {
        const auto peak = info.peakFlops && *info.peakFlops > 0
            ? std::optional(static_cast<std::int64_t>(*info.peakFlops))
            : std::nullopt;
        run.ranks.push_back({ info.rank, facts.window.durationNs(), peak });
        run.capacityNs += facts.window.durationNs();
    }
}

ledger::Goodput goodputOf(const std::vector<LedgerRow>& sums, std::int64_t committedNs, std::int64_t provisionalNs)
{
    ledger::Goodput goodput;
    for (const LedgerRow& row : sums) {
        goodput.total += row.ns;
        goodput.start += row.leaf.leaf == Leaf::Start ? row.ns : 0;
        goodput.lost += row.leaf.leaf == Leaf::Lost ? row.ns : 0;
        goodput.down += isDown(row.leaf.leaf) ? row.ns : 0;
    }
    goodput.committed = committedNs;
    goodput.provisional = provisionalNs;
    ledger::setShares(goodput);
    return goodput;
}

/// Whether labels and causes after `fromNs` are those of the whole run: neither they nor what they were passed on from
/// may reach back behind the firm part.
bool isFirm(const LedgerSource& source, const ledger::LedgerResult& result, std::int64_t fromNs)
{
    if (source.firmNs > fromNs)
        return false;
    for (const ledger::Failure& failure : source.input.lifecycle->failures) {
        if (failure.detected >= fromNs && !knowsProgress(source, failure))
            return false;
    }
    std::map<std::int32_t, std::size_t> indexOf;
    for (std::size_t r = 0; r < result.ranks.size(); ++r)
        indexOf[result.ranks[r].rank] = r;
    std::vector<bool> firm;
    std::map<std::int32_t, std::vector<std::size_t>> before; // a rank's waits so far, in the order of instances
    for (const ledger::WaitRecord& wait : result.waits) {
        const ledger::SplitPart& part = result.ranks[indexOf.at(wait.rank)].parts[wait.part];
        bool isOk = part.entry >= source.firmNs && (!wait.late || wait.since >= source.firmNs);
        if (isOk && wait.late) {
            const std::vector<std::size_t>& passedOn = before[*wait.late];
            for (auto other = passedOn.rbegin(); isOk && other != passedOn.rend(); ++other) {
                if (source.matches[result.waits[*other].instance].lastEntryNs <= wait.since)
                    break; // over before
                isOk = firm[*other];
            }
        }
        if (!isOk && part.entry + std::max(part.wait, part.waitHigh) > fromNs)
            return false;
        before[wait.rank].push_back(firm.size());
        firm.push_back(isOk);
    }
    return true;
}

} // namespace

void LiveLedger::Counts::add(const Counts& other, std::int64_t sign)
{
    early += sign * other.early;
    beyondError += sign * other.beyondError;
    eager += sign * other.eager;
    flop += sign * other.flop;
}

bool LiveLedger::Slice::sameAs(const Slice& other) const
{
    return *rows == *other.rows && leaves == other.leaves && outside == other.outside && counts == other.counts;
}

void LiveLedger::Sums::add(const Slice& slice, std::int64_t sign)
{
    for (const LedgerRow& row : *slice.rows) {
        const auto sum = rows.try_emplace({ row.leaf, row.rank, row.culprit, row.cause }).first;
        sum->second.ns += sign * row.ns;
        sum->second.low += sign * row.low;
        sum->second.high += sign * row.high;
        if ((sum->second.rows += sign) == 0)
            rows.erase(sum);
    }
    for (const ledger::StepLeaf& leaf : slice.leaves) {
        const auto sum = leaves.try_emplace(leaf.leaf).first;
        for (std::size_t i = 0; i < leaf.ns.size(); ++i)
            sum->second.first[i] += sign * leaf.ns[i];
        if ((sum->second.second += sign) == 0)
            leaves.erase(sum);
    }
    for (const Outside& piece : slice.outside) {
        const auto sum = outside.try_emplace({ piece.rank, piece.leaf }).first;
        if ((sum->second += sign * piece.ns) == 0)
            outside.erase(sum);
    }
    counts.add(slice.counts, sign);
}

void LiveLedger::keepOnly(std::size_t steps)
{
    while (kept_.size() > steps) {
        sums_.add(kept_.back(), -1);
        kept_.pop_back();
    }
}

/// A failure throws steps away that were kept before it.
std::size_t LiveLedger::firstChanged(const RunFacts& facts, std::size_t changed) const
{
    if (sameFailures(facts.failures, failures_))
        return changed;
    const std::vector<StepSpan>& steps = steps_.steps();
    for (const std::vector<AttemptFailure>* failures : { &facts.failures, &failures_ }) {
        for (const AttemptFailure& failure : *failures) {
            const auto lost = std::ranges::find_if(steps, [&](const StepSpan& step) {
                return step.attempt <= failure.attempt && step.step > failure.restoredStep.value_or(0);
            });
            changed = std::min(changed, static_cast<std::size_t>(lost - steps.begin()));
            // The time until the detection is its own, and so is what comes until the next attempt.
            const auto next
                = std::ranges::find_if(steps, [&](const StepSpan& step) { return step.attempt > failure.attempt; });
            const auto last = static_cast<std::size_t>(next - steps.begin());
            changed = std::min(changed, last > 0 ? last - 1 : 0);
        }
    }
    return changed;
}

/// The last step that has begun; past the last one: none has.
std::size_t LiveLedger::slotOf(std::int64_t ns) const
{
    const std::vector<StepSpan>& steps = steps_.steps();
    const auto after
        = std::ranges::upper_bound(steps, ns, {}, [](const StepSpan& step) { return step.window.beginNs; });
    return after == steps.begin() ? steps.size() : static_cast<std::size_t>(after - steps.begin()) - 1;
}

/// Those from `from` on, and each attempt's first, which tells when it began.
std::vector<std::size_t> LiveLedger::shownSteps(std::size_t from) const
{
    const std::vector<StepSpan>& steps = steps_.steps();
    std::vector<std::size_t> shown;
    std::optional<std::int32_t> attempt;
    for (std::size_t i = 0; i < from; ++i) {
        if (attempt != steps[i].attempt)
            shown.push_back(i);
        attempt = steps[i].attempt;
    }
    for (std::size_t i = from; i < steps.size(); ++i)
        shown.push_back(i);
    return shown;
}

Result<LiveLedger::Fresh> LiveLedger::count(
    TraceReader& reader, const RunFacts& facts, std::size_t from, std::size_t first) const
{
    const std::vector<std::size_t> shown = shownSteps(from);
    RunFacts part = facts;
    part.steps.clear();
    for (const std::size_t i : shown) {
        const StepSpan& step = steps_.steps()[i];
        part.steps.push_back({ 0, step.step, step.attempt, step.window.beginNs, step.window.endNs });
    }
    if (!part.steps.empty())
        part.steps.back().endNs = steps_.lastEndNs();
    const std::int64_t fromNs = from == 0 ? facts.window.beginNs : steps_.steps()[from].window.beginNs;
    auto source = readLedgerSource(reader, part, fromNs);
    if (!source)
        return source.error();
    Fresh fresh;
    fresh.source = std::move(*source);
    fresh.result = ledger::computeLedger(fresh.source.input);
    if (!shown.empty())
        slice(fresh, shown, first);
    return fresh;
}

void LiveLedger::slice(Fresh& fresh, const std::vector<std::size_t>& shown, std::size_t first) const
{
    fresh.slices.resize(steps_.steps().size() - first);
    std::vector<std::vector<LedgerRow>> rows(fresh.slices.size());
    const auto placeOf = [&](std::int32_t step) -> std::optional<std::size_t> {
        const std::size_t slot = step < 0 ? 0 : shown[static_cast<std::size_t>(step)];
        return step < 0 || slot < first ? std::nullopt : std::optional(slot - first);
    };
    for (const LedgerRow& row : fresh.result.rows) {
        const auto place = placeOf(row.step);
        if (!place)
            continue;
        rows[*place].push_back(row);
        rows[*place].back().step = static_cast<std::int32_t>(*place + first);
        fresh.slices[*place].workNs += isWork(row.leaf.leaf) ? row.ns : 0;
    }
    for (ledger::StepLeaf leaf : fresh.result.stepLeaves) {
        const auto place = placeOf(leaf.step);
        if (!place)
            continue;
        leaf.step = static_cast<std::int32_t>(*place + first);
        fresh.slices[*place].leaves.push_back(leaf);
    }
    for (std::size_t k = 0; k < shown.size(); ++k) {
        if (shown[k] >= first)
            fresh.slices[shown[k] - first].info = fresh.result.steps[k];
    }
    for (std::size_t r = 0; r < fresh.result.ranks.size(); ++r)
        sliceRank(fresh, r, first);
    for (std::size_t i = 0; i < rows.size(); ++i)
        fresh.slices[i].rows = std::make_shared<const std::vector<LedgerRow>>(std::move(rows[i]));
    fresh.before.rows = std::make_shared<const std::vector<LedgerRow>>();
}

/// What of a rank is told apart by time, not by step.
void LiveLedger::sliceRank(Fresh& fresh, std::size_t index, std::size_t first) const
{
    const std::vector<StepSpan>& steps = steps_.steps();
    const ledger::RankLedger& rank = fresh.result.ranks[index];
    const auto sliceAt = [&](std::size_t slot) -> Slice* {
        if (slot == steps.size())
            return &fresh.before;
        return slot < first ? nullptr : &fresh.slices[slot - first];
    };
    std::map<std::pair<std::size_t, ledger::LeafKey>, std::int64_t> outside;
    for (const ledger::Segment& segment : rank.segments) {
        if (segment.step >= 0)
            continue;
        const ledger::LeafKey leaf = ledger::leafOf(fresh.source.input, fresh.result, index, segment);
        for (std::int64_t at = segment.begin; at < segment.end;) {
            const std::size_t slot = slotOf(at), next = slot == steps.size() ? 0 : slot + 1;
            const std::int64_t until
                = next < steps.size() ? std::min(segment.end, steps[next].window.beginNs) : segment.end;
            outside[{ slot, leaf }] += until - at;
            at = until;
        }
    }
    for (const auto& [place, ns] : outside) {
        if (Slice* own = sliceAt(place.first))
            own->outside.push_back({ rank.rank, place.second, ns });
    }
    for (const ledger::SplitPart& part : rank.parts) {
        if (Slice* own = sliceAt(slotOf(part.entry)))
            own->counts.add({ part.early, part.beyondError, part.eager, 0 }, 1);
    }
    for (const std::int64_t begin : rank.flopViolations) {
        if (Slice* own = sliceAt(slotOf(begin)))
            own->counts.flop += 1;
    }
}

/// The first step with a collective that lacked parts when its step was settled and has got one since.
std::size_t LiveLedger::firstReopened(const Fresh& fresh) const
{
    std::size_t first = steps_.steps().size();
    for (const CollectiveMatch& match : fresh.source.matches) {
        const auto known = open_.find(raw(match.id));
        if (known == open_.end() || known->second.first == match.partsPresent)
            continue;
        const std::size_t slot = slotOf(std::min(known->second.second, match.firstEntryNs));
        first = std::min(first, slot == steps_.steps().size() ? 0 : slot);
    }
    return first;
}

void LiveLedger::noteOpen(const Fresh& fresh)
{
    const std::int64_t settledNs = kept_.empty() ? INT64_MIN : kept_.back().info.end;
    for (const CollectiveMatch& match : fresh.source.matches) {
        if (match.partsPresent < match.partsExpected && match.firstEntryNs < settledNs)
            open_[raw(match.id)] = { match.partsPresent, match.firstEntryNs };
        else
            open_.erase(raw(match.id));
    }
    while (open_.size() > kMostOpen)
        open_.erase(open_.begin());
}

/// Counts from the last settled step on, or from further back where that is not enough; then `first` tells from where.
Result<LiveLedger::Fresh> LiveLedger::countNew(TraceReader& reader, const RunFacts& facts, std::size_t& first)
{
    first = launches_ || kept_.empty() ? 0 : kept_.size() - 1;
    for (std::size_t back = 1;; back *= 2) {
        const std::size_t from = first > back ? first - back : 0;
        if (from == 0)
            first = 0;
        auto fresh = count(reader, facts, from, first);
        if (!fresh)
            return fresh;
        work_.stepsCounted += steps_.steps().size() - from;
        ++work_.readings;
        if (from == 0)
            return fresh;
        if (fresh->source.gpuTime) {
            launches_ = true;
            first = 0;
            continue;
        }
        if (!isFirm(fresh->source, fresh->result, steps_.steps()[first].window.beginNs))
            continue;
        const std::size_t reopened = firstReopened(*fresh);
        if (reopened >= first && fresh->slices.front().sameAs(kept_[first]))
            return fresh;
        first = std::min(reopened, first > back ? first - back : 0);
    }
}

/// A checkpoint makes steps firm that were provisional.
void LiveLedger::setStates(const ledger::Lifecycle& lifecycle, std::vector<Slice>& tail)
{
    const auto set = [&](Slice& slice) {
        slice.info.state = ledger::stateOf(
            lifecycle, static_cast<std::size_t>(std::max(0, slice.info.attempt - 1)), slice.info.step);
    };
    std::ranges::for_each(kept_, set);
    std::ranges::for_each(tail, set);
}

RunLedger LiveLedger::handOut(const RunFacts& facts, Fresh& fresh)
{
    RunLedger run = summarised(fresh.source, {});
    std::vector<Slice>& tail = fresh.slices;
    Sums sums = sums_;
    for (const Slice& slice : tail)
        sums.add(slice, 1);
    addRanks(run, facts);
    run.notRecordedNs = 0;
    std::int64_t ns[3] = { 0, 0, 0 }; // by state
    for (const std::vector<Slice>* slices : { &std::as_const(kept_), &std::as_const(tail) }) {
        for (const Slice& slice : *slices) {
            run.steps.push_back(slice.info);
            run.rows.add(slice.rows);
            ns[static_cast<std::size_t>(slice.info.state)] += slice.workNs;
        }
    }
    std::vector<LedgerRow> outside;
    for (const auto& [place, sum] : sums.outside) {
        outside.push_back({ place.second, place.first, -1, sum, sum, sum, {}, "", {} });
        auto& leaf = sums.leaves[place.second].first;
        for (std::int64_t& view : leaf)
            view += sum;
    }
    std::vector<LedgerRow> whole = outside;
    for (const auto& [key, sum] : sums.rows) {
        const auto& [leaf, rank, culprit, cause] = key;
        whole.push_back({ leaf, rank, -1, sum.ns, sum.low, sum.high, culprit, cause, {} });
    }
    for (const auto& [leaf, sum] : sums.leaves)
        run.totals.push_back({ leaf, sum.first[0], std::ranges::min(sum.first), std::ranges::max(sum.first) });
    run.goodput = goodputOf(whole, ns[0] + ns[2], ns[1]);
    run.rows.add(std::make_shared<const std::vector<LedgerRow>>(std::move(outside)));
    run.sums = std::make_shared<const std::vector<LedgerRow>>(std::move(whole));
    run.orderViolations = sums.counts.early;
    run.violationsBeyondError = sums.counts.beyondError;
    run.flopViolations = sums.counts.flop;
    run.eagerSends = sums.counts.eager;
    return run;
}

Result<RunLedger> LiveLedger::refresh(TraceReader& reader, const RunFacts& facts)
{
    RS_CHECK(facts.run.source == kOwnSource, "only what we record grows");
    work_ = {};
    if (auto ground = groundOf(facts); ground != ground_) {
        *this = LiveLedger();
        ground_ = std::move(ground);
    }
    const auto changed = steps_.read(reader, facts);
    if (!changed)
        return changed.error();
    keepOnly(firstChanged(facts, *changed));
    failures_ = facts.failures;

    std::size_t first = 0;
    auto fresh = countNew(reader, facts, first);
    if (!fresh)
        return fresh.error();
    if (steps_.steps().empty())
        return summarised(fresh->source, fresh->result);
    keepOnly(first);
    if (first == 0) {
        sums_ = {};
        before_ = std::move(fresh->before);
        sums_.add(before_, 1);
    }
    const std::size_t settled = std::max(first, steps_.settled());
    for (std::size_t i = first; i < settled; ++i) {
        kept_.push_back(std::move(fresh->slices[i - first]));
        sums_.add(kept_.back(), 1);
    }
    fresh->slices.erase(fresh->slices.begin(), fresh->slices.begin() + static_cast<std::ptrdiff_t>(settled - first));
    setStates(*fresh->source.input.lifecycle, fresh->slices);
    noteOpen(*fresh);
    RunLedger run = handOut(facts, *fresh);
    const std::vector<StepSpan> spans = tiled(steps_.steps());
    run.counted = countedSteps(spans, facts.run);
    if (run.counted)
        run.countedSteps = std::ssize(stepsIn(spans, *run.counted));
    return run;
}

} // namespace rankscope::tracing
