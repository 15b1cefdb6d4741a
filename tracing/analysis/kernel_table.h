#pragma once

#include "tracing/analysis/kernel_name.h"
#include "tracing/analysis/run_rows.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace rankscope::tracing {

struct KernelRow {
    std::string name; ///< as recorded
    std::string shortName{}; ///< tells it from the other rows' kernels
    KernelFamily family = KernelFamily::Other;
    std::int64_t count = 0;
    std::int64_t totalNs = 0; ///< sum of durations over all ranks
    double share = 0; ///< of all kernels' totalNs
    std::optional<double> flops; ///< FLOP/s while it ran; none where a launch has no FLOPs
    std::optional<double> bytesPerSecond;
};

/// Sums kernels by name, rank after rank, so that a big run need not be in memory as a whole.
class KernelTable {
public:
    KernelTable(const std::vector<std::string>& names, const std::vector<KernelSignature>& signatures);

    void add(std::span<const Kernel> kernels, Window window); ///< those that begin in the window
    void add(SignatureId signature, Window launch); ///< one of them
    std::vector<KernelRow> rows() const; ///< by total time, falling

private:
    struct Sum {
        std::int64_t count = 0;
        std::int64_t totalNs = 0;
    };
    const std::vector<std::string>& names_;
    const std::vector<KernelSignature>& signatures_;
    std::vector<Sum> bySignature_;
};

} // namespace rankscope::tracing
