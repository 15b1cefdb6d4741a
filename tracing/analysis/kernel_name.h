#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace rankscope::tracing {

/// The name as in the source: mangled C++ names (they occur inside other tools' files too) demangled, others as they
/// are.
std::string demangled(std::string_view name);

/// What a person needs of a kernel's name (LOOK, section 4): without void, namespaces, default arguments and
/// parameters. "at::native::vectorized_elementwise_kernel<4, CUDAFunctor_add<float>, ...>" is "elementwise add<float>",
/// "volta_sgemm_128x32_nt" is "sgemm 128x32 nt", "ncclDevKernel_AllReduce_Sum_f32_RING_LL(...)" is
/// "all-reduce ring LL f32".
std::string shortKernelName(std::string_view name);

/// Short names, each with as much more of the long one as it takes to tell different kernels apart. As many as names.
std::vector<std::string> distinctKernelNames(std::span<const std::string> names);

enum class KernelFamily : std::uint8_t {
    Matrix,
    Attention,
    Norm, ///< normalisations and softmax
    Elementwise,
    Optimizer,
    Copy, ///< also transposes, concatenations and fills
    Communication,
    Other,
};
KernelFamily kernelFamilyOf(
    std::string_view name); ///< from the name alone; the kind of communication is in the short name
std::string_view toString(KernelFamily family); ///< "matrix", "attention", ...

} // namespace rankscope::tracing
