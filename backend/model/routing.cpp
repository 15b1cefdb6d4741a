#include "backend/model/routing.h"

#include <algorithm>
#include <numeric>

namespace rankscope::backend {

namespace {

/// Calls body(row, expert) for all choices that an expert takes, in the order in which it does.
template <typename Body>
void eachKept(const Routing& routing, const kernels::RouteShape& shape, std::int64_t capacity, const Body& body)
{
    std::vector<std::int64_t> taken(static_cast<std::size_t>(shape.E));
    for (std::int64_t k = 0; k < shape.K; ++k) {
        for (std::int64_t row = 0; row < shape.N; ++row) {
            const std::int32_t expert = routing.chosen[static_cast<std::size_t>(row * shape.K + k)];
            if (taken[static_cast<std::size_t>(expert)]++ < capacity)
                body(row, expert);
        }
    }
}

} // namespace

std::int64_t Routing::arrivals() const { return std::accumulate(came.begin(), came.end(), std::int64_t{ 0 }); }

void prefer(std::span<std::int32_t> chosen, const HotExpert& hot, const kernels::RouteShape& shape)
{
    // Fibonacci hashing (Knuth 6.4) spreads the rows evenly without a state.
    const auto limit = static_cast<std::uint64_t>(std::clamp(hot.share, 0.0, 1.0) * 4294967296.0);
    for (std::int64_t row = 0; row < shape.N; ++row) {
        if ((static_cast<std::uint64_t>(row) * 2654435769U & 0xffffffffU) >= limit)
            continue;
        const auto choices = chosen.subspan(static_cast<std::size_t>(row * shape.K), static_cast<std::size_t>(shape.K));
        const auto already = std::ranges::find(choices, hot.expert);
        if (already != choices.end())
            std::iter_swap(choices.begin(), already);
        else
            choices.front() = hot.expert;
    }
}

void sortChoices(Routing& routing, const kernels::RouteShape& shape, std::int64_t capacity)
{
    routing.kept.assign(static_cast<std::size_t>(shape.E), 0);
    eachKept(routing, shape, capacity,
        [&](std::int64_t, std::int32_t expert) { ++routing.kept[static_cast<std::size_t>(expert)]; });
    std::vector<std::size_t> next(routing.kept.size());
    std::exclusive_scan(routing.kept.begin(), routing.kept.end(), next.begin(), std::size_t{ 0 });
    const std::size_t all = next.back() + static_cast<std::size_t>(routing.kept.back());
    routing.rows.resize(all);
    routing.gates.resize(all);
    eachKept(routing, shape, capacity, [&](std::int64_t row, std::int32_t expert) {
        const std::size_t slot = next[static_cast<std::size_t>(expert)]++;
        routing.rows[slot] = static_cast<std::int32_t>(row);
        routing.gates[slot] = routing.probabilities.data()[row * shape.E + expert];
    });
}

void arrange(float* to, const float* from, const Routing& routing, std::int64_t C, std::int64_t experts, Arrange how)
{
    const auto ranks = static_cast<std::int64_t>(routing.came.size()) / experts;
    std::vector<std::int64_t> bySender(routing.came.size());
    std::exclusive_scan(routing.came.begin(), routing.came.end(), bySender.begin(), std::int64_t{ 0 });
    std::int64_t byExpert = 0;
    for (std::int64_t expert = 0; expert < experts; ++expert) {
        for (std::int64_t rank = 0; rank < ranks; ++rank) {
            const auto block = static_cast<std::size_t>(rank * experts + expert);
            const std::int64_t count = routing.came[block];
            if (how == Arrange::ByExpert)
                std::copy_n(from + bySender[block] * C, count * C, to + byExpert * C);
            else
                std::copy_n(from + byExpert * C, count * C, to + bySender[block] * C);
            byExpert += count;
        }
    }
}

} // namespace rankscope::backend
