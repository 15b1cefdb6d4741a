#include "app/models/ledger_model.h"

#include "app/models/overview_model.h"
#include "tracing/analysis/wording.h"

#include <QStringList>

#include <algorithm>
#include <map>
#include <set>

namespace rankscope::app {
namespace {

using tracing::RunLedger;
using tracing::Saving;
using tracing::ledger::LeafKey;
using tracing::ledger::LedgerRow;
using LedgerLeaf = tracing::ledger::Leaf;

constexpr double kWorthALine = 0.0005;
constexpr double kStandsOut = 1.5; ///< times the mean: the rank is named
constexpr std::size_t kMostRanks = 4; ///< named under one leaf

QString text(const std::string& utf8) { return QString::fromStdString(utf8); }

double shareOf(const RunLedger& run, std::int64_t ns)
{
    return run.capacityNs > 0 ? static_cast<double>(ns) / static_cast<double>(run.capacityNs) : 0.0;
}

QString amountText(const RunLedger& run, LedgerUnit unit, std::int64_t ns)
{
    switch (unit) {
    case LedgerUnit::Share:
        return text(tracing::shareText(shareOf(run, ns)));
    case LedgerUnit::RankTime:
        return rankTime(ns);
    case LedgerUnit::GpuHours:
        return QString::number(static_cast<double>(ns) / 3.6e12, 'g', 3) + QStringLiteral(" h");
    }
    return {};
}

bool isAvoidable(LedgerLeaf leaf)
{
    switch (leaf) {
    case LedgerLeaf::Useful:
    case LedgerLeaf::Compute:
    case LedgerLeaf::Optimizer:
    case LedgerLeaf::TransferIdeal:
    case LedgerLeaf::Start:
    case LedgerLeaf::Planned:
    case LedgerLeaf::Shutdown:
        return false;
    default:
        return true;
    }
}

bool isShown(const LedgerChoice& choice, LedgerLeaf leaf) { return !choice.avoidableOnly || isAvoidable(leaf); }

/// Unattributed first, tails behind the leaves that have a letter of their own.
std::pair<int, LeafKey> placeOf(const LeafKey& key)
{
    const bool last = key.leaf == LedgerLeaf::Tail;
    return { last ? kLeafCount : static_cast<int>(leafOf(key.leaf)), key };
}

QString savingText(const RunLedger& run, const Saving* saving)
{
    if (!saving)
        return QStringLiteral("–");
    const tracing::Prediction& replay = saving->prediction;
    const std::int64_t steps = std::max<std::int64_t>(1, run.countedSteps);
    const auto time = [steps](std::int64_t ns) { return text(tracing::timeText(ns / steps)); };
    if (replay.savedShare() < kWorthALine || time(replay.baselineNs) == time(replay.predictedNs))
        return QStringLiteral("no gain");
    const QString range = time(replay.lowNs) == time(replay.highNs)
        ? QString()
        : QStringLiteral(" (%1)").arg(text(tracing::rangeText(replay.lowNs / steps, replay.highNs / steps)));
    return QStringLiteral("%1 %2 → %3")
               .arg(run.countedSteps == 0 ? QStringLiteral("run") : QStringLiteral("step"), time(replay.baselineNs),
                   time(replay.predictedNs))
        + range;
}

class LineBuilder {
public:
    LineBuilder(const RunLedger& run, const LedgerChoice& choice)
        : run_(run)
        , choice_(choice)
        , sums_(tracing::summedRows(run))
    {
    }

