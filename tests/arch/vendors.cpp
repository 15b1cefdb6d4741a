#include "tests/arch/rules.h"

#include <algorithm>
#include <cctype>

namespace rankscope::arch {
namespace {

struct Vendor {
    std::string_view name;
    bool (*matches)(std::string_view include);
    /// Path prefixes of the files that may include it.
    std::vector<std::string_view> homes;
};

bool isUpper(char c) { return std::isupper(static_cast<unsigned char>(c)) != 0; }

/// <QWidget>, <QtCore/qglobal.h>, <qobject.h>
bool isQt(std::string_view include)
{
    if (include.size() < 2)
        return false;
    if (include[0] == 'Q')
        return include[1] == 't' || isUpper(include[1]);
    return include[0] == 'q' && include.ends_with(".h") && include != "quadmath.h";
}

bool isMpi(std::string_view include) { return include == "mpi.h" || include.starts_with("mpi-ext"); }

bool isCuda(std::string_view include)
{
    return include.starts_with("cuda") || include.starts_with("cublas") || include.starts_with("curand")
        || include == "nvml.h" || include.starts_with("cooperative_groups") || include.starts_with("nvtx3/");
}

const std::vector<Vendor>& vendors()
{
    static const std::vector<Vendor> kVendors{
        { "Qt", isQt, { "app/" } },
        { "Dear ImGui", [](std::string_view path) { return path.starts_with("imgui"); }, { "app/timeline/" } },
        { "SQLite", [](std::string_view path) { return path.starts_with("sqlite3"); },
            { "tracing/store/", "tracing/import/nsight", "support/" } },
        { "MPI", isMpi, { "backend/comm/", "tracing/collect/mpi/" } },
        { "NCCL", [](std::string_view path) { return path.starts_with("nccl"); },
            { "backend/comm/", "tracing/collect/nccl/" } },
        { "CUPTI", [](std::string_view path) { return path.starts_with("cupti"); }, { "tracing/collect/cupti/" } },
        { "CUDA", isCuda,
            { "kernels/", "backend/tensor/", "backend/comm/", "tracing/collect/cupti/", "tracing/collect/nvtx/" } },
        { "oneDNN", [](std::string_view path) { return path.starts_with("oneapi/dnnl") || path.starts_with("dnnl"); },
            { "kernels/cpu/" } },
    };
    return kVendors;
}

/// tests/backend/comm/x_test.cpp and tests/benchmarks/backend/comm/x_bench.cpp stand for backend/comm/.
std::string_view mirrored(std::string_view path)
{
    for (const std::string_view prefix : { "tests/", "benchmarks/" }) {
        if (path.starts_with(prefix))
            path.remove_prefix(prefix.size());
    }
    return path;
}

} // namespace

Faults vendorsOutsideTheirFolder(const Tree& tree)
{
    Faults faults;
    for (const auto& file : tree.files) {
        const auto path = mirrored(file.path);
        if ((path.ends_with(".cu") || path.ends_with(".cuh")) && !path.starts_with("kernels/"))
            faults.push_back({ file.path, "CUDA sources live only in kernels/" });
        for (const auto& include : file.includes) {
            for (const auto& vendor : vendors()) {
                const bool athome = std::any_of(vendor.homes.begin(), vendor.homes.end(),
                    [&](std::string_view home) { return path.starts_with(home); });
                if (vendor.matches(include.path) && !athome)
                    faults.push_back({ file.path + ":" + std::to_string(include.line),
                        "<" + include.path + ">: " + std::string(vendor.name) + " only in "
                            + std::string(vendor.homes.front()) });
            }
        }
    }
    return faults;
}

} // namespace rankscope::arch
