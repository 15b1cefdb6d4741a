#include "tracing/import/rules/rules_reader.h"

#include "tracing/import/kind_words.h"
#include "tracing/import/rules/folded.h"

#include <toml++/toml.h>

#include <algorithm>
#include <initializer_list>

namespace rankscope::tracing {

namespace {

Error at(const toml::node& node, const std::string& what)
{
    return Error("line " + std::to_string(node.source().begin.line) + ": " + what);
}

std::string oneOf(std::initializer_list<std::string_view> words)
{
    std::string text;
    for (const std::string_view word : words)
        text += (text.empty() ? "" : ", ") + std::string(word);
    return text;
}

/// One [[rule]] of a file.
class Table {
public:
    explicit Table(const toml::table& table)
        : table_(table)
    {
    }

    Status allows(std::initializer_list<std::string_view> keys) const
    {
        for (const auto& [key, node] : table_) {
            if (std::ranges::find(keys, std::string_view(key.str())) == keys.end())
                return at(node, "unknown key " + std::string(key.str()) + "; expected one of " + oneOf(keys));
        }
        return Done{};
    }

    /// The names that the rule is for: a text, or a list of texts. `fold`: they are compared without case and marks.
    Result<std::vector<NamePattern>> names(bool fold) const
    {
        const toml::node* node = table_.get("name");
        if (!node)
            return at(table_, "the rule has no name");
        std::vector<NamePattern> patterns;
        const auto add = [&](const toml::node& one) -> Status {
            const auto text = one.value_exact<std::string>();
            if (!text)
                return at(one, "name is no text");
            auto pattern = NamePattern::parse(fold ? folded(*text) : *text);
            if (!pattern)
                return at(one, "name \"" + *text + "\": " + pattern.error().message());
            patterns.push_back(std::move(*pattern));
            return Done{};
        };
        const toml::array* list = node->as_array();
        if (!list) {
            if (Status status = add(*node); !status)
                return status.error();
            return patterns;
        }
        for (const toml::node& one : *list) {
            if (Status status = add(one); !status)
                return status.error();
        }
        if (patterns.empty())
            return at(*node, "an empty list of names");
        return patterns;
    }

    /// Puts the key's word into `out`; leaves it where the key is absent. `last`: of the kind's words.
    template <typename Kind> Status word(const char* key, Kind last, std::optional<Kind>& out) const
    {
        const toml::node* node = table_.get(key);
        if (!node)
            return Done{};
        const auto text = node->value_exact<std::string>();
        out = text ? kindOfWord(*text, last) : std::nullopt;
        if (!out)
            return at(*node,
                std::string(key) + (text ? " \"" + *text + "\" is not known" : " is no text") + "; expected one of "
                    + wordsUpTo(last));
        return Done{};
    }

    Status flag(const char* key, bool& out) const
    {
        const toml::node* node = table_.get(key);
        if (!node)
            return Done{};
        const auto value = node->value_exact<bool>();
        if (!value)
            return at(*node, std::string(key) + " is neither true nor false");
        out = *value;
        return Done{};
    }

    const toml::table& node() const { return table_; }

private:
    template <typename Kind> static std::string wordsUpTo(Kind last)
    {
        std::string words;
        for (int i = 0; i <= static_cast<int>(last); ++i)
            words += (i == 0 ? "" : ", ") + std::string(toString(static_cast<Kind>(i)));
        return words;
    }

