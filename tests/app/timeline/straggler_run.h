#pragma once

#include <filesystem>

namespace rankscope::app::timeline {

/// Four ranks as two pipeline stages, three steps of 1 s: rank 2 enters each all-reduce 400 ms after the others.
/// Step s of rank r, all in ms after s * 1000: stage 1 waits 100 (fill); 4 micro-batches of forward and backward of 50
/// each; the all-reduce from 500 (rank 2: 900) to 930; a kernel of the optimizer from 940 to 990.
void writeStragglerRun(const std::filesystem::path& file, int steps = 3);

} // namespace rankscope::app::timeline
