#include "tracing/analysis/check/rules.h"

#include "tracing/analysis/check/metrics.h"
#include "tracing/analysis/check/sha256.h"

#include <fmt/format.h>
#include <toml++/toml.h>

#include <array>
#include <charconv>
#include <fstream>
#include <sstream>

namespace rankscope::tracing {

namespace {

std::optional<StepRange> stepsOf(std::string_view text)
{
    StepRange range;
    const char* const end = text.data() + text.size();
    const auto first = std::from_chars(text.data(), end, range.first);
    if (first.ec != std::errc() || first.ptr == end || *first.ptr != ':')
        return std::nullopt;
    const auto last = std::from_chars(first.ptr + 1, end, range.last);
    const bool good = last.ec == std::errc() && last.ptr == end && range.first <= range.last;
    return good ? std::optional(range) : std::nullopt;
}

Status checkKeys(const toml::table& table, std::initializer_list<std::string_view> allowed, const std::string& where)
{
    for (const auto& [key, value] : table) {
        bool known = false;
        std::string all;
        for (const std::string_view word : allowed) {
            known = known || word == key.str();
            all.append(all.empty() ? "" : ", ").append(word);
        }
        if (!known)
            return Error(fmt::format("{}: unknown key {}; expected one of {}", where, std::string(key.str()), all));
    }
    return Done{};
}

Result<Rule> ruleOf(const toml::table& table, const std::string& where, const std::string& owner)
{
    if (const Status good
        = checkKeys(table, { "name", "metric", "at_most", "at_least", "steps", "held_out", "owner" }, where);
        !good)
        return good.error();
    Rule rule;
    rule.metric = table["metric"].value_or(std::string());
    rule.name = table["name"].value_or(rule.metric);
    rule.owner = table["owner"].value_or(owner);
    rule.heldOut = table["held_out"].value_or(false);
    rule.atMost = table["at_most"].value<double>();
    rule.atLeast = table["at_least"].value<double>();
    if (!isMetric(rule.metric)) {
        return Error(fmt::format(
            "{}: metric = \"{}\" is none; see rankscope check --help for what there is", where, rule.metric));
    }
    if (!rule.atMost && !rule.atLeast)
        return Error(fmt::format("{}: needs at_most or at_least, a number", where));
    if (const auto steps = table["steps"].value<std::string>()) {
        rule.steps = stepsOf(*steps);
        if (!rule.steps)
            return Error(fmt::format("{}: steps = \"{}\": expected \"A:B\" with A not after B", where, *steps));
    }
    if (rule.heldOut && !rule.steps)
        return Error(fmt::format("{}: held_out needs steps = \"A:B\": which ones are held out", where));
    return rule;
}

} // namespace

Result<Rules> parseRules(const std::string& text)
{
    toml::table document;
    try {
        document = toml::parse(text);
    } catch (const toml::parse_error& error) {
        return Error(fmt::format("line {}: {}", error.source().begin.line, std::string(error.description())));
    }
    if (const Status good = checkKeys(document, { "owner", "rule" }, "rules"); !good)
        return good.error();
    Rules rules;
    rules.text = text;
    rules.hash = sha256(text);
    rules.owner = document["owner"].value_or(std::string());
    if (const toml::array* list = document["rule"].as_array()) {
        for (const toml::node& node : *list) {
            const toml::table* table = node.as_table();
            const std::string where = fmt::format("rule {}", rules.rules.size() + 1);
            auto rule = table ? ruleOf(*table, where, rules.owner) : Result<Rule>(Error(where + ": is no table"));
            if (!rule)
                return rule.error();
            rules.rules.push_back(std::move(*rule));
        }
    }
    if (rules.rules.empty())
        return Error("no [[rule]] in it");
    return rules;
}

Result<Rules> readRules(const std::string& path)
{
    std::ifstream file(path, std::ios::binary);
    std::stringstream text;
    if (!file || !(text << file.rdbuf()))
        return Error(fmt::format("rules {}: cannot be read, or is empty", path));
    auto rules = parseRules(text.str());
    return rules ? rules : rules.error().in("rules " + path);
}

} // namespace rankscope::tracing
