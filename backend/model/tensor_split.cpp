#include "backend/model/tensor_split.h"

#include "kernels/elementwise.h"

#include <algorithm>

namespace rankscope::backend {

TensorSplit::TensorSplit(KernelRunner& runner, const TensorPart& part, std::int64_t rows, std::int64_t width)
    : part_(part)
    , rows_(rows)
    , ownRows_(part.ownRows(rows))
    , firstRow_(part.splitsSequence ? part.index * ownRows_ : 0)
    , width_(width)
    , residualName_(runner.name("residual"))
{
}

Operand TensorSplit::gather(KernelRunner& runner, const Operand& own, Buffer& whole, const char* name) const
{
    ExchangeWait wait;
    const Operand all = startGather(runner, own, whole, name, wait);
    wait();
    return all;
}

Operand TensorSplit::startGather(
    KernelRunner& runner, const Operand& own, Buffer& whole, const char* name, ExchangeWait& wait) const
{
    wait = [] {};
    if (!part_.splitsSequence)
        return own;
    std::copy_n(own.full, ownRows_ * width_, whole.data() + firstRow_ * width_);
    wait = runner.overTensorParts(TensorOp::Gather, whole.span(), part_, name);
    return { whole.data(), nullptr };
}

const float* TensorSplit::outGradient(
    KernelRunner& runner, const float* own, Buffer& kept, Buffer& whole, const char* name) const
{
    if (part_.splitsSequence)
        return gather(runner, { own, nullptr }, kept.size() > 0 ? kept : whole, name).full;
    if (kept.size() > 0)
        std::copy_n(own, kept.size(), kept.data());
    return own;
}

ExchangeWait TensorSplit::startSum(KernelRunner& runner, float* x, const char* name) const
{
    return runner.overTensorParts(part_.splitsSequence ? TensorOp::ScatterSum : TensorOp::Sum,
        { x, static_cast<std::size_t>(rows_ * width_) }, part_, name);
}

void TensorSplit::copyResidual(KernelRunner& runner, float* out, const float* in) const
{
    runner.run(
        residualName_, kernels::copyCost(rows_ * width_), rows_, [&] { kernels::cpu::copy(out, in, rows_ * width_); });
}

void TensorSplit::addResidual(KernelRunner& runner, float* out, const float* in, const float* sum) const
{
    const std::int64_t count = ownRows_ * width_;
    runner.run(residualName_, kernels::addCost(count), ownRows_, [&] {
        kernels::cpu::copy(out, in, count);
        kernels::cpu::add(out, sum, count);
    });
}

} // namespace rankscope::backend
