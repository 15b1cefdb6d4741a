#pragma once

#include "backend/data/text_files.h"
#include "backend/train/config.h"
#include "tracing/record/recorder.h"

#include <string>

namespace rankscope::backend {

/// This rank's declared peak and where it comes from.
struct Peak {
    double flops = 0; ///< FLOP/s of this rank
    std::string source; ///< "measured with a 768 x 768 fp32 matrix product", "train.peak_gflops"
};
Peak peakOf(const Config& config);

/// What made this run, before its first step: configuration, code, data, layout, hardware, libraries. Rank 0 writes the
/// job's facts, each rank its own host and process.
void writeProvenance(tracing::Recorder& recorder, const Config& config, int rank, const Text& text, const Peak& peak,
    int threads, const std::string& mpiVersion);

} // namespace rankscope::backend
