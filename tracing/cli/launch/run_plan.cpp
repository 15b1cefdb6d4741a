#include "tracing/cli/launch/run_plan.h"

#include <rapidjson/document.h>

namespace rankscope::tracing {

namespace {

/// Entries are lines, or objects with a "message".
std::vector<std::string> linesOf(const rapidjson::Document& plan, const char* key)
{
    std::vector<std::string> lines;
    if (!plan.HasMember(key) || !plan[key].IsArray())
        return lines;
    for (const auto& entry : plan[key].GetArray()) {
        if (entry.IsString())
            lines.emplace_back(entry.GetString());
        else if (entry.IsObject() && entry.HasMember("message") && entry["message"].IsString())
            lines.emplace_back(entry["message"].GetString());
    }
    return lines;
}

std::int64_t numberOf(const rapidjson::Document& plan, const char* key, std::int64_t otherwise)
{
    return plan.HasMember(key) && plan[key].IsInt64() ? plan[key].GetInt64() : otherwise;
}

void readSmaller(const rapidjson::Document& document, RunPlan& plan)
{
    if (!document.HasMember("elastic") || !document["elastic"].IsArray())
        return;
    for (const auto& layout : document["elastic"].GetArray()) {
        const auto hasNumber = [&](const char* key) { return layout.HasMember(key) && layout[key].IsInt(); };
        if (!layout.IsObject() || !hasNumber("ranks") || !hasNumber("dp") || !layout.HasMember("overrides")
            || !layout["overrides"].IsArray())
            continue;
        RunPlan::Smaller smaller{ layout["ranks"].GetInt(), layout["dp"].GetInt(), {} };
        for (const auto& word : layout["overrides"].GetArray()) {
            if (word.IsString())
                smaller.overrides.emplace_back(word.GetString());
        }
        plan.smaller.push_back(std::move(smaller));
    }
}

} // namespace

Result<RunPlan> parsePlan(std::string_view json)
{
    rapidjson::Document document;
    document.Parse(json.data(), json.size());
    if (document.HasParseError() || !document.IsObject())
        return Error("rankscope-train --plan: did not answer with a JSON object; build both programs from one version");
    RunPlan plan;
    plan.errors = linesOf(document, "errors");
    plan.warnings = linesOf(document, "warnings");
    plan.ranks = static_cast<int>(numberOf(document, "ranks", 0));
    plan.threads = static_cast<int>(numberOf(document, "threads", 1));
    plan.steps = numberOf(document, "steps", 0);
    plan.restarts = static_cast<int>(numberOf(document, "restarts", 0));
    if (document.HasMember("hang_seconds") && document["hang_seconds"].IsNumber())
        plan.hangSeconds = document["hang_seconds"].GetDouble();
    readSmaller(document, plan);
    plan.ok = plan.errors.empty();
    if (plan.ok && plan.ranks < 1)
        return Error("rankscope-train --plan: says no number of ranks; build both programs from one version");
    return plan;
}

} // namespace rankscope::tracing
