#include "backend/model/gpt_stage.h"
#include "backend/parallel/optimizer.h"
#include "kernels/matmul.h"

#include <algorithm>
#include <benchmark/benchmark.h>
#include <cmath>
#include <cstdint>
#include <vector>

// Training steps of two models in one process. Threads: OMP_NUM_THREADS. With RANKSCOPE_SESSION set they are recorded.
// The column CPU sums over threads; with OMP_WAIT_POLICY=passive it tells the work also where others use the machine.

namespace rankscope::backend {

namespace {

struct Size {
    GptConfig config;
    int sequences;

    std::int64_t tokens() const { return static_cast<std::int64_t>(sequences) * config.sequence; }
};

const Size kSmall{ { .layers = 6, .width = 384, .heads = 6, .vocab = 256, .sequence = 256 }, 4 };
const Size kLarge{ { .layers = 12, .width = 768, .heads = 12, .vocab = 50257, .sequence = 64 }, 4 };

void rateTokens(benchmark::State& state, const Size& size)
{
    state.counters["tokens/s"]
        = benchmark::Counter(static_cast<double>(size.tokens()), benchmark::Counter::kIsIterationInvariantRate);
}

// Clear, forward, backward, norm and AdamW. With `pieces` somebody wants to be called every 100 us.
void trainingStep(benchmark::State& state, const Size& size, Numbers numbers, bool pieces)
{
    const auto recorder = tracing::Recorder::open(tracing::Recorder::optionsFromEnvironment(0, 1));
    GptStage stage({ .config = size.config,
                       .chunks = { { wholeModel(size.config), 1 } },
                       .sequences = size.sequences,
                       .numbers = numbers },
        *recorder);
    Optimizer optimizer({}, stage, { { 0, stage.values().size() } }, *recorder);
    std::vector<std::int32_t> tokens;
    for (std::int32_t i = 0; i < size.tokens(); ++i)
        tokens.push_back(i * 31 % 256);
    std::int64_t pauses = 0, step = 0;
    if (pieces)
        stage.setHooks({ .betweenKernels = [&] { ++pauses; } });
    for (auto _ : state) {
        stage.zeroGradients();
        stage.forward(
            { .tokens = tokens, .targets = tokens, .lossScale = 1.0F / static_cast<float>(size.tokens()) }, {});
        stage.backward(0, 0, {}, {});
        optimizer.update(step++, std::sqrt(optimizer.squaredNorm(true, true)));
    }
    rateTokens(state, size);
    state.counters["pauses"] = benchmark::Counter(static_cast<double>(pauses), benchmark::Counter::kAvgIterations);
}

// The matrix products of the same step alone: the bound that everything else is measured against.
template <typename Number> void matrixProducts(benchmark::State& state, const Size& size, Number half)
{
    const std::int64_t rows = size.tokens(), C = size.config.width;
    struct Layer {
        std::int64_t inputs, outputs, times;
    };
    const std::int64_t layers = size.config.layers;
    const Layer all[] = { { C, 3 * C, layers }, { C, C, layers }, { C, 4 * C, layers }, { 4 * C, C, layers },
        { C, size.config.vocab, 1 } };
    const std::int64_t widest = std::max<std::int64_t>(4 * C, size.config.vocab);
    const std::vector<Number> x(static_cast<std::size_t>(rows * widest), half),
        w(static_cast<std::size_t>(C * widest), half);
    std::vector<float> y(static_cast<std::size_t>(std::max(rows, C) * widest), 0.5F);
    for (auto _ : state) {
        for (const auto& [in, out, times] : all) {
            for (std::int64_t i = 0; i < times; ++i) {
                kernels::cpu::matmul(y.data(), x.data(), w.data(), nullptr, { .M = rows, .N = out, .K = in });
                kernels::cpu::matmul(
                    y.data(), x.data(), w.data(), nullptr, { .M = rows, .N = in, .K = out, .transposeB = true });
                kernels::cpu::matmul(y.data(), x.data(), x.data(), nullptr,
                    { .M = in, .N = out, .K = rows, .transposeA = true, .accumulate = true });
            }
        }
    }
    rateTokens(state, size);
}

void matrixProductsOfAStep(benchmark::State& state, const Size& size, Numbers numbers)
{
    if (numbers == Numbers::Bf16)
        matrixProducts(state, size, kernels::Bf16::of(0.5F));
    else
        matrixProducts(state, size, 0.5F);
}

void settings(benchmark::internal::Benchmark* bench)
{
    bench->MeasureProcessCPUTime()->UseRealTime()->Unit(benchmark::kMillisecond);
}

BENCHMARK_CAPTURE(matrixProductsOfAStep, small_fp32, kSmall, Numbers::Fp32)->Apply(settings);
BENCHMARK_CAPTURE(matrixProductsOfAStep, small_bf16, kSmall, Numbers::Bf16)->Apply(settings);
BENCHMARK_CAPTURE(matrixProductsOfAStep, large_fp32, kLarge, Numbers::Fp32)->Apply(settings);
BENCHMARK_CAPTURE(matrixProductsOfAStep, large_bf16, kLarge, Numbers::Bf16)->Apply(settings);
BENCHMARK_CAPTURE(trainingStep, small_fp32, kSmall, Numbers::Fp32, false)->Apply(settings);
BENCHMARK_CAPTURE(trainingStep, small_bf16, kSmall, Numbers::Bf16, false)->Apply(settings);
BENCHMARK_CAPTURE(trainingStep, large_fp32, kLarge, Numbers::Fp32, false)->Apply(settings);
BENCHMARK_CAPTURE(trainingStep, large_bf16, kLarge, Numbers::Bf16, false)->Apply(settings);
BENCHMARK_CAPTURE(trainingStep, small_fp32_pieces, kSmall, Numbers::Fp32, true)->Apply(settings);

} // namespace

} // namespace rankscope::backend
