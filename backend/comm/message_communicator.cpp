#include "backend/comm/message_communicator.h"

#include "backend/comm/run_queue.h"
#include "tracing/model/check.h"

#include <algorithm>

namespace rankscope::backend {

using tracing::CollectiveInfo;
using tracing::CollectiveOp;

namespace {

constexpr auto kProgressEvery = std::chrono::microseconds(100);
// Reading the time in the run queue takes a microsecond or two, a tenth of a short sum: only where a wait is longer.
constexpr auto kSoon = std::chrono::microseconds(20);

std::function<bool()> untilAllArrive(Transport& transport, std::vector<MessageId> open)
{
    return [&transport, open]() mutable {
        std::erase_if(open, [&](MessageId message) { return transport.test(message); });
        return open.empty();
    };
}

/// Everybody sends to everybody, also nothing, so that nobody leaves before the last has come. The next one on the ring
/// first: all ranks beginning with the same one would queue up there.
std::function<bool()> startAllToAll(Transport& transport, const Group& group, int tag,
    const std::vector<std::span<const std::byte>>& toEach, const std::vector<std::span<std::byte>>& fromEach)
{
    const std::size_t n = group.members.size(), own = static_cast<std::size_t>(group.index);
    RS_CHECK(toEach.size() == n && fromEach.size() == n, "a part for each member, and one from each");
    std::vector<MessageId> open;
    for (std::size_t i = 1; i < n; ++i) {
        const std::size_t to = (own + i) % n, from = (own + n - i) % n;
        open.push_back(transport.receive(fromEach[from], group.members[from], tag));
        open.push_back(transport.send(toEach[to], group.members[to], tag));
    }
    std::ranges::copy(toEach[own], fromEach[own].begin());
    return untilAllArrive(transport, std::move(open));
}

/// The root sends to everybody; the others wait for its one message.
std::function<bool()> startBroadcast(
    Transport& transport, const Group& group, int tag, std::span<std::byte> data, int rootIndex)
{
    std::vector<MessageId> open;
    const int root = group.members[static_cast<std::size_t>(rootIndex)];
    if (group.index != rootIndex) {
        open.push_back(transport.receive(data, root, tag));
    } else {
        for (const int member : group.members) {
            if (member != root)
                open.push_back(transport.send(data, member, tag));
        }
    }
    return untilAllArrive(transport, std::move(open));
}

} // namespace

Segment segmentOf(std::size_t count, int index, int members)
{
    const auto n = static_cast<std::size_t>(members), i = static_cast<std::size_t>(index);
    const std::size_t begin = count * i / n;
    return { .begin = begin, .count = count * (i + 1) / n - begin };
}

MessageCommunicator::MessageCommunicator(std::unique_ptr<Transport> transport, tracing::Recorder& recorder)
    : transport_(std::move(transport))
    , recorder_(recorder)
{
}

MessageCommunicator::~MessageCommunicator() { drain(); }

tracing::LocalName MessageCommunicator::nameOf(const char* text)
{
    const auto found = names_.find(text);
    return found != names_.end() ? found->second : names_.emplace(text, recorder_.name(text)).first->second;
}

GroupId MessageCommunicator::addGroup(const Group& group)
{
    // Sequence numbers count by name in the recording, so a name has one group.
    const auto known = std::ranges::find(groups_, group.name, [](const GroupState& state) { return state.group.name; });
    if (known != groups_.end())
        return static_cast<GroupId>(known - groups_.begin());
    groups_.push_back({ .group = group,
        .recorded = recorder_.communicator(group.name, group.dimension, group.members),
        .collectives = {} });
    return static_cast<GroupId>(groups_.size() - 1);
}

// Members may have added a group as a different number, so tags come from dimension and family: no two groups with both
// the same share a rank.
int MessageCommunicator::baseTag(GroupId group) const
{
    const Group& of = groups_[static_cast<std::size_t>(group)].group;
    return 4 * (static_cast<int>(of.dimension) + 16 * of.family);
}

int MessageCommunicator::collectiveTag(GroupId group) const { return baseTag(group) + 1; }
int MessageCommunicator::messageTag(GroupId group, int channel) const { return baseTag(group) + 2 * channel; }

std::uint32_t MessageCommunicator::nextInChannel(
    std::map<std::pair<int, int>, std::uint32_t>& counts, int peer, int channel)
{
    // The recording matches messages by sender, receiver and number: each channel counts in a range of its own.
    return counts[{ peer, channel }]++ | static_cast<std::uint32_t>(channel) << 30;
}

CollectiveInfo MessageCommunicator::messageInfo(
    const MessageLabel& label, GroupId group, int peer, std::size_t bytes, CollectiveOp op, std::uint32_t sequence)
{
    return { .name = nameOf(label.name),
        .op = op,
        .communicator = state(group).recorded,
        .sequence = sequence,
        .bytes = bytes,
        .peer = peer,
        .microBatch = label.microBatch };
}

Request MessageCommunicator::send(std::span<const float> data, int to, GroupId group, const MessageLabel& label)
{
    const Request request = nextRequest();
    const CollectiveInfo info = messageInfo(
        label, group, to, data.size_bytes(), CollectiveOp::Send, nextInChannel(sentTo_, to, label.channel));
    tracing::OpenSpan span = recorder_.collective(info);
    const MessageId message = transport_->send(std::as_bytes(data), to, messageTag(group, label.channel));
    // A small message is often gone already; then its part should end here and not at the next look.
    if (transport_->test(message))
        return request;
    messages_.push_back({ .request = request,
        .message = message,
        .isSend = true,
        .arrived = false,
        .info = info,
        .span = std::move(span) });
    return request;
}

Request MessageCommunicator::receive(std::span<float> data, int from, GroupId group, const MessageLabel& label)
{
    const Request request = nextRequest();
    messages_.push_back({ .request = request,
        .message = transport_->receive(std::as_writable_bytes(data), from, messageTag(group, label.channel)),
        .isSend = false,
        .arrived = false,
        .info = messageInfo(label, group, from, data.size_bytes(), CollectiveOp::Receive,
            nextInChannel(receivedFrom_, from, label.channel)),
        .span = {} });
    return request;
}

Request MessageCommunicator::enqueue(CollectiveOp op, GroupId group, const char* name, std::size_t bytes,
    std::optional<int> root, std::function<std::function<bool()>()> start)
{
    const Request request = nextRequest();
    collectives_.push_back({ .request = request,
        .group = group,
        .info = { .name = nameOf(name),
            .op = op,
            .communicator = state(group).recorded,
            .sequence = state(group).collectives[static_cast<std::size_t>(op)]++,
            .bytes = bytes,
            .peer = root },
        .start = std::move(start),
        .advance = {},
        .span = {} });
    pollCollectives();
    return request;
}

Request MessageCommunicator::ring(
    RingOp op, std::span<std::byte> data, GroupId group, const char* name, std::size_t elementBytes, AddBytes add)
{
    const CollectiveOp recorded = op == RingOp::AllReduce ? CollectiveOp::AllReduce
        : op == RingOp::AllGather                         ? CollectiveOp::AllGather
                                                          : CollectiveOp::ReduceScatter;
    return enqueue(recorded, group, name, data.size(), std::nullopt, [=, this] {
        const Group& members = state(group).group;
        auto exchange = std::make_shared<RingExchange>(
            *transport_, members.members, members.index, collectiveTag(group), op, data, elementBytes, add);
        return [exchange] { return exchange->advance(); };
    });
}

Request MessageCommunicator::allReduce(std::span<float> data, GroupId group, const char* name)
{
    return ring(RingOp::AllReduce, std::as_writable_bytes(data), group, name, sizeof(float), addFloats);
}

Request MessageCommunicator::allReduce(std::span<double> data, GroupId group, const char* name)
{
    return ring(RingOp::AllReduce, std::as_writable_bytes(data), group, name, sizeof(double), addDoubles);
}

Request MessageCommunicator::reduceScatter(std::span<float> data, GroupId group, const char* name)
{
    return ring(RingOp::ReduceScatter, std::as_writable_bytes(data), group, name, sizeof(float), addFloats);
}

Request MessageCommunicator::allGather(std::span<float> data, GroupId group, const char* name)
{
    return ring(RingOp::AllGather, std::as_writable_bytes(data), group, name, sizeof(float), addFloats);
}

Request MessageCommunicator::allToAll(std::span<const std::span<const std::byte>> toEach,
    std::span<const std::span<std::byte>> fromEach, GroupId group, const char* name)
{
    std::size_t bytes = 0;
    for (const auto& part : toEach)
        bytes += part.size();
    return enqueue(CollectiveOp::AllToAll, group, name, bytes, std::nullopt,
        [this, group, to = std::vector(toEach.begin(), toEach.end()),
            from = std::vector(fromEach.begin(), fromEach.end())] {
            return startAllToAll(*transport_, state(group).group, collectiveTag(group), to, from);
        });
}

Request MessageCommunicator::broadcast(std::span<std::byte> data, int rootIndex, GroupId group, const char* name)
{
    const int root = state(group).group.members[static_cast<std::size_t>(rootIndex)];
    return enqueue(CollectiveOp::Broadcast, group, name, data.size(), root,
        [=, this] { return startBroadcast(*transport_, state(group).group, collectiveTag(group), data, rootIndex); });
}

Request MessageCommunicator::barrier(GroupId group)
{
    return enqueue(CollectiveOp::Barrier, group, "barrier", 0, std::nullopt, [=, this] {
        const Group& members = state(group).group;
        // One element a member: no segment is empty, so nobody leaves before the last has come.
        auto ones = std::make_shared<std::vector<double>>(members.members.size(), 1.0);
        auto sum = std::make_shared<RingExchange>(*transport_, members.members, members.index, collectiveTag(group),
            RingOp::AllReduce, std::as_writable_bytes(std::span(*ones)), sizeof(double), addDoubles);
        return [ones, sum] { return sum->advance(); };
    });
}

MessageCommunicator::Message* MessageCommunicator::findMessage(Request request)
{
    const auto found = std::ranges::find(messages_, request, &Message::request);
    return found == messages_.end() ? nullptr : &*found;
}

bool MessageCommunicator::pollMessages()
{
    bool moved = false;
    for (Message& message : messages_) {
        if (message.arrived || !transport_->test(message.message))
            continue;
        message.arrived = true;
        message.span.end();
        moved = true;
    }
    std::erase_if(messages_, [](const Message& message) { return message.isSend && message.arrived; });
    return moved;
}

bool MessageCommunicator::pollCollectives()
{
    // Groups take turns within themselves only: sums over the parts of a tensor must not queue behind those of
    // gradients.
    busyGroups_.clear();
    return std::erase_if(collectives_, [&](Collective& collective) {
        const bool waits = std::ranges::find(busyGroups_, collective.group) != busyGroups_.end();
        if (!waits && advance(collective))
            return true;
        if (!waits)
            busyGroups_.push_back(collective.group);
        return false;
    }) > 0;
}

bool MessageCommunicator::advance(Collective& collective)
{
    if (!collective.advance) {
        collective.span = recorder_.collective(collective.info);
        collective.advance = collective.start();
    }
    if (!collective.advance())
        return false;
    collective.span.end();
    return true;
}

bool MessageCommunicator::poll()
{
    transport_->poll();
    const bool messages = pollMessages();
    const bool collectives = pollCollectives();
    lastPoll_ = std::chrono::steady_clock::now();
    return messages || collectives;
}

bool MessageCommunicator::done(Request request)
{
    poll();
    if (const Message* message = findMessage(request))
        return message->arrived;
    return std::ranges::find(collectives_, request, &Collective::request) == collectives_.end();
}

bool MessageCommunicator::doneSoon(Request request)
{
    const auto begin = std::chrono::steady_clock::now();
    do {
        if (done(request))
            return true;
    } while (lastPoll_ - begin < kSoon);
    return false;
}

void MessageCommunicator::wait(Request request)
{
    if (Message* message = findMessage(request); message && !message->isSend)
        message->span = recorder_.collective(message->info);
    if (!doneSoon(request)) {
        const auto before = runQueueNs();
        do {
            transport_->idle();
        } while (!done(request));
        if (const auto after = runQueueNs(); after && before)
            queuedInWaitsNs_ += *after - *before;
    }
    std::erase_if(messages_, [&](const Message& message) { return message.request == request; });
}

void MessageCommunicator::progress()
{
    if (messages_.empty() && collectives_.empty())
        return;
    if (std::chrono::steady_clock::now() - lastPoll_ >= kProgressEvery)
        poll();
}

void MessageCommunicator::drain()
{
    const auto open = [&] {
        return !collectives_.empty() || std::ranges::any_of(messages_, [](const Message& m) { return m.isSend; });
    };
    while (open()) {
        if (!poll())
            transport_->idle();
    }
}

std::optional<int> firstRefusal(Communicator& communicator, GroupId world, bool ok)
{
    std::vector<double> refusals(static_cast<std::size_t>(communicator.worldSize()));
    refusals[static_cast<std::size_t>(communicator.rank())] = ok ? 0 : 1;
    communicator.wait(communicator.allReduce(std::span(refusals), world, "agree"));
    const auto first = std::ranges::find(refusals, 1.0);
    return first == refusals.end() ? std::nullopt : std::optional(static_cast<int>(first - refusals.begin()));
}

} // namespace rankscope::backend
