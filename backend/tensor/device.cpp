#include "backend/tensor/device.h"

#include <dlfcn.h>

namespace rankscope::backend {

std::string whyNoGpu()
{
    void* driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);
    if (!driver)
        return "this machine has no NVIDIA driver (libcuda.so.1 cannot be loaded)";
    dlclose(driver);
    return "this version trains on CPUs only";
}

} // namespace rankscope::backend
