#include "app/models/overview_model.h"

#include "tracing/analysis/wording.h"

#include <QStringList>

#include <algorithm>
#include <iterator>
#include <numeric>

namespace rankscope::app {
namespace {

using tracing::RankAnalysis;
using tracing::RunAnalysis;

QString text(const std::string& utf8) { return QString::fromStdString(utf8); }

double share(std::int64_t part, std::int64_t whole)
{
    return whole > 0 ? static_cast<double>(part) / static_cast<double>(whole) : 0.0;
}

/// "68.3", for columns and lists that say once what they count in.
std::string shareNumber(double part)
{
    const std::string number = tracing::shareText(part);
    return number.substr(0, number.size() - 2);
}

QString letterOf(Leaf leaf) { return QString(QLatin1Char(leafStyle(leaf, Theme::Dark).letter)); }

/// "W  waiting 68.3 %", "W 68.3", "W"
BarSegment namedSegment(LeafTime time, const QString& words, std::int64_t whole)
{
    BarSegment segment{ time.leaf, time.ns, {}, {} };
    const QString letter = letterOf(time.leaf);
    const double part = share(time.ns, whole);
    segment.labels = { letter + "  " + words + " " + text(tracing::shareText(part)),
        letter + " " + text(shareNumber(part)), letter };
    segment.tip = words + ": " + text(tracing::timeText(time.ns)) + ", " + text(tracing::shareText(part));
    return segment;
}

/// The rank that most of the waiting is for, if it is more than half of it.
std::optional<std::size_t> mostAwaited(const std::vector<std::int64_t>& waits)
{
    const auto most = std::max_element(waits.begin(), waits.end());
    const std::int64_t sum = std::accumulate(waits.begin(), waits.end(), std::int64_t{ 0 });
    if (most == waits.end() || *most * 2 <= sum)
        return std::nullopt;
    return static_cast<std::size_t>(most - waits.begin());
}

std::vector<BarSegment> rankBar(const RankAnalysis& rank)
{
    std::vector<BarSegment> bar;
    for (const LeafTime& time : leafTimes(rank.split)) {
        BarSegment segment = namedSegment(time, leafWord(time.leaf), rank.split.windowNs);
        const QString letter = letterOf(time.leaf);
        segment.labels = { letter + " " + leafWord(time.leaf), letter };
        std::optional<std::size_t> awaited;
        if (time.leaf == Leaf::Wait)
            awaited = mostAwaited(rank.waitForRankNs);
        else if (time.leaf == Leaf::Imbalance)
            awaited = mostAwaited(rank.bubbleForRankNs);
        if (awaited) {
            const QString whom
                = (time.leaf == Leaf::Wait ? QStringLiteral(" for rank %1") : QStringLiteral(", waiting for rank %1"))
                      .arg(*awaited);
            segment.labels.insert(segment.labels.begin(), letter + " " + leafWord(time.leaf) + whom);
            segment.tip += QStringLiteral("; most of it for rank %1").arg(*awaited);
        }
        bar.push_back(segment);
    }
    return bar;
}

/// Hidden under compute, then what is exposed: transfer, unsplit, and the rest is waiting (pipeline waits included).
std::vector<BarSegment> communicationBar(const RankAnalysis& rank)
{
    const auto& overlap = rank.overlap;
    const std::int64_t transfer = std::min(rank.split.transferNs, overlap.exposedNs);
    const std::int64_t unsplit = std::min(rank.split.unsplitNs, overlap.exposedNs - transfer);
    std::vector<BarSegment> bar;
    const auto add = [&](Leaf leaf, std::int64_t ns, const QString& words) {
        if (ns <= 0)
            return;
        BarSegment segment = namedSegment({ leaf, ns }, words, overlap.communicationNs);
        segment.labels = { words + " " + text(shareNumber(share(ns, overlap.communicationNs))),
            text(shareNumber(share(ns, overlap.communicationNs))) };
        bar.push_back(segment);
    };
    add(Leaf::Compute, overlap.overlapNs, QStringLiteral("hidden"));
    add(Leaf::Transfer, transfer, QStringLiteral("transfer"));
    add(Leaf::Communication, unsplit, QStringLiteral("not split"));
    add(Leaf::Wait, overlap.exposedNs - transfer - unsplit, QStringLiteral("waiting"));
    return bar;
}

RankRow rankRow(const RankAnalysis& rank)
{
    RankRow row;
    row.rank = rank.info.rank;
    row.name = QStringLiteral("rank %1").arg(row.rank);
    row.node = text(rank.info.node);
    row.bar = rankBar(rank);
    row.compute = text(shareNumber(share(rank.split.computeNs, rank.split.windowNs)));
    row.waiting = text(shareNumber(share(rank.split.awaitingNs() + rank.split.bubbleNs(), rank.split.windowNs)));
    const auto hidden = rank.overlap.overlapShare();
    row.hidden = hidden ? text(tracing::shareText(*hidden)) : QStringLiteral("–");
    row.communication = communicationBar(rank);
    return row;
}

/// As if they were one.
RankRow allRanksRow(const RunAnalysis& analysis)
{
    RankAnalysis all;
    for (const RankAnalysis& rank : analysis.ranks) {
        all.split += rank.split;
        all.overlap.communicationNs += rank.overlap.communicationNs;
        all.overlap.overlapNs += rank.overlap.overlapNs;
        all.overlap.exposedNs += rank.overlap.exposedNs;
    }
    RankRow row;
    row.name = QStringLiteral("all ranks");
    const auto hidden = all.overlap.overlapShare();
    row.hidden = hidden ? text(tracing::shareText(*hidden)) : QStringLiteral("–");
    row.communication = communicationBar(all);
    return row;
}

std::vector<RankRow> rankRows(const RunAnalysis& analysis)
{
    std::vector<const RankAnalysis*> order;
    for (const RankAnalysis& rank : analysis.ranks)
        order.push_back(&rank);
    std::stable_sort(order.begin(), order.end(), [](const RankAnalysis* a, const RankAnalysis* b) {
        return a->split.awaitingNs() + a->split.bubbleNs() < b->split.awaitingNs() + b->split.bubbleNs();
    });
    std::vector<RankRow> rows;
    for (const RankAnalysis* rank : order)
        rows.push_back(rankRow(*rank));
    return rows;
}

void fillStrip(const RunAnalysis& analysis, OverviewModel& model)
{
    const bool shares = analysis.sharedCores().has_value();
    const std::int64_t capacity = analysis.capacityNs();
    QString sum;
    QString outside;
    for (const LeafTime& time : leafTimes(analysis.total)) {
        BarSegment segment = namedSegment(time, leafWord(time.leaf), capacity);
        const QString letter = letterOf(time.leaf);
        if (shares && time.leaf == Leaf::Descheduled) {
            segment.labels = { letter + "  descheduled", letter };
            segment.tip = "descheduled: " + text(tracing::timeText(time.ns)) + " without a core, outside the 100 %";
            outside = "   " + unbroken("outside: D descheduled " + rankTime(time.ns));
        } else {
            const QString word = time.leaf == Leaf::Unattributed ? QString() : leafWord(time.leaf) + " ";
            sum += unbroken(letter + " " + word + text(shareNumber(share(time.ns, capacity)))) + "   ";
        }
        model.strip.push_back(segment);
    }
    if (capacity > 0)
        model.sumLine = sum + unbroken("sum 100.0 % = " + rankTime(capacity)) + outside;
}

QString adviceOf(const tracing::Finding& finding)
{
    QStringList parts;
    if (!finding.action.empty())
        parts << QStringLiteral("try: ") + text(finding.action);
    if (!finding.gain.empty())
        parts << (parts.isEmpty() ? QStringLiteral("without it ") : QStringLiteral("then ")) + text(finding.gain);
    return parts.join(QStringLiteral(" · "));
}

void fillFindings(const RunAnalysis& analysis, OverviewModel& model)
{
    for (const tracing::Finding& finding : analysis.findings) {
        model.findings.push_back({ text(finding.title), text(finding.text), adviceOf(finding),
            finding.costShare ? text(tracing::shareText(*finding.costShare)) : QString(), text(finding.certainty),
            finding.severity, finding.ranks, finding.evidence });
    }
    model.findingsHint = QStringLiteral("%1, by cost").arg(model.findings.size());
}

void fillSteps(const RunAnalysis& analysis, OverviewModel& model)
{
    for (const tracing::StepSpan& step : analysis.allSteps) {
        const bool counted
            = analysis.counted && step.step >= analysis.counted->first && step.step <= analysis.counted->last;
        model.steps.push_back({ step.step, step.window.durationNs(), counted });
    }
    if (analysis.stepStats.count > 0) {
        model.stepHint = QStringLiteral("%1 (p95 %2)")
                             .arg(text(tracing::timeText(analysis.stepStats.meanNs)),
                                 text(tracing::timeText(analysis.stepStats.p95Ns)));
    }
}

/// A rank's own steps by begin; the run's steps begin with the first rank that enters them.
std::vector<tracing::Step> stepsOf(const std::vector<tracing::Step>& all, std::int32_t rank)
{
    std::vector<tracing::Step> steps;
    std::copy_if(
        all.begin(), all.end(), std::back_inserter(steps), [rank](const auto& step) { return step.rank == rank; });
    std::sort(steps.begin(), steps.end(), [](const auto& a, const auto& b) { return a.beginNs < b.beginNs; });
    return steps;
}

/// The step after which a value was noted: the last one that had begun; before the first one: the one before that.
double stepAt(const std::vector<tracing::Step>& steps, std::int64_t timeNs)
{
    if (steps.empty())
        return 0;
    const auto after = std::partition_point(
        steps.begin(), steps.end(), [timeNs](const tracing::Step& step) { return step.beginNs < timeNs; });
    return static_cast<double>(after == steps.begin() ? steps.front().step - 1 : std::prev(after)->step);
}

void fillLoss(const RunAnalysis& analysis, OverviewModel& model)
{
    const auto add = [&](tracing::SeriesKind kind, const QString& name) {
        const tracing::Series* series = tracing::findSeries(analysis.series, kind);
        if (!series || series->samples.empty())
            return;
        LineSeries line{ name, {} };
        const auto steps = stepsOf(analysis.facts.steps, series->rank);
        for (const auto& sample : series->samples) {
            const double x
                = analysis.allSteps.empty() ? static_cast<double>(line.points.size()) : stepAt(steps, sample.timeNs);
            line.points.push_back({ x, sample.value });
        }
        model.lossHint += (model.lossHint.isEmpty() ? "" : ", ") + name
            + QStringLiteral(" %1").arg(series->samples.back().value, 0, 'f', 2);
        model.loss.push_back(std::move(line));
    };
    add(tracing::SeriesKind::Loss, QStringLiteral("train"));
    add(tracing::SeriesKind::HeldOutLoss, QStringLiteral("held out"));
}

} // namespace

QString unbroken(QString words)
{
    constexpr QChar kWordJoiner(0x2060);
    words.replace(QLatin1Char(' '), QChar(QChar::Nbsp));
    return words.replace(QLatin1Char('-'), QLatin1Char('-') + QString(kWordJoiner));
}

QString rankTime(std::int64_t ns)
{
    const double ms = static_cast<double>(ns) / 1e6;
    if (ms < 1000)
        return QStringLiteral("%1 rank-ms").arg(ms, 0, 'f', 1);
    const double seconds = ms / 1000;
    return QStringLiteral("%1 rank-seconds").arg(seconds, 0, 'f', seconds < 100 ? 2 : seconds < 1000 ? 1 : 0);
}

std::vector<FindingCard> alertCards(const std::vector<tracing::LiveAlert>& alerts, tracing::Window run)
{
    std::vector<FindingCard> cards;
    for (auto alert = alerts.rbegin(); alert != alerts.rend(); ++alert) {
        FindingCard card;
        card.title = text(alert->title);
        card.text = text(tracing::alertDetail(*alert, run));
        // The rule's action ends the text: it has a column of its own.
        const QString separator = QStringLiteral(" · ");
        const auto action = card.text.lastIndexOf(separator);
        if (action >= 0) {
            card.certainty = card.text.mid(action + separator.size());
            card.text.truncate(action);
        }
        card.severity = tracing::Severity::Warning;
        card.ranks = alert->ranks;
        card.evidence = alert->window;
        cards.push_back(std::move(card));
    }
    return cards;
}

OverviewModel overviewModel(const RunAnalysis& analysis)
{
    OverviewModel model;
    const tracing::Headline& headline = analysis.headline;
    model.bigNumber = analysis.capacityNs() > 0 ? text(tracing::shareText(headline.bigShare)) : QStringLiteral("–");
    model.bigCaption = text(headline.bigCaption);
    model.bigHint = text(headline.bigHint);
    model.isProvisional = !analysis.facts.run.finished && !analysis.counted;
    model.sentence = text(headline.sentence);
    model.cause = text(headline.cause);
    model.gain = text(headline.gain);
    fillStrip(analysis, model);
    fillFindings(analysis, model);
    model.ranks = rankRows(analysis);
    model.allRanks = allRanksRow(analysis);
    model.ranksHint = QStringLiteral("slowest first · bar = rank’s own window, 100 %");
    if (const auto cores = analysis.sharedCores()) {
        model.sharedCores
            = text(tracing::plural(std::ssize(analysis.ranks), "rank") + " share " + tracing::plural(*cores, "core"));
    }
    fillSteps(analysis, model);
    fillLoss(analysis, model);
    return model;
}

} // namespace rankscope::app
