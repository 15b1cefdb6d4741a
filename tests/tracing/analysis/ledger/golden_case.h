#pragma once

#include "tracing/analysis/ledger/ledger_input.h"

#include <rapidjson/document.h>

#include <string>

namespace rankscope::tracing::ledger {

/// A hand-worked case as it stands in its JSON file: what goes in, and the file itself for what must come out.
struct GoldenCase {
    LedgerInput input;
    rapidjson::Document json;
    std::map<std::string, std::size_t> instanceOf; ///< by the file's name of a group
};

/// Reads the keys that the README beside the cases explains.
GoldenCase readGoldenCase(const std::string& path);

} // namespace rankscope::tracing::ledger
