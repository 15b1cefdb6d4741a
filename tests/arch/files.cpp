#include "tests/arch/rules.h"

#include <set>

namespace rankscope::arch {

Faults filesInNoTarget(const Tree& tree)
{
    std::set<std::string> owned;
    for (const auto& target : tree.targets)
        owned.insert(target.sources.begin(), target.sources.end());
    Faults faults;
    for (const auto& file : tree.files) {
        if (!owned.contains(file.path))
            faults.push_back({ file.path, "is in no target; add it to the SOURCES of its folder" });
    }
    return faults;
}

Faults longFiles(const Tree& tree)
{
    constexpr int kMaxLines = 600;
    Faults faults;
    for (const auto& file : tree.files) {
        if (file.lines > kMaxLines)
            faults.push_back({ file.path, std::to_string(file.lines) + " lines; split it, 600 is the limit" });
    }
    return faults;
}

Faults checkTree(const Tree& tree)
{
    Faults all;
    for (const auto rule : { includesOutsideDeps, edgesAgainstTheFloors, vendorsOutsideTheirFolder, filesInNoTarget,
             circles, longFiles }) {
        auto faults = rule(tree);
        all.insert(all.end(), faults.begin(), faults.end());
    }
    return all;
}

} // namespace rankscope::arch
