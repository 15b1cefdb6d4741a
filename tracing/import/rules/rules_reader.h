#pragma once

#include "tracing/import/rules/import_rules.h"

#include <string_view>

namespace rankscope::tracing {

/// Appends the rules of a TOML text to others. An error names the line; nothing is appended then.
class RulesReader {
public:
    static Status read(std::string_view text, ImportRules& rules);
};

} // namespace rankscope::tracing
