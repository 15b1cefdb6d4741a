#pragma once

#include "tracing/model/rows.h"
#include "tracing/model/run.h"
#include "tracing/store/sqlite.h"

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <vector>

namespace rankscope::tracing {

/// World ranks with commas between.
std::string joinRanks(const std::vector<std::int32_t>& ranks);
std::vector<std::int32_t> splitRanks(std::string_view text);

/// Writer's side of the tables name, signature, lane and communicator: content to id, in memory and in the file.
class Dictionaries {
public:
    explicit Dictionaries(const Database& database)
        : database_(database)
    {
    }

    /// Reads what the file holds.
    Status load();

    Result<NameId> name(std::string_view text);
    Result<SignatureId> signature(const KernelSignature& signature);
    Result<LaneId> lane(const Lane& lane);
    Result<CommunicatorId> communicator(const Communicator& communicator);

    /// Remembers how far the lane's rows reach, until flush().
    void extend(LaneId lane, Window rows);
    Status flush();
    bool hasLane(LaneId lane) const { return raw(lane) >= 1 && static_cast<std::size_t>(raw(lane)) <= extents_.size(); }

private:
    struct TextHash {
        using is_transparent = void;
        std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
    };
    struct Extent {
        Window rows;
        bool empty = true;
        bool changed = false;
    };
    using SignatureKey = std::tuple<std::int32_t, int, int, std::int32_t, std::optional<std::int64_t>,
        std::optional<std::int64_t>, std::optional<std::int64_t>>;
    using LaneKey = std::tuple<std::int32_t, int, int, std::string>;

    static SignatureKey keyOf(const KernelSignature& signature);
    static LaneKey keyOf(const Lane& lane);
    Status loadLanes();

    const Database& database_;
    std::unordered_map<std::string, NameId, TextHash, std::equal_to<>> names_;
    std::map<SignatureKey, SignatureId> signatures_;
    std::map<LaneKey, LaneId> lanes_;
    std::map<std::pair<std::string, std::string>, CommunicatorId> communicators_; ///< by name and members
    std::vector<Extent> extents_; ///< of lane i + 1
    Statement extend_;
};

} // namespace rankscope::tracing
