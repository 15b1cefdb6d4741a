#pragma once

#include "tracing/analysis/diagnosis/watched_rule.h"
#include "tracing/model/result.h"

#include <filesystem>
#include <string>

namespace rankscope::tracing {

/// Writes the alert down for the run's file, and tells the ranks what its rule wants of them (checkpoint, stop). To
/// start them again is for whoever has started them.
Status actOn(const diagnosis::Alert& alert, const std::filesystem::path& sessionDir);

/// Whether people are told while the run goes on: a mark is for those who look at the file.
bool isForPeople(const diagnosis::Alert& alert);

/// "threshold 0.75, is 0.48; at step 13; for the run's owner; notify"
std::string alertText(const diagnosis::Alert& alert);
/// One line for scripts: {"schema":1,"event":"alert",...}
std::string alertJson(const diagnosis::Alert& alert);

} // namespace rankscope::tracing
