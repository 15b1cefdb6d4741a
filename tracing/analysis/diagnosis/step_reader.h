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
    /// are no more for now. A step of a growing file is given once a rank has ended a later one: then its rows are all
    /// there.
    Result<std::vector<StepMeasures>> next(TraceReader& reader);

private:
    std::set<std::pair<std::int32_t, std::int64_t>> given_; ///< attempt and step
};

} // namespace rankscope::tracing::diagnosis
