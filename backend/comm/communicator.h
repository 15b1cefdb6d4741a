#pragma once

#include "backend/comm/mesh.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace rankscope::backend {

enum class GroupId : std::uint32_t {};
/// Names an exchange under way.
enum class Request : std::uint64_t {};

/// What the recording says of a message besides its bytes.
struct MessageLabel {
    const char* name = ""; ///< "activations", "gradients"; a literal
    std::optional<std::uint16_t> microBatch{};
    /// 0 or 1: messages between two ranks keep their order within a channel only.
    int channel = 0;
};

/// What member `index` of `members` owns of `count` elements: as even a share as there is.
struct Segment {
    std::size_t begin = 0, count = 0;

    bool operator==(const Segment&) const = default;
};
Segment segmentOf(std::size_t count, int index, int members);

/// Exchanges of one rank with the others; used by one thread. Nothing moves except inside these calls: whoever computes
/// calls progress() between kernels. Buffers must live and stay untouched until the request is done. All exchanges are
/// recorded, with the numbers that match the parts of one exchange across ranks. A failure of the network ends the job.
class Communicator {
public:
    virtual ~Communicator() = default;

    virtual int rank() const = 0;
    virtual int worldSize() const = 0;

    /// Every rank adds the groups it belongs to; members give a group the same name. A name that is there gives its
    /// group.
    virtual GroupId addGroup(const Group& group) = 0;

    /// To another member of `group`. Need not be waited for before drain().
    virtual Request send(std::span<const float> data, int to, GroupId group, const MessageLabel& label) = 0;
    /// May be started long before it is needed; must be waited for. Its recorded part is that wait, however short.
    virtual Request receive(std::span<float> data, int from, GroupId group, const MessageLabel& label) = 0;

    /// Sums `data` over the group, in place; same bits on all members, whatever the timing. Collectives of a group
    /// start in the order of these calls, one at a time; the recorded part begins when it is its turn.
    virtual Request allReduce(std::span<float> data, GroupId group, const char* name) = 0;
    virtual Request allReduce(std::span<double> data, GroupId group, const char* name) = 0;
    /// The two halves of allReduce(), in place on the whole of `data`, whose segmentOf() a member is its own:
    /// afterwards that one is the sum (the rest is of no use); or it is what a member gives, and afterwards all have
    /// all.
    virtual Request reduceScatter(std::span<float> data, GroupId group, const char* name) = 0;
    virtual Request allGather(std::span<float> data, GroupId group, const char* name) = 0;
    /// toEach[i] for member i, of any length that this one expects in its fromEach; also this rank's own. The spans
    /// they point to must live, the lists need not.
    virtual Request allToAll(std::span<const std::span<const std::byte>> toEach,
        std::span<const std::span<std::byte>> fromEach, GroupId group, const char* name)
        = 0;
    virtual Request broadcast(std::span<std::byte> data, int rootIndex, GroupId group, const char* name) = 0;
    virtual Request barrier(GroupId group) = 0;

    /// Whether wait() would return at once. Moves things on.
    virtual bool done(Request request) = 0;
    virtual void wait(Request request) = 0;
    /// Time of all waits so far in which this thread was ready to look again but had no core; 0 where not known.
    virtual std::int64_t queuedInWaitsNs() const { return 0; }
    /// Moves things on if the last time is 100 us ago; a few ns otherwise.
    virtual void progress() = 0;
    /// Waits for all sends and collectives.
    virtual void drain() = 0;
};

/// The first rank of the group that is not ok, the same on all: set-up errors stop all ranks together, and one of them
/// speaks.
std::optional<int> firstRefusal(Communicator& communicator, GroupId world, bool ok);

} // namespace rankscope::backend
