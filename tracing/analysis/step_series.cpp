#include "tracing/analysis/step_series.h"

#include "tracing/analysis/wording.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <utility>

namespace rankscope::tracing {

namespace {

std::string lowerCase(std::string_view text)
{
    std::string lower(text);
    for (char& letter : lower)
        letter = static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
    return lower;
}

} // namespace

std::vector<StepSpan> tiledSteps(const std::vector<Step>& steps)
{
    std::map<std::pair<std::int32_t, std::int64_t>, Window> byAttempt;
    for (const Step& step : steps) {
        const Window own{ step.beginNs, step.endNs };
        const auto [found, isNew] = byAttempt.try_emplace({ step.attempt, step.step }, own);
        if (!isNew) {
            found->second.beginNs = std::min(found->second.beginNs, own.beginNs);
            found->second.endNs = std::max(found->second.endNs, own.endNs);
        }
    }
    std::vector<StepSpan> spans;
    for (const auto& [key, window] : byAttempt)
        spans.push_back({ key.second, key.first, window });
    return tiled(std::move(spans));
}

std::vector<StepSpan> tiled(std::vector<StepSpan> tiles)
{
    std::stable_sort(tiles.begin(), tiles.end(),
        [](const StepSpan& a, const StepSpan& b) { return a.window.beginNs < b.window.beginNs; });
    for (std::size_t i = 0; i + 1 < tiles.size(); ++i) {
        // A restart leaves a hole between two attempts that belongs to neither.
        if (tiles[i].attempt == tiles[i + 1].attempt)
            tiles[i].window.endNs = tiles[i + 1].window.beginNs;
    }
    return tiles;
}

std::optional<StepRange> countedSteps(std::span<const StepSpan> steps, const RunInfo& run)
{
    if (steps.empty())
        return std::nullopt;
    std::size_t first = 0;
    std::size_t last = steps.size() - 1;
    if (steps.size() >= 4 && run.source == kOwnSource)
        first = 1;
    if (!run.finished && last > first)
        --last;
    return StepRange{ steps[first].step, steps[last].step };
}

std::vector<StepSpan> stepsIn(std::span<const StepSpan> steps, StepRange range)
{
    std::vector<StepSpan> inside;
    for (const StepSpan& step : steps) {
        if (step.step >= range.first && step.step <= range.last)
            inside.push_back(step);
    }
    return inside;
}

std::vector<Window> stretchesOf(std::span<const StepSpan> steps)
{
    std::vector<Window> stretches;
    for (const StepSpan& step : steps) {
        if (!stretches.empty() && stretches.back().endNs == step.window.beginNs)
            stretches.back().endNs = step.window.endNs;
        else
            stretches.push_back(step.window);
    }
    return stretches;
}

Result<std::vector<StepSpan>> stepsAskedFor(std::span<const StepSpan> steps, StepRange range)
{
    auto inside = stepsIn(steps, range);
    if (!inside.empty())
        return inside;
    if (steps.empty())
        return Error("steps: this file has none; leave out --steps");
    return Error(fmt::format(
        "steps {}:{}: the file has steps {} to {}", range.first, range.last, steps.front().step, steps.back().step));
}

std::string stepsText(std::span<const StepSpan> counted, std::span<const StepSpan> all)
{
    if (counted.empty())
        return "no steps";
    const std::int64_t first = counted.front().step, last = counted.back().step;
    const std::string which = first == last ? fmt::format("{}", first) : fmt::format("{}-{}", first, last);
    const auto count = std::ssize(counted);
    if (counted.size() == all.size())
        return fmt::format("{} ({})", plural(count, "step"), which);
    return fmt::format("{} of {} ({})", countText(count), plural(std::ssize(all), "step"), which);
}

StepStats stepStats(std::span<const StepSpan> steps)
{
    StepStats stats;
    if (steps.empty())
        return stats;
    std::vector<std::int64_t> durations;
    std::int64_t totalNs = 0;
    for (const StepSpan& step : steps) {
        durations.push_back(step.window.durationNs());
        totalNs += durations.back();
        if (durations.back() > stats.worstNs) {
            stats.worstNs = durations.back();
            stats.worstStep = step.step;
        }
    }
    std::sort(durations.begin(), durations.end());
    stats.count = static_cast<std::int64_t>(durations.size());
    stats.meanNs = totalNs / stats.count;
    stats.p95Ns = durations[(durations.size() * 95 + 99) / 100 - 1];
    return stats;
}

SeriesKind seriesKind(std::string_view name)
{
    const std::string lower = lowerCase(name);
    const auto has = [&](const char* word) { return lower.find(word) != std::string::npos; };
    if (has("held") || has("valid"))
        return SeriesKind::HeldOutLoss;
    // A term that the loss contains, such as that which keeps experts equally busy.
    if (has("balanc") || has("aux"))
        return SeriesKind::Other;
    if (has("loss"))
        return SeriesKind::Loss;
    if (has("throughput") || (has("token") && (has("/s") || has("per"))))
        return SeriesKind::TokensPerSecond;
    if (has("grad"))
        return SeriesKind::GradientNorm;
    if (has("memory") || has("rss"))
        return SeriesKind::Memory;
    if (has("cpu"))
        return SeriesKind::Cpu;
    return SeriesKind::Other;
}

const Series* findSeries(std::span<const Series> series, SeriesKind kind)
{
    const Series* found = nullptr;
    for (const Series& candidate : series) {
        if (seriesKind(candidate.name) != kind || candidate.samples.empty())
            continue;
        if (!found || candidate.samples.size() > found->samples.size())
            found = &candidate;
    }
    return found;
}

} // namespace rankscope::tracing
