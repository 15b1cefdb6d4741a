#pragma once

#include "kernels/cost.h"

#include <cstdint>

namespace rankscope::kernels {

inline KernelCost squaredNormCost(std::int64_t n) { return { 2 * static_cast<double>(n), 4 * static_cast<double>(n) }; }

namespace cpu {
/// Sum of the squares of x (n), summed in double. The bits do not depend on the number of threads. The global norm is
/// the root of its sum over ranks (Pascanu et al. 2013).
double squaredNorm(const float* x, std::int64_t n);
} // namespace cpu
namespace reference {
template <typename Real> double squaredNorm(const Real* x, std::int64_t n);
}

} // namespace rankscope::kernels
