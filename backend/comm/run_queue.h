#pragma once

#include <cstdint>
#include <optional>

namespace rankscope::backend {

/// Time in ns that the calling thread was ready to run so far but had no core; none where the system does not say.
/// About a microsecond a call.
std::optional<std::int64_t> runQueueNs();

} // namespace rankscope::backend
