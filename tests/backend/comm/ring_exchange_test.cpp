#include "backend/comm/ring_exchange.h"
#include "backend/comm/thread_transport.h"

#include <gtest/gtest.h>

#include <memory>
#include <numeric>
#include <set>

namespace rankscope::backend {

namespace {

/// All ranks of a ring in one thread, advanced in turns: no timing.
std::vector<std::vector<float>> exchangeInTurns(
    std::vector<std::vector<float>> data, const std::vector<int>& turns, RingOp op = RingOp::AllReduce)
{
    const int n = static_cast<int>(data.size());
    ThreadWorld world(n);
    std::vector<int> members(static_cast<std::size_t>(n));
    std::iota(members.begin(), members.end(), 0);
    std::vector<std::unique_ptr<ThreadTransport>> transports;
    std::vector<std::unique_ptr<RingExchange>> rings;
    for (int rank = 0; rank < n; ++rank) {
        transports.push_back(std::make_unique<ThreadTransport>(world, rank));
        rings.push_back(std::make_unique<RingExchange>(*transports.back(), members, rank, 0, op,
            std::as_writable_bytes(std::span(data[static_cast<std::size_t>(rank)])), sizeof(float), addFloats));
    }
    std::set<int> complete;
    for (int turn = 0; complete.size() < rings.size() && turn < 100'000; ++turn) {
        for (const int rank : turns) {
            if (rings[static_cast<std::size_t>(rank)]->advance())
                complete.insert(rank);
        }
    }
    EXPECT_EQ(complete.size(), rings.size()) << "the ring hangs";
    return data;
}

/// Sends when it is looked at the fifth time only: what is written to the data before then would arrive.
class LateTransport final : public Transport {
public:
    LateTransport(ThreadWorld& world, int rank)
        : inner_(world, rank)
    {
    }
    int rank() const override { return inner_.rank(); }
    int worldSize() const override { return inner_.worldSize(); }
    MessageId send(std::span<const std::byte> data, int to, int tag) override
    {
        held_.push_back({ data, to, tag });
        return static_cast<MessageId>(kHeld + held_.size() - 1);
    }
    MessageId receive(std::span<std::byte> data, int from, int tag) override { return inner_.receive(data, from, tag); }
    bool test(MessageId message) override
    {
        if (static_cast<std::size_t>(message) < kHeld)
            return inner_.test(message);
        Held& held = held_[static_cast<std::size_t>(message) - kHeld];
        if (++held.looks < 5)
            return false;
        if (held.looks == 5)
            held.message = inner_.send(held.data, held.to, held.tag);
        return inner_.test(held.message);
    }
    void idle() override { inner_.idle(); }

private:
    static constexpr std::size_t kHeld = 1000;
    struct Held {
        std::span<const std::byte> data;
        int to, tag;
        int looks = 0;
        MessageId message{};
    };
    ThreadTransport inner_;
    std::vector<Held> held_;
};

} // namespace

TEST(RingExchange, GivesEveryRankTheSum)
{
    const auto sums = exchangeInTurns({ { 1, 2, 3, 4 }, { 10, 20, 30, 40 }, { 100, 200, 300, 400 } }, { 0, 1, 2 });
    for (const auto& sum : sums)
        EXPECT_EQ(sum, (std::vector<float>{ 111, 222, 333, 444 }));
}

TEST(RingExchange, WorksForAnyNumberOfRanksAndElements)
{
    // Fewer elements than ranks, none, one chunk, chunks that do not divide a segment.
    for (const std::size_t count : std::vector<std::size_t>{ 0u, 1u, 2u, 5u, 1000u, 65'537u, 200'001u, 600'003u }) {
        for (int n = 1; n <= 5; ++n) {
            SCOPED_TRACE(std::to_string(count) + " elements on " + std::to_string(n) + " ranks");
            std::vector<std::vector<float>> data;
            std::vector<int> turns;
            for (int rank = 0; rank < n; ++rank) {
                data.emplace_back(count);
                std::iota(data.back().begin(), data.back().end(), static_cast<float>(rank));
                turns.push_back(rank);
            }
            // Element i is sum over ranks of (i + rank) = n i + n (n - 1) / 2, exact in float.
            std::vector<float> expected(count);
            for (std::size_t i = 0; i < count; ++i)
                expected[i]
                    = static_cast<float>(static_cast<std::size_t>(n) * i + static_cast<std::size_t>(n * (n - 1) / 2));
            for (const auto& sum : exchangeInTurns(data, turns))
                ASSERT_EQ(sum, expected);
        }
    }
}

TEST(RingExchange, AHalfLeavesEachRankTheSumOfItsOwnSegment)
{
    // Five elements over three ranks: segments [0, 1), [1, 3), [3, 5).
    const auto sums = exchangeInTurns(
        { { 1, 2, 3, 4, 5 }, { 10, 20, 30, 40, 50 }, { 100, 200, 300, 400, 500 } }, { 0, 1, 2 }, RingOp::ReduceScatter);
    EXPECT_EQ(sums[0][0], 111);
    EXPECT_EQ(sums[1][1], 222);
    EXPECT_EQ(sums[1][2], 333);
    EXPECT_EQ(sums[2][3], 444);
    EXPECT_EQ(sums[2][4], 555);
}

TEST(RingExchange, TheOtherHalfGivesEveryRankAllSegments)
{
    const auto all
        = exchangeInTurns({ { 1, 0, 0, 0, 0 }, { 0, 2, 3, 0, 0 }, { 0, 0, 0, 4, 5 } }, { 2, 0, 1 }, RingOp::AllGather);
    for (const auto& whole : all)
        EXPECT_EQ(whole, (std::vector<float>{ 1, 2, 3, 4, 5 }));
}

TEST(RingExchange, BothHalvesAreASumAlsoInManyChunks)
{
    constexpr std::size_t kCount = 600'003;
    for (int n = 1; n <= 5; ++n) {
        std::vector<std::vector<float>> data;
        std::vector<int> turns;
        for (int rank = 0; rank < n; ++rank) {
            data.emplace_back(kCount, static_cast<float>(rank + 1));
            turns.push_back(rank);
        }
        const std::vector<float> expected(kCount, static_cast<float>(n * (n + 1) / 2));
        const auto halves
            = exchangeInTurns(exchangeInTurns(data, turns, RingOp::ReduceScatter), turns, RingOp::AllGather);
        for (const auto& sum : halves)
            ASSERT_EQ(sum, expected) << "on " << n << " ranks";
    }
}

TEST(RingExchange, BitsDoNotDependOnWhoIsFast)
{
    // Floats whose sum depends on the order of additions.
    std::vector<std::vector<float>> data(3, std::vector<float>(100'000));
    for (std::size_t rank = 0; rank < 3; ++rank) {
        for (std::size_t i = 0; i < data[rank].size(); ++i)
            data[rank][i] = 1.0f / static_cast<float>(3 * i + rank + 1) * (rank == 1 ? 1e4f : 1.0f);
    }
    const auto sums = exchangeInTurns(data, { 0, 1, 2 });
    EXPECT_EQ(sums[0], sums[1]);
    EXPECT_EQ(sums[0], sums[2]);
    EXPECT_EQ(sums, exchangeInTurns(data, { 2, 2, 1, 0 }));
    EXPECT_EQ(sums, exchangeInTurns(data, { 1, 0, 1, 2 }));
}

TEST(RingExchange, ChangesNothingThatHasNotLeft)
{
    ThreadWorld world(2);
    LateTransport late(world, 0);
    ThreadTransport prompt(world, 1);
    std::vector<float> first(100'000, 1), second(100'000, 2);
    const auto exchange = [](Transport& transport, std::vector<float>& data) {
        return RingExchange(transport, { 0, 1 }, transport.rank(), 0, RingOp::AllReduce,
            std::as_writable_bytes(std::span(data)), sizeof(float), addFloats);
    };
    RingExchange ofLate = exchange(late, first), ofPrompt = exchange(prompt, second);
    bool firstDone = false, secondDone = false;
    for (int turn = 0; turn < 100 && !(firstDone && secondDone); ++turn) {
        firstDone = firstDone || ofLate.advance();
        secondDone = secondDone || ofPrompt.advance();
    }
    EXPECT_EQ(first, std::vector<float>(100'000, 3));
    EXPECT_EQ(second, std::vector<float>(100'000, 3));
}

} // namespace rankscope::backend
