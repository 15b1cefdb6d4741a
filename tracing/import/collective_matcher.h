#pragma once

#include "tracing/import/source_trace.h"
#include "tracing/model/rows.h"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace rankscope::tracing {

/// A collective over all files: which parts belong together.
struct SourceInstance {
    std::int64_t id = 0; ///< from 1 on; SourcePart::instance
    std::uint32_t group = 0; ///< index into MatchResult::groups
    CollectiveOp op = CollectiveOp::Unknown;
    std::int64_t sequence = 0;
    struct Member {
        std::size_t trace = 0;
        std::size_t part = 0;
    };
    std::vector<Member> members; ///< by trace
    std::int32_t expected = 0; ///< ranks that take part; 0: unknown
};

struct MatchResult {
    std::vector<SourceGroup> groups; ///< over all files
    std::vector<SourceInstance> instances;
    std::int64_t withoutPartner = 0; ///< parts alone in their instance although others are in the files
    std::vector<Loss> notes; ///< what could not be matched
    std::string
        how; ///< where sequence numbers are missing and ranks needed a shift: one sentence; nothing is lost by it
};

/// Finds which parts of the ranks' traces are one collective: by process group, operation and sequence number; where
/// numbers are missing by order on the stream, with the shift between ranks that makes the ends agree best (a rank may
/// have been recorded one collective earlier than another). Point-to-point by peer and order. Sets
/// SourcePart::instance. Every trace must have its rank. Ends are compared after baseNs.
MatchResult matchCollectives(std::span<SourceTrace> traces);

/// One rank's collectives in order, for finding where another rank's begin.
struct OrderedEnd {
    std::int64_t endNs = 0;
    CollectiveOp op = CollectiveOp::Unknown; ///< Unknown fits any
};
/// The shift k for which other[i + k] agrees best with reference[i]: fewest pairs of different operations, then the
/// smallest spread of the differences of their ends (a constant offset does not count), then pairs aligned at the end.
/// None: whatever the shift, operations differ or the ends lie apart by more than a quarter of what lies between two
/// collectives, so that any pairing would be a guess.
std::optional<std::ptrdiff_t> bestShift(std::span<const OrderedEnd> reference, std::span<const OrderedEnd> other);

} // namespace rankscope::tracing
