#pragma once

#include "app/session/selection.h"
#include "app/timeline/core/selection.h"

namespace rankscope::app {

/// What the timeline selected, as the place in the file where its row stands.
Selection selectionOf(const timeline::Selection& selection);

} // namespace rankscope::app
