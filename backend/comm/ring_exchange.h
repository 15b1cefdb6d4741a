#pragma once

#include "backend/comm/transport.h"

#include <cstddef>
#include <deque>
#include <memory>
#include <span>
#include <vector>

namespace rankscope::backend {

/// Adds `from` to `into`, element by element; both are as long.
using AddBytes = void (*)(std::span<std::byte> into, std::span<const std::byte> from);
void addFloats(std::span<std::byte> into, std::span<const std::byte> from);
void addDoubles(std::span<std::byte> into, std::span<const std::byte> from);

/// What goes around a ring. A rank's own segment is segmentOf() its place.
enum class RingOp {
    AllReduce, ///< afterwards all hold the sum
    ReduceScatter, ///< afterwards a rank's own segment is the sum, what is in the others is of no use
    AllGather, ///< afterwards all hold everybody's own segment
};

/// A sum over the ranks of a ring, or one half of it, in place: n - 1 rounds of reduce-scatter, then n - 1 of
/// all-gather, in chunks of 256 KiB so that a chunk's sum runs while the next one travels. Moves only inside advance().
/// Segments are summed in the order of the ring whatever arrives first, and then copied, so that all ranks hold the
/// same bits every time.
class RingExchange {
public:
    static constexpr std::size_t kChunkBytes = 256 << 10;

    /// `members` are world ranks in ring order, `index` is this rank's place; data must live until advance() is done.
    RingExchange(Transport& transport, std::vector<int> members, int index, int tag, RingOp op,
        std::span<std::byte> data, std::size_t elementBytes, AddBytes add);
    ~RingExchange();
    RingExchange(const RingExchange&) = delete;
    RingExchange& operator=(const RingExchange&) = delete;

    /// Does what can be done now. True once the exchange is complete and nothing of it is under way.
    bool advance();

private:
    static constexpr std::size_t kWindow = 4; ///< chunks under way in each direction

    /// One chunk in one round. Chunk for chunk, what a rank sends in a round is what it received in the round before.
    struct Item {
        std::span<std::byte> data;
        std::size_t needs = 0; ///< chunks that must have been received before it may leave
        bool adds = false; ///< received data is added (reduce-scatter), else it replaces (all-gather)
    };
    struct Arrival {
        MessageId message{};
        std::span<std::byte> came; ///< in scratch_, or in place where it replaces what was there
    };

    std::vector<Item> plan(int firstSegment) const;
    std::span<std::byte> segment(int s) const;
    bool startReceives();
    bool startSends();
    bool finishReceive();
    bool finishSend();

    Transport& transport_;
    std::vector<int> members_;
    int index_;
    int tag_;
    RingOp op_;
    std::span<std::byte> data_;
    std::size_t elementBytes_;
    AddBytes add_;

    std::vector<Item> sends_, receives_;
    std::size_t sendsStarted_ = 0, receivesStarted_ = 0, received_ = 0;
    std::deque<MessageId> sending_;
    std::deque<Arrival> receiving_;
    std::vector<std::unique_ptr<std::byte[]>> scratch_; ///< of kChunkBytes each
};

} // namespace rankscope::backend
