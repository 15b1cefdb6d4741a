#pragma once

#include "tracing/import/rules/import_rules.h"
#include "tracing/import/source_trace.h"

namespace rankscope::tracing {

/// Fills in what the file's own metadata left open about a communication kernel: by the rule for its name, then by the
/// words in it.
void completeByRules(const ImportRules& rules, SourceTrace& trace, SourcePart& part);

} // namespace rankscope::tracing
