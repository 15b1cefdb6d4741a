#include "kernels/library.h"

#include <oneapi/dnnl/dnnl.hpp>

namespace rankscope::kernels::cpu {

std::string libraryVersion()
{
    const dnnl_version_t& version = *dnnl_version();
    return "oneDNN " + std::to_string(version.major) + "." + std::to_string(version.minor) + "."
        + std::to_string(version.patch);
}

} // namespace rankscope::kernels::cpu
