#include "tracing/import/rules/import_rules.h"

#include "tracing/import/rules/folded.h"
#include "tracing/import/rules/rules_reader.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <utility>

namespace rankscope::tracing {

/// The text of builtin.toml; CMake makes it.
extern const char* const kBuiltInRules;

namespace {

namespace fs = std::filesystem;

/// Longer names than this are not looked at to their end: kernels' template arguments go on for thousands of letters.
constexpr std::size_t kLongestFolded = 96;
constexpr std::uintmax_t kGreatestFile = 1u << 20;

template <typename Rules>
auto* firstOf(const Rules& rules, std::string_view name, NamePattern::Numbers* numbers = nullptr)
{
    using Meaning = const decltype(rules.front().meaning);
    for (const auto& rule : rules) {
        for (const NamePattern& pattern : rule.names) {
            if (const auto found = pattern.match(name)) {
                if (numbers)
                    *numbers = *found;
                return static_cast<Meaning*>(&rule.meaning);
            }
        }
    }
    return static_cast<Meaning*>(nullptr);
}

std::optional<std::int32_t> in32Bits(const std::optional<std::int64_t>& number)
{
    return number && *number <= std::numeric_limits<std::int32_t>::max()
        ? std::optional(static_cast<std::int32_t>(*number))
        : std::nullopt;
}

std::uint64_t mixed(std::uint64_t value, std::string_view text)
{
    for (const char c : text)
        value = (value ^ static_cast<unsigned char>(c)) * 0x100000001b3; // FNV-1a, 64 bits
    return (value ^ 0xFF) * 0x100000001b3; // where one file ends
}

} // namespace

std::string_view ImportRules::builtInText() { return kBuiltInRules; }

const ImportRules& ImportRules::builtIn()
{
    static const ImportRules rules = [] {
        ImportRules made;
        const Status status = RulesReader::read(kBuiltInRules, made);
        RS_CHECK(status.has_value(), "the built-in rules can be read");
        made.fingerprint_ = mixed(0xcbf29ce484222325, kBuiltInRules);
        return made;
    }();
    return rules;
}

std::string ImportRules::userFolder()
{
    const char* config = std::getenv("XDG_CONFIG_HOME");
    if (config && *config == '/') // the specification wants an absolute path
        return std::string(config) + "/rankscope/rules";
    const char* home = std::getenv("HOME");
    return home && *home ? std::string(home) + "/.config/rankscope/rules" : "";
}

Status ImportRules::addFile(const std::string& path)
{
    std::error_code error;
    const auto size = fs::file_size(path, error);
    std::ifstream file(path, std::ios::binary);
    if (error || !file)
        return Error(path + ": cannot be read; name a file of rules (TOML)");
    if (size > kGreatestFile)
        return Error(path + ": too large for a file of rules");
    const std::string text{ std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>() };
    if (Status status = RulesReader::read(text, *this); !status)
        return status.error().in(path);
    fingerprint_ = mixed(fingerprint_, text);
    return Done{};
}

Result<ImportRules> ImportRules::load(const std::vector<std::string>& files)
{
    ImportRules rules;
    for (const std::string& file : files) {
        if (Status status = rules.addFile(file); !status)
            return status.error();
    }
    std::vector<std::string> own;
    std::error_code error;
    for (fs::directory_iterator it(userFolder(), error), end; !error && it != end; it.increment(error)) {
        if (it->path().extension() == ".toml")
            own.push_back(it->path().string());
    }
    std::ranges::sort(own);
    for (const std::string& file : own) {
        if (Status status = rules.addFile(file); !status)
            return status.error();
    }
    if (Status status = RulesReader::read(kBuiltInRules, rules); !status)
        return status.error();
    rules.fingerprint_ = mixed(rules.fingerprint_, kBuiltInRules);
    return rules;
}

KernelMeaning ImportRules::kernel(std::string_view name) const
{
    const KernelMeaning* meaning = firstOf(kernels_, name);
    return meaning ? *meaning : KernelMeaning{};
}

CollectiveOp ImportRules::operationOf(std::string_view name) const
{
    const CollectiveOp* op = firstOf(operations_, folded(name.substr(0, kLongestFolded)));
    return op ? *op : CollectiveOp::Unknown;
}

std::optional<Dimension> ImportRules::dimensionOf(std::string_view nameOrDescription) const
{
    const Dimension* dimension = firstOf(groups_, folded(nameOrDescription.substr(0, kLongestFolded)));
    return dimension ? std::optional(*dimension) : std::nullopt;
}

AnnotationMeaning ImportRules::annotation(std::string_view name) const
{
    NamePattern::Numbers numbers;
    const AnnotationMeaning* found = firstOf(annotations_, name, &numbers);
    if (!found)
        return {};
    AnnotationMeaning meaning = *found;
    meaning.step = numbers.step;
    meaning.microBatch = in32Bits(numbers.microBatch);
    meaning.stage = in32Bits(numbers.stage);
    return meaning;
}

int bytesOfType(std::string_view type)
{
    const std::string text = folded(type);
    static constexpr std::array<std::pair<std::string_view, int>, 22> kTypes{ { { "bfloat16", 2 }, { "bf16", 2 },
        { "float16", 2 }, { "fp16", 2 }, { "half", 2 }, { "float8", 1 }, { "fp8", 1 }, { "double", 8 },
        { "float64", 8 }, { "fp64", 8 }, { "float", 4 }, { "fp32", 4 }, { "longint", 8 }, { "long", 8 }, { "int64", 8 },
        { "int32", 4 }, { "int8", 1 }, { "uint8", 1 }, { "byte", 1 }, { "char", 1 }, { "bool", 1 }, { "int", 4 } } };
    for (const auto& [word, bytes] : kTypes) {
        if (text.find(word) != std::string::npos)
            return bytes;
    }
    return 0;
}

} // namespace rankscope::tracing
