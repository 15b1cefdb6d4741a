#pragma once

#include "tracing/export/traces/output_file.h"
#include "tracing/export/traces/trace_export.h"

namespace rankscope::tracing {

/// Counts what is exported and says when to stop: the disk is full, or somebody asked.
class Tally {
public:
    explicit Tally(const ExportOptions& options)
        : options_(options)
    {
    }

    /// After each span; false: stop.
    bool addSpan(const OutputFile& file) { return goOn(++outcome_.spans, file); }
    bool addSample(const OutputFile& file) { return goOn(outcome_.spans + ++outcome_.samples, file); }
    bool isCancelled() const { return isCancelled_; }

    ExportOutcome done() const { return outcome_; }
    ExportOutcome failed(ExportOutcome::Fault fault, const Error& error) const
    {
        ExportOutcome outcome = outcome_;
        outcome.fault = fault;
        outcome.message = error.message();
        return outcome;
    }
    ExportOutcome cancelled() const { return failed(ExportOutcome::Fault::Cancelled, Error("cancelled")); }

private:
    bool goOn(std::int64_t done, const OutputFile& file)
    {
        constexpr std::int64_t kBetween = 1 << 14;
        if (done % kBetween == 0 && options_.progress && !options_.progress(done))
            isCancelled_ = true;
        return !isCancelled_ && file.good();
    }

    const ExportOptions& options_;
    ExportOutcome outcome_;
    bool isCancelled_ = false;
};

} // namespace rankscope::tracing
