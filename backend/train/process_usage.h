#pragma once

#include <cstdint>
#include <string>

namespace rankscope::backend {

/// CPU time of all threads of this process so far.
double processCpuSeconds();
/// Memory that this process occupies now; 0 where the system does not say.
std::int64_t residentBytes();
/// "AMD EPYC"; "unknown processor" where the system does not say.
std::string processorName();

} // namespace rankscope::backend
