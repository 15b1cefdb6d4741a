#include "tracing/import/event_spool.h"

#include <gtest/gtest.h>

#include <random>

namespace rankscope::tracing {

namespace {

constexpr std::int64_t kEvents = 60'000; ///< seven runs of 8192 events, the least that a run has, and a rest

/// Two lanes whose begins are 0, 1, 2, ... over both, in an order that mixes the runs.
void fill(EventSpool& spool)
{
    std::vector<std::int64_t> begins(kEvents);
    for (std::int64_t i = 0; i < kEvents; ++i)
        begins[static_cast<std::size_t>(i)] = i;
    std::shuffle(begins.begin(), begins.end(), std::minstd_rand(7));
    for (const std::int64_t begin : begins) {
        SourceEvent event;
        event.beginNs = begin;
        event.endNs = begin + 10;
        event.lane = static_cast<std::uint32_t>(begin % 2);
        event.extra = 3 * begin;
        spool.append(event);
    }
    spool.close();
}

std::vector<SourceEvent> eventsOf(const EventSpool& spool, std::uint32_t lane)
{
    std::vector<SourceEvent> all;
    const Status visited = spool.visit(lane, [&](std::span<const SourceEvent> events) -> Status {
        all.insert(all.end(), events.begin(), events.end());
        return Done{};
    });
    EXPECT_TRUE(visited) << visited.error().message();
    return all;
}

void expectAllInOrder(const EventSpool& spool)
{
    EXPECT_EQ(spool.count(), static_cast<std::size_t>(kEvents));
    for (std::uint32_t lane = 0; lane < 2; ++lane) {
        const std::vector<SourceEvent> events = eventsOf(spool, lane);
        ASSERT_EQ(events.size(), static_cast<std::size_t>(kEvents / 2));
        for (std::size_t i = 0; i < events.size(); ++i) {
            ASSERT_EQ(events[i].beginNs, 2 * static_cast<std::int64_t>(i) + lane);
            ASSERT_EQ(events[i].extra, 3 * events[i].beginNs);
        }
    }
    EXPECT_TRUE(eventsOf(spool, 2).empty());
}

} // namespace

TEST(EventSpool, GivesALanesEventsInOrderFromMemory)
{
    EventSpool spool;
    fill(spool);
    EXPECT_EQ(spool.bytesInMemory(), kEvents * sizeof(SourceEvent));
    expectAllInOrder(spool);
}

TEST(EventSpool, GivesALanesEventsInOrderFromTheFile)
{
    EventSpool spool(1);
    fill(spool);
    EXPECT_FALSE(spool.error());
    EXPECT_EQ(spool.bytesInMemory(), 0u);
    expectAllInOrder(spool);
}

TEST(EventSpool, GivesALanesEventsInOrderFromBoth)
{
    constexpr std::size_t kRoom = (2 * 8192 + kEvents % 8192) * sizeof(SourceEvent); // for two runs and the rest
    EventSpool spool(kRoom);
    fill(spool);
    EXPECT_EQ(spool.bytesInMemory(), kRoom);
    expectAllInOrder(spool);
}

TEST(EventSpool, MovesWhatIsInMemoryToTheFile)
{
    EventSpool spool;
    fill(spool);
    spool.moveToFile();
    EXPECT_EQ(spool.bytesInMemory(), 0u);
    expectAllInOrder(spool);
}

TEST(EventSpool, TellsTheExtentWithinBounds)
{
    for (const std::size_t memoryBytes : { std::size_t{ 1 }, std::size_t{ 48 } << 20 }) {
        EventSpool spool(memoryBytes);
        fill(spool);
        constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();
        constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
        EXPECT_EQ(spool.extent(kLeast, kMost), std::pair(std::int64_t{ 0 }, kEvents - 1));
        EXPECT_EQ(spool.extent(1000, 1999), std::pair(std::int64_t{ 1000 }, std::int64_t{ 1999 }));
        EXPECT_EQ(spool.extent(kEvents - 1, kMost), std::pair(kEvents - 1, kEvents - 1));
        EXPECT_FALSE(spool.extent(kEvents, kMost));
        EXPECT_FALSE(spool.extent(kLeast, -1));
    }
}

TEST(EventSpool, TheLongerEventComesFirstWhereBeginsAreEqual)
{
    EventSpool spool(1);
    for (const std::int64_t end : { 20, 40, 30 })
        spool.append({ .beginNs = 10, .endNs = end });
    spool.close();
    const std::vector<SourceEvent> events = eventsOf(spool, 0);
    ASSERT_EQ(events.size(), 3u);
    EXPECT_EQ(events[0].endNs, 40);
    EXPECT_EQ(events[1].endNs, 30);
    EXPECT_EQ(events[2].endNs, 20);
}

} // namespace rankscope::tracing
