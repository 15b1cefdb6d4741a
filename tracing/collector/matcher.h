#pragma once

#include "tracing/model/result.h"
#include "tracing/model/rows.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <unordered_map>
#include <vector>

namespace rankscope::tracing {

/// One rank's part of a collective, as far as matching needs it.
struct MatchPart {
    std::int32_t rank = 0;
    LaneId lane{};
    Window window;
    CollectiveOp op = CollectiveOp::Unknown;
    std::optional<std::int32_t> peer; ///< point-to-point: the other side; rooted: the root (world ranks)
    std::int32_t attempt = 0; ///< of the run: the next one counts its exchanges from the start again
};

/// What covers a part: it waited until the last one entered that it depends on, then it transferred (METRICS,
/// "Collective split"). `known` is false where no partner is in the file: then it is communication, not split.
struct PartSplit {
    bool known = false;
    std::int64_t transferBeginNs = 0; ///< wait before, transfer from here on
};
PartSplit splitOf(const MatchPart& part, const std::vector<MatchPart>& all);

/// Finds the parts of one collective across ranks, by (communicator, op, sequence); of a message by (source,
/// destination, sequence). Keeps at most `most` incomplete instances; the oldest is given up for a new one.
class Matcher {
public:
    struct Instance {
        CollectiveMatch match;
        std::vector<MatchPart> parts;
        bool changed = true; ///< since changes() was last called
    };
    /// Called for instances that are complete or given up, once.
    using Finished = std::function<void(const Instance&)>;

    Matcher(Finished finished, std::size_t most = 65536)
        : finished_(std::move(finished))
        , most_(most)
    {
    }

    /// Instances get ids from here on.
    void setNextInstance(InstanceId next) { next_ = raw(next); }
    /// After a restart: an incomplete instance of the file and its parts.
    void restore(const CollectiveMatch& match, std::vector<MatchPart> parts);

    /// The instance that the part belongs to. A part of a rank that the instance has already (another attempt counts
    /// from the start again) begins a new one. Expected: ranks that take part.
    InstanceId add(CommunicatorId communicator, std::int64_t sequence, std::int32_t expected, const MatchPart& part);

    /// Instances to be stored again, those that were given up since included. Valid until the next call.
    const std::vector<CollectiveMatch>& changes();
    /// Ids below this one are complete or given up.
    InstanceId givenUpBelow() const { return InstanceId{ givenUpBelow_ }; }
    void setGivenUpBelow(InstanceId id) { givenUpBelow_ = raw(id); }
    /// No further part will come.
    void finish();
    bool isOpen(InstanceId id) const { return keyOf_.contains(raw(id)); }
    std::size_t incomplete() const { return open_.size(); }

private:
    struct Key {
        std::int32_t group = 0; ///< communicator, or source of a message
        std::int32_t other = 0; ///< op, or destination; negative: a message
        std::int64_t sequence = 0;
        std::int32_t attempt = 0;
        bool operator==(const Key&) const = default;
    };
    struct KeyHash {
        std::size_t operator()(const Key& key) const;
    };
    static Key keyOf(CommunicatorId communicator, std::int64_t sequence, const MatchPart& part);
    static void addPart(Instance& instance, const MatchPart& part);
    using Open = std::unordered_map<Key, Instance, KeyHash>;
    void close(Open::iterator at);
    void giveUpOldest();

    Finished finished_;
    std::size_t most_;
    std::int64_t next_ = 1;
    std::int64_t givenUpBelow_ = 0;
    Open open_;
    std::unordered_map<std::int64_t, Key> keyOf_; ///< of open instances, by id
    std::vector<std::int64_t> touched_; ///< ids of open instances that changed
    std::vector<CollectiveMatch> closed_; ///< since changes() was last called
    std::vector<CollectiveMatch> changes_;
};

} // namespace rankscope::tracing
