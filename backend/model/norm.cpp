#include "backend/model/norm.h"

#include "kernels/layernorm.h"

namespace rankscope::backend {

Norm::Saved::Saved(std::size_t rows, std::size_t width, Numbers numbers)
    : y(numbers, rows * width)
    , mean(rows)
    , rstd(rows)
{
}

Norm::Norm(ParameterStore& store, KernelRunner& runner, const std::string& parameter, std::int64_t width,
    const TensorPart& part)
    : width_(width)
    , copies_(part.copies())
    , gain_(store.add(parameter + ".gain",
          { .cut = ParameterStore::whole(static_cast<std::size_t>(width)),
              .init = ParameterStore::Init::One,
              .isTensorSummand = part.splitsSequence }))
    , bias_(store.add(parameter + ".bias",
          { .cut = ParameterStore::whole(static_cast<std::size_t>(width)), .isTensorSummand = part.splitsSequence }))
    , name_(runner.name("layernorm"))
{
}

void Norm::forward(KernelRunner& runner, Saved& saved, const float* x, std::int64_t rows) const
{
    saved.y.write([&](auto* y) {
        runner.run(name_, kernels::layernormForwardCost(rows, width_, saved.y.bytes()), { rows, copies_ }, [&] {
            kernels::cpu::layernormForward(
                y, saved.mean.data(), saved.rstd.data(), x, gain_.value, bias_.value, rows, width_);
        });
    });
}

void Norm::backward(
    KernelRunner& runner, const Saved& saved, float* dx, const float* dy, const float* x, std::int64_t rows) const
{
    runner.run(name_, kernels::layernormBackwardCost(rows, width_), { rows, copies_ }, [&] {
        kernels::cpu::layernormBackward(
            dx, gain_.gradient, bias_.gradient, dy, x, saved.mean.data(), saved.rstd.data(), gain_.value, rows, width_);
    });
}

} // namespace rankscope::backend
