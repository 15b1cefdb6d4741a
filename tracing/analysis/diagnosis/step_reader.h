#pragma once

#include "tracing/analysis/diagnosis/step_measures.h"
#include "tracing/model/result.h"
#include "tracing/store/trace_reader.h"

#include <cstddef>
#include <cstdint>
#include <set>
#include <utility>
#include <vector>

namespace rankscope::tracing::diagnosis {

/// Reads the steps of a run that we recorded, while it grows or afterwards. A step's rows are read once.
class StepReader {
public:
    /// Steps that all ranks have ended and that were not given before, in order; a few dozen at a time, none when there
    /// are no more for now. The collector writes a step after the rows in it, so they are all there; of a growing file
    /// only the counters that follow a step's end may be missing.
    Result<std::vector<StepMeasures>> next(TraceReader& reader);

private:
    std::set<std::pair<std::int32_t, std::int64_t>> given_; ///< attempt and step
};

} // namespace rankscope::tracing::diagnosis
