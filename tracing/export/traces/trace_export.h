#pragma once

#include "tracing/analysis/run_rows.h"
#include "tracing/store/trace_reader.h"

#include <cstdint>
#include <functional>
#include <string>

namespace rankscope::tracing {

struct ExportOptions {
    std::function<bool(std::int64_t spansDone)> progress{}; ///< now and then; false cancels
};

struct ExportOutcome {
    enum class Fault { None, Run, Output, Cancelled };
    std::int64_t spans = 0;
    std::int64_t samples = 0; ///< of counters
    Fault fault = Fault::None; ///< Run: it cannot be read; Output: it cannot be written
    std::string message; ///< one line, where there is a fault
};

// Each writes the whole run, all ranks on the run's clock, in bounded memory. Files appear under their names only when
// they are whole.

/// Perfetto's protobuf: a process a rank, a track a lane, counters, flows along collectives, messages and launches.
ExportOutcome exportPerfetto(
    TraceReader& reader, const RunFacts& facts, const std::string& path, const ExportOptions& options = {});

/// Chrome's trace-event JSON with PyTorch's categories and arguments; compressed where the name ends in .gz.
ExportOutcome exportChrome(
    TraceReader& reader, const RunFacts& facts, const std::string& path, const ExportOptions& options = {});

/// A folder with spans.csv, counters.csv, ranks.csv and run.csv (RFC 4180, times in ns on the run's clock). It is made
/// where there is none; files of these names in it are replaced.
ExportOutcome exportCsv(
    TraceReader& reader, const RunFacts& facts, const std::string& folder, const ExportOptions& options = {});

} // namespace rankscope::tracing
