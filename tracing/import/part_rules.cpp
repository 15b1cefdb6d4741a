#include "tracing/import/part_rules.h"

#include <algorithm>

namespace rankscope::tracing {

void completeByRules(const ImportRules& rules, SourceTrace& trace, SourcePart& part)
{
    const std::string& name = trace.strings[part.name];
    const KernelMeaning meaning = rules.kernel(name);
    if (part.op == CollectiveOp::Unknown)
        part.op = meaning.op;
    if (part.op == CollectiveOp::Unknown)
        part.op = rules.operationOf(name);
    if (meaning.dimension == Dimension::None || part.group != 0)
        return;
    const std::string word(toString(meaning.dimension));
    const auto known = std::ranges::find_if(trace.groups, [&](const SourceGroup& group) {
        return group.name == word && group.dimension == meaning.dimension && group.ranks.empty();
    });
    part.group = static_cast<std::uint32_t>(known - trace.groups.begin());
    if (known == trace.groups.end())
        trace.groups.push_back({ word, "", {}, 0, meaning.dimension });
}

} // namespace rankscope::tracing
