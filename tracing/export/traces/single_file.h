#pragma once

#include "tracing/export/traces/output_file.h"
#include "tracing/export/traces/span_source.h"
#include "tracing/export/traces/tally.h"

namespace rankscope::tracing {

/// Exports a run into the one file `path`; Writer is made of the run's spans, the file and the tally.
template <typename Writer>
ExportOutcome exportToFile(
    TraceReader& reader, const RunFacts& facts, const std::string& path, const ExportOptions& options)
{
    Tally tally(options);
    auto source = SpanSource::open(reader, facts);
    if (!source)
        return tally.failed(ExportOutcome::Fault::Run, source.error());
    auto file = OutputFile::create(path);
    if (!file)
        return tally.failed(ExportOutcome::Fault::Output, file.error());
    if (const Status written = Writer(*source, *file, tally).write(); !written)
        return tally.failed(ExportOutcome::Fault::Run, written.error());
    if (tally.isCancelled())
        return tally.cancelled();
    if (const Status finished = file->finish(); !finished)
        return tally.failed(ExportOutcome::Fault::Output, finished.error());
    return tally.done();
}

} // namespace rankscope::tracing
