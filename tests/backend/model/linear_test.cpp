#include "backend/model/linear.h"

#include "tests/backend/model/tiny_model.h"
#include "tests/support/session_folder.h"

#include <cmath>
#include <functional>
#include <gtest/gtest.h>
#include <omp.h>

namespace rankscope::backend {

namespace {

// Pieces are made for a number of threads; the tests count on one.
struct OneThread {
    OneThread() { omp_set_num_threads(1); }
    ~OneThread() { omp_set_num_threads(threads); }
    int threads = omp_get_max_threads();
};

// Output and gradients of one layer of 512 rows, 128 inputs, 256 outputs.
struct Result {
    std::vector<float> y, dx, gradients;
    int kernels = 0;
};

Result runLayer(bool cut)
{
    constexpr std::int64_t kLayerRows = 512, kInputs = 128, kOutputs = 256;
    const auto recorder = test::silentRecorder();
    KernelRunner runner(*recorder, Numbers::Fp32);
    ParameterStore store(kInputs * kOutputs + kOutputs, 0, 1);
    const Linear linear(store, runner, { .parameter = "p", .kernel = "k", .inputs = kInputs, .outputs = kOutputs });
    Result result{ std::vector<float>(kLayerRows * kOutputs), std::vector<float>(kLayerRows * kInputs), {} };
    std::vector<float> x(kLayerRows * kInputs), dy(kLayerRows * kOutputs);
    for (std::size_t i = 0; i < x.size(); ++i)
        x[i] = std::sin(static_cast<float>(i));
    for (std::size_t i = 0; i < dy.size(); ++i)
        dy[i] = std::cos(static_cast<float>(i));
    if (cut)
        runner.setHooks({ .betweenKernels = [&] { ++result.kernels; }, .gradientsReady = {} });
    linear.forward(runner, result.y.data(), { x.data(), nullptr }, kLayerRows);
    linear.addGradients(runner, { dy.data(), nullptr }, { x.data(), nullptr }, kLayerRows);
    linear.inputGradient(runner, result.dx.data(), { dy.data(), nullptr }, kLayerRows);
    result.gradients = test::copyOf(store.gradients());
    return result;
}

void expectSame(const std::vector<float>& cut, const std::vector<float>& whole)
{
    ASSERT_EQ(cut.size(), whole.size());
    for (std::size_t i = 0; i < cut.size(); ++i)
        ASSERT_NEAR(cut[i], whole[i], 1e-4F * (1 + std::abs(whole[i]))) << i;
}

// What is recorded of one product of 512 rows, of which 128 at once, with `pause` after each piece.
std::vector<tracing::Record> recordedProduct(const std::function<void(const tracing::Recorder&)>& pause)
{
    constexpr std::int64_t kLayerRows = 512, kInputs = 128, kOutputs = 256;
    const tracing::SessionFolder session;
    const auto recorder = tracing::Recorder::open({ .sessionDir = session.path(), .rank = 0, .worldSize = 1 });
    KernelRunner runner(*recorder, Numbers::Fp32);
    ParameterStore store(kInputs * kOutputs, 0, 1);
    const Linear linear(
        store, runner, { .parameter = "p", .kernel = "k", .inputs = kInputs, .outputs = kOutputs, .bias = false });
    std::vector<float> x(kLayerRows * kInputs), y(kLayerRows * kOutputs);
    runner.setHooks({ .betweenKernels = [&] { pause(*recorder); }, .gradientsReady = {} });
    linear.forward(runner, y.data(), { x.data(), nullptr }, kLayerRows);
    tracing::RingView ring(session.files(tracing::kRingSuffix).at(0));
    std::vector<tracing::Record> records;
    for (std::uint64_t i = 0; i < ring.head(); ++i)
        records.push_back(ring.record(i));
    return records;
}

} // namespace

TEST(KernelRunner, AProductInPiecesIsOneKernel)
{
    const OneThread thread;
    // A pause is also when somebody else takes the core just then: not again and again.
    std::vector<tracing::Record> kernels;
    for (int attempt = 0; attempt < 50 && kernels.size() != 1; ++attempt)
        kernels = recordedProduct([](const tracing::Recorder&) {});
    ASSERT_EQ(kernels.size(), 1U);
    EXPECT_EQ(kernels[0].kernel.flop, 2.0 * 512 * 256 * 128);
    EXPECT_EQ(kernels[0].kernel.work, 512U);
}

TEST(KernelRunner, NoKernelHoldsWhatOthersDidBetweenItsPieces)
{
    const OneThread thread;
    std::vector<std::uint64_t> pauses; // begin and end of each
    const auto kernels = recordedProduct([&](const tracing::Recorder& recorder) {
        pauses.push_back(recorder.now());
        while (recorder.now() - pauses.back() <= recorder.ticksOf(std::chrono::microseconds(6))) { }
        pauses.push_back(recorder.now());
    });
    ASSERT_EQ(kernels.size(), 4U);
    ASSERT_EQ(pauses.size(), 8U);
    for (std::size_t i = 0; i < kernels.size(); ++i) {
        EXPECT_EQ(kernels[i].kernel.flop, 2.0 * 128 * 256 * 128) << i;
        EXPECT_EQ(kernels[i].kernel.bytes, kernels[0].kernel.bytes) << i;
        EXPECT_EQ(kernels[i].kernel.work, 128U) << i;
        EXPECT_LE(kernels[i].endTicks, pauses[2 * i]) << i;
        if (i > 0) {
            EXPECT_GE(kernels[i].beginTicks, pauses[2 * i - 1]) << i;
        }
    }
}

TEST(Linear, InPiecesIsTheSameLayer)
{
    const OneThread thread;
    const Result whole = runLayer(false), cut = runLayer(true);
    expectSame(cut.y, whole.y);
    expectSame(cut.dx, whole.dx);
    expectSame(cut.gradients, whole.gradients);
    // 33.6 Mflop a product: 3.4 pieces, so 128 of 512 rows at once, twice 4 kernels; 64 of the 128 rows of the weight
    // gradient, 2 kernels; the bias gradient.
    EXPECT_EQ(cut.kernels, 11);
}

TEST(KernelRunner, CutsOnlyWhereSomebodyWantsToBeCalled)
{
    const OneThread thread;
    const auto recorder = test::silentRecorder();
    KernelRunner runner(*recorder, Numbers::Fp32);
    EXPECT_EQ(runner.rowsAtOnce(1000, 100e6), 1000);
    runner.setHooks({ .betweenKernels = [] {}, .gradientsReady = {} });
    EXPECT_EQ(runner.rowsAtOnce(1000, 50e6), 192); // a fifth, down to a multiple of 64
    EXPECT_EQ(runner.rowsAtOnce(1000, 1e12), 64); // never less
    EXPECT_EQ(runner.rowsAtOnce(10, 1e12), 10); // there is no more
    EXPECT_EQ(runner.rowsAtOnce(1000, 1e6), 1000); // short enough
    EXPECT_EQ(runner.sequencesAtOnce(4, 6, 20e6), 2);
    EXPECT_EQ(runner.sequencesAtOnce(4, 6, 1e12), 1);
}

} // namespace rankscope::backend
