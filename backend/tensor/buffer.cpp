#include "backend/tensor/buffer.h"

#include <algorithm>
#include <cstdlib>
#include <new>
#include <sys/mman.h>

namespace rankscope::backend {

namespace {
constexpr std::size_t kCacheLine = 64;
constexpr std::size_t kHugePage = 2U << 20U;
} // namespace

Buffer::Buffer(std::size_t count)
    : count_(count)
{
    if (count == 0)
        return;
    const std::size_t alignment = count * sizeof(float) >= 2 * kHugePage ? kHugePage : kCacheLine;
    const std::size_t bytes = (count * sizeof(float) + alignment - 1) / alignment * alignment;
    void* memory = std::aligned_alloc(alignment, bytes);
    if (!memory)
        throw std::bad_alloc();
    if (alignment == kHugePage)
        madvise(memory, bytes, MADV_HUGEPAGE); // a wish: without it the pages are small
    memory_.reset(static_cast<float*>(memory));
    std::fill_n(memory_.get(), count, 0.0F);
}

void Buffer::Free::operator()(float* memory) const { std::free(memory); }

} // namespace rankscope::backend
