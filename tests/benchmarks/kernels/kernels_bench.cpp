#include "kernels/adamw.h"
#include "kernels/attention.h"
#include "kernels/bf16.h"
#include "kernels/elementwise.h"
#include "kernels/gelu.h"
#include "kernels/gradient_norm.h"
#include "kernels/layernorm.h"
#include "kernels/matmul.h"
#include "kernels/softmax_cross_entropy.h"

#include <benchmark/benchmark.h>
#include <vector>

// Each kernel at the sizes of layers 6, width 384, heads 6, vocab 256, sequence 256, batch 4: N = 1024 rows, C = 384.
// Threads: OMP_NUM_THREADS.

namespace rankscope::kernels {

namespace {

constexpr std::int64_t N = 1024, C = 384, V = 256;
constexpr AttentionShape kAttention{ .B = 4, .T = 256, .H = 6, .D = 64 };

std::vector<float> values(std::int64_t n)
{
    std::vector<float> result(static_cast<std::size_t>(n));
    for (std::size_t i = 0; i < result.size(); ++i)
        result[i] = static_cast<float>(i * 7919 % 2003) / 1001.5F - 1;
    return result;
}

// Runs the body and states the rates that its cost gives.
template <typename Body> void measure(benchmark::State& state, const KernelCost& cost, const Body& body)
{
    for (auto _ : state)
        body();
    const auto rate = benchmark::Counter::kIsIterationInvariantRate;
    state.counters["GFLOP/s"] = benchmark::Counter(cost.flop / 1e9, rate);
    state.counters["GB/s"] = benchmark::Counter(cost.bytes / 1e9, rate);
}

void matmulForm(benchmark::State& state, const MatmulShape& shape)
{
    const auto a = values(shape.M * shape.K), b = values(shape.K * shape.N);
    auto c = values(shape.M * shape.N);
    measure(state, matmulCost(shape), [&] { cpu::matmul(c.data(), a.data(), b.data(), nullptr, shape); });
}

void bf16MatmulForm(benchmark::State& state, const MatmulShape& shape)
{
    std::vector<Bf16> a(static_cast<std::size_t>(shape.M * shape.K), Bf16::of(0.5F)),
        b(static_cast<std::size_t>(shape.K * shape.N), Bf16::of(0.25F));
    auto c = values(shape.M * shape.N);
    measure(state, matmulCost(shape, 2), [&] { cpu::matmul(c.data(), a.data(), b.data(), nullptr, shape); });
}

void bf16MatmulForward(benchmark::State& state)
{
    bf16MatmulForm(state, { .M = N, .N = state.range(1), .K = state.range(0) });
}
void bf16MatmulInputGradient(benchmark::State& state)
{
    bf16MatmulForm(state, { .M = N, .N = state.range(0), .K = state.range(1), .transposeB = true });
}
void bf16MatmulWeightGradient(benchmark::State& state)
{
    bf16MatmulForm(state, { .M = state.range(0), .N = state.range(1), .K = N, .transposeA = true, .accumulate = true });
}

// What a core can do at best: the shape by which a training run measures its peak.
void matmulPeak(benchmark::State& state) { matmulForm(state, { .M = 768, .N = 768, .K = 768 }); }
void bf16MatmulPeak(benchmark::State& state) { bf16MatmulForm(state, { .M = 768, .N = 768, .K = 768 }); }

void matmulForward(benchmark::State& state) { matmulForm(state, { .M = N, .N = state.range(1), .K = state.range(0) }); }
void matmulInputGradient(benchmark::State& state)
{
    matmulForm(state, { .M = N, .N = state.range(0), .K = state.range(1), .transposeB = true });
}
void matmulWeightGradient(benchmark::State& state)
{
    matmulForm(state, { .M = state.range(0), .N = state.range(1), .K = N, .transposeA = true, .accumulate = true });
}
void linearShapes(benchmark::internal::Benchmark* bench)
{
    bench->Args({ C, 3 * C })->Args({ C, C })->Args({ C, 4 * C })->Args({ 4 * C, C })->Args({ C, V });
    bench->UseRealTime()->Unit(benchmark::kMicrosecond)->ArgNames({ "in", "out" });
}
BENCHMARK(matmulForward)->Apply(linearShapes);
BENCHMARK(matmulInputGradient)->Apply(linearShapes);
BENCHMARK(matmulWeightGradient)->Apply(linearShapes);
BENCHMARK(bf16MatmulForward)->Apply(linearShapes);
BENCHMARK(bf16MatmulInputGradient)->Apply(linearShapes);
BENCHMARK(bf16MatmulWeightGradient)->Apply(linearShapes);

void roundToBf16(benchmark::State& state)
{
    const auto x = values(N * 4 * C);
    std::vector<Bf16> y(x.size());
    measure(state, roundToBf16Cost(N * 4 * C), [&] { cpu::roundToBf16(y.data(), x.data(), N * 4 * C); });
}
BENCHMARK(roundToBf16)->UseRealTime()->Unit(benchmark::kMicrosecond);

void attentionForward(benchmark::State& state)
{
    const auto qkv = values(N * 3 * C);
    auto out = values(N * C), lse = values(N * 6);
    measure(state, attentionForwardCost(kAttention),
        [&] { cpu::attentionForward(out.data(), lse.data(), qkv.data(), kAttention); });
}

void attentionBackward(benchmark::State& state)
{
    const auto qkv = values(N * 3 * C), dout = values(N * C);
    auto out = values(N * C), lse = values(N * 6), dqkv = values(N * 3 * C);
    cpu::attentionForward(out.data(), lse.data(), qkv.data(), kAttention);
    measure(state, attentionBackwardCost(kAttention),
        [&] { cpu::attentionBackward(dqkv.data(), dout.data(), out.data(), qkv.data(), lse.data(), kAttention); });
}

void geluForward(benchmark::State& state)
{
    const auto x = values(N * 4 * C);
    auto y = x;
    measure(state, geluForwardCost(N * 4 * C), [&] { cpu::geluForward(y.data(), x.data(), N * 4 * C); });
}

void geluBackward(benchmark::State& state)
{
    const auto x = values(N * 4 * C);
    auto dy = x;
    measure(state, geluBackwardCost(N * 4 * C), [&] { cpu::geluBackward(dy.data(), dy.data(), x.data(), N * 4 * C); });
}

void layernormForward(benchmark::State& state)
{
    const auto x = values(N * C), gain = values(C), bias = values(C);
    auto y = x, mean = values(N), rstd = values(N);
    measure(state, layernormForwardCost(N, C),
        [&] { cpu::layernormForward(y.data(), mean.data(), rstd.data(), x.data(), gain.data(), bias.data(), N, C); });
}

void layernormBackward(benchmark::State& state)
{
    const auto x = values(N * C), gain = values(C), dy = values(N * C), mean = values(N), rstd = values(N);
    auto dx = x, dgain = gain, dbias = gain;
    measure(state, layernormBackwardCost(N, C), [&] {
        cpu::layernormBackward(
            dx.data(), dgain.data(), dbias.data(), dy.data(), x.data(), mean.data(), rstd.data(), gain.data(), N, C);
    });
}

void biasBackward(benchmark::State& state)
{
    const auto dy = values(N * 4 * C);
    auto dbias = values(4 * C);
    measure(state, biasBackwardCost(N, 4 * C), [&] { cpu::biasBackward(dbias.data(), dy.data(), N, 4 * C); });
}

void crossEntropy(benchmark::State& state)
{
    const auto logits = values(N * V);
    auto d = logits, losses = values(N), lse = values(N);
    const std::vector<std::int32_t> targets(N, 3);
    KernelCost cost = softmaxCrossEntropyForwardCost(N, V);
    cost += softmaxCrossEntropyBackwardCost(N, V);
    measure(state, cost, [&] {
        cpu::softmaxCrossEntropyForward(losses.data(), lse.data(), logits.data(), targets.data(), N, V);
        cpu::softmaxCrossEntropyBackward(d.data(), logits.data(), lse.data(), targets.data(), 1, N, V);
    });
}

// What an optimiser step does with the 10.8 million weights.
constexpr std::int64_t kWeights = 10'800'000;

void adamw(benchmark::State& state)
{
    auto w = values(kWeights), m = w, v = w;
    for (float& value : v)
        value = 1;
    const auto g = w;
    measure(state, adamwCost(kWeights),
        [&] { cpu::adamwStep(w.data(), m.data(), v.data(), g.data(), kWeights, { .weightDecay = 0.1F }); });
}

void squaredNorm(benchmark::State& state)
{
    const auto g = values(kWeights);
    measure(state, squaredNormCost(kWeights), [&] { benchmark::DoNotOptimize(cpu::squaredNorm(g.data(), kWeights)); });
}

void clear(benchmark::State& state)
{
    auto g = values(kWeights);
    measure(state, clearCost(kWeights), [&] { cpu::clear(g.data(), kWeights); });
}

// Far larger than the caches: what memory gives.
void copyLarge(benchmark::State& state)
{
    constexpr std::int64_t kFloats = 64 << 20;
    const auto x = values(kFloats);
    auto y = x;
    measure(state, copyCost(kFloats), [&] { cpu::copy(y.data(), x.data(), kFloats); });
}

BENCHMARK(matmulPeak)->UseRealTime()->Unit(benchmark::kMicrosecond);
BENCHMARK(bf16MatmulPeak)->UseRealTime()->Unit(benchmark::kMicrosecond);
BENCHMARK(copyLarge)->UseRealTime()->Unit(benchmark::kMicrosecond);
BENCHMARK(attentionForward)->UseRealTime()->Unit(benchmark::kMicrosecond);
BENCHMARK(attentionBackward)->UseRealTime()->Unit(benchmark::kMicrosecond);
BENCHMARK(geluForward)->UseRealTime()->Unit(benchmark::kMicrosecond);
BENCHMARK(geluBackward)->UseRealTime()->Unit(benchmark::kMicrosecond);
BENCHMARK(layernormForward)->UseRealTime()->Unit(benchmark::kMicrosecond);
BENCHMARK(layernormBackward)->UseRealTime()->Unit(benchmark::kMicrosecond);
BENCHMARK(biasBackward)->UseRealTime()->Unit(benchmark::kMicrosecond);
BENCHMARK(crossEntropy)->UseRealTime()->Unit(benchmark::kMicrosecond);
BENCHMARK(adamw)->UseRealTime()->Unit(benchmark::kMicrosecond);
BENCHMARK(squaredNorm)->UseRealTime()->Unit(benchmark::kMicrosecond);
BENCHMARK(clear)->UseRealTime()->Unit(benchmark::kMicrosecond);

} // namespace

} // namespace rankscope::kernels
