#include "tests/whatif/pairs.h"

#include <toml++/toml.h>

namespace rankscope::whatif {

namespace {

using tracing::Error;

std::vector<std::string> words(const toml::node_view<const toml::node>& node)
{
    std::vector<std::string> result;
    if (const toml::array* array = node.as_array()) {
        for (const toml::node& word : *array)
            result.push_back(word.value_or(std::string()));
    }
    return result;
}

void append(std::vector<std::string>& to, const std::vector<std::string>& more)
{
    to.insert(to.end(), more.begin(), more.end());
}

} // namespace

tracing::Result<std::vector<Pair>> readPairs(const std::string& path)
{
    toml::table parsed;
    try {
        parsed = toml::parse_file(path);
    } catch (const toml::parse_error& error) {
        return Error("read " + path + ": " + std::string(error.description()));
    }
    const toml::table& table = parsed;
    const toml::array* pairs = table["pair"].as_array();
    if (!pairs)
        return Error("read " + path + ": it has no [[pair]]");
    std::vector<Pair> result;
    for (const toml::node& node : *pairs) {
        const toml::table& row = *node.as_table();
        Pair pair;
        pair.name = row["name"].value_or(std::string());
        pair.predict = words(row["predict"]);
        pair.heldOut = row["held_out"].value_or(false);
        const auto layout = words(table["layout"][row["layout"].value_or(std::string())]);
        if (pair.name.empty() || pair.predict.empty() || layout.empty() || !row.contains("base")
            || !row.contains("changed"))
            return Error("read " + path + ": pair \"" + pair.name + "\" wants name, layout, base, changed and predict");
        for (auto* settings : { &pair.base, &pair.changed }) {
            append(*settings, words(table["common"]));
            append(*settings, layout);
        }
        append(pair.base, words(row["base"]));
        append(pair.changed, words(row["changed"]));
        result.push_back(std::move(pair));
    }
    return result;
}

std::string baseConfiguration()
{
    return R"([model]
layers = 4
width = 64
heads = 4
sequence = 64
[batch]
micro_batch = 4
[train]
threads = 1
validate_every = 0
peak_gflops = 30
max_seconds = 30
[data]
path = "/usr/share/doc/jargon-text/jargon.txt.gz"
)";
}

} // namespace rankscope::whatif