    std::vector<LedgerLine> lines()
    {
        std::vector<tracing::ledger::LedgerTotal> totals = run_.totals;
        std::ranges::sort(totals, {}, [](const auto& total) { return placeOf(total.leaf); });
        for (const auto& total : totals) {
            if (total.ns == 0 || !isShown(choice_, total.leaf.leaf))
                continue;
            // Never hidden: that nothing is unexplained is a figure too.
            if (lines_.empty() && leafOf(total.leaf.leaf) != Leaf::Unattributed)
                addUnattributed();
            LedgerLine line = lineOf(total.leaf, total.ns);
            line.name = leafTitle(total.leaf);
            line.fixed = savingText(run_, run_.savingOf(total.leaf));
            lines_.push_back(line);
            if (!addCauses(total.leaf))
                addRanks(total.leaf, total.ns);
        }
        return std::move(lines_);
    }

private:
    void addUnattributed()
    {
        LedgerLine line = lineOf({ LedgerLeaf::Unattributed }, 0);
        line.name = leafTitle({ LedgerLeaf::Unattributed });
        line.fixed = savingText(run_, nullptr);
        lines_.push_back(line);
    }

    LedgerLine lineOf(const LeafKey& leaf, std::int64_t ns) const
    {
        LedgerLine line;
        line.look = leafOf(leaf.leaf);
        line.share = shareOf(run_, ns);
        line.amount = amountText(run_, choice_.unit, ns);
        line.own = text(tracing::timeText(ns));
        line.choice.leaf = leaf;
        return line;
    }

    bool addCauses(const LeafKey& leaf)
    {
        std::map<std::pair<std::optional<std::int32_t>, std::string>, std::int64_t> sums;
        for (const LedgerRow& row : *sums_) {
            if (row.leaf == leaf && !row.cause.empty())
                sums[{ row.culprit, row.cause }] += row.ns;
        }
        std::vector<std::pair<std::int64_t, std::pair<std::optional<std::int32_t>, std::string>>> order;
        for (const auto& [who, ns] : sums)
            order.emplace_back(ns, who);
        std::ranges::stable_sort(order, std::ranges::greater(), [](const auto& entry) { return entry.first; });
        for (const auto& [ns, who] : order) {
            if (shareOf(run_, ns) < kWorthALine)
                break;
            LedgerLine line = lineOf(leaf, ns);
            line.depth = 1;
            line.name = who.first ? QStringLiteral("for rank %1").arg(*who.first) : QStringLiteral("nobody named");
            line.who = causeTitle(who.second);
            line.fixed = savingText(run_, run_.savingOf(who.first, who.second));
            line.choice.culprit = who.first;
            line.choice.cause = who.second;
            lines_.push_back(line);
        }
        return !sums.empty();
    }

    /// Ranks that have much more of it than the others.
    void addRanks(const LeafKey& leaf, std::int64_t total)
    {
        std::map<std::int32_t, std::int64_t> sums;
        for (const LedgerRow& row : *sums_) {
            if (row.leaf == leaf)
                sums[row.rank] += row.ns;
        }
        std::vector<std::pair<std::int64_t, std::int32_t>> order;
        for (const auto& [rank, ns] : sums)
            order.emplace_back(ns, rank);
        std::ranges::stable_sort(order, std::ranges::greater(), [](const auto& entry) { return entry.first; });
        const double mean
            = static_cast<double>(total) / static_cast<double>(std::max<std::size_t>(1, run_.ranks.size()));
        for (std::size_t i = 0; i < std::min(order.size(), kMostRanks); ++i) {
            const auto [ns, rank] = order[i];
            if (run_.ranks.size() < 2 || static_cast<double>(ns) < kStandsOut * mean || shareOf(run_, ns) < kWorthALine)
                break;
            LedgerLine line = lineOf(leaf, ns);
            line.depth = 1;
            line.name = QStringLiteral("rank %1").arg(rank);
            line.choice.rank = rank;
            lines_.push_back(line);
        }
    }

    const RunLedger& run_;
    const LedgerChoice& choice_;
    const tracing::SharedRows::Piece sums_;
    std::vector<LedgerLine> lines_;
};

// -- bars ---------------------------------------------------------------------------------------------------------

struct GroupSum {
    QString name;
    std::map<Leaf, std::int64_t> leaves; ///< in the order of LOOK section 3, unattributed first
    std::optional<std::int32_t> rank;
    std::optional<std::int64_t> step;

