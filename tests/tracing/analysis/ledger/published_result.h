#pragma once

#include "tracing/analysis/ledger/ledger_input.h"

#include <filesystem>
#include <string>

namespace rankscope::tracing::scenario {

/// That job `name` comes out as in the results that StragglerAnalysis published, which lie in this folder: the
/// slowdown, its parts by replica, stage and operation, M_W and M_S, to three digits.
void expectPublishedResult(
    const ledger::LedgerInput& input, const std::string& name, const std::filesystem::path& published);

} // namespace rankscope::tracing::scenario
