#include "tracing/analysis/ledger/ledger_rows.h"

#include "tracing/analysis/ledger/causes.h"
#include "tracing/analysis/ledger/largest_remainder.h"

#include <algorithm>
#include <array>
#include <set>

namespace rankscope::tracing::ledger {

namespace {

Leaf leafOf(Label label)
{
    switch (label) {
    case Label::Wait:
        return Leaf::Wait;
    case Label::Transfer:
        return Leaf::Transfer;
    case Label::Unsplit:
        return Leaf::Unsplit;
    case Label::Copy:
        return Leaf::Copy;
    case Label::Checkpoint:
        return Leaf::Checkpoint;
    case Label::Data:
        return Leaf::Data;
    case Label::Host:
        return Leaf::Host;
    case Label::Launch:
        return Leaf::Launch;
    case Label::KernelGap:
        return Leaf::KernelGap;
    case Label::Tail:
        return Leaf::Tail;
    case Label::Start:
        return Leaf::Start;
    case Label::DownDetect:
        return Leaf::DownDetect;
    case Label::DownRestart:
        return Leaf::DownRestart;
    case Label::DownRestore:
        return Leaf::DownRestore;
    case Label::Lost:
        return Leaf::Lost;
    case Label::Planned:
        return Leaf::Planned;
    case Label::Shutdown:
        return Leaf::Shutdown;
    case Label::BubbleFill:
        return Leaf::BubbleFill;
    case Label::BubbleSteady:
        return Leaf::BubbleSteady;
    case Label::BubbleDrain:
        return Leaf::BubbleDrain;
    case Label::BubbleImbalance:
        return Leaf::BubbleImbalance;
    default:
        return Leaf::Unattributed;
    }
}

LeafKey keyOf(const LedgerInput& input, const RankInput& rank, const SplitPart* part, const Segment& segment)
{
    LeafKey key{ leafOf(segment.label), Dimension::None };
    const bool hasDimension
        = segment.label == Label::Wait || segment.label == Label::Transfer || segment.label == Label::Unsplit;
    if (hasDimension && segment.part >= 0)
        key.dimension = input.instances[rank.parts[static_cast<std::size_t>(segment.part)].instance].dimension;
    if (segment.label == Label::Transfer && part && part->ideal >= 0)
        key.leaf = segment.excess ? Leaf::TransferExcess : Leaf::TransferIdeal;
    return key;
}

bool carriesCause(Leaf leaf) { return leaf == Leaf::Wait || leaf == Leaf::BubbleImbalance; }

/// Divides every caused (rank, step, leaf) over culprits and causes, piece by piece in time order.
class CauseTable {
public:
    using Key = std::tuple<std::size_t, std::int32_t, LeafKey>;

    CauseTable(const LedgerInput& input, LedgerResult& result)
    {
        std::map<std::pair<std::int32_t, std::size_t>, WaitRecord*> waits;
        std::vector<std::vector<CauseRow>> left(result.waits.size());
        for (std::size_t w = 0; w < result.waits.size(); ++w) {
            waits[{ result.waits[w].rank, result.waits[w].part }] = &result.waits[w];
            left[w] = result.waits[w].remaining;
        }
        for (std::size_t r = 0; r < result.ranks.size(); ++r) {
            for (const Segment& segment : result.ranks[r].segments) {
                if (segment.label != Label::Wait && segment.label != Label::BubbleImbalance)
                    continue;
                const auto part = static_cast<std::size_t>(segment.part);
                const auto wait = waits.find({ result.ranks[r].rank, part });
                if (wait == waits.end())
                    continue;
                const auto w = static_cast<std::size_t>(wait->second - result.waits.data());
                const Key key{ r, segment.step, keyOf(input, input.ranks[r], nullptr, segment) };
                for (const CauseRow& row : takeShare(left[w], segment.end - segment.begin)) {
                    if (row.ns > 0)
                        addRow(rows_[key], row);
                }
                for (const std::int32_t culprit : result.ranks[r].parts[part].culprits)
                    culprits_[key].insert(culprit);
            }
        }
    }

