#include "kernels/attention.h"

#include "kernels/cpu/attention_tile.h"
#include "kernels/cpu/parallel.h"
#include "kernels/cpu/simd.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

// A head of one sequence is the unit of work of a thread: its queries, keys and values are packed into the thread's
// scratch memory (padded with zeros), then blocks of 32 queries meet all keys up to their diagonal; masked blocks are
// skipped.

namespace rankscope::kernels::cpu {

namespace {

std::int64_t roundUp(std::int64_t n, std::int64_t unit) { return (n + unit - 1) / unit * unit; }

// Where the head lies in qkv and out, and its padded sizes.
struct Head {
    std::int64_t T, D, paddedT, paddedD;
    std::int64_t qkvRow, outRow; // floats from token to token
    std::int64_t qkvOffset, outOffset, statOffset, valueOffset; // valueOffset: from queries to keys to values
    float scale;

    Head(const AttentionShape& s, std::int64_t index)
        : T(s.T)
        , D(s.D)
        , paddedT(roundUp(s.T, kQueryBlock))
        , paddedD(roundUp(s.D, kLanes))
        , qkvRow(3 * s.H * s.D)
        , outRow(s.H * s.D)
        , qkvOffset(index / s.H * s.T * 3 * s.H * s.D + index % s.H * s.D)
        , outOffset(index / s.H * s.T * s.H * s.D + index % s.H * s.D)
        , statOffset(index * s.T)
        , valueOffset(s.H * s.D)
        , scale(1.0F / std::sqrt(static_cast<float>(s.D)))
    {
    }
    std::int64_t cells() const { return paddedT * paddedD; }
};

// Memory of one thread, handed out piece by piece; grows to the largest head it has seen.
class Scratch {
public:
    explicit Scratch(std::int64_t floats)
    {
        const auto wanted = static_cast<std::size_t>(floats + kLanes);
        if (memory().size() < wanted)
            memory().resize(wanted);
        const auto address = reinterpret_cast<std::uintptr_t>(memory().data());
        next_ = memory().data() + (64 - address % 64) % 64 / sizeof(float);
    }
    float* take(std::int64_t floats) { return std::exchange(next_, next_ + floats); }

private:
    static std::vector<float>& memory()
    {
        thread_local std::vector<float> floats;
        return floats;
    }
    float* next_;
};

// packed (paddedT, paddedD) = factor times the rows of x.
RS_SIMD_CLONES void packRows(float* packed, const float* x, std::int64_t row, float factor, const Head& head)
{
    const std::int64_t D = head.D, width = head.paddedD;
    for (std::int64_t t = 0; t < head.T; ++t, packed += width, x += row) {
#pragma omp simd
        for (std::int64_t d = 0; d < D; ++d)
            packed[d] = factor * x[d];
        std::fill(packed + D, packed + width, 0.0F);
    }
    std::fill(packed, packed + (head.paddedT - head.T) * width, 0.0F);
}

// packed (paddedD, paddedT) = transposed rows of an already packed (paddedT, paddedD).
RS_SIMD_CLONES void packTransposed(float* packed, const float* rows, const Head& head)
{
    const std::int64_t T = head.paddedT, D = head.paddedD;
    for (std::int64_t first = 0; first < T; first += kLanes)
        for (std::int64_t d = 0; d < D; ++d)
#pragma omp simd
            for (std::int64_t t = 0; t < kLanes; ++t)
                packed[d * T + first + t] = rows[(first + t) * D + d];
}

// scores (keys) become exp(score - highest) for the first `visible`, 0 after. Returns log-sum-exp and 1 / sum.
RS_SIMD_CLONES void softmaxRow(float* scores, std::int64_t visible, std::int64_t keys, float& lse, float& inverse)
{
    float highest = scores[0], sum = 0;
#pragma omp simd reduction(max : highest)
    for (std::int64_t u = 0; u < visible; ++u)
        highest = scores[u] > highest ? scores[u] : highest;
#pragma omp simd reduction(+ : sum)
    for (std::int64_t u = 0; u < visible; ++u) {
        scores[u] = fastExp(scores[u] - highest);
        sum += scores[u];
    }
    std::fill(scores + visible, scores + keys, 0.0F);
    lse = highest + std::log(sum);
    inverse = 1.0F / sum;
}

// scores become probabilities p, dp becomes p (dp - delta); 0 where masked.
RS_SIMD_CLONES void softmaxBackwardRow(
    float* scores, float* dp, std::int64_t visible, std::int64_t keys, float lse, float delta)
{
#pragma omp simd
    for (std::int64_t u = 0; u < visible; ++u) {
        scores[u] = fastExp(scores[u] - lse);
        dp[u] = scores[u] * (dp[u] - delta);
    }
    std::fill(scores + visible, scores + keys, 0.0F);
    std::fill(dp + visible, dp + keys, 0.0F);
}

template <typename Out> RS_SIMD_BODY void writeRowBody(Out* y, const float* x, float factor, std::int64_t n)
{
#pragma omp simd
    for (std::int64_t i = 0; i < n; ++i)
        store(y[i], factor * x[i]);
}
RS_SIMD_CLONES void writeRow(float* y, const float* x, float factor, std::int64_t n) { writeRowBody(y, x, factor, n); }
RS_SIMD_CLONES void writeRow(Bf16* y, const float* x, float factor, std::int64_t n) { writeRowBody(y, x, factor, n); }

// delta (T) = the inner products of the rows of dy and out.
template <typename Out>
RS_SIMD_BODY void innerProductsBody(float* delta, const float* dy, const Out* out, const Head& head)
{
    const std::int64_t D = head.D;
    for (std::int64_t t = 0; t < head.T; ++t, dy += head.outRow, out += head.outRow) {
        float sum = 0;
#pragma omp simd reduction(+ : sum)
        for (std::int64_t d = 0; d < D; ++d)
            sum += dy[d] * load(out[d]);
        delta[t] = sum;
    }
}
RS_SIMD_CLONES void innerProducts(float* delta, const float* dy, const float* out, const Head& head)
{
    innerProductsBody(delta, dy, out, head);
}
RS_SIMD_CLONES void innerProducts(float* delta, const float* dy, const Bf16* out, const Head& head)
{
    innerProductsBody(delta, dy, out, head);
}

template <typename Out> void forwardHead(Out* out, float* logSumExp, const float* qkv, const Head& head)
{
    const std::int64_t D = head.paddedD, T = head.paddedT;
    Scratch scratch(4 * head.cells() + kQueryBlock * (T + D));
    float* q = scratch.take(head.cells());
    float* k = scratch.take(head.cells());
    float* v = scratch.take(head.cells());
    float* keysTransposed = scratch.take(head.cells());
    float* scores = scratch.take(kQueryBlock * T);
    float* sums = scratch.take(kQueryBlock * D);
    packRows(q, qkv, head.qkvRow, head.scale, head);
    packRows(k, qkv + head.valueOffset, head.qkvRow, 1, head);
    packRows(v, qkv + 2 * head.valueOffset, head.qkvRow, 1, head);
    packTransposed(keysTransposed, k, head);
    for (std::int64_t first = 0; first < head.T; first += kQueryBlock) {
        const std::int64_t keys = first + kQueryBlock, rows = std::min(kQueryBlock, head.T - first);
        float inverse[kQueryBlock];
        multiplyTile({ scores, keys, q + first * D, D, 1, keysTransposed, T, kQueryBlock, keys, D, false });
        for (std::int64_t r = 0; r < rows; ++r)
            softmaxRow(scores + r * keys, first + r + 1, keys, logSumExp[first + r], inverse[r]);
        multiplyTile({ sums, D, scores, keys, 1, v, D, kQueryBlock, D, keys, false });
        for (std::int64_t r = 0; r < rows; ++r)
            writeRow(out + (first + r) * head.outRow, sums + r * D, inverse[r], head.D);
    }
}

// What one head's backward pass works on, in scratch memory.
struct BackwardBuffers {
    float *q, *k, *v, *dy, *keysTransposed, *valuesTransposed, *dk, *dv, *scores, *dscores, *dq, *delta;

