#include "tests/tracing/analysis/ledger/pipeline_job.h"

#include "tests/support/temporary_directory.h"
#include "tracing/analysis/load.h"
#include "tracing/analysis/trace_ledger.h"
#include "tracing/import/importer.h"

#include <gtest/gtest.h>

#include <filesystem>

namespace rankscope::tracing::ledger {

LedgerInput readPipelineJob(const std::string& path)
{
    if (!std::filesystem::exists(path))
        return {};
    const support::TemporaryDirectory folder;
    const std::string run = (folder.path() / "run.rsdb").string();
    if (const auto report = importTraces({ path }, run); !report) {
        ADD_FAILURE() << report.error().message();
        return {};
    }
    auto reader = TraceReader::open(run);
    if (!reader) {
        ADD_FAILURE() << reader.error().message();
        return {};
    }
    const auto facts = loadFacts(*reader);
    if (!facts) {
        ADD_FAILURE() << facts.error().message();
        return {};
    }
    auto source = readLedgerSource(*reader, *facts);
    if (!source) {
        ADD_FAILURE() << source.error().message();
        return {};
    }
    return std::move(source->input);
}

} // namespace rankscope::tracing::ledger
