#pragma once

#include "backend/comm/slots.h"
#include "backend/comm/transport.h"

#include <condition_variable>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <tuple>
#include <utility>
#include <vector>

namespace rankscope::backend {

/// Where ranks that are threads of one process leave each other's messages. Outlives its transports.
class ThreadWorld {
public:
    explicit ThreadWorld(int worldSize)
        : worldSize_(worldSize)
    {
    }
    int worldSize() const { return worldSize_; }

    void put(int from, int to, int tag, std::span<const std::byte> data);
    /// Takes the oldest message; false when there is none.
    bool take(int from, int to, int tag, std::span<std::byte> data);
    /// Sleeps until something was put after the `seen` puts that the caller knows of; returns how many there were by
    /// then.
    std::uint64_t waitForNews(std::uint64_t seen);

private:
    using Key = std::tuple<int, int, int>;

    int worldSize_;
    std::mutex mutex_;
    std::condition_variable news_;
    std::uint64_t puts_ = 0;
    std::map<Key, std::deque<std::vector<std::byte>>> boxes_;
};

/// One rank of a ThreadWorld. Sends are complete at once (the bytes are copied).
class ThreadTransport final : public Transport {
public:
    ThreadTransport(ThreadWorld& world, int rank)
        : world_(world)
        , rank_(rank)
    {
    }

    int rank() const override { return rank_; }
    int worldSize() const override { return world_.worldSize(); }
    MessageId send(std::span<const std::byte> data, int to, int tag) override;
    MessageId receive(std::span<std::byte> data, int from, int tag) override;
    bool test(MessageId message) override;
    void idle() override { seen_ = world_.waitForNews(seen_); }

private:
    struct Pending {
        std::span<std::byte> data;
        int from = 0;
        int tag = 0;
        bool complete = false;
    };

    void deliver(int from, int tag);

    ThreadWorld& world_;
    int rank_;
    std::uint64_t seen_ = 0;
    Slots<Pending> pending_;
    std::map<std::pair<int, int>, std::deque<MessageId>> posted_; ///< receives by (from, tag), oldest first
};

} // namespace rankscope::backend
