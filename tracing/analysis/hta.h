#pragma once

#include "tracing/analysis/run_rows.h"
#include "tracing/model/result.h"
#include "tracing/store/trace_reader.h"

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace rankscope::tracing {

// The quantities of Holistic Trace Analysis (HTA, commit f4d0062c) by its own rules, so that people who know it find
// the same figures. Ours follow other rules: all steps count, symmetric-memory kernels are communication, and times are
// not rounded.

/// HTA's class of a device row, from its full name alone (hta/common/types.py).
enum class HtaClass : std::uint8_t { Communication, Memory, Computation, Other };
HtaClass htaClassOf(std::string_view name);

struct HtaRow {
    std::int32_t rank = 0;
    std::int64_t idleNs = 0;
    std::int64_t computeNs = 0;
    std::int64_t nonComputeNs = 0; ///< the rest of the kernel time
    std::int64_t kernelNs = 0; ///< from the first device row's begin to the last one's end
    std::optional<double> overlapPercent; ///< communication under computation, two decimals; none without communication
};

enum class HtaRounding {
    AsHta, ///< files with fractions of a microsecond are rounded: begin up, end down, so that short rows shrink below 0
    Off,
};

/// Of every rank of an imported run, on its whole trace: HTA drops the last step and what no call in the trace
/// launched, as soon as the files hold two steps.
Result<std::vector<HtaRow>> htaBreakdown(TraceReader& reader, const RunFacts& facts, HtaRounding rounding);

/// One device row: HTA's `end` may lie before its `begin`.
struct HtaSpan {
    std::int64_t beginNs = 0;
    std::int64_t endNs = 0;
    HtaClass type = HtaClass::Other;
};
HtaRow htaRowOf(std::vector<HtaSpan> spans);

} // namespace rankscope::tracing