    BackwardBuffers(Scratch& scratch, const Head& head)
    {
        for (float** whole : { &q, &k, &v, &dy, &keysTransposed, &valuesTransposed, &dk, &dv })
            *whole = scratch.take(head.cells());
        scores = scratch.take(kQueryBlock * head.paddedT);
        dscores = scratch.take(kQueryBlock * head.paddedT);
        dq = scratch.take(kQueryBlock * head.paddedD);
        delta = scratch.take(head.paddedT);
    }
    static std::int64_t floats(const Head& head)
    {
        return 8 * head.cells() + kQueryBlock * (2 * head.paddedT + head.paddedD) + head.paddedT;
    }
};

// Adds one block of queries to dk and dv and leaves its dq. Dao et al. 2022, algorithm 4.
void backwardBlock(const BackwardBuffers& w, const float* logSumExp, std::int64_t first, const Head& head)
{
    const std::int64_t D = head.paddedD, T = head.paddedT, keys = first + kQueryBlock;
    const std::int64_t rows = std::min(kQueryBlock, head.T - first);
    const float* q = w.q + first * D;
    const float* dy = w.dy + first * D;
    multiplyTile({ w.scores, keys, q, D, 1, w.keysTransposed, T, kQueryBlock, keys, D, false });
    multiplyTile({ w.dscores, keys, dy, D, 1, w.valuesTransposed, T, kQueryBlock, keys, D, false });
    for (std::int64_t r = 0; r < rows; ++r) {
        softmaxBackwardRow(
            w.scores + r * keys, w.dscores + r * keys, first + r + 1, keys, logSumExp[first + r], w.delta[first + r]);
    }
    // Rows beyond the last token are padding: no probability may leave them.
    std::fill(w.scores + rows * keys, w.scores + kQueryBlock * keys, 0.0F);
    std::fill(w.dscores + rows * keys, w.dscores + kQueryBlock * keys, 0.0F);
    multiplyTile({ w.dq, D, w.dscores, keys, 1, w.k, D, kQueryBlock, D, keys, false });
    multiplyTile({ w.dk, D, w.dscores, 1, keys, q, D, keys, D, kQueryBlock, true });
    multiplyTile({ w.dv, D, w.scores, 1, keys, dy, D, keys, D, kQueryBlock, true });
}

template <typename Out>
void backwardHead(
    Out* dqkv, const float* dout, const Out* out, const float* qkv, const float* logSumExp, const Head& head)
{
    Scratch scratch(BackwardBuffers::floats(head));
    const BackwardBuffers w(scratch, head);
    packRows(w.q, qkv, head.qkvRow, head.scale, head);
    packRows(w.k, qkv + head.valueOffset, head.qkvRow, 1, head);
    packRows(w.v, qkv + 2 * head.valueOffset, head.qkvRow, 1, head);
    packRows(w.dy, dout, head.outRow, 1, head);
    packTransposed(w.keysTransposed, w.k, head);
    packTransposed(w.valuesTransposed, w.v, head);
    innerProducts(w.delta, dout, out, head);
    std::fill(w.dk, w.dk + head.cells(), 0.0F);
    std::fill(w.dv, w.dv + head.cells(), 0.0F);
    for (std::int64_t first = 0; first < head.T; first += kQueryBlock) {
        backwardBlock(w, logSumExp, first, head);
        for (std::int64_t r = 0; r < std::min(kQueryBlock, head.T - first); ++r)
            writeRow(dqkv + (first + r) * head.qkvRow, w.dq + r * head.paddedD, head.scale, head.D);
    }
    for (std::int64_t t = 0; t < head.T; ++t) {
        Out* row = dqkv + t * head.qkvRow;
        writeRow(row + head.valueOffset, w.dk + t * head.paddedD, 1, head.D); // q was scaled, so dk is too
        writeRow(row + 2 * head.valueOffset, w.dv + t * head.paddedD, 1, head.D);
    }
}

template <typename Out> void forwardHeads(Out* out, float* logSumExp, const float* qkv, const AttentionShape& shape)
{
    parallelRanges(shape.B * shape.H, 2, [&](std::int64_t begin, std::int64_t end, int) {
        for (std::int64_t index = begin; index < end; ++index) {
            const Head head(shape, index);
            forwardHead(out + head.outOffset, logSumExp + head.statOffset, qkv + head.qkvOffset, head);
        }
    });
}

template <typename Out>
void backwardHeads(
    Out* dqkv, const float* dout, const Out* out, const float* qkv, const float* logSumExp, const AttentionShape& shape)
{
    parallelRanges(shape.B * shape.H, 2, [&](std::int64_t begin, std::int64_t end, int) {
        for (std::int64_t index = begin; index < end; ++index) {
            const Head head(shape, index);
            backwardHead(dqkv + head.qkvOffset, dout + head.outOffset, out + head.outOffset, qkv + head.qkvOffset,
                logSumExp + head.statOffset, head);
        }
    });
}

} // namespace

void attentionForward(float* out, float* logSumExp, const float* qkv, const AttentionShape& shape)
{
    forwardHeads(out, logSumExp, qkv, shape);
}

void attentionForward(Bf16* out, float* logSumExp, const float* qkv, const AttentionShape& shape)
{
    forwardHeads(out, logSumExp, qkv, shape);
}

void attentionBackward(float* dqkv, const float* dout, const float* out, const float* qkv, const float* logSumExp,
    const AttentionShape& shape)
{
    backwardHeads(dqkv, dout, out, qkv, logSumExp, shape);
}

void attentionBackward(Bf16* dqkv, const float* dout, const Bf16* out, const float* qkv, const float* logSumExp,
    const AttentionShape& shape)
{
    backwardHeads(dqkv, dout, out, qkv, logSumExp, shape);
}

} // namespace rankscope::kernels::cpu
