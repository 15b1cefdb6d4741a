#pragma once

#include <cmath>
#include <cstddef>
#include <functional>
#include <gtest/gtest.h>
#include <vector>

namespace rankscope::kernels::test {

/// Compares `gradient` of `loss` with respect to `x` with central differences: (f(x + h) - f(x - h)) / 2 h is off by
/// O(h^2) and rounding / h, both near 1e-10 for h = 1e-5 in double. `loss` reads x by reference.
inline void expectGradient(
    std::vector<double>& x, const std::vector<double>& gradient, const std::function<double()>& loss)
{
    ASSERT_EQ(x.size(), gradient.size());
    constexpr double h = 1e-5;
    for (std::size_t i = 0; i < x.size(); ++i) {
        const double kept = x[i];
        x[i] = kept + h;
        const double above = loss();
        x[i] = kept - h;
        const double below = loss();
        x[i] = kept;
        EXPECT_NEAR(gradient[i], (above - below) / (2 * h), 1e-7 * (1 + std::abs(gradient[i]))) << "element " << i;
    }
}

/// A loss with a known gradient: the inner product of y and `weights`, whose gradient with respect to y is `weights`.
inline double weightedSum(const std::vector<double>& y, const std::vector<double>& weights)
{
    double sum = 0;
    for (std::size_t i = 0; i < y.size(); ++i)
        sum += y[i] * weights[i];
    return sum;
}

} // namespace rankscope::kernels::test
