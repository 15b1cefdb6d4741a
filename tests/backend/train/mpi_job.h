#pragma once

#include "tests/support/child_process.h"
#include "tests/support/temporary_directory.h"

#include <string>
#include <vector>

namespace rankscope::backend {

struct Sample {
    std::string name; ///< of a file in samples/, without ".toml"
};

/// rankscope-train on a tiny model and text, under mpirun with what root, containers and few cores need.
class MpiJob {
public:
    /// `words` are added to the configuration: "parallel.pp=2".
    MpiJob(int ranks, const std::vector<std::string>& words);
    /// A sample instead of the tiny model.
    MpiJob(int ranks, const Sample& sample, const std::vector<std::string>& words);

    support::Command command() const;
    support::Outcome run() const { return support::run(command(), std::chrono::seconds(120)); }

    const support::TemporaryDirectory& folder() const { return folder_; }
    std::string session() const { return (folder_ / "session").string(); }
    void recordInto(const std::string& session) { recordedIn_ = session; }

private:
    explicit MpiJob(int ranks);

    support::TemporaryDirectory folder_;
    int ranks_;
    std::vector<std::string> words_;
    std::string recordedIn_;
};

/// The values of a key in the step lines of a run's standard output, or in its validation lines.
std::vector<double> stepValues(const std::string& output, const std::string& key);
std::vector<double> heldOutLosses(const std::string& output);

} // namespace rankscope::backend
