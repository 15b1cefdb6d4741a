#pragma once

#include "tracing/analysis/diagnosis/diagnosis.h"

#include <vector>

namespace rankscope::tracing::diagnosis {

using Steps = std::span<const StepMeasures>;

// One function a trouble; each gives what it finds for every rank, stage or link.
std::vector<Diagnosis> slowCompute(Steps steps);
std::vector<Diagnosis> moreWork(Steps steps);
std::vector<Diagnosis> slowData(Steps steps);
std::vector<Diagnosis> pausesAndStalls(Steps steps);
std::vector<Diagnosis> slowLinks(Steps steps);

/// How many times as long as on the others this rank's kernels take in this step; 1 where nothing can be compared.
double slowness(const StepMeasures& step, const RankStep& rank);

/// Length of a step that nothing disturbs: the lower quartile.
double calmStepNs(Steps steps);

} // namespace rankscope::tracing::diagnosis
