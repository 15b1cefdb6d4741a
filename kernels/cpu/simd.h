#pragma once

#include "kernels/bf16.h"

#include <bit>
#include <cstdint>

/// Compiles a function once for AVX-512, once for AVX2 with FMA and once for any x86-64; the loader picks. The
/// sanitizers' runtimes are not ready when it does.
#if defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define RS_SIMD_CLONES __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define RS_SIMD_CLONES
#endif

/// Takes the shape of whoever calls it: a body that several RS_SIMD_CLONES share.
#define RS_SIMD_BODY [[gnu::always_inline]] inline

namespace rankscope::kernels::cpu {

/// A result in the numbers that its reader takes.
inline void store(float& y, float x) { y = x; }
inline void store(Bf16& y, float x) { y = Bf16::of(x); }
inline float load(float x) { return x; }
inline float load(Bf16 x) { return x.toFloat(); }

/// e^x within 2e-7 relative for x in [-87, 88], outside as at the nearer end. A polynomial of degree 7 (Cephes expf)
/// after taking off multiples of ln 2; no branch, so that loops over it become vector code.
inline float fastExp(float x)
{
    x = x < -87.0F ? -87.0F : x;
    x = x > 88.0F ? 88.0F : x;
    // Adding 1.5 * 2^23 rounds to an integer, which then stands in the low bits.
    const float shifted = x * 1.44269504F + 12582912.0F;
    const float n = shifted - 12582912.0F;
    const float r = (x - n * 0.693359375F) + n * 2.12194440e-4F;
    float p = 1.9875691500e-4F;
    p = p * r + 1.3981999507e-3F;
    p = p * r + 8.3334519073e-3F;
    p = p * r + 4.1665795894e-2F;
    p = p * r + 1.6666665459e-1F;
    p = p * r + 5.0000001201e-1F;
    const float e = p * (r * r) + r + 1.0F;
    return std::bit_cast<float>(std::bit_cast<std::uint32_t>(e) + (std::bit_cast<std::uint32_t>(shifted) << 23U));
}

} // namespace rankscope::kernels::cpu
