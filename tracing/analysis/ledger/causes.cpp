#include "tracing/analysis/ledger/causes.h"

#include "tracing/analysis/ledger/largest_remainder.h"
#include "tracing/model/sort_runs.h"

#include <algorithm>
#include <numeric>
#include <tuple>

namespace rankscope::tracing::ledger {

namespace {

/// Labels in the order of METRICS in which shares are settled; Level 0's after the gaps.
constexpr std::array kCauseOrder{ Label::Compute, Label::Descheduled, Label::Transfer, Label::Wait, Label::Copy,
    Label::Checkpoint, Label::Data, Label::Host, Label::Launch, Label::KernelGap, Label::Tail, Label::Unattributed,
    Label::Start, Label::DownDetect, Label::DownRestart, Label::DownRestore, Label::Lost, Label::Planned,
    Label::Shutdown, Label::Unsplit, Label::NotRecorded };

class CauseFinder {
public:
    CauseFinder(const LedgerInput& input, const InstanceIndex& index,
        const std::vector<std::unique_ptr<LabelClock>>& clocks,
        const std::vector<std::unique_ptr<ComputeShare>>& shares, LedgerResult& result)
        : input_(input)
        , index_(index)
        , clocks_(clocks)
        , shares_(shares)
        , result_(result)
        , exposed_(input.ranks.size())
        , waitOfPart_(input.ranks.size())
    {
        for (std::size_t r = 0; r < input.ranks.size(); ++r) {
            exposed_[r].resize(input.ranks[r].parts.size(), 0);
            waitOfPart_[r].resize(input.ranks[r].parts.size(), -1);
            for (const Segment& segment : result.ranks[r].segments) {
                if (segment.label == Label::Wait)
                    exposed_[r][static_cast<std::size_t>(segment.part)] += segment.end - segment.begin;
            }
        }
    }

    void run()
    {
        for (const std::size_t instance : index_.order()) {
            auto parts = index_.parts(instance);
            std::ranges::sort(
                parts, {}, [&](const auto& p) { return input_.ranks[static_cast<std::size_t>(p.rank)].rank; });
            for (const auto& part : parts) {
                const auto r = static_cast<std::size_t>(part.rank);
                if (exposed_[r][part.part] > 0)
                    blame(r, part.part, instance);
            }
        }
    }

private:
    Ns stretchBegin(const RankInput& rank, Ns t) const
    {
        Ns begin = std::numeric_limits<Ns>::min();
        for (const Stretch& stretch : rank.stretches) {
            if (stretch.begin <= t)
                begin = stretch.begin;
        }
        return begin;
    }

    void blame(std::size_t r, std::size_t p, std::size_t instance)
    {
        const SplitPart& part = result_.ranks[r].parts[p];
        WaitRecord wait;
        wait.rank = input_.ranks[r].rank;
        wait.part = p;
        wait.instance = instance;
        wait.exposed = exposed_[r][p];
        if (part.late >= 0 && part.late != static_cast<std::int32_t>(r)) {
            const auto l = static_cast<std::size_t>(part.late);
            wait.late = input_.ranks[l].rank;
            const Ns floor = stretchBegin(input_.ranks[r], part.entry);
            wait.since = index_.lastSharedEntry(static_cast<std::int32_t>(r), part.late, part.entry, floor);
            divide(r, l, part, wait);
        } else {
            wait.rows.push_back({ std::nullopt, "", wait.exposed }); // live: somebody has not come yet
        }
        waitOfPart_[r][p] = static_cast<std::int32_t>(result_.waits.size());
        result_.waits.push_back(std::move(wait));
    }

    void divide(std::size_t r, std::size_t l, const SplitPart& part, WaitRecord& wait)
    {
        const Ns lateEntry = part.entry + latestEntryAfter(part, r, l, wait);
        const LabelTimes mine = clocks_[r]->between(wait.since, part.entry);
        const LabelTimes late = clocks_[l]->between(wait.since, lateEntry);
        std::vector<std::int64_t> excess;
        for (const Label label : kCauseOrder) {
            const auto c = static_cast<std::size_t>(label);
            excess.push_back(std::max<Ns>(0, late[c] - mine[c]));
        }
        const auto amounts = largestRemainder(wait.exposed, excess);
        Ns given = 0;
        for (std::size_t i = 0; i < amounts.size(); ++i) {
            given += amounts[i];
            if (amounts[i] > 0)
                book(r, l, kCauseOrder[i], amounts[i], excess[i], part.entry, lateEntry, wait);
        }
        if (given < wait.exposed)
            addRow(wait.rows, { *wait.late, causeWord(Label::Unattributed), wait.exposed - given });
    }

