#pragma once

#include "kernels/cost.h"

#include <cstdint>
#include <cstring>

namespace rankscope::kernels {

/// The upper half of a float: its range with 8 bits of precision.
struct Bf16 {
    std::uint16_t bits = 0;

    /// To the nearest, to the even one of two; a NaN stays one.
    static Bf16 of(float x)
    {
        std::uint32_t word = 0;
        std::memcpy(&word, &x, sizeof word);
        const std::uint32_t rounded = (word + 0x7fffU + ((word >> 16U) & 1U)) >> 16U;
        const std::uint32_t quiet = (word >> 16U) | 0x40U;
        return { static_cast<std::uint16_t>((word & 0x7fffffffU) > 0x7f800000U ? quiet : rounded) };
    }
    float toFloat() const
    {
        const std::uint32_t word = static_cast<std::uint32_t>(bits) << 16U;
        float x = 0;
        std::memcpy(&x, &word, sizeof x);
        return x;
    }
};

inline KernelCost roundToBf16Cost(std::int64_t n) { return { 0, 6 * static_cast<double>(n) }; }

namespace cpu {
/// y (n) = x (n), rounded.
void roundToBf16(Bf16* y, const float* x, std::int64_t n);
/// Whether this processor multiplies them itself. Where not, matmul() widens its inputs and takes longer than in fp32,
/// for the same result.
bool hasBf16();
} // namespace cpu

} // namespace rankscope::kernels
