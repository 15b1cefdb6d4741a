#include "kernels/moe.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

namespace rankscope::kernels::reference {

template <typename Real>
void routeForward(Real* probabilities, std::int32_t* chosen, const Real* logits, const RouteShape& s)
{
    for (std::int64_t row = 0; row < s.N; ++row) {
        std::vector<double> p(logits + row * s.E, logits + (row + 1) * s.E);
        const double greatest = *std::max_element(p.begin(), p.end());
        for (double& value : p)
            value = std::exp(value - greatest);
        const double sum = std::accumulate(p.begin(), p.end(), 0.0);
        for (std::int64_t e = 0; e < s.E; ++e)
            probabilities[row * s.E + e] = static_cast<Real>(p[static_cast<std::size_t>(e)] / sum);
        std::vector<std::int32_t> order(static_cast<std::size_t>(s.E));
        std::iota(order.begin(), order.end(), 0);
        std::stable_sort(order.begin(), order.end(), [&](std::int32_t a, std::int32_t b) {
            return probabilities[row * s.E + a] > probabilities[row * s.E + b];
        });
        std::copy_n(order.begin(), s.K, chosen + row * s.K);
    }
}

template <typename Real>
void routeBackward(Real* dlogits, const Real* dprobabilities, const Real* probabilities, const RouteShape& s)
{
    for (std::int64_t row = 0; row < s.N; ++row) {
        double mean = 0;
        for (std::int64_t i = row * s.E; i < (row + 1) * s.E; ++i)
            mean += static_cast<double>(probabilities[i]) * static_cast<double>(dprobabilities[i]);
        for (std::int64_t i = row * s.E; i < (row + 1) * s.E; ++i)
            dlogits[i] = static_cast<Real>(
                static_cast<double>(probabilities[i]) * (static_cast<double>(dprobabilities[i]) - mean));
    }
}

template <typename Real> double balanceLoss(const Real* probabilities, const std::int32_t* chosen, const RouteShape& s)
{
    double loss = 0;
    for (std::int64_t e = 0; e < s.E; ++e) {
        const auto choices = static_cast<double>(std::count(chosen, chosen + s.N * s.K, static_cast<std::int32_t>(e)));
        double sum = 0;
        for (std::int64_t row = 0; row < s.N; ++row)
            sum += static_cast<double>(probabilities[row * s.E + e]);
        loss += static_cast<double>(s.E) * choices / static_cast<double>(s.K * s.N) * sum / static_cast<double>(s.N);
    }
    return loss;
}

template <typename Real>
void balanceBackward(Real* dprobabilities, const std::int32_t* chosen, Real scale, const RouteShape& s)
{
    for (std::int64_t i = 0; i < s.N * s.E; ++i) {
        const auto choices
            = static_cast<double>(std::count(chosen, chosen + s.N * s.K, static_cast<std::int32_t>(i % s.E)));
        dprobabilities[i] += static_cast<Real>(
            static_cast<double>(scale) * static_cast<double>(s.E) * choices / static_cast<double>(s.K * s.N));
    }
}

template <typename Real> void takeRows(Real* y, const Real* x, const std::int32_t* rows, std::int64_t M, std::int64_t C)
{
    for (std::int64_t i = 0; i < M * C; ++i)
        y[i] = x[rows[i / C] * C + i % C];
}

template <typename Real>
void addRows(Real* y, const Real* x, const std::int32_t* rows, const Real* gates, std::int64_t M, std::int64_t C)
{
    for (std::int64_t i = 0; i < M * C; ++i)
        y[rows[i / C] * C + i % C] += (gates ? gates[i / C] : Real{ 1 }) * x[i];
}

template <typename Real>
void addRowsBackward(Real* dx, Real* dgates, const Real* dy, const Real* x, const std::int32_t* rows, const Real* gates,
    std::int64_t M, std::int64_t C)
{
    for (std::int64_t i = 0; i < M; ++i) {
        double gate = 0;
        for (std::int64_t c = 0; c < C; ++c) {
            gate += static_cast<double>(dy[rows[i] * C + c]) * static_cast<double>(x[i * C + c]);
            dx[i * C + c] = gates[i] * dy[rows[i] * C + c];
        }
        dgates[i] = static_cast<Real>(gate);
    }
}

#define RS_INSTANTIATE(Real)                                                                                           \
    template void routeForward(Real*, std::int32_t*, const Real*, const RouteShape&);                                  \
    template void routeBackward(Real*, const Real*, const Real*, const RouteShape&);                                   \
    template double balanceLoss(const Real*, const std::int32_t*, const RouteShape&);                                  \
    template void balanceBackward(Real*, const std::int32_t*, Real, const RouteShape&);                                \
    template void takeRows(Real*, const Real*, const std::int32_t*, std::int64_t, std::int64_t);                       \
    template void addRows(Real*, const Real*, const std::int32_t*, const Real*, std::int64_t, std::int64_t);           \
    template void addRowsBackward(                                                                                     \
        Real*, Real*, const Real*, const Real*, const std::int32_t*, const Real*, std::int64_t, std::int64_t)

RS_INSTANTIATE(float);
RS_INSTANTIATE(double);

} // namespace rankscope::kernels::reference
