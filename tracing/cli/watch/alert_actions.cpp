#include "tracing/cli/watch/alert_actions.h"

#include "tracing/record/command_file.h"
#include "tracing/record/facts_file.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>

#include <vector>

namespace rankscope::tracing {

using diagnosis::Alert;

Status actOn(const Alert& alert, const std::filesystem::path& sessionDir)
{
    const AlertFact fact{ alert.title, alertText(alert), alert.ranks, alert.window.beginNs, alert.window.endNs };
    const Status recorded = appendJobFact(sessionDir.string(), fact);
    const std::string& action = alert.rule.action;
    if (action != "checkpoint" && action != "stop")
        return recorded;
    const Status told = appendCommand(sessionDir.string(), action);
    return recorded ? told : recorded;
}

bool isForPeople(const Alert& alert) { return alert.rule.action != "mark"; }

std::string alertText(const Alert& alert)
{
    std::vector<std::string> parts;
    if (alert.rule.kind != "not_a_number") // it is none, or it is one
        parts.push_back(fmt::format("threshold {:g}, is {:.3g}", alert.rule.threshold, alert.value));
    if (alert.step > 0)
        parts.push_back(fmt::format("at step {}", alert.step));
    if (!alert.rule.owner.empty())
        parts.push_back("for " + alert.rule.owner);
    parts.push_back(alert.rule.action);
    return fmt::format("{}", fmt::join(parts, "; "));
}

std::string alertJson(const Alert& alert)
{
    rapidjson::StringBuffer buffer;
    rapidjson::Writer<rapidjson::StringBuffer> json(buffer);
    const auto text = [&json](const char* key, const std::string& value) {
        json.Key(key);
        json.String(value.data(), static_cast<rapidjson::SizeType>(value.size()));
    };
    json.StartObject();
    json.Key("schema");
    json.Int(1);
    text("event", "alert");
    text("kind", alert.rule.kind);
    text("title", alert.title);
    json.Key("step");
    json.Int64(alert.step);
    json.Key("value");
    json.Double(alert.value);
    json.Key("threshold");
    json.Double(alert.rule.threshold);
    json.Key("ranks");
    json.StartArray();
    for (const std::int32_t rank : alert.ranks)
        json.Int(rank);
    json.EndArray();
    text("owner", alert.rule.owner);
    text("action", alert.rule.action);
    json.EndObject();
    return buffer.GetString();
}

} // namespace rankscope::tracing
