#include "tracing/cli/launch/run_lines.h"

#include <fmt/format.h>
#include <rapidjson/document.h>

#include <algorithm>
#include <utility>

namespace rankscope::tracing {

namespace {

std::optional<double> numberOf(const rapidjson::Value& object, const char* key)
{
    if (!object.HasMember(key) || !object[key].IsNumber())
        return std::nullopt;
    return object[key].GetDouble();
}

std::string lossText(const rapidjson::Value& object)
{
    const auto loss = numberOf(object, "loss");
    return loss ? fmt::format("{:.3f}", *loss) : std::string("not a number");
}

std::string durationText(double seconds)
{
    if (seconds < 90)
        return fmt::format("{:.0f} s", seconds);
    return fmt::format("{:.0f} min", seconds / 60);
}

/// Events other than steps, such as a validation: "validation after step 50: loss 2.731".
ProgressText::Shown eventText(const rapidjson::Value& object)
{
    std::string text = object["event"].GetString();
    if (const auto step = numberOf(object, "step"))
        text += fmt::format(" after step {:.0f}", *step);
    if (object.HasMember("loss"))
        text += fmt::format(": loss {}", lossText(object));
    for (const char* key : { "reason", "message", "path" }) {
        if (object.HasMember(key) && object[key].IsString())
            text += fmt::format(": {}", object[key].GetString());
    }
    return { text, true };
}

} // namespace

std::vector<std::string> LineSplitter::take(std::string_view bytes)
{
    std::vector<std::string> lines;
    while (!bytes.empty()) {
        const std::size_t end = bytes.find('\n');
        if (end == std::string_view::npos) {
            pending_ += bytes;
            break;
        }
        pending_ += bytes.substr(0, end);
        lines.push_back(std::exchange(pending_, {}));
        bytes.remove_prefix(end + 1);
    }
    return lines;
}

std::optional<std::string> LineSplitter::rest()
{
    if (pending_.empty())
        return std::nullopt;
    return std::exchange(pending_, {});
}

std::optional<ProgressText::Shown> ProgressText::take(std::string_view line)
{
    rapidjson::Document document;
    document.Parse(line.data(), line.size());
    if (document.HasParseError() || !document.IsObject())
        return Shown{ std::string(line), true };
    if (document.HasMember("event") && document["event"].IsString()) {
        // The launcher has said already what starts.
        return document["event"] == "start" ? std::nullopt : std::optional(eventText(document));
    }
    const auto step = numberOf(document, "step");
    if (!step)
        return std::nullopt;
    std::string text = steps_ > 0 ? fmt::format("step {:.0f} of {}   loss {}", *step, steps_, lossText(document))
                                  : fmt::format("step {:.0f}   loss {}", *step, lossText(document));
    if (const auto rate = numberOf(document, "tokens_per_s"))
        text += fmt::format("   {:.0f} tokens/s", *rate);
    if (const auto ms = numberOf(document, "step_ms")) {
        // The latest steps count most, so that the time left follows a change of speed.
        const double weight = 1.0 / static_cast<double>(std::min<std::int64_t>(++seen_, 20));
        meanStepMs_ += (*ms - meanStepMs_) * weight;
        text += fmt::format("   {:.1f} ms a step", *ms);
        const double left = static_cast<double>(steps_) - *step;
        if (steps_ > 0 && left >= 0)
            text += fmt::format("   {} left", durationText(left * meanStepMs_ / 1000));
    }
    return Shown{ text, false };
}

} // namespace rankscope::tracing
