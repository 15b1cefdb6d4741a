#pragma once

#include "backend/train/trainer.h"

#include <string>

namespace rankscope::backend {

// One JSON object on one line each, as scripts read them from standard output.

/// {"schema":1,"step":7,"loss":...,"tokens_per_s":...,"step_ms":...,"mfu":...,"grad_norm":...}
std::string stepLine(const StepReport& report);
/// {"schema":1,"event":"validation","step":7,"loss":...,"tokens":...}
std::string validationLine(const ValidationReport& report);
/// {"schema":1,"event":"start","ranks":2,"threads":1,"parameters":...,"peak_flops":...,"peak_source":"..."}
std::string startLine(int ranks, int threads, std::int64_t parameters, double peakFlops, const std::string& peakSource);
/// {"schema":1,"event":"checkpoint","step":20,"path":"...","bytes":...,"blocked_ms":...}, and "checkpoint failed",
/// "checkpoint skipped" (with a "message") and "restored".
std::string checkpointLine(const CheckpointEvent& event);
/// {"schema":1,"event":"end","reason":"complete"}
std::string endLine(RunEnd end);

} // namespace rankscope::backend
