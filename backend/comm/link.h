#pragma once

#include "backend/comm/slots.h"
#include "backend/comm/transport.h"

#include <chrono>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <vector>

namespace rankscope::backend {

/// What the way from one rank to another is slowed down to. A direction of its own: the way back is another link.
struct Link {
    int from = 0;
    int to = 0;
    double gbitPerSecond = 0; ///< 0: as fast as the transport
    double delayUs = 0;
};

/// Slows chosen links of another transport down, in the sender: a message is handed on when its last byte would have
/// arrived, that is once the bytes ahead of it and its own have passed at the link's rate, plus the delay. It works
/// across nodes without a common clock; a rank that computes for long without a poll() releases late.
class ShapedTransport final : public Transport {
public:
    using Clock = std::chrono::steady_clock;
    using Now = std::function<Clock::time_point()>;

    /// Links that begin at other ranks are ignored, so that all ranks can be given the same list.
    ShapedTransport(std::unique_ptr<Transport> inner, const std::vector<Link>& links, Now now = Clock::now);

    /// Changes the link from this rank to link.to for the messages to come; no limit and no delay: as it was without.
    void shape(const Link& link) { shapes_[link.to].link = link; }

    int rank() const override { return inner_->rank(); }
    int worldSize() const override { return inner_->worldSize(); }
    MessageId send(std::span<const std::byte> data, int to, int tag) override;
    MessageId receive(std::span<std::byte> data, int from, int tag) override;
    bool test(MessageId message) override;
    void poll() override;
    void idle() override { inner_->idle(); }

private:
    struct State {
        std::optional<MessageId> inner; ///< none while the message is held back
    };
    struct Held {
        MessageId message{};
        std::span<const std::byte> data;
        int tag = 0;
        Clock::time_point releaseAt;
    };
    struct Shape {
        Link link;
        Clock::time_point freeAt; ///< when the last byte accepted so far has left
        std::deque<Held> held; ///< oldest first
    };

    std::unique_ptr<Transport> inner_;
    Now now_;
    Slots<State> states_;
    std::map<int, Shape> shapes_; ///< by destination
};

} // namespace rankscope::backend
