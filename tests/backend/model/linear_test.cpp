#include "backend/model/linear.h"

#include "tests/backend/model/tiny_model.h"

#include <cmath>
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
    linear.forward(runner, result.y.data(), x.data(), kLayerRows);
    linear.addGradients(runner, dy.data(), x.data(), kLayerRows);
    linear.inputGradient(runner, result.dx.data(), dy.data(), kLayerRows);
    result.gradients = test::copyOf(store.gradients());
    return result;
}

void expectSame(const std::vector<float>& cut, const std::vector<float>& whole)
{
    ASSERT_EQ(cut.size(), whole.size());
    for (std::size_t i = 0; i < cut.size(); ++i)
        ASSERT_NEAR(cut[i], whole[i], 1e-4F * (1 + std::abs(whole[i]))) << i;
}

} // namespace

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
