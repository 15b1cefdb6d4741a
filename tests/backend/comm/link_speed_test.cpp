#include "backend/comm/link_speed.h"

#include "backend/comm/link.h"
#include "backend/comm/thread_transport.h"

#include <gtest/gtest.h>

#include <memory>
#include <thread>

namespace rankscope::backend {

namespace {

std::vector<std::vector<MeasuredLink>> measureOn(int ranks, const std::vector<Link>& links)
{
    ThreadWorld world(ranks);
    std::vector<std::vector<MeasuredLink>> measured(static_cast<std::size_t>(ranks));
    std::vector<std::thread> threads;
    for (int rank = 0; rank < ranks; ++rank) {
        threads.emplace_back([&, rank] {
            ShapedTransport transport(std::make_unique<ThreadTransport>(world, rank), links);
            measured[static_cast<std::size_t>(rank)] = measureLinks(transport);
        });
    }
    for (std::thread& thread : threads)
        thread.join();
    return measured;
}

} // namespace

TEST(LinkSpeed, EveryRankMeasuresTheWayToEveryOther)
{
    for (const int ranks : { 1, 2, 3, 5, 6 }) {
        const auto measured = measureOn(ranks, {});
        for (int rank = 0; rank < ranks; ++rank) {
            std::vector<int> to, others;
            for (const MeasuredLink& link : measured[static_cast<std::size_t>(rank)]) {
                to.push_back(link.to);
                EXPECT_GT(link.latency.count(), 0);
                EXPECT_GT(link.bytesPerSecond, 0);
            }
            for (int other = 0; other < ranks; ++other) {
                if (other != rank)
                    others.push_back(other);
            }
            EXPECT_EQ(to, others) << "rank " << rank << " of " << ranks;
        }
    }
}

TEST(LinkSpeed, ASlowLinkIsNotMeasuredFasterThanItIs)
{
    // 1 Gbit/s and 2 ms one way: a round trip takes 2 ms at least; 16 KiB 131 us more, 256 KiB 2.1 ms.
    const auto measured = measureOn(2, { { .from = 0, .to = 1, .gbitPerSecond = 1, .delayUs = 2000 } });
    EXPECT_GE(measured[0][0].latency.count(), 1'000'000);
    EXPECT_GE(measured[1][0].latency.count(), 1'000'000) << "its answers come over that link";
}

TEST(LinkSpeed, ADelayIsNoLackOfBandwidth)
{
    // Counted as the bytes' time, 100 ms for 16 KiB would be 164 kB/s.
    const auto measured = measureOn(2, { { .from = 0, .to = 1, .delayUs = 100'000 } });
    EXPECT_GE(measured[0][0].latency.count(), 50'000'000);
    EXPECT_GT(measured[0][0].bytesPerSecond, 250'000);
}

} // namespace rankscope::backend
