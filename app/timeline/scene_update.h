#pragma once

#include "app/timeline/core/scene.h"

#include <memory>
#include <set>

namespace rankscope::app::timeline {

/// Takes a lane's new content into the scene; a host lane of the bands' rank also gives the micro-batch band.
void putContent(Scene& scene, std::shared_ptr<const LaneContent> content);

/// Stacks the lanes anew.
void layOut(Scene& scene, const std::set<std::int32_t>& folded);

} // namespace rankscope::app::timeline