    /// The late rank's entry, which may be into another instance of the same group launch.
    Ns latestEntryAfter(const SplitPart& part, std::size_t r, std::size_t l, const WaitRecord& wait) const
    {
        Ns entry = part.entry;
        const auto& group = input_.ranks[r].parts[wait.part].launchGroup;
        const auto consider = [&](std::size_t instance) {
            for (const auto& other : index_.parts(instance)) {
                if (static_cast<std::size_t>(other.rank) == l)
                    entry = std::max(entry, other.entry);
            }
        };
        if (!group)
            consider(wait.instance);
        else {
            for (const PartOp& other : input_.ranks[r].parts) {
                if (other.launchGroup == group)
                    consider(other.instance);
            }
        }
        return entry - part.entry;
    }

    void book(std::size_t r, std::size_t l, Label label, Ns amount, Ns excess, Ns entry, Ns lateEntry, WaitRecord& wait)
    {
        if (label == Label::Compute)
            return bookCompute(r, l, amount, excess, entry, lateEntry, wait);
        if (label == Label::Wait)
            return passOn(l, amount, lateEntry, wait);
        addRow(wait.rows, { wait.late, causeWord(label), amount });
    }

    /// Did the late rank compute longer because it had more to do, or because it was slower?
    void bookCompute(std::size_t r, std::size_t l, Ns share, Ns excess, Ns entry, Ns lateEntry, WaitRecord& wait)
    {
        const auto tokens = [](const ComputeOp& op) { return op.work.value_or(0); };
        const auto flops = [](const ComputeOp& op) { return op.flop.value_or(0); };
        for (const auto& measure : { std::function<std::int64_t(const ComputeOp&)>(tokens),
                 std::function<std::int64_t(const ComputeOp&)>(flops) }) {
            const std::int64_t late = workIn(l, wait.since, lateEntry, measure);
            const std::int64_t mine = workIn(r, wait.since, entry, measure);
            if (late <= 0 || mine <= 0)
                continue;
            const Ns time = shares_[l]->computeWithin(wait.since, lateEntry,
                [&](const ComputeOp& op) { return op.begin >= wait.since && op.begin < lateEntry && measure(op) > 0; });
            const Ns amount = std::min(excess, late > mine ? mulDiv(time, late - mine, late) : 0);
            const std::array<std::int64_t, 2> weights{ amount, excess - amount };
            const auto parts = largestRemainder(share, weights);
            if (parts[0] > 0)
                addRow(wait.rows, { wait.late, "compute_amount", parts[0] });
            if (parts[1] > 0)
                addRow(wait.rows, { wait.late, "compute_speed", parts[1] });
            return;
        }
        addRow(wait.rows, { wait.late, causeWord(Label::Compute), share });
    }

    std::int64_t workIn(std::size_t r, Ns from, Ns to, const std::function<std::int64_t(const ComputeOp&)>& measure)
    {
        // Kernels by begin, made once a rank: imports hand them over in any order.
        if (byBegin_.empty())
            byBegin_.resize(input_.ranks.size());
        auto& order = byBegin_[r];
        const auto& compute = input_.ranks[r].compute;
        if (order.size() != compute.size()) {
            order.resize(compute.size());
            std::iota(order.begin(), order.end(), std::size_t{ 0 });
            sortRuns(order, [&](std::size_t a, std::size_t b) { return compute[a].begin < compute[b].begin; });
        }
        std::int64_t sum = 0;
        auto it = std::ranges::lower_bound(order, from, {}, [&](std::size_t k) { return compute[k].begin; });
        for (; it != order.end() && compute[*it].begin < to; ++it)
            sum += measure(compute[*it]);
        return sum;
    }

