#pragma once

#include <string>

namespace rankscope::backend {

/// Why no GPU can compute here, in a few words for a message. The driver is looked for by loading it, so that the same
/// program starts on machines without one.
std::string whyNoGpu();

} // namespace rankscope::backend
