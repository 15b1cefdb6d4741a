#pragma once

#include "app/session/run_snapshot.h"
#include "app/session/selection.h"
#include "tracing/store/trace_reader.h"

#include <QString>

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace rankscope::app {

/// One rank's part of a collective; the times are the run's.
struct CollectivePartRow {
    std::int32_t rank = 0;
    std::int64_t beginNs = 0;
    std::int64_t splitNs = 0; ///< wait before, transfer after
    std::int64_t endNs = 0;
    bool isSplit = false;
    bool isLate = false; ///< it entered last
    std::int64_t clockErrorNs = 0;
    QString figures; ///< "wait 1.00 s   transfer 12.2 ms   ±0.08 ms"
};

/// All that the file says about a selection.
struct Details {
    QString title; ///< what it is
    QString subtitle;
    std::vector<std::pair<QString, QString>> fields;
    std::vector<CollectivePartRow> parts; ///< by rank; collectives only
    QString conclusion; ///< "Rank 2 entered 1.00 s after the first."
};

/// Reads the selected row again and everything that belongs to it. An error says what is not in the file.
tracing::Result<Details> readDetails(tracing::TraceReader& reader, const RunSnapshot& run, const Selection& selection);

} // namespace rankscope::app
