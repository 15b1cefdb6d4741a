#include "tests/arch/rules.h"

#include <cstdio>

/// test_arch_check ROOT EDGES: checks the tree at ROOT against the targets in EDGES (rankscope_edges.txt of a build).
/// Prints one line a fault; exit code 1 when there is one, 2 when it was called wrongly.
int main(int argc, char** argv)
{
    using namespace rankscope::arch;
    const std::filesystem::path root = argc > 1 ? argv[1] : "";
    const Tree tree = argc == 3 ? Tree{ parseTargets(readText(argv[2]), root), readTree(root) } : Tree{};
    if (tree.targets.empty() || tree.files.empty()) {
        std::fputs(
            "usage: test_arch_check ROOT EDGES, a tree of ours and the rankscope_edges.txt of its build\n", stderr);
        return 2;
    }
    auto faults = checkTree(tree);
    const auto setup = root / "resources" / "setup";
    const auto packages = checkPackages(readText(setup / "packages.cmake"), readText(setup / "debian-packages.txt"));
    faults.insert(faults.end(), packages.begin(), packages.end());
    for (const auto& fault : faults)
        std::printf("%s: %s\n", fault.where.c_str(), fault.what.c_str());
    std::printf("%zu targets, %zu files, %zu faults\n", tree.targets.size(), tree.files.size(), faults.size());
    return faults.empty() ? 0 : 1;
}
