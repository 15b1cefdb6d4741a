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

/// One device row: HTA's `end` may lie before its `begin`.
struct HtaSpan {
    std::int64_t beginNs = 0;
    std::int64_t endNs = 0;
    HtaClass type = HtaClass::Other;
    std::int64_t stream = 0;
    std::optional<std::int64_t> correlation{}; ///< none: a synchronisation, which is no kernel and no copy
    std::string_view name{};

    std::int64_t durationNs() const { return endNs - beginNs; }
};

/// A call of the host that may launch.
struct HtaCall {
    std::int64_t beginNs = 0;
    std::int64_t endNs = 0;
    std::int64_t correlation = 0;
    std::string_view name{};
};

/// What HTA keeps of one rank.
struct HtaTrace {
    std::int32_t rank = 0;
    std::vector<HtaSpan> spans; ///< by begin
    std::vector<HtaCall> calls; ///< by begin
    std::vector<std::int64_t> steps; ///< numbers of those that are not dropped
    std::optional<std::int64_t> firstEventNs{}; ///< of the file: HTA takes it for the launch of what has none
};

/// Of every rank of an imported run, on its whole trace: HTA drops the last step and what no call in the trace
/// launched, as soon as the files hold two steps. Names are those of the facts, which must outlive them.
Result<std::vector<HtaTrace>> htaTraces(TraceReader& reader, const RunFacts& facts, HtaRounding rounding);

HtaRow htaRowOf(const std::vector<HtaSpan>& spans);
std::vector<HtaRow> htaBreakdown(const std::vector<HtaTrace>& traces);

/// HTA's merge: a row that begins after everything before it has ended opens a new group. Group lengths may be
/// negative. Only rows of this class; of all where none is given.
std::vector<Window> htaMerged(const std::vector<HtaSpan>& byBegin, std::optional<HtaClass> type = {});

} // namespace rankscope::tracing
