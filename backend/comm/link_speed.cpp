#include "backend/comm/link_speed.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>

namespace rankscope::backend {

namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::nanoseconds;

constexpr int kTag = 3; // groups have multiples of 4 and the two that follow
constexpr std::uint32_t kEnd = 0xffffffffU;
constexpr std::uint32_t kMedium = 16 << 10, kLarge = 256 << 10; // the latter a chunk of a ring

class Pair {
public:
    Pair(Transport& transport, int other, std::vector<std::byte>& payload)
        : transport_(transport)
        , other_(other)
        , payload_(payload)
    {
    }

    MeasuredLink measure(nanoseconds budget)
    {
        const Clock::time_point begin = Clock::now();
        nanoseconds ping = roundTrip(0);
        while (Clock::now() - begin < budget / 2)
            ping = std::min(ping, roundTrip(0));
        // A slow link is known by less.
        std::uint32_t size = kMedium;
        nanoseconds best = roundTrip(size);
        if (best - ping < budget / 2) {
            size = kLarge;
            best = roundTrip(size);
            while (Clock::now() - begin < budget)
                best = std::min(best, roundTrip(size));
        }
        send(kEnd);
        const auto net = std::max<std::int64_t>(1, (best - ping).count());
        return { .to = other_, .latency = ping / 2, .bytesPerSecond = 1e9 * size / static_cast<double>(net) };
    }

    void answer()
    {
        for (std::uint32_t size = receive(); size != kEnd; size = receive()) {
            if (size > 0)
                wait(transport_.receive(std::span(payload_).first(size), other_, kTag));
            send(0);
        }
    }

private:
    nanoseconds roundTrip(std::uint32_t size)
    {
        const Clock::time_point begin = Clock::now();
        // One behind the other: waiting in between would take a delay of the link for its bytes' time.
        const MessageId word = transport_.send(std::as_bytes(std::span(&size, 1)), other_, kTag);
        const auto content
            = size > 0 ? std::optional(transport_.send(std::span(payload_).first(size), other_, kTag)) : std::nullopt;
        wait(word);
        if (content)
            wait(*content);
        receive();
        return Clock::now() - begin;
    }

    void send(std::uint32_t word) { wait(transport_.send(std::as_bytes(std::span(&word, 1)), other_, kTag)); }

    std::uint32_t receive()
    {
        std::uint32_t word = 0;
        wait(transport_.receive(std::as_writable_bytes(std::span(&word, 1)), other_, kTag));
        return word;
    }

    void wait(MessageId message)
    {
        while (!transport_.test(message)) {
            transport_.poll();
            transport_.idle();
        }
    }

    Transport& transport_;
    int other_;
    std::vector<std::byte>& payload_;
};

/// The circle method: the last one stays, the others move on by one place each round. None: this one rests.
std::optional<int> partnerOf(int rank, int round, int ranks)
{
    const int even = ranks + ranks % 2, turning = even - 1;
    int partner = (2 * round - rank % turning + 2 * turning) % turning;
    if (rank == turning)
        partner = round % turning;
    else if (partner == rank)
        partner = turning;
    return partner < ranks ? std::optional(partner) : std::nullopt;
}

} // namespace

std::vector<MeasuredLink> measureLinks(Transport& transport)
{
    const int ranks = transport.worldSize(), rank = transport.rank();
    const int rounds = ranks + ranks % 2 - 1;
    std::vector<MeasuredLink> links;
    if (ranks < 2)
        return links;
    const nanoseconds budget = std::min(nanoseconds(4'000'000), nanoseconds(100'000'000) / (2 * rounds));
    std::vector<std::byte> payload(kLarge);
    for (int round = 0; round < rounds; ++round) {
        const auto partner = partnerOf(rank, round, ranks);
        if (!partner)
            continue;
        Pair pair(transport, *partner, payload);
        if (rank > *partner)
            pair.answer();
        links.push_back(pair.measure(budget));
        if (rank < *partner)
            pair.answer();
    }
    std::ranges::sort(links, {}, &MeasuredLink::to);
    return links;
}

} // namespace rankscope::backend
