#pragma once

#include "tracing/model/kinds.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace rankscope::tracing {

// What a process says once: names, process groups, provenance, its place in the mesh. An append-only file a process,
// beside its rings; each entry has a length and a checksum, so that a torn tail is seen and left out.

struct NameFact {
    std::uint32_t id = 0;
    std::string text;
};
struct CommunicatorFact {
    std::uint32_t id = 0;
    std::string name;
    Dimension dimension = Dimension::None;
    std::vector<std::int32_t> members;
};
struct ProvenanceFact {
    std::string key;
    std::string value;
};
struct ProcessFact {
    std::int32_t rank = 0;
    std::int32_t worldSize = 0;
    std::int32_t processId = 0;
    std::int32_t cores = 0; ///< cores of this node that are usable
    std::uint64_t processStart = 0;
    std::string node;
};
struct RankFact {
    std::optional<std::int32_t> dp, tp, pp, ep;
    std::optional<double> peakFlops;
    std::string device;
    std::int32_t threads = 1;
};
using Fact = std::variant<NameFact, CommunicatorFact, ProvenanceFact, ProcessFact, RankFact>;

std::string encodeFact(const Fact& fact);

/// Takes complete entries from the front of `bytes`; what is left is a torn or unfinished tail. An entry of an unknown
/// kind is skipped and counted; a wrong checksum ends the reading for good.
struct FactsRead {
    std::vector<Fact> facts;
    std::size_t consumed = 0;
    int unknown = 0;
    bool corrupt = false;
};
FactsRead decodeFacts(std::string_view bytes);

} // namespace rankscope::tracing
