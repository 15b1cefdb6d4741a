#include "backend/train/report_lines.h"

#include <fmt/format.h>
#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>

#include <cmath>

namespace rankscope::backend {

namespace {

/// JSON has no NaN and no infinity: a loss that became one is null.
std::string number(double value, const char* format)
{
    return std::isfinite(value) ? fmt::format(fmt::runtime(format), value) : "null";
}

const char* wordOf(RunEnd end)
{
    switch (end) {
    case RunEnd::Complete:
        return "complete";
    case RunEnd::Stopped:
        return "stopped";
    case RunEnd::TimeIsUp:
        return "time is up";
    case RunEnd::NotANumber:
        return "not a number";
    }
    return "";
}

const char* wordOf(CheckpointEvent::Kind kind)
{
    switch (kind) {
    case CheckpointEvent::Kind::Published:
        return "checkpoint";
    case CheckpointEvent::Kind::Failed:
        return "checkpoint failed";
    case CheckpointEvent::Kind::Skipped:
        return "checkpoint skipped";
    case CheckpointEvent::Kind::Restored:
        return "restored";
    }
    return "";
}

/// A path may hold what JSON wants escaped.
std::string quoted(const std::string& text)
{
    rapidjson::StringBuffer buffer;
    rapidjson::Writer<rapidjson::StringBuffer>(buffer).String(text.c_str());
    return buffer.GetString();
}

} // namespace

std::string stepLine(const StepReport& report)
{
    return fmt::format(R"({{"schema":1,"step":{},"loss":{},"tokens_per_s":{},"step_ms":{},"mfu":{},"grad_norm":{}}})",
        report.step, number(report.loss, "{:.9g}"), number(report.tokensPerSecond, "{:.1f}"),
        number(report.stepMs, "{:.3f}"), number(report.mfu, "{:.4f}"), number(report.gradientNorm, "{:.6g}"));
}

std::string validationLine(const ValidationReport& report)
{
    return fmt::format(R"({{"schema":1,"event":"validation","step":{},"loss":{},"tokens":{}}})", report.step,
        number(report.loss, "{:.9g}"), report.tokens);
}

std::string startLine(int ranks, int threads, std::int64_t parameters, double peakFlops, const std::string& peakSource)
{
    return fmt::format(
        R"({{"schema":1,"event":"start","ranks":{},"threads":{},"parameters":{},"peak_flops":{},"peak_source":"{}"}})",
        ranks, threads, parameters, number(peakFlops, "{:.4g}"), peakSource);
}

std::string checkpointLine(const CheckpointEvent& event)
{
    std::string line = fmt::format(R"({{"schema":1,"event":"{}","step":{})", wordOf(event.kind), event.step);
    if (!event.path.empty())
        line += ",\"path\":" + quoted(event.path);
    if (!event.message.empty())
        line += ",\"message\":" + quoted(event.message);
    if (event.kind == CheckpointEvent::Kind::Published)
        line += fmt::format(",\"bytes\":{},\"blocked_ms\":{}", event.bytes, number(event.blockedMs, "{:.3f}"));
    return line + "}";
}

std::string endLine(RunEnd end) { return fmt::format(R"({{"schema":1,"event":"end","reason":"{}"}})", wordOf(end)); }

} // namespace rankscope::backend
