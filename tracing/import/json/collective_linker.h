#pragma once

#include "tracing/import/json/json_event.h"
#include "tracing/import/rules/import_rules.h"
#include "tracing/import/source_trace.h"

#include <cstdint>
#include <span>
#include <vector>

namespace rankscope::tracing {

/// Finds out what each communication kernel of a PyTorch trace is: from its own arguments, else from the host's
/// `record_param_comms` or `nccl:*` range in which its launch call lies.
class CollectiveLinker {
public:
    CollectiveLinker(const ImportRules& rules, SourceTrace& trace);

    /// A host range that describes a collective. `thread` is any number that tells host threads apart.
    void addDescription(std::uint64_t thread, std::int64_t beginNs, std::int64_t endNs, const JsonEvent& event);
    /// A communication kernel; reads its arguments.
    void addKernel(std::uint32_t lane, std::int64_t beginNs, std::int64_t endNs, const JsonEvent& event);

    /// Once, at the end of the file, when its events are closed. The host's calls are among them: `threads` says of
    /// each lane which thread it is.
    Status link(std::span<const std::uint64_t> threads);

private:
    struct Description {
        std::uint64_t thread = 0;
        std::int64_t beginNs = 0, endNs = 0;
        CollectiveOp op = CollectiveOp::Unknown;
        std::int64_t bytes = 0;
        std::uint32_t group = 0;
        std::optional<std::int64_t> sequence;
        std::optional<std::int32_t> peer;
    };
    struct Launch {
        std::int64_t correlation = 0, beginNs = 0;
        std::uint64_t thread = 0;
    };
    Result<std::vector<Launch>> launchesOfParts(std::span<const std::uint64_t> threads) const;
    void describeByLaunches(SourcePart& part, std::span<const Launch> launches) const;

    Description describe(const JsonEvent& event);
    std::uint32_t groupOf(const JsonEvent& event);
    const Description* enclosing(std::uint64_t thread, std::int64_t at) const;
    static void merge(SourcePart& part, const Description& description);

    const ImportRules& rules_;
    SourceTrace& trace_;
    std::vector<Description> descriptions_;
};

} // namespace rankscope::tracing
