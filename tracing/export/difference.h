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
    std::optional<double>
        spreadA{}; ///< standard deviation over the counted steps; absent where steps have no such figure
    std::optional<double> spreadB{};
    bool isNoise = false; ///< the difference is below twice the standard error of the two means
};

/// Step times, shares, loss, bandwidths and the kernels whose time per step differs most.
std::vector<Difference> differences(const RunAnalysis& a, const RunAnalysis& b);

std::string differenceText(const RunAnalysis& a, const RunAnalysis& b);
/// The same in at most kBriefLines lines of kBriefColumns columns: step time, leaves, collectives; kernels if they fit.
std::string differenceBrief(const RunAnalysis& a, const RunAnalysis& b);
std::string differenceJson(const RunAnalysis& a, const RunAnalysis& b);

} // namespace rankscope::tracing
