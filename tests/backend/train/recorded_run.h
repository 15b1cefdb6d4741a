#pragma once

#include "tests/backend/train/mpi_job.h"

namespace rankscope::backend {

/// Runs a job under the recorder and answers questions about the file that came out.
class RecordedRun {
public:
    RecordedRun(int ranks, const std::vector<std::string>& words)
        : job_(ranks, words)
    {
        run();
    }
    RecordedRun(int ranks, const Sample& sample, const std::vector<std::string>& words)
        : job_(ranks, sample, words)
    {
        run();
    }

    /// Of the first row the first column.
    std::string value(const std::string& query) const;

private:
    void run();

    MpiJob job_;
};

} // namespace rankscope::backend
