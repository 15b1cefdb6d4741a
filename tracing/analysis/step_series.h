#pragma once

#include "tracing/analysis/run_rows.h"
#include "tracing/model/result.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace rankscope::tracing {

/// One optimiser update over all ranks. Steps tile: each ends where the next begins (METRICS 5.3, level 0).
struct StepSpan {
    std::int64_t step = 0;
    std::int32_t attempt = 0;
    Window window;
    bool operator==(const StepSpan&) const = default;
};
/// From each rank's own stretches: begin = earliest of any rank, end = the next one's begin, the last one's latest end.
std::vector<StepSpan> tiledSteps(const std::vector<Step>& steps);
/// From each step's stretch over all ranks, by attempt, then number.
std::vector<StepSpan> tiled(std::vector<StepSpan> steps);

/// Steps A to B, both counted.
struct StepRange {
    std::int64_t first = 0;
    std::int64_t last = 0;
    bool operator==(const StepRange&) const = default;
};

/// What an analysis counts when nobody asks for more: all steps, of our own recordings from the second on (the first is
/// warm-up; other tools record steps from the midst of a run) where there are at least four. Of an unfinished run the
/// last step is left out too. None without steps.
std::optional<StepRange> countedSteps(std::span<const StepSpan> steps, const RunInfo& run);
std::vector<StepSpan> stepsIn(std::span<const StepSpan> steps, StepRange range);
/// The steps of the range; an error that names those there are, where it holds none.
Result<std::vector<StepSpan>> stepsAskedFor(std::span<const StepSpan> steps, StepRange range);
/// Their time; steps that follow each other are one stretch.
std::vector<Window> stretchesOf(std::span<const StepSpan> steps);
/// Which steps are counted: "40 steps (1-40)", "39 of 40 steps (2-40)".
std::string stepsText(std::span<const StepSpan> counted, std::span<const StepSpan> all);

struct StepStats {
    std::int64_t count = 0;
    std::int64_t meanNs = 0;
    std::int64_t p95Ns = 0; ///< nearest rank
    std::int64_t worstNs = 0;
    std::int64_t worstStep = 0;
    bool operator==(const StepStats&) const = default;
};
StepStats stepStats(std::span<const StepSpan> steps);

/// A counter over time, such as the loss.
struct Series {
    std::string name;
    std::string unit;
    std::int32_t rank = 0;
    std::vector<CounterSample> samples;
};

/// What a counter means by its name.
enum class SeriesKind { Loss, HeldOutLoss, TokensPerSecond, GradientNorm, Memory, Cpu, Other };
SeriesKind seriesKind(std::string_view name);

/// The series of that kind with the most samples (the loss is known on the last stage only), or none.
const Series* findSeries(std::span<const Series> series, SeriesKind kind);

} // namespace rankscope::tracing
