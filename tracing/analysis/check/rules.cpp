#include "tracing/analysis/check/rules.h"

#include "tracing/analysis/check/metrics.h"
#include "tracing/model/sha256.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <toml++/toml.h>

#include <algorithm>
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

/// A list of names with at least one in it.
Result<std::vector<std::string>> namesOf(toml::node_view<const toml::node> value)
{
    std::vector<std::string> names;
    const toml::array* list = value.as_array();
    for (std::size_t i = 0; list && i < list->size(); ++i) {
        const auto name = list->get(i)->value<std::string>();
        if (!name || name->empty())
            return Error(fmt::format("runs: entry {} is no name", i + 1));
        names.push_back(*name);
    }
    if (names.empty())
        return Error("runs: expected a list of names of runs, [\"NAME\", ...]");
    return names;
}

Result<Rule> ruleOf(const toml::table& table, const std::string& where, const std::string& owner)
{
    if (const Status good
        = checkKeys(table, { "name", "metric", "at_most", "at_least", "steps", "runs", "held_out", "owner" }, where);
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
    if (table.contains("runs")) {
        auto runs = namesOf(table["runs"]);
        if (!runs)
            return runs.error().in(where);
        rule.runs = std::move(*runs);
    }
    if (rule.heldOut && !rule.steps && rule.runs.empty())
        return Error(
            fmt::format("{}: held_out needs steps = \"A:B\" or runs = [\"NAME\"]: which ones are held out", where));
    return rule;
}

Result<diagnosis::DetectorRule> detectorOf(const toml::table& table, const std::string& where, const std::string& owner)
{
    if (const Status good = checkKeys(table, { "kind", "threshold", "steps", "owner", "action" }, where); !good)
        return good.error();
    diagnosis::DetectorRule rule;
    rule.kind = table["kind"].value_or(std::string());
    const auto kinds = diagnosis::detectorKinds();
    const auto kind = std::ranges::find(kinds, rule.kind, &diagnosis::DetectorKind::name);
    if (kind == kinds.end()) {
        std::string all;
        for (const auto& each : kinds)
            all.append(all.empty() ? "" : ", ").append(each.name);
        return Error(fmt::format("{}: kind = \"{}\": expected one of {}", where, rule.kind, all));
    }
    rule.threshold = table["threshold"].value_or(kind->threshold);
    rule.steps = table["steps"].value_or(kind->steps);
    rule.owner = table["owner"].value_or(owner);
    rule.action = table["action"].value_or(rule.action);
    const auto actions = diagnosis::detectorActions();
    if (std::ranges::find(actions, rule.action) == actions.end())
        return Error(
            fmt::format("{}: action = \"{}\": expected one of {}", where, rule.action, fmt::join(actions, ", ")));
    if (rule.steps < 1)
        return Error(fmt::format("{}: steps = {}: expected 1 or more", where, rule.steps));
    return rule;
}

/// Each table of an array, made into what `make` makes of it.
template <typename T, typename Make>
Status readTables(const toml::table& document, const char* name, std::vector<T>& all, Make make)
{
    const toml::array* list = document[name].as_array();
    if (document.contains(name) && !list)
        return Error(fmt::format("{}: write [[{}]]", name, name));
    for (std::size_t i = 0; list && i < list->size(); ++i) {
        const std::string where = fmt::format("{} {}", name, i + 1);
        const toml::table* table = list->get(i)->as_table();
        if (!table)
            return Error(where + ": is no table");
        auto made = make(*table, where);
        if (!made)
            return made.error();
        all.push_back(std::move(*made));
    }
    return Done{};
}

} // namespace

bool Rule::isAbout(std::string_view run) const { return runs.empty() || std::ranges::find(runs, run) != runs.end(); }

Result<Rules> parseRules(const std::string& text)
{
    toml::table document;
    try {
        document = toml::parse(text);
    } catch (const toml::parse_error& error) {
        return Error(fmt::format("line {}: {}", error.source().begin.line, std::string(error.description())));
    }
    if (const Status good = checkKeys(document, { "owner", "rule", "detector" }, "rules"); !good)
        return good.error();
    Rules rules;
    rules.text = text;
    rules.hash = sha256(text);
    rules.owner = document["owner"].value_or(std::string());
    const Status rulesRead = readTables(document, "rule", rules.rules,
        [&](const toml::table& table, const std::string& where) { return ruleOf(table, where, rules.owner); });
    if (!rulesRead)
        return rulesRead.error();
    const Status detectorsRead = readTables(document, "detector", rules.detectors,
        [&](const toml::table& table, const std::string& where) { return detectorOf(table, where, rules.owner); });
    if (!detectorsRead)
        return detectorsRead.error();
    if (rules.rules.empty() && rules.detectors.empty())
        return Error("neither [[rule]] nor [[detector]] in it");
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
