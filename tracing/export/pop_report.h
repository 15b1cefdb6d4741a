#pragma once

#include "tracing/analysis/pop.h"
#include "tracing/export/json_writer.h"

#include <optional>
#include <string>

namespace rankscope::tracing {

/// The member "pop"; null where there is none.
void writePop(JsonWriter& json, const std::optional<PopTimes>& pop);

/// Two lines; nothing where there is none.
std::string popText(const std::optional<PopTimes>& pop);

} // namespace rankscope::tracing
