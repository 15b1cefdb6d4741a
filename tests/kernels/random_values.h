#pragma once

#include "kernels/bf16.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <gtest/gtest.h>
#include <vector>

namespace rankscope::kernels::test {

/// Values in [-1, 1) from a linear congruence, the same on every machine (Knuth's MMIX constants).
template <typename Real> std::vector<Real> randomValues(std::int64_t n, std::uint64_t seed)
{
    std::vector<Real> values(static_cast<std::size_t>(n));
    std::uint64_t state = seed * 2862933555777941757U + 3037000493U;
    for (Real& value : values) {
        state = state * 6364136223846793005U + 1442695040888963407U;
        value = static_cast<Real>(static_cast<float>(static_cast<double>(state >> 40U) / 8388608.0 - 1.0));
    }
    return values;
}

inline std::vector<std::int32_t> randomTokens(std::int64_t n, std::int32_t vocab, std::uint64_t seed)
{
    std::vector<std::int32_t> tokens;
    for (const double value : randomValues<double>(n, seed))
        tokens.push_back(std::min(vocab - 1, static_cast<std::int32_t>((value + 1) / 2 * vocab)));
    return tokens;
}

/// Every |actual - expected| is at most bound * (1 + |expected|).
inline void expectClose(const std::vector<float>& actual, const std::vector<float>& expected, double bound)
{
    ASSERT_EQ(actual.size(), expected.size());
    double worst = 0;
    std::size_t where = 0;
    for (std::size_t i = 0; i < actual.size(); ++i) {
        const double e = expected[i];
        const double distance = std::abs(static_cast<double>(actual[i]) - e) / (1 + std::abs(e));
        if (!(distance <= worst)) { // also when it is not a number
            worst = distance;
            where = i;
        }
    }
    EXPECT_LE(worst, bound) << "at " << where << ": " << actual[where] << " instead of " << expected[where];
}

inline void expectRounded(const std::vector<Bf16>& rounded, const std::vector<float>& full)
{
    ASSERT_EQ(rounded.size(), full.size());
    for (std::size_t i = 0; i < full.size(); ++i)
        ASSERT_EQ(rounded[i].bits, Bf16::of(full[i]).bits) << "at " << i << ", of " << full[i];
}

} // namespace rankscope::kernels::test
