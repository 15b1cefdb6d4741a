#pragma once

#include "tracing/analysis/diagnosis/step_measures.h"
#include "tracing/model/result.h"
#include "tracing/store/trace_reader.h"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

namespace rankscope::tracing::diagnosis {

/// Reads the steps of a run that we recorded, while it grows or afterwards. What was read once is not read again.
class StepReader {
public:
    /// Steps that all ranks have ended and that were not given before, in order; a few dozen at a time, none when there
    /// are no more for now. The collector writes a step after the rows in it, so they are all there; of a growing file
    /// only the counters that follow a step's end may be missing.
    Result<std::vector<StepMeasures>> next(TraceReader& reader);

private:
    /// Steps of an attempt after one of them.
    struct Place {
        std::int32_t attempt = 0;
        std::int64_t after = std::numeric_limits<std::int64_t>::min();
    };
    static Result<std::vector<StepMeasures>> endedSteps(TraceReader& reader, const Place& place);
    /// Where the attempt after that one begins, if there is one.
    static Result<std::optional<Place>> nextAttempt(TraceReader& reader, const Place& place);

    Place place_;
};

} // namespace rankscope::tracing::diagnosis
