#include "tests/backend/train/recorded_run.h"

#include "tests/support/sql.h"
#include "tracing/collector/collector.h"

#include <gtest/gtest.h>

namespace rankscope::backend {

void RecordedRun::run()
{
    job_.recordInto(job_.session());
    const support::Outcome outcome = job_.run();
    EXPECT_EQ(outcome.exitCode, 0) << outcome.error;
    EXPECT_TRUE(tracing::announceJobOver(job_.session()));
    tracing::CollectOptions options;
    options.sessionDir = job_.session();
    options.out = (job_.folder() / "run.rsdb").string();
    const auto summary = tracing::collect(options);
    EXPECT_TRUE(summary) << summary.error().message();
}

std::string RecordedRun::value(const std::string& query) const
{
    return support::sql(job_.folder() / "run.rsdb", query);
}

} // namespace rankscope::backend