    /// The late rank was itself waiting: its causes take over, by the exposed time of each of its waits since t0.
    void passOn(std::size_t l, Ns amount, Ns lateEntry, WaitRecord& wait)
    {
        const auto& segments = clocks_[l]->segments();
        std::vector<std::pair<std::size_t, Ns>> waits; // part, exposed ns in [since, lateEntry)
        for (std::size_t i = clocks_[l]->firstAfter(wait.since); i < segments.size() && segments[i].begin < lateEntry;
             ++i) {
            const Segment& segment = segments[i];
            if (segment.label != Label::Wait)
                continue;
            const Ns ns = std::min(segment.end, lateEntry) - std::max(segment.begin, wait.since);
            const auto part = static_cast<std::size_t>(segment.part);
            const auto known = std::ranges::find(waits, part, &std::pair<std::size_t, Ns>::first);
            if (known == waits.end())
                waits.emplace_back(part, ns);
            else
                known->second += ns;
        }
        std::ranges::sort(waits, {}, [&](const auto& w) {
            const std::size_t instance = input_.ranks[l].parts[w.first].instance;
            return std::tuple(index_.lastEntry(instance), input_.instances[instance].communicator,
                input_.instances[instance].sequence);
        });
        std::vector<std::int64_t> weights;
        for (const auto& [part, ns] : waits)
            weights.push_back(ns);
        const auto shares = largestRemainder(amount, weights);
        for (std::size_t i = 0; i < waits.size(); ++i)
            passTo(l, waits[i].first, shares[i], wait);
    }

    void passTo(std::size_t l, std::size_t part, Ns share, WaitRecord& wait)
    {
        const std::int32_t processed = waitOfPart_[l][part];
        if (processed < 0) {
            if (share > 0)
                addRow(wait.rows, { wait.late, causeWord(Label::Unattributed), share });
            return;
        }
        std::vector<CauseRow> rows = result_.waits[static_cast<std::size_t>(processed)].rows;
        for (const CauseRow& row : takeShare(rows, share)) {
            if (row.ns > 0)
                addRow(wait.rows, row);
        }
    }

    const LedgerInput& input_;
    const InstanceIndex& index_;
    const std::vector<std::unique_ptr<LabelClock>>& clocks_;
    const std::vector<std::unique_ptr<ComputeShare>>& shares_;
    LedgerResult& result_;
    std::vector<std::vector<Ns>> exposed_; ///< by rank and part
    std::vector<std::vector<std::int32_t>> waitOfPart_; ///< index into result.waits
    std::vector<std::vector<std::size_t>> byBegin_;
};

} // namespace

const char* causeWord(Label label)
{
    switch (label) {
    case Label::Compute:
        return "compute";
    case Label::Descheduled:
        return "descheduled";
    case Label::Transfer:
        return "network";
    case Label::Copy:
        return "copy";
    case Label::Checkpoint:
        return "checkpoint";
    case Label::Data:
        return "data";
    case Label::Host:
        return "host";
    case Label::Launch:
        return "launch";
    case Label::KernelGap:
        return "kernel_gap";
    case Label::Tail:
        return "tail";
    case Label::Start:
        return "start";
    case Label::DownDetect:
        return "down.detect";
    case Label::DownRestart:
        return "down.restart";
    case Label::DownRestore:
        return "down.restore";
    case Label::Lost:
        return "lost";
    case Label::Planned:
        return "planned";
    case Label::Shutdown:
        return "shutdown";
    case Label::NotRecorded:
        return "before the recording";
    default:
        return "unattributed";
    }
}

void addRow(std::vector<CauseRow>& rows, const CauseRow& row)
{
    const auto same = std::ranges::find_if(rows, [&](const CauseRow& other) { return other.sameAs(row); });
    if (same == rows.end())
        rows.push_back(row);
    else
        same->ns += row.ns;
}

std::vector<CauseRow> takeShare(std::vector<CauseRow>& rows, Ns ns)
{
    std::vector<std::int64_t> weights;
    for (const CauseRow& row : rows)
        weights.push_back(row.ns);
    const auto parts = largestRemainder(ns, weights);
    std::vector<CauseRow> taken;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        taken.push_back({ rows[i].culprit, rows[i].cause, parts[i] });
        rows[i].ns -= parts[i];
    }
    return taken;
}

void findCauses(const LedgerInput& input, const InstanceIndex& index,
    const std::vector<std::unique_ptr<LabelClock>>& clocks, const std::vector<std::unique_ptr<ComputeShare>>& shares,
    LedgerResult& result)
{
    CauseFinder(input, index, clocks, shares, result).run();
}

} // namespace rankscope::tracing::ledger
