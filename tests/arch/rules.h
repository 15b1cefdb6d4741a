#pragma once

#include "tests/arch/tree.h"

#include <string>
#include <string_view>
#include <vector>

namespace rankscope::arch {

/// One broken rule: where ("file:line", a file, or a target), and what is wrong with what to do about it.
struct Fault {
    std::string where;
    std::string what;
};

using Faults = std::vector<Fault>;

/// The targets and files of one tree.
struct Tree {
    std::vector<Target> targets;
    std::vector<SourceFile> files;
};

/// A file includes by path from the root, and only files of its own target or of a target that its DEPS name. What DEPS
/// name is not passed on: who includes tracing/model and tracing/store names both.
Faults includesOutsideDeps(const Tree& tree);

/// Each folder uses only the floors under it that STYLE 5.1 lists, whatever its DEPS say. A folder without a floor is a
/// fault.
Faults edgesAgainstTheFloors(const Tree& tree);

/// Qt, Dear ImGui, SQLite, MPI, NCCL, CUPTI, CUDA and oneDNN only in the folders that own them; .cu files only in
/// kernels. A folder's tests may include what the folder may.
Faults vendorsOutsideTheirFolder(const Tree& tree);

/// Every source file belongs to a target.
Faults filesInNoTarget(const Tree& tree);

/// The targets' DEPS name existing targets and form no circle.
Faults circles(const Tree& tree);

/// No file has more than 600 lines.
Faults longFiles(const Tree& tree);

/// All of the above.
Faults checkTree(const Tree& tree);

/// Each package that packages.cmake looks for stands in debian-packages.txt, and each line there is a known group, a
/// package named once, and a purpose.
Faults checkPackages(std::string_view packagesCmake, std::string_view debianPackages);

} // namespace rankscope::arch
