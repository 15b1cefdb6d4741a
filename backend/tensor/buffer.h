#pragma once

#include <cstddef>
#include <memory>
#include <span>

namespace rankscope::backend {

/// Floats that start at 0, aligned to a cache line, on huge pages where they are large and the system allows.
/// Move-only.
class Buffer {
public:
    Buffer() = default;
    explicit Buffer(std::size_t count);

    float* data() { return memory_.get(); }
    const float* data() const { return memory_.get(); }
    std::size_t size() const { return count_; }
    std::span<float> span() { return { data(), count_ }; }
    std::span<const float> span() const { return { data(), count_ }; }

private:
    struct Free {
        void operator()(float* memory) const;
    };
    std::unique_ptr<float[], Free> memory_;
    std::size_t count_ = 0;
};

} // namespace rankscope::backend
