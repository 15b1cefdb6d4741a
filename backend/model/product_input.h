#pragma once

#include "backend/model/kernel_runner.h"
#include "backend/tensor/buffer.h"

#include <cstddef>
#include <type_traits>
#include <vector>

namespace rankscope::backend {

/// Floats of a size that is known only when they are needed; what was in them is gone when they grow.
inline float* grown(Buffer& buffer, std::size_t count)
{
    if (buffer.size() < count)
        buffer = Buffer(count + count / 4);
    return buffer.data();
}

/// A matrix that only products read, in the numbers that they are computed in: whoever writes it rounds, once.
class ProductInput {
public:
    ProductInput() = default;
    ProductInput(Numbers numbers, std::size_t count)
        : numbers_(numbers)
    {
        grow(count);
    }

    std::size_t size() const { return numbers_ == Numbers::Bf16 ? rounded_.size() : full_.size(); }
    int bytes() const { return numbers_ == Numbers::Bf16 ? 2 : 4; }
    /// To `count` at least; what was in it is gone then.
    void grow(std::size_t count)
    {
        if (count <= size())
            return;
        if (size() > 0)
            count += count / 4;
        if (numbers_ == Numbers::Bf16)
            rounded_.resize(count);
        else
            full_ = Buffer(count);
    }

    /// In float or kernels::Bf16, which must be the numbers that it has.
    template <typename Number> const Number* data() const
    {
        if constexpr (std::is_same_v<Number, kernels::Bf16>)
            return rounded_.data();
        else
            return full_.data();
    }
    Operand operand() const
    {
        return numbers_ == Numbers::Bf16 ? Operand{ nullptr, rounded_.data() } : Operand{ full_.data(), nullptr };
    }
    /// Where fp32 numbers may lie that write() then replaces element by element: here, or in `other` if this is
    /// rounded.
    float* unrounded(Buffer& other) { return numbers_ == Numbers::Bf16 ? grown(other, rounded_.size()) : full_.data(); }
    /// Calls body with what it writes to: float* or kernels::Bf16*.
    template <typename Body> void write(const Body& body)
    {
        if (numbers_ == Numbers::Bf16)
            body(rounded_.data());
        else
            body(full_.data());
    }

private:
    Numbers numbers_ = Numbers::Fp32;
    Buffer full_;
    std::vector<kernels::Bf16> rounded_;
};

} // namespace rankscope::backend
