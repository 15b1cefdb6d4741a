#pragma once

#include "tracing/model/result.h"
#include "tracing/store/sqlite.h"

#include <span>
#include <string_view>

namespace rankscope::tracing {

/// SQL that brings a file from one schema version to the next; element i leads from version i + 1 to i + 2.
std::span<const std::string_view> migrations();

/// Applies the steps that a file lacks, all in one transaction, and sets its version. The connection must be able to
/// write.
Status migrate(const Database& database, std::span<const std::string_view> steps);

} // namespace rankscope::tracing
