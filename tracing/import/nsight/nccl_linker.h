#pragma once

#include "tracing/import/rules/import_rules.h"
#include "tracing/import/source_trace.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace rankscope::tracing {

/// Finds out what the communication kernels of an Nsight export are: from NCCL's own NVTX ranges (`ncclAllReduce`, or
/// the calls inside a `ncclGroupStart` .. `ncclGroupEnd`) and their payloads, else from the framework's range around
/// (`nccl:all_to_all`). A kernel's launch call says on which thread and when to look.
class NcclLinker {
public:
    explicit NcclLinker(const ImportRules& rules)
        : rules_(rules)
    {
    }

    /// Names that addRange() can use; for all others it need not be called.
    static bool describes(std::string_view rangeName);

    /// `payload`: the range's JSON, may be empty.
    void addRange(std::int64_t globalTid, std::int64_t beginNs, std::int64_t endNs, std::string_view name,
        const std::string& payload);
    /// The launch of this process' correlation number is needed.
    void want(std::int64_t globalPid, std::int64_t correlation) { launches_.try_emplace({ globalPid, correlation }); }
    /// A call of the CUDA API. One number may have several (driver inside runtime): any of them will do, they nest.
    void addCall(std::int64_t globalTid, std::int64_t beginNs, std::int64_t correlation);

    /// Fills in a part whose kernel was launched by this process; groups are added to the trace.
    void describe(SourceTrace& trace, SourcePart& part, std::int64_t globalPid);
    /// Once, before describe().
    void sort();

    /// Rank and size of the process' largest communicator, where payloads tell.
    struct Place {
        std::int32_t rank = 0;
        std::int32_t size = 0;
    };
    std::optional<Place> placeOf(std::int64_t globalPid) const;

private:
    enum class Kind : std::uint8_t { Call, GroupStart, GroupEnd, Framework };
    struct Call {
        std::int64_t beginNs = 0, endNs = 0;
        Kind kind = Kind::Call;
        CollectiveOp op = CollectiveOp::Unknown;
        std::int64_t bytes = 0;
        std::optional<std::int64_t> sequence;
        std::optional<std::int32_t> peer;
        std::string communicator;
    };
    struct Launch {
        std::int64_t globalTid = 0, beginNs = 0;
        bool known = false;
    };

    void readPayload(Call& call, const std::string& payload, std::int64_t globalPid);
    std::vector<Call> callsAt(const Launch& launch, CollectiveOp& framework) const;
    static std::vector<Call> callsOfGroup(const std::vector<Call>& all, std::size_t groupEnd);
    std::uint32_t groupOf(SourceTrace& trace, const std::string& communicator) const;
    std::int64_t wholeBuffer(const Call& call) const;

    const ImportRules& rules_;
    std::map<std::int64_t, std::vector<Call>> calls_; ///< by thread
    std::map<std::pair<std::int64_t, std::int64_t>, Launch> launches_;
    std::map<std::string, std::int32_t> sizes_; ///< of communicators
    std::map<std::int64_t, Place> places_;
};

} // namespace rankscope::tracing
