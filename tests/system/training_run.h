#pragma once

#include "tests/support/child_process.h"
#include "tests/support/temporary_directory.h"

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace rankscope::system {

/// The program as this build made it.
std::string program(const std::string& name);

/// Why a training cannot run on this machine, for GTEST_SKIP; empty when it can.
std::string reasonToSkipTraining();

/// A short real training of two pipeline stages on English text, steps of some 20 ms, under `rankscope train` in a
/// directory of its own. Whatever of it still runs at the end is killed.
class TrainingRun {
public:
    /// `settings` such as "train.steps=50" overwrite those of the small model. `file` empty: run.rsdb in the directory.
    explicit TrainingRun(std::vector<std::string> settings = {}, std::filesystem::path file = {});
    ~TrainingRun();

    void start();
    void startUnrecorded(); ///< the ranks alone under mpirun, without launcher and session
    support::ChildProcess& launcher() { return *launcher_; }
    support::Outcome finish(std::chrono::milliseconds patience = std::chrono::seconds(90))
    {
        return launcher_->wait(patience);
    }

    const std::filesystem::path& file() const { return file_; }
    const std::filesystem::path& configuration() const { return configuration_; }

    /// The living ranks, by rank.
    std::map<int, pid_t> ranks();
    std::optional<pid_t> collector();
    std::optional<pid_t> mpirun();
    /// Where the rings are, once a rank has started; empty when none does.
    std::filesystem::path session();
    /// All of the run that lives: launcher, mpirun, ranks, collector, also those that lost their parent.
    std::vector<support::ProcessInfo> everyone();

    /// Waits until the file holds that step of every rank; false when that takes too long or the run ends before.
    bool waitForStep(std::int64_t step);

private:
    std::optional<pid_t> find(const std::string& name, const std::string& firstWord);

    support::TemporaryDirectory directory_;
    std::filesystem::path configuration_;
    std::filesystem::path file_;
    std::vector<std::string> settings_;
    std::string tag_;
    std::unique_ptr<support::ChildProcess> launcher_;
};

/// What a file tells about a run after whatever happened to it.
struct FileState {
    std::string error; ///< why it could not be read; empty: all below is there
    std::string integrity; ///< of SQLite's own check; "ok"
    bool finished = false;
    std::map<int, std::int64_t> steps; ///< step rows a rank
    std::map<int, std::int64_t>
        stepRanges; ///< ranges of kind step a rank: the same number, were nothing lost or doubled
    std::map<int, std::int64_t> lastEndUtcNs; ///< end of a rank's last span
    std::map<std::string, std::int64_t> losses; ///< count by kind
};
FileState readState(const std::filesystem::path& file);

/// A generator whose seed the test prints; RS_SEED in the environment repeats one.
std::uint64_t seedOfThisTest();

} // namespace rankscope::system