    std::vector<CauseRow> rows(const Key& key) const
    {
        const auto it = rows_.find(key);
        return it == rows_.end() ? std::vector<CauseRow>{} : it->second;
    }
    std::vector<std::int32_t> culprits(const Key& key) const
    {
        const auto it = culprits_.find(key);
        if (it == culprits_.end() || it->second.size() < 2)
            return {};
        return { it->second.begin(), it->second.end() };
    }

private:
    std::map<Key, std::vector<CauseRow>> rows_;
    std::map<Key, std::set<std::int32_t>> culprits_;
};

Ns valueOf(const LeafTable& table, const LeafTable::key_type& key)
{
    const auto it = table.find(key);
    return it == table.end() ? 0 : it->second;
}

/// Adds to a table without a search where the leaf was of the same step when it came last.
class Sums {
public:
    explicit Sums(LeafTable& table)
        : table_(table)
    {
    }

    void add(const LeafTable::key_type& key, Ns ns)
    {
        LeafTable::value_type*& last = last_[static_cast<std::size_t>(std::get<LeafKey>(key).leaf)];
        if (!last || last->first != key)
            last = &*table_.try_emplace(key, 0).first;
        last->second += ns;
    }

private:
    LeafTable& table_;
    std::array<LeafTable::value_type*, static_cast<std::size_t>(Leaf::Unattributed) + 1> last_{}; ///< by leaf
};

void writeCaused(LedgerResult& result, const LedgerRow& whole, const std::vector<CauseRow>& causes)
{
    std::vector<std::int64_t> weights;
    for (const CauseRow& cause : causes)
        weights.push_back(cause.ns);
    const auto lows = largestRemainder(whole.low, weights), highs = largestRemainder(whole.high, weights);
    Ns given = 0;
    for (std::size_t i = 0; i < causes.size(); ++i) {
        LedgerRow row = whole;
        row.ns = causes[i].ns;
        row.low = lows[i];
        row.high = highs[i];
        row.culprit = causes[i].culprit;
        row.cause = causes[i].cause;
        given += row.ns;
        result.rows.push_back(std::move(row));
    }
    if (given != whole.ns || causes.empty()) {
        LedgerRow row = whole;
        row.ns = whole.ns - given;
        row.low = causes.empty() ? whole.low : 0;
        row.high = causes.empty() ? whole.high : 0;
        result.rows.push_back(std::move(row));
    }
}

} // namespace

std::string leafName(const LeafKey& key)
{
    // Without a known dimension the leaf stands alone: "wait".
    const std::string dot = key.dimension == Dimension::None ? "" : "." + std::string(toString(key.dimension));
    switch (key.leaf) {
    case Leaf::Useful:
        return "useful";
    case Leaf::Recompute:
        return "recompute";
    case Leaf::Redundant:
        return "redundant";
    case Leaf::PrecisionDeficit:
        return "precision_deficit";
    case Leaf::MemoryBound:
        return "memory_bound";
    case Leaf::BelowRoofline:
        return "below_roofline";
    case Leaf::Compute:
        return "compute";
    case Leaf::Optimizer:
        return "optimizer";
    case Leaf::Descheduled:
        return "descheduled";
    case Leaf::Transfer:
        return "transfer" + dot;
    case Leaf::TransferIdeal:
        return "transfer" + dot + ".ideal";
    case Leaf::TransferExcess:
        return "transfer" + dot + ".excess";
    case Leaf::Unsplit:
        return "communication.unsplit" + dot;
    case Leaf::Wait:
        return "wait" + dot;
    case Leaf::BubbleFill:
        return "bubble.structural.fill";
    case Leaf::BubbleSteady:
        return "bubble.structural.steady";
    case Leaf::BubbleDrain:
        return "bubble.structural.drain";
    case Leaf::BubbleImbalance:
        return "bubble.imbalance";
    case Leaf::Copy:
        return "copy";
    case Leaf::Host:
        return "host";
    case Leaf::Launch:
        return "launch";
    case Leaf::KernelGap:
        return "kernel_gap";
    case Leaf::Data:
        return "data";
    case Leaf::Checkpoint:
        return "checkpoint";
    case Leaf::Tail:
        return "tail";
    case Leaf::Lost:
        return "lost";
    case Leaf::DownDetect:
        return "down.detect";
    case Leaf::DownRestart:
        return "down.restart";
    case Leaf::DownRestore:
        return "down.restore";
    case Leaf::Start:
        return "start";
    case Leaf::Planned:
        return "planned";
    case Leaf::Shutdown:
        return "shutdown";
    case Leaf::Unattributed:
        break;
    }
    return "unattributed";
}

LeafKey leafOf(const LedgerInput& input, const LedgerResult& result, std::size_t rank, const Segment& segment)
{
    if (segment.label == Label::Compute)
        return { Leaf::Compute, Dimension::None };
    const auto& parts = result.ranks[rank].parts;
    const bool has = segment.part >= 0 && static_cast<std::size_t>(segment.part) < parts.size();
    return keyOf(input, input.ranks[rank], has ? &parts[static_cast<std::size_t>(segment.part)] : nullptr, segment);
}

LeafTable leavesOf(
    const LedgerInput& input, const LedgerResult& result, const std::vector<std::unique_ptr<ComputeShare>>& shares)
{
    LeafTable table;
    Sums sums(table);
    for (std::size_t r = 0; r < result.ranks.size(); ++r) {
        // Parts of another view of the clock share the measured split's calibration.
        for (const Segment& segment : result.ranks[r].segments) {
            if (segment.label != Label::Compute)
                sums.add({ r, segment.step, leafOf(input, result, r, segment) }, segment.end - segment.begin);
        }
        shares[r]->distribute(result.ranks[r].segments, [&](std::int32_t step, Leaf leaf, Ns ns) {
            sums.add({ r, step, LeafKey{ leaf, Dimension::None } }, ns);
        });
    }
    return table;
}

void writeRows(const LedgerInput& input, LedgerResult& result, const LeafTable& measured, const LeafTable& low,
    const LeafTable& high)
{
    std::set<LeafTable::key_type> keys;
    for (const LeafTable* table : { &measured, &low, &high }) {
        for (const auto& [key, ns] : *table)
            keys.insert(key);
    }
    const CauseTable causes(input, result);
    std::map<std::pair<std::int32_t, LeafKey>, std::array<Ns, 3>> byStep;
    for (const auto& key : keys) {
        const auto& [r, step, leaf] = key;
        const std::array<Ns, 3> values{ valueOf(measured, key), valueOf(low, key), valueOf(high, key) };
        for (std::size_t i = 0; i < values.size(); ++i)
            byStep[{ step, leaf }][i] += values[i];
        LedgerRow row{ leaf, result.ranks[r].rank, step, values[0], std::ranges::min(values), std::ranges::max(values),
            {}, "", {} };
        if (carriesCause(leaf.leaf)) {
            row.culprits = causes.culprits(key);
            writeCaused(result, row, causes.rows(key));
        } else {
            result.rows.push_back(std::move(row));
        }
    }
    std::map<LeafKey, std::array<Ns, 3>> sums;
    for (const auto& [place, values] : byStep) {
        result.stepLeaves.push_back({ place.first, place.second, values });
        for (std::size_t i = 0; i < values.size(); ++i)
            sums[place.second][i] += values[i];
    }
    for (const auto& [leaf, values] : sums)
        result.totals.push_back({ leaf, values[0], std::ranges::min(values), std::ranges::max(values) });
}

} // namespace rankscope::tracing::ledger
