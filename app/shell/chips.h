#pragma once

#include "app/session/run_session.h"
#include "app/shell/header_bar.h"
#include "tracing/analysis/run_analysis.h"

#include <QString>
#include <QVector>

namespace rankscope::app {

/// The run's facts for the header: ranks, alerts, steps counted, duration, source, clock error, and how live it is.
/// `analysis` may be null.
QVector<Chip> runChips(
    const RunSnapshot& run, const tracing::RunAnalysis* analysis, RunSession::Progress progress, std::int64_t behindNs);

/// What was lost or repaired, for the status bar; says so where nothing was.
QString lossLine(const std::vector<tracing::Loss>& losses);

} // namespace rankscope::app
