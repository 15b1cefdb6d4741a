#include "app/shell/chips.h"

#include "tracing/analysis/wording.h"

#include <algorithm>
#include <set>

namespace rankscope::app {
namespace {

QString text(const std::string& utf8) { return QString::fromStdString(utf8); }

Chip ranksChip(const RunSnapshot& run)
{
    const auto present = static_cast<std::int64_t>(run.ranks.size());
    if (run.run.worldSize > present)
        return { QStringLiteral("%1 of %2 ranks").arg(present).arg(run.run.worldSize),
            "The other ranks are not in this file" };
    return { text(tracing::plural(present, "rank")), {} };
}

Chip stepsChip(const tracing::RunAnalysis& analysis)
{
    const auto [first, last] = *analysis.counted;
    const QString tip = QStringLiteral("Steps counted: %1 of %2; warm-up and cut-off steps are left out")
                            .arg(analysis.steps.size())
                            .arg(analysis.allSteps.size());
    if (first == last)
        return { QStringLiteral("step %1").arg(first), tip };
    return { QStringLiteral("steps %1 to %2").arg(first).arg(last), tip };
}

/// "PyTorch, 4 files"
QString sourceText(const RunSnapshot& run)
{
    const std::string name = tracing::sourceName(run.run.source);
    std::set<std::string> files;
    for (const auto& [key, value] : run.provenance) {
        if (key.starts_with("file.") && key.ends_with(".path"))
            files.insert(value);
    }
    return text(files.empty() ? name : name + ", " + tracing::plural(std::ssize(files), "file"));
}

/// Tenths of a second: the figure changes all the time, more digits would flicker.
QString behind(std::int64_t ns) { return QStringLiteral("%1 s").arg(static_cast<double>(ns) / 1e9, 0, 'f', 1); }

} // namespace

QVector<Chip> runChips(
    const RunSnapshot& run, const tracing::RunAnalysis* analysis, RunSession::Progress progress, std::int64_t behindNs)
{
    QVector<Chip> chips{ ranksChip(run) };
    if (!run.alerts.empty()) {
        chips.push_back({ text(tracing::plural(std::ssize(run.alerts), "alert")),
            QStringLiteral("Newest: %1. The overview lists them").arg(text(run.alerts.back().title)) });
    }
    if (analysis && analysis->counted)
        chips.push_back(stepsChip(*analysis));
    chips.push_back({ text(tracing::timeText(run.window.durationNs())), "First begin to last end in the file" });
    if (!run.run.source.empty())
        chips.push_back({ sourceText(run), "Who recorded it" });
    if (run.ranks.size() > 1 && run.clockErrorNs() > 0) {
        chips.push_back({ QStringLiteral("clock ±%1 ms").arg(static_cast<double>(run.clockErrorNs()) / 1e6, 0, 'g', 2),
            "Largest error of any rank's clock against the run's" });
    }
    if (progress == RunSession::Progress::Live)
        chips.push_back({ QStringLiteral("live, %1 behind").arg(behind(behindNs)), "The run is being recorded", true });
    else if (progress == RunSession::Progress::Stalled)
        chips.push_back(
            { "not finished", "Its recorder did not close the file, and nothing was written for some time", true });
    return chips;
}

QString lossLine(const std::vector<tracing::Loss>& losses)
{
    if (losses.empty())
        return QStringLiteral("nothing dropped, nothing repaired");
    std::vector<tracing::Loss> byKind;
    for (const auto& loss : losses) {
        const auto known
            = std::find_if(byKind.begin(), byKind.end(), [&](const auto& each) { return each.kind == loss.kind; });
        if (known == byKind.end())
            byKind.push_back(loss);
        else
            known->count += loss.count;
    }
    QStringList words;
    for (const auto& loss : byKind)
        words.push_back(text(loss.kind) + ": " + text(tracing::countText(loss.count)));
    return words.join(QStringLiteral(" · "));
}

} // namespace rankscope::app
