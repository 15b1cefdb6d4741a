#include "backend/parallel/hidden_exchange.h"

#include "tracing/model/check.h"

namespace rankscope::backend {

Inbox::Inbox(const HiddenLink& link, std::size_t depth)
    : link_(link)
    , buffers_(depth, std::vector<float>(link.count))
{
    for (std::size_t buffer = 0; buffer < depth; ++buffer)
        free_.push_back(buffer);
}

void Inbox::expect(const std::vector<int>& microBatches)
{
    RS_CHECK(coming_.empty(), "all expected messages have been taken");
    coming_.assign(microBatches.begin(), microBatches.end());
    unposted_ = coming_.size();
    while (unposted_ > 0 && !free_.empty())
        post();
}

void Inbox::post()
{
    const std::size_t buffer = free_.back();
    free_.pop_back();
    const int microBatch = coming_[coming_.size() - unposted_];
    const MessageLabel label{
        .name = link_.name, .microBatch = static_cast<std::uint16_t>(microBatch), .channel = link_.channel
    };
    posted_.push_back(
        { .request = link_.communicator->receive(buffers_[buffer], link_.peer, link_.group, label), .buffer = buffer });
    --unposted_;
}

bool Inbox::isHere() { return link_.communicator->done(posted_.front().request); }

std::span<const float> Inbox::take()
{
    link_.communicator->wait(posted_.front().request);
    coming_.pop_front();
    return buffers_[posted_.front().buffer];
}

void Inbox::release()
{
    free_.push_back(posted_.front().buffer);
    posted_.pop_front();
    if (unposted_ > 0)
        post();
}

Outbox::Outbox(const HiddenLink& link, std::size_t depth)
    : link_(link)
    , slots_(depth, Slot{ .data = std::vector<float>(link.count), .request = {} })
{
}

std::span<float> Outbox::buffer()
{
    link_.communicator->wait(slots_[next_].request);
    return slots_[next_].data;
}

void Outbox::send(int microBatch)
{
    Slot& slot = slots_[next_];
    const MessageLabel label{
        .name = link_.name, .microBatch = static_cast<std::uint16_t>(microBatch), .channel = link_.channel
    };
    slot.request = link_.communicator->send(slot.data, link_.peer, link_.group, label);
    next_ = (next_ + 1) % slots_.size();
}

} // namespace rankscope::backend
