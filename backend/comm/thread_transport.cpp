#include "backend/comm/thread_transport.h"

#include "tracing/model/check.h"

#include <algorithm>
#include <chrono>

namespace rankscope::backend {

void ThreadWorld::put(int from, int to, int tag, std::span<const std::byte> data)
{
    {
        const std::lock_guard lock(mutex_);
        boxes_[{ from, to, tag }].emplace_back(data.begin(), data.end());
        ++puts_;
    }
    news_.notify_all();
}

bool ThreadWorld::take(int from, int to, int tag, std::span<std::byte> data)
{
    const std::lock_guard lock(mutex_);
    auto& box = boxes_[{ from, to, tag }];
    if (box.empty())
        return false;
    RS_CHECK(box.front().size() == data.size(), "a message is as long as its receiver expects");
    std::ranges::copy(box.front(), data.begin());
    box.pop_front();
    return true;
}

std::uint64_t ThreadWorld::waitForNews(std::uint64_t seen)
{
    // The bound lets a rank look at its clock: a shaped link delivers without anybody putting anything.
    std::unique_lock lock(mutex_);
    news_.wait_for(lock, std::chrono::microseconds(200), [&] { return puts_ != seen; });
    return puts_;
}

MessageId ThreadTransport::send(std::span<const std::byte> data, int to, int tag)
{
    world_.put(rank_, to, tag, data);
    return pending_.add({ .data = {}, .from = rank_, .tag = tag, .complete = true });
}

MessageId ThreadTransport::receive(std::span<std::byte> data, int from, int tag)
{
    const MessageId message = pending_.add({ .data = data, .from = from, .tag = tag, .complete = false });
    posted_[{ from, tag }].push_back(message);
    return message;
}

bool ThreadTransport::test(MessageId message)
{
    if (!pending_[message].complete)
        deliver(pending_[message].from, pending_[message].tag);
    if (!pending_[message].complete)
        return false;
    pending_.remove(message);
    return true;
}

void ThreadTransport::deliver(int from, int tag)
{
    auto& posted = posted_[{ from, tag }];
    while (!posted.empty() && world_.take(from, rank_, tag, pending_[posted.front()].data)) {
        pending_[posted.front()].complete = true;
        posted.pop_front();
    }
}

} // namespace rankscope::backend