    std::int64_t sum() const
    {
        std::int64_t all = 0;
        for (const auto& [leaf, ns] : leaves)
            all += ns;
        return all;
    }
};

QString stepName(const RunLedger& run, std::int32_t index)
{
    if (index < 0)
        return QStringLiteral("no step");
    const auto& step = run.steps[static_cast<std::size_t>(index)];
    const QString attempt = step.attempt > 1 ? QStringLiteral(", attempt %1").arg(step.attempt) : QString();
    return QStringLiteral("step %1").arg(step.step) + attempt;
}

QString dimensionName(tracing::Dimension dimension)
{
    if (dimension == tracing::Dimension::None)
        return QStringLiteral("no dimension");
    const std::string_view word = tracing::toString(dimension);
    return QString::fromUtf8(word.data(), static_cast<qsizetype>(word.size()));
}

QString causeName(const LedgerRow& row)
{
    if (row.cause.empty())
        return QStringLiteral("no cause");
    return causeTitle(row.cause) + (row.culprit ? QStringLiteral(", rank %1").arg(*row.culprit) : QString());
}

/// Where the row's bar stands, and what it is called there.
std::pair<std::pair<std::int64_t, QString>, GroupSum> groupOf(const RunLedger& run, LedgerBy by, const LedgerRow& row)
{
    GroupSum group;
    switch (by) {
    case LedgerBy::Rank:
        group.name = QStringLiteral("rank %1").arg(row.rank);
        group.rank = row.rank;
        return { { row.rank, {} }, group };
    case LedgerBy::Step:
        group.name = stepName(run, row.step);
        if (row.step >= 0)
            group.step = run.steps[static_cast<std::size_t>(row.step)].step;
        return { { row.step < 0 ? std::ssize(run.steps) : row.step, {} }, group };
    case LedgerBy::Dimension:
        group.name = dimensionName(row.leaf.dimension);
        return { { static_cast<std::int64_t>(row.leaf.dimension), {} }, group };
    case LedgerBy::Cause:
        group.name = causeName(row);
        return { { row.cause.empty() ? 1 : 0, group.name }, group };
    }
    return { { 0, {} }, group };
}

BarSegment segmentOf(Leaf leaf, std::int64_t ns, std::int64_t whole)
{
    const LeafStyle& style = leafStyle(leaf, Theme::Dark);
    const QString letter(QLatin1Char(style.letter));
    const QString word = leafWord(leaf);
    const std::string part = tracing::shareText(whole > 0 ? static_cast<double>(ns) / static_cast<double>(whole) : 0);
    BarSegment segment{ leaf, ns, {}, {} };
    segment.labels = { letter + "  " + word + " " + text(part), letter + " " + word, letter };
    segment.tip = word + ": " + text(tracing::timeText(ns)) + ", " + text(part) + " of this bar";
    return segment;
}

std::vector<LedgerGroup> groupsOf(const RunLedger& run, const LedgerChoice& choice)
{
    std::map<std::pair<std::int64_t, QString>, GroupSum> sums;
    tracing::SharedRows rows;
    if (choice.by == LedgerBy::Step)
        rows = run.rows;
    else
        rows.add(tracing::summedRows(run)); // a long run has many steps
    for (const LedgerRow& row : rows) {
        if (row.ns == 0 || !isShown(choice, row.leaf.leaf))
            continue;
        auto [place, group] = groupOf(run, choice.by, row);
        sums.try_emplace(place, std::move(group)).first->second.leaves[leafOf(row.leaf.leaf)] += row.ns;
    }
    std::vector<const GroupSum*> order;
    for (const auto& [place, group] : sums)
        order.push_back(&group);
    if (choice.by == LedgerBy::Cause)
        std::ranges::stable_sort(order, std::ranges::greater(), &GroupSum::sum);
    GroupSum all;
    all.name = QStringLiteral("total");
    for (const GroupSum* sum : order) {
        for (const auto& [leaf, ns] : sum->leaves)
            all.leaves[leaf] += ns;
    }
    order.insert(order.begin(), &all);
    std::vector<LedgerGroup> groups;
    for (const GroupSum* sum : order) {
        const std::int64_t whole = sum->sum();
        LedgerGroup group{ sum->name, amountText(run, choice.unit, whole), {}, sum->rank, sum->step };
        for (const auto& [leaf, ns] : sum->leaves)
            group.bar.push_back(segmentOf(leaf, ns, whole));
        groups.push_back(std::move(group));
    }
    return groups;
}

/// Two decimals: the clocks' error seldom moves more.
QString fineShare(const RunLedger& run, std::int64_t ns) { return QString::number(100 * shareOf(run, ns), 'f', 2); }

QString notesOf(const RunLedger& run)
{
    QStringList notes;
    for (const auto& total : run.totals) {
        if (total.leaf.leaf == LedgerLeaf::Wait && total.low < total.high) {
            notes << QStringLiteral("%1 with the clock error: %2 to %3 %")
                         .arg(leafTitle(total.leaf), fineShare(run, total.low), fineShare(run, total.high));
        }
    }
    if (run.notRecordedNs > 0)
        notes << QStringLiteral("not recorded, outside the 100 %: %1").arg(rankTime(run.notRecordedNs));
    if (run.ranksAbsent > 0)
        notes << QStringLiteral("%1 missing: who was late cannot always be told")
                     .arg(text(tracing::plural(run.ranksAbsent, "rank")));
    if (run.violationsBeyondError > 0)
        notes << text(tracing::plural(run.violationsBeyondError, "part"))
                + QStringLiteral(" left a collective before the last rank entered it");
    for (QString& note : notes)
        note.replace(QLatin1String("rank-"), unbroken(QStringLiteral("rank-")));
    return notes.join(QStringLiteral(" · "));
}

/// Why the shares are not the overview's, where they are not.
QString scopeNote(const RunLedger& whole)
{
    if (!whole.counted)
        return {};
    const auto isOther = [&](const LedgerRow& row) {
        const std::int64_t step = row.step < 0 ? -1 : whole.steps[static_cast<std::size_t>(row.step)].step;
        return row.ns > 0 && (row.step < 0 || step < whole.counted->first || step > whole.counted->last);
    };
    if (std::ranges::none_of(whole.rows, isOther))
        return {};
    const auto [first, last] = *whole.counted;
    return QStringLiteral("the whole run, with what lies outside of steps; the overview counts ")
        + (first == last ? QStringLiteral("step %1").arg(first)
                         : QStringLiteral("steps %1 to %2").arg(first).arg(last));
}

} // namespace

LedgerModel ledgerModel(const RunLedger& whole, const LedgerChoice& choice)
{
    LedgerModel model;
    const auto part = choice.steps ? tracing::onlySteps(whole, *choice.steps) : std::optional<RunLedger>();
    if (choice.steps && !part) {
        model.problem = whole.steps.empty()
            ? QStringLiteral("This run has no steps")
            : QStringLiteral("The run has steps %1 to %2").arg(whole.steps.front().step).arg(whole.steps.back().step);
        return model;
    }
    const RunLedger& run = part ? *part : whole;
    model.denominator = run.gpuTime ? QStringLiteral("GPU time") : QStringLiteral("rank time");
    model.lines = LineBuilder(run, choice).lines();
    model.sumAmount = amountText(run, choice.unit, run.capacityNs);
    model.sumOwn = text(tracing::timeText(run.capacityNs));
    model.residual = QStringLiteral("residual %1 ns").arg(run.residualNs());
    model.notes = notesOf(run);
    if (const QString scope = part ? QString() : scopeNote(whole); !scope.isEmpty())
        model.notes = model.notes.isEmpty() ? scope : scope + QStringLiteral(" · ") + model.notes;
    model.groups = groupsOf(run, choice);
    model.groupsHint = choice.by == LedgerBy::Rank
        ? QStringLiteral("bar = the rank’s own window, 100 % · right: its part of all time")
        : QStringLiteral("bar = all time of its kind, 100 %");
    return model;
}

} // namespace rankscope::app
