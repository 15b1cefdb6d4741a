#pragma once

#include "backend/comm/communicator.h"
#include "backend/comm/ring_exchange.h"
#include "backend/comm/transport.h"
#include "tracing/record/recorder.h"

#include <array>
#include <chrono>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <utility>
#include <vector>

namespace rankscope::backend {

/// A communicator made of messages, over any transport: MPI, threads of one process, either behind shaped links.
class MessageCommunicator final : public Communicator {
public:
    /// The recorder must outlive it.
    MessageCommunicator(std::unique_ptr<Transport> transport, tracing::Recorder& recorder);
    ~MessageCommunicator() override;

    int rank() const override { return transport_->rank(); }
    int worldSize() const override { return transport_->worldSize(); }
    GroupId addGroup(const Group& group) override;
    Request send(std::span<const float> data, int to, GroupId group, const MessageLabel& label) override;
    Request receive(std::span<float> data, int from, GroupId group, const MessageLabel& label) override;
    Request allReduce(std::span<float> data, GroupId group, const char* name) override;
    Request allReduce(std::span<double> data, GroupId group, const char* name) override;
    Request reduceScatter(std::span<float> data, GroupId group, const char* name) override;
    Request allGather(std::span<float> data, GroupId group, const char* name) override;
    Request allToAll(std::span<const std::span<const std::byte>> toEach, std::span<const std::span<std::byte>> fromEach,
        GroupId group, const char* name) override;
    Request broadcast(std::span<std::byte> data, int rootIndex, GroupId group, const char* name) override;
    Request barrier(GroupId group) override;
    bool done(Request request) override;
    void wait(Request request) override;
    std::int64_t queuedInWaitsNs() const override { return queuedInWaitsNs_; }
    void progress() override;
    void drain() override;

private:
    struct GroupState {
        Group group;
        tracing::LocalCommunicator recorded{};
        std::array<std::uint32_t, 16> collectives{}; ///< next sequence number by operation
    };
    struct Message {
        Request request{};
        MessageId message{};
        bool isSend = false;
        bool arrived = false;
        tracing::CollectiveInfo info;
        tracing::OpenSpan span;
    };
    struct Collective {
        Request request{};
        GroupId group{};
        tracing::CollectiveInfo info;
        std::function<std::function<bool()>()> start; ///< called when it is its turn; gives what advances it
        std::function<bool()> advance; ///< empty until started
        tracing::OpenSpan span;
    };

    Request nextRequest() { return static_cast<Request>(++lastRequest_); }
    tracing::CollectiveInfo messageInfo(const MessageLabel& label, GroupId group, int peer, std::size_t bytes,
        tracing::CollectiveOp op, std::uint32_t sequence);
    Request enqueue(tracing::CollectiveOp op, GroupId group, const char* name, std::size_t bytes,
        std::optional<int> root, std::function<std::function<bool()>()> start);
    Request ring(
        RingOp op, std::span<std::byte> data, GroupId group, const char* name, std::size_t elementBytes, AddBytes add);
    int baseTag(GroupId group) const;
    int collectiveTag(GroupId group) const;
    int messageTag(GroupId group, int channel) const;
    static std::uint32_t nextInChannel(std::map<std::pair<int, int>, std::uint32_t>& counts, int peer, int channel);
    GroupState& state(GroupId group) { return groups_[static_cast<std::size_t>(group)]; }
    Message* findMessage(Request request);
    bool pollMessages();
    bool pollCollectives();
    bool advance(Collective& collective);
    bool poll();
    bool doneSoon(Request request);

    std::unique_ptr<Transport> transport_;
    tracing::Recorder& recorder_;
    std::deque<GroupState> groups_;
    std::vector<Message> messages_;
    std::deque<Collective> collectives_;
    std::vector<GroupId> busyGroups_; ///< of one look around; kept, as a wait looks around all the time
    std::map<std::pair<int, int>, std::uint32_t> sentTo_, receivedFrom_; ///< by peer and channel
    std::map<std::string, tracing::LocalName> names_;
    std::uint64_t lastRequest_ = 0;
    std::chrono::steady_clock::time_point lastPoll_;
    std::int64_t queuedInWaitsNs_ = 0;

    tracing::LocalName nameOf(const char* text);
};

} // namespace rankscope::backend
