#include "backend/comm/ring_exchange.h"

#include "backend/comm/communicator.h"
#include "tracing/model/check.h"

#include <algorithm>
#include <iterator>

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

// Chunks that no exchange of this thread needs now: fresh memory costs more than a short exchange (the kernel clears it
// page by page).
thread_local std::vector<std::unique_ptr<std::byte[]>> spareChunks;

} // namespace

void addFloats(std::span<std::byte> into, std::span<const std::byte> from) { addTyped<float>(into, from); }
void addDoubles(std::span<std::byte> into, std::span<const std::byte> from) { addTyped<double>(into, from); }

RingExchange::RingExchange(Transport& transport, std::vector<int> members, int index, int tag, RingOp op,
    std::span<std::byte> data, std::size_t elementBytes, AddBytes add)
    : transport_(transport)
    , members_(std::move(members))
    , index_(index)
    , tag_(tag)
    , op_(op)
    , data_(data)
    , elementBytes_(elementBytes)
    , add_(add)
    // The segment that comes last is the one summed up here. With ReduceScatter it has to be this rank's own.
    , sends_(plan(op == RingOp::ReduceScatter ? index - 1 : index))
    , receives_(plan(op == RingOp::ReduceScatter ? index - 2 : index - 1))
{
    const auto sums = static_cast<std::size_t>(std::ranges::count_if(receives_, &Item::adds));
    while (scratch_.size() < std::min(kWindow, sums)) {
        if (spareChunks.empty()) {
            scratch_.push_back(std::make_unique_for_overwrite<std::byte[]>(kChunkBytes));
        } else {
            scratch_.push_back(std::move(spareChunks.back()));
            spareChunks.pop_back();
        }
    }
}

RingExchange::~RingExchange() { std::ranges::move(scratch_, std::back_inserter(spareChunks)); }

std::span<std::byte> RingExchange::segment(int s) const
{
    const int n = static_cast<int>(members_.size());
    const Segment part = segmentOf(data_.size() / elementBytes_, (s % n + n) % n, n);
    return data_.subspan(part.begin * elementBytes_, part.count * elementBytes_);
}

std::vector<RingExchange::Item> RingExchange::plan(int firstSegment) const
{
    const int n = static_cast<int>(members_.size());
    const int sums = op_ == RingOp::AllGather ? 0 : n - 1; // rounds
    const int rounds = op_ == RingOp::AllReduce ? 2 * (n - 1) : n - 1;
    std::vector<Item> items;
    std::size_t firstRound = 0; // its items are this rank's own data: sent without having been received
    for (int round = 0; round < rounds; ++round) {
        if (round == 1)
            firstRound = items.size();
        const std::size_t receivedBefore = items.size() - firstRound;
        const std::span<std::byte> part = segment(firstSegment - round);
        for (std::size_t at = 0; at < part.size(); at += kChunkBytes) {
            const std::size_t chunk = at / kChunkBytes;
            items.push_back({ .data = part.subspan(at, std::min(kChunkBytes, part.size() - at)),
                .needs = round == 0 ? 0 : receivedBefore + chunk + 1,
                .adds = round < sums });
        }
    }
    return items;
}

bool RingExchange::startReceives()
{
    const std::size_t from = static_cast<std::size_t>(index_) + members_.size() - 1;
    bool moved = false;
    while (receivesStarted_ < receives_.size() && receiving_.size() < kWindow) {
        const Item& item = receives_[receivesStarted_];
        // What is replaced in place may still be on its way out of here, but it comes back only after that.
        const std::span<std::byte> into
            = item.adds ? std::span(scratch_[receivesStarted_ % scratch_.size()].get(), item.data.size()) : item.data;
        receiving_.push_back(
            { .message = transport_.receive(into, members_[from % members_.size()], tag_), .came = into });
        ++receivesStarted_;
        moved = true;
    }
    return moved;
}

bool RingExchange::startSends()
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

bool RingExchange::finishReceive()
{
    if (receiving_.empty() || !transport_.test(receiving_.front().message))
        return false;
    if (receives_[received_].adds)
        add_(receives_[received_].data, receiving_.front().came);
    receiving_.pop_front();
    ++received_;
    return true;
}

bool RingExchange::finishSend()
{
    if (sending_.empty() || !transport_.test(sending_.front()))
        return false;
    sending_.pop_front();
    return true;
}

bool RingExchange::advance()
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
