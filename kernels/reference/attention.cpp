#include "kernels/attention.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace rankscope::kernels::reference {

namespace {

// Where one head of one sequence lies in qkv (B, T, 3, H, D) and in out (B, T, H, D).
template <typename Real> struct Head {
    Real* q;
    Real* k;
    Real* v;
    std::int64_t row; // floats from token to token

    Head(Real* qkv, const AttentionShape& s, std::int64_t b, std::int64_t h)
        : q(qkv + b * s.T * 3 * s.H * s.D + h * s.D)
        , k(q + s.H * s.D)
        , v(k + s.H * s.D)
        , row(3 * s.H * s.D)
    {
    }
};

template <typename Real> double dot(const Real* x, const Real* y, std::int64_t n)
{
    double sum = 0;
    for (std::int64_t i = 0; i < n; ++i)
        sum += static_cast<double>(x[i]) * static_cast<double>(y[i]);
    return sum;
}

template <typename Real>
void forwardHead(Real* out, Real* logSumExp, const Head<const Real>& head, const AttentionShape& s)
{
    const double scale = 1 / std::sqrt(static_cast<double>(s.D));
    std::vector<double> score(static_cast<std::size_t>(s.T));
    for (std::int64_t t = 0; t < s.T; ++t) {
        double highest = -INFINITY, sum = 0;
        for (std::int64_t u = 0; u <= t; ++u) {
            score[static_cast<std::size_t>(u)] = scale * dot(head.q + t * head.row, head.k + u * head.row, s.D);
            highest = std::max(highest, score[static_cast<std::size_t>(u)]);
        }
        for (std::int64_t u = 0; u <= t; ++u)
            sum += std::exp(score[static_cast<std::size_t>(u)] - highest);
        const double lse = highest + std::log(sum);
        logSumExp[t] = static_cast<Real>(lse);
        for (std::int64_t d = 0; d < s.D; ++d) {
            double value = 0;
            for (std::int64_t u = 0; u <= t; ++u)
                value += std::exp(score[static_cast<std::size_t>(u)] - lse)
                    * static_cast<double>(head.v[u * head.row + d]);
            out[t * s.H * s.D + d] = static_cast<Real>(value);
        }
    }
}

template <typename Real>
void backwardHead(const Head<Real>& gradient, const Real* dout, const Real* out, const Head<const Real>& head,
    const Real* logSumExp, const AttentionShape& s)
{
    const double scale = 1 / std::sqrt(static_cast<double>(s.D));
    const auto cells = static_cast<std::size_t>(s.T * s.D);
    std::vector<double> dq(cells), dk(cells), dv(cells);
    for (std::int64_t t = 0; t < s.T; ++t) {
        const Real* dy = dout + t * s.H * s.D;
        const double delta = dot(dy, out + t * s.H * s.D, s.D);
        for (std::int64_t u = 0; u <= t; ++u) {
            const double score = scale * dot(head.q + t * head.row, head.k + u * head.row, s.D);
            const double p = std::exp(score - static_cast<double>(logSumExp[t]));
            const double ds = p * (dot(dy, head.v + u * head.row, s.D) - delta) * scale;
            for (std::int64_t d = 0; d < s.D; ++d) {
                dq[static_cast<std::size_t>(t * s.D + d)] += ds * static_cast<double>(head.k[u * head.row + d]);
                dk[static_cast<std::size_t>(u * s.D + d)] += ds * static_cast<double>(head.q[t * head.row + d]);
                dv[static_cast<std::size_t>(u * s.D + d)] += p * static_cast<double>(dy[d]);
            }
        }
    }
    for (std::int64_t t = 0; t < s.T; ++t) {
        for (std::int64_t d = 0; d < s.D; ++d) {
            const auto i = static_cast<std::size_t>(t * s.D + d);
            gradient.q[t * gradient.row + d] = static_cast<Real>(dq[i]);
            gradient.k[t * gradient.row + d] = static_cast<Real>(dk[i]);
            gradient.v[t * gradient.row + d] = static_cast<Real>(dv[i]);
        }
    }
}

} // namespace

template <typename Real> void attentionForward(Real* out, Real* logSumExp, const Real* qkv, const AttentionShape& s)
{
    for (std::int64_t b = 0; b < s.B; ++b)
        for (std::int64_t h = 0; h < s.H; ++h)
            forwardHead<Real>(
                out + (b * s.T * s.H + h) * s.D, logSumExp + (b * s.H + h) * s.T, Head<const Real>(qkv, s, b, h), s);
}

template <typename Real>
void attentionBackward(
    Real* dqkv, const Real* dout, const Real* out, const Real* qkv, const Real* logSumExp, const AttentionShape& s)
{
    for (std::int64_t b = 0; b < s.B; ++b)
        for (std::int64_t h = 0; h < s.H; ++h)
            backwardHead<Real>(Head<Real>(dqkv, s, b, h), dout + (b * s.T * s.H + h) * s.D,
                out + (b * s.T * s.H + h) * s.D, Head<const Real>(qkv, s, b, h), logSumExp + (b * s.H + h) * s.T, s);
}

template void attentionForward(float*, float*, const float*, const AttentionShape&);
template void attentionForward(double*, double*, const double*, const AttentionShape&);
template void attentionBackward(float*, const float*, const float*, const float*, const float*, const AttentionShape&);
template void attentionBackward(
    double*, const double*, const double*, const double*, const double*, const AttentionShape&);

} // namespace rankscope::kernels::reference
