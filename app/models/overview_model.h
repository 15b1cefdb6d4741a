#pragma once

#include "app/models/leaf_bar.h"
#include "tracing/analysis/run_analysis.h"

#include <QString>

#include <cstdint>
#include <optional>
#include <vector>

namespace rankscope::app {

struct FindingCard {
    QString title;
    QString text;
    QString advice; ///< "try: larger batches · then a step would take 90 ms instead of 1.09 s (replay)", or empty
    QString cost; ///< "68.3 %", or empty where it is no cost
    QString certainty; ///< "certain", or how the clocks' error stands against it; empty where there is no cost
    tracing::Severity severity = tracing::Severity::Info;
    std::vector<std::int32_t> ranks;
    tracing::Window evidence; ///< empty: nothing to show
    bool operator==(const FindingCard&) const = default;
};

struct RankRow {
    std::int32_t rank = 0;
    QString name;
    QString node; ///< empty: the file does not say
    std::vector<BarSegment> bar; ///< sums to the rank's window
    QString compute, waiting, hidden; ///< columns beside it
    std::vector<BarSegment> communication; ///< hidden, transfer, waiting: sums to all its communication; empty: none
};

struct StepBar {
    std::int64_t step = 0;
    std::int64_t ns = 0;
    bool counted = false; ///< stands in the figures above
};

struct LinePoint {
    double x = 0; ///< step
    double y = 0;
};

struct LineSeries {
    QString name;
    std::vector<LinePoint> points;
};

/// What the overview shows, in words and lengths; the widgets only draw it. Nothing here is computed but layout: the
/// figures and sentences are those of the analysis.
struct OverviewModel {
    QString bigNumber, bigCaption, bigHint;
    bool isProvisional = false; ///< no complete step yet: figures stand dim
    QString sentence, cause, gain;
    std::vector<BarSegment> strip; ///< sums to the rank time; descheduled last
    QString sumLine;
    std::vector<FindingCard> findings;
    QString findingsHint;
    std::vector<RankRow> ranks; ///< slowest first: the one that waits least
    RankRow allRanks; ///< their communication together
    QString ranksHint;
    QString sharedCores; ///< "4 ranks share 2 cores", or empty
    std::vector<StepBar> steps;
    QString stepHint; ///< "610 ms (p95 660 ms)"
    std::vector<LineSeries> loss;
    QString lossHint;
};

OverviewModel overviewModel(const tracing::RunAnalysis& analysis);

/// What the run's own detectors have seen, newest first. Certainty stands for what was done about it.
std::vector<FindingCard> alertCards(const std::vector<tracing::LiveAlert>& alerts, tracing::Window run);

/// The same words without a place where a line may break, neither at a space nor at a hyphen.
QString unbroken(QString words);

/// "13.17 rank-seconds", "128.1 rank-ms"
QString rankTime(std::int64_t ns);

} // namespace rankscope::app