    const toml::table& table_;
};

Pass passOf(RangeKind kind)
{
    switch (kind) {
    case RangeKind::Forward:
        return Pass::Forward;
    case RangeKind::Backward:
        return Pass::Backward;
    case RangeKind::Optimizer:
        return Pass::Optimizer;
    default:
        return Pass::None;
    }
}

Result<KernelMeaning> kernelMeaning(const Table& table)
{
    if (Status status = table.allows({ "name", "communication", "operation", "dimension" }); !status)
        return status.error();
    KernelMeaning meaning;
    meaning.communication = true;
    std::optional<CollectiveOp> op;
    std::optional<Dimension> dimension;
    for (const Status& status :
        { table.flag("communication", meaning.communication), table.word("operation", CollectiveOp::Receive, op),
            table.word("dimension", Dimension::World, dimension) }) {
        if (!status)
            return status.error();
    }
    meaning.op = op.value_or(CollectiveOp::Unknown);
    meaning.dimension = dimension.value_or(Dimension::None);
    return meaning;
}

Result<CollectiveOp> operationMeaning(const Table& table)
{
    if (Status status = table.allows({ "name", "operation" }); !status)
        return status.error();
    std::optional<CollectiveOp> op;
    if (Status status = table.word("operation", CollectiveOp::Receive, op); !status)
        return status.error();
    if (!op)
        return at(table.node(), "the rule has no operation");
    return *op;
}

Result<Dimension> groupMeaning(const Table& table)
{
    if (Status status = table.allows({ "name", "dimension" }); !status)
        return status.error();
    std::optional<Dimension> dimension;
    if (Status status = table.word("dimension", Dimension::World, dimension); !status)
        return status.error();
    if (!dimension)
        return at(table.node(), "the rule has no dimension");
    return *dimension;
}

Result<AnnotationMeaning> annotationMeaning(const Table& table)
{
    if (Status status = table.allows({ "name", "kind", "pass", "count" }); !status)
        return status.error();
    AnnotationMeaning meaning;
    std::optional<RangeKind> kind;
    std::optional<Pass> pass;
    for (const Status& status : { table.word("kind", RangeKind::Recovery, kind),
             table.word("pass", Pass::Optimizer, pass), table.flag("count", meaning.counts) }) {
        if (!status)
            return status.error();
    }
    if (!kind)
        return at(table.node(), "the rule has no kind");
    meaning.kind = *kind;
    meaning.pass = pass.value_or(passOf(*kind));
    return meaning;
}

/// All rules of one kind in the file, in its order.
template <typename Rule, typename Read>
Status readAll(const toml::node& node, bool fold, std::vector<Rule>& out, const Read& read)
{
    const toml::array* list = node.as_array();
    if (!list || !std::ranges::all_of(*list, [](const toml::node& one) { return one.is_table(); }))
        return at(node, "rules are written [[kernel]], [[operation]], [[group]] or [[annotation]]");
    for (const toml::node& one : *list) {
        const Table table(*one.as_table());
        auto meaning = read(table);
        if (!meaning)
            return meaning.error();
        auto names = table.names(fold);
        if (!names)
            return names.error();
        out.push_back({ std::move(*names), *meaning });
    }
    return Done{};
}

} // namespace

Status RulesReader::read(std::string_view text, ImportRules& rules)
{
    ImportRules out = rules;
    try {
        const toml::table root = toml::parse(text);
        for (const auto& [section, node] : root) {
            const std::string_view name = section.str();
            const Status status = name == "kernel" ? readAll(node, false, out.kernels_, kernelMeaning)
                : name == "operation"              ? readAll(node, true, out.operations_, operationMeaning)
                : name == "group"                  ? readAll(node, true, out.groups_, groupMeaning)
                : name == "annotation"             ? readAll(node, false, out.annotations_, annotationMeaning)
                                                   : Status(at(node,
                                                       "unknown section " + std::string(name)
                                                           + "; expected [[kernel]], [[operation]], [[group]] or [[annotation]]"));
            if (!status)
                return status;
        }
    } catch (const toml::parse_error& error) {
        return Error("line " + std::to_string(error.source().begin.line) + ": " + std::string(error.description()));
    }
    for (std::size_t i = 0; i < out.annotations_.size(); ++i)
        out.annotations_[i].meaning.rule = i;
    rules = std::move(out);
    return Done{};
}

} // namespace rankscope::tracing
