#pragma once

#include <functional>

namespace rankscope::app {

/// Lets Qt work until the condition holds; false when it does not within `mostMs`.
bool waitFor(const std::function<bool()>& condition, int mostMs = 20'000);

} // namespace rankscope::app
