#pragma once

#include "tracing/analysis/run_analysis.h"

#include <optional>
#include <string>
#include <vector>

namespace rankscope::tracing {

/// One figure of two runs side by side. Absent where a run does not have it.
struct Difference {
    enum class Unit { Share, Ns, PerSecond, Nats, GBps };
    std::string what; ///< "step time, mean", "wait, share of rank time", "kernel matmul, per step"
    Unit unit = Unit::Share;
    std::optional<double> a;
    std::optional<double> b;
};

/// Step times, shares, loss, bandwidths and the kernels whose time per step differs most.
std::vector<Difference> differences(const RunAnalysis& a, const RunAnalysis& b);

std::string differenceText(const RunAnalysis& a, const RunAnalysis& b);
std::string differenceJson(const RunAnalysis& a, const RunAnalysis& b);

} // namespace rankscope::tracing
