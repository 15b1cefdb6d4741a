#pragma once

#include "tracing/analysis/ledger/ledger_input.h"

#include <string>

namespace rankscope::tracing::ledger {

/// Reads a job of traces/pipeline_jobs (CSV, gzip) by the conventions of METRICS 5.5, straight into the ledger's input:
/// steps one behind another, a stretch each. Empty ranks: not readable.
LedgerInput readPipelineJob(const std::string& path);

} // namespace rankscope::tracing::ledger
