#include "backend/comm/ring_all_reduce.h"

#include "tracing/model/check.h"

#include <algorithm>
#include <cstring>

namespace rankscope::backend {

namespace {

template <typename T> void addTyped(std::span<std::byte> into, std::span<const std::byte> from)
{
    RS_DCHECK(into.size() == from.size(), "both sides of a sum are as long");
    // The buffers come from spans of T (see MessageCommunicator), so the alignment holds.
    T* sum = reinterpret_cast<T*>(into.data());
    const T* other = reinterpret_cast<const T*>(from.data());
    const std::size_t count = into.size() / sizeof(T);
    for (std::size_t i = 0; i < count; ++i)
        sum[i] += other[i];
}

} // namespace

void addFloats(std::span<std::byte> into, std::span<const std::byte> from) { addTyped<float>(into, from); }
void addDoubles(std::span<std::byte> into, std::span<const std::byte> from) { addTyped<double>(into, from); }

RingAllReduce::RingAllReduce(Transport& transport, std::vector<int> members, int index, int tag,
    std::span<std::byte> data, std::size_t elementBytes, AddBytes add)
    : transport_(transport)
    , members_(std::move(members))
    , index_(index)
    , tag_(tag)
    , data_(data)
    , elementBytes_(elementBytes)
    , add_(add)
    , sends_(plan(index))
    , receives_(plan(index - 1))
{
    const std::size_t longest = receives_.empty() ? 0 : kChunkBytes;
    scratch_.assign(std::min(kWindow, receives_.size()), std::vector<std::byte>(std::min(longest, data.size())));
}

std::span<std::byte> RingAllReduce::segment(int s) const
{
    const int n = static_cast<int>(members_.size());
    const auto place = static_cast<std::size_t>((s % n + n) % n);
    const std::size_t count = data_.size() / elementBytes_;
    const std::size_t begin = count * place / members_.size();
    const std::size_t end = count * (place + 1) / members_.size();
    return data_.subspan(begin * elementBytes_, (end - begin) * elementBytes_);
}

std::vector<RingAllReduce::Item> RingAllReduce::plan(int firstSegment) const
{
    const int n = static_cast<int>(members_.size());
    std::vector<Item> items;
    std::size_t firstRound = 0; // its items are this rank's own data: sent without having been received
    for (int round = 0; round < 2 * (n - 1); ++round) {
        if (round == 1)
            firstRound = items.size();
        const std::size_t receivedBefore = items.size() - firstRound;
        const std::span<std::byte> part = segment(firstSegment - round);
        for (std::size_t at = 0; at < part.size(); at += kChunkBytes) {
            const std::size_t chunk = at / kChunkBytes;
            items.push_back({ .data = part.subspan(at, std::min(kChunkBytes, part.size() - at)),
                .needs = round == 0 ? 0 : receivedBefore + chunk + 1,
                .adds = round < n - 1 });
        }
    }
    return items;
}

bool RingAllReduce::startReceives()
{
    const std::size_t from = static_cast<std::size_t>(index_) + members_.size() - 1;
    bool moved = false;
    while (receivesStarted_ < receives_.size() && receiving_.size() < kWindow) {
        const std::size_t buffer = receivesStarted_ % scratch_.size();
        const std::size_t bytes = receives_[receivesStarted_].data.size();
        receiving_.push_back({ .message
            = transport_.receive(std::span(scratch_[buffer]).first(bytes), members_[from % members_.size()], tag_),
            .buffer = buffer });
        ++receivesStarted_;
        moved = true;
    }
    return moved;
}

bool RingAllReduce::startSends()
{
    const std::size_t to = static_cast<std::size_t>(index_) + 1;
    bool moved = false;
    while (sendsStarted_ < sends_.size() && sending_.size() < kWindow && sends_[sendsStarted_].needs <= received_) {
        sending_.push_back(transport_.send(sends_[sendsStarted_].data, members_[to % members_.size()], tag_));
        ++sendsStarted_;
        moved = true;
    }
    return moved;
}

bool RingAllReduce::finishReceive()
{
    if (receiving_.empty() || !transport_.test(receiving_.front().message))
        return false;
    const Item& item = receives_[received_];
    const std::span<const std::byte> came = std::span(scratch_[receiving_.front().buffer]).first(item.data.size());
    // A chunk that is replaced here was sent in reduce-scatter and has come back around the ring: nobody reads it any
    // more.
    if (item.adds)
        add_(item.data, came);
    else
        std::ranges::copy(came, item.data.begin());
    receiving_.pop_front();
    ++received_;
    return true;
}

bool RingAllReduce::finishSend()
{
    if (sending_.empty() || !transport_.test(sending_.front()))
        return false;
    sending_.pop_front();
    return true;
}

bool RingAllReduce::advance()
{
    bool moved = true;
    while (moved) {
        moved = startReceives();
        moved = startSends() || moved;
        moved = finishReceive() || moved;
        moved = finishSend() || moved;
    }
    return received_ == receives_.size() && sendsStarted_ == sends_.size() && sending_.empty();
}

} // namespace rankscope::backend
