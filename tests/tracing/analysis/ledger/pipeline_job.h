#pragma once

#include "tracing/analysis/ledger/ledger_input.h"

#include <string>

namespace rankscope::tracing::ledger {

/// Imports a job of traces/pipeline_jobs (CSV, gzip) and reads it back as the ledger does: steps one behind another, a
/// stretch each. Empty ranks: there is no such file.
LedgerInput readPipelineJob(const std::string& path);

} // namespace rankscope::tracing::ledger
