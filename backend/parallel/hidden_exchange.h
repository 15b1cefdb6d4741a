#pragma once

#include "backend/comm/communicator.h"

#include <cstddef>
#include <deque>
#include <span>
#include <vector>

namespace rankscope::backend {

/// What neighbouring stages send each other for each micro-batch, in one direction: activations or their gradients.
struct HiddenLink {
    Communicator* communicator = nullptr;
    GroupId group{};
    int peer = 0; ///< world rank of the neighbour
    const char* name = "";
    int channel = 0; ///< activations and gradients may go the same way where stages have several chunks
    std::size_t count = 0; ///< floats of a message
};

/// Receives from a neighbour, posted before they are needed.
class Inbox {
public:
    /// `depth` messages (at least 1) are posted ahead, each with a buffer of its own.
    Inbox(const HiddenLink& link, std::size_t depth);

    /// Which micro-batches will come, in order. The last lot must have been taken.
    void expect(const std::vector<int>& microBatches);
    int nextMicroBatch() const { return coming_.front(); }
    bool isHere();
    /// Waits for the oldest message; its buffer holds until release(), which posts a further receive.
    std::span<const float> take();
    void release();

private:
    struct Posted {
        Request request{};
        std::size_t buffer = 0;
    };
    void post();

    HiddenLink link_;
    std::vector<std::vector<float>> buffers_;
    std::deque<int> coming_; ///< not taken yet
    std::size_t unposted_ = 0; ///< of those, the last ones
    std::deque<Posted> posted_;
    std::vector<std::size_t> free_;
};

/// Sends to a neighbour from buffers that are used again once they are gone.
class Outbox {
public:
    Outbox(const HiddenLink& link, std::size_t depth);

    /// Where the next message is written; waits if all buffers are still under way.
    std::span<float> buffer();
    void send(int microBatch);

private:
    struct Slot {
        std::vector<float> data;
        Request request{}; ///< of its last message; none at first
    };

    HiddenLink link_;
    std::vector<Slot> slots_;
    std::size_t next_ = 0;
};

} // namespace rankscope::backend
