#include "backend/train/config.h"

#include "backend/train/config_keys.h"

#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>

namespace rankscope::backend {

using tracing::Done;
using tracing::Error;
using tracing::Result;
using tracing::Status;

namespace {

std::optional<RawValue> rawValue(const toml::node& node)
{
    if (const auto* integer = node.as_integer())
        return RawValue(integer->get());
    if (const auto* number = node.as_floating_point())
        return RawValue(number->get());
    if (const auto* flag = node.as_boolean())
        return RawValue(flag->get());
    if (const auto* text = node.as_string())
        return RawValue(text->get());
    const auto* array = node.as_array();
    if (!array)
        return std::nullopt;
    std::vector<double> numbers;
    for (const toml::node& element : *array) {
        const auto number = element.value<double>();
        if (!number)
            return std::nullopt;
        numbers.push_back(*number);
    }
    return RawValue(numbers);
}

Status setByName(Config& config, const std::string& name, const RawValue& value)
{
    const auto key = std::ranges::find(configKeys(), name, &ConfigKey::name);
    if (key != configKeys().end())
        return setKey(config, *key, value);
    // "link.0.gbit_s", "fault.1.kind"
    const std::string list = name.substr(0, name.find('.'));
    const std::size_t begin = list.size() + 1, dot = name.find('.', std::min(begin, name.size()));
    std::size_t index = 0;
    if ((list != "link" && list != "fault") || dot == std::string::npos
        || std::from_chars(name.data() + begin, name.data() + dot, index).ptr != name.data() + dot)
        return unknownKey(name);
    const std::string of = name.substr(dot + 1);
    return list == "link" ? setLinkKey(config, index, of, value) : setFaultKey(config, index, of, value);
}

Status setTable(Config& config, const std::string& prefix, const toml::table& table)
{
    for (const auto& [key, node] : table) {
        const std::string name = prefix + std::string(key.str());
        const auto value = rawValue(node);
        const Status status = value ? setByName(config, name, *value) : unknownKey(name);
        if (!status)
            return status;
    }
    return Done{};
}

Status setList(Config& config, const std::string& list, const toml::node& node)
{
    const auto* array = node.as_array();
    if (!array || !std::ranges::all_of(*array, [](const toml::node& one) { return one.is_table(); }))
        return Error(fmt::format("{}: write each one as a [[{}]] table", list, list));
    for (std::size_t i = 0; i < array->size(); ++i) {
        if (auto status = setTable(config, fmt::format("{}.{}.", list, i), *array->get(i)->as_table()); !status)
            return status;
    }
    return Done{};
}

Status readToml(Config& config, const std::string& path)
{
    std::ifstream file(path);
    std::stringstream text;
    if (!file || !(text << file.rdbuf()))
        return Error(path + ": cannot be read; name a run configuration (TOML)");
    try {
        const toml::table root = toml::parse(text.str(), path);
        for (const auto& [section, node] : root) {
            const std::string name(section.str());
            const toml::table* table = node.as_table();
            const Status status = name == "link" || name == "fault" ? setList(config, name, node)
                : table                                             ? setTable(config, name + ".", *table)
                                                                    : Status(unknownKey(name));
            if (!status)
                return status.error().in(path);
        }
    } catch (const toml::parse_error& error) {
        const auto& at = error.source().begin;
        return Error(fmt::format("{}:{}:{}: {}", path, at.line, at.column, error.description()));
    }
    return Done{};
}

/// A word of a command line as the TOML value that it spells; what is none is text ("data.path=/usr/share").
RawValue parseWord(const std::string& word)
{
    try {
        const toml::table table = toml::parse("value = " + word);
        if (const toml::node* node = table.get("value"); node && table.size() == 1) {
            if (auto value = rawValue(*node))
                return *value;
        }
    } catch (const toml::parse_error&) {
        // Not TOML: a path or a word without quotes.
    }
    return word;
}

} // namespace

Result<Config> loadConfig(const std::string& tomlPath, const std::vector<std::string>& overrides)
{
    Config config;
    if (!tomlPath.empty()) {
        if (auto status = readToml(config, tomlPath); !status)
            return status.error();
        const std::filesystem::path data = config.data.path;
        if (!data.empty() && data.is_relative())
            config.data.path = (std::filesystem::path(tomlPath).parent_path() / data).lexically_normal().string();
    }
    for (const std::string& word : overrides) {
        const std::size_t equals = word.find('=');
        if (equals == std::string::npos || equals == 0)
            return Error(word + ": write key=value, for example parallel.pp=2");
        if (auto status = setByName(config, word.substr(0, equals), parseWord(word.substr(equals + 1))); !status)
            return status.error();
    }
    return config;
}

std::vector<std::pair<std::string, std::string>> configValues(const Config& config)
{
    std::vector<std::pair<std::string, std::string>> values;
    for (const ConfigKey& key : configKeys())
        values.emplace_back(key.name, key.value(config));
    for (std::size_t link = 0; link < config.links.size(); ++link) {
        for (const LinkKey& key : linkKeys())
            values.emplace_back(fmt::format("link.{}.{}", link, key.name), key.value(config.links[link]));
    }
    return values;
}

} // namespace rankscope::backend
