#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace rankscope::backend {

/// Names a message under way; test() frees it.
enum class MessageId : std::uint32_t {};

/// Bytes from rank to rank, started here and finished later. Messages between two ranks with one tag arrive in the
/// order in which they were sent. One thread a rank calls it. Failures of the network end the job (no half-alive
/// ranks).
class Transport {
public:
    virtual ~Transport() = default;

    virtual int rank() const = 0;
    virtual int worldSize() const = 0;

    /// `data` must live and stay unchanged until test() says so.
    virtual MessageId send(std::span<const std::byte> data, int to, int tag) = 0;
    /// `data` is as long as the message that will come and must live until test() says so.
    virtual MessageId receive(std::span<std::byte> data, int from, int tag) = 0;
    /// True once a message is complete on this side; its id is free then and must not be asked again.
    virtual bool test(MessageId message) = 0;
    /// Moves on what is under way without asking after any one message.
    virtual void poll() { }
    /// Called by those that wait, after a look around that changed nothing.
    virtual void idle() = 0;
};

} // namespace rankscope::backend
