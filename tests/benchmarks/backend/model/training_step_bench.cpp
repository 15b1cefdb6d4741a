#include "backend/model/gpt_stage.h"
#include "kernels/adamw.h"
#include "kernels/gradient_norm.h"
#include "kernels/matmul.h"

#include <benchmark/benchmark.h>
#include <vector>

// Layers 6, width 384, heads 6, vocab 256, sequence 256, batch 4 in one process. Threads: OMP_NUM_THREADS.
// The column CPU sums over threads; with OMP_WAIT_POLICY=passive it tells the work also where others use the machine.

namespace rankscope::backend {

namespace {

constexpr GptConfig kConfig{ .layers = 6, .width = 384, .heads = 6, .vocab = 256, .sequence = 256 };
constexpr int kSequences = 4;
constexpr std::int64_t kTokens = 1024;

// Clear, forward, backward, norm and AdamW. With the argument 1 somebody wants to be called every 100 us.
void trainingStep(benchmark::State& state)
{
    const auto recorder = tracing::Recorder::open({});
    GptStage stage({ .config = kConfig, .chunks = { { wholeModel(kConfig), 1 } }, .sequences = kSequences }, *recorder);
    const auto count = static_cast<std::int64_t>(stage.values().size());
    std::vector<float> moment1(stage.values().size()), moment2(stage.values().size());
    std::vector<std::int32_t> tokens;
    for (std::int32_t i = 0; i < kTokens; ++i)
        tokens.push_back(i * 31 % 256);
    std::int64_t pauses = 0, step = 0;
    if (state.range(0))
        stage.setHooks({ .betweenKernels = [&] { ++pauses; }, .gradientsReady = {} });
    for (auto _ : state) {
        stage.zeroGradients();
        stage.forward({ .tokens = tokens, .targets = tokens, .lossScale = 1.0F / kTokens }, {});
        stage.backward(0, 0, {}, {});
        benchmark::DoNotOptimize(kernels::cpu::squaredNorm(stage.gradients().data(), count));
        kernels::cpu::adamwStep(
            stage.values().data(), moment1.data(), moment2.data(), stage.gradients().data(), count, { .step = ++step });
    }
    state.counters["tokens/s"] = benchmark::Counter(kTokens, benchmark::Counter::kIsIterationInvariantRate);
    state.counters["pauses"] = benchmark::Counter(static_cast<double>(pauses), benchmark::Counter::kAvgIterations);
}

// The matrix products of the same step alone: the bound that everything else is measured against.
void matrixProductsOfAStep(benchmark::State& state)
{
    struct Layer {
        std::int64_t inputs, outputs, times;
    };
    constexpr Layer kLayers[]
        = { { 384, 1152, 6 }, { 384, 384, 6 }, { 384, 1536, 6 }, { 1536, 384, 6 }, { 384, 256, 1 } };
    std::vector<float> x(kTokens * 1536, 0.5F), w(1536 * 1536, 0.5F), y(1536 * 1536, 0.5F);
    for (auto _ : state) {
        for (const auto& [in, out, times] : kLayers) {
            for (std::int64_t i = 0; i < times; ++i) {
                kernels::cpu::matmul(y.data(), x.data(), w.data(), nullptr, { .M = kTokens, .N = out, .K = in });
                kernels::cpu::matmul(
                    y.data(), x.data(), w.data(), nullptr, { .M = kTokens, .N = in, .K = out, .transposeB = true });
                kernels::cpu::matmul(
                    y.data(), x.data(), x.data(), nullptr, { .M = in, .N = out, .K = kTokens, .transposeA = true });
            }
        }
    }
    state.counters["tokens/s"] = benchmark::Counter(kTokens, benchmark::Counter::kIsIterationInvariantRate);
}

BENCHMARK(matrixProductsOfAStep)->MeasureProcessCPUTime()->UseRealTime()->Unit(benchmark::kMillisecond);
BENCHMARK(trainingStep)
    ->ArgName("pieces")
    ->Arg(0)
    ->Arg(1)
    ->MeasureProcessCPUTime()
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);

} // namespace

} // namespace rankscope::backend
