#pragma once

#include <chrono>
#include <csignal>
#include <optional>
#include <string>
#include <sys/types.h>
#include <utility>
#include <vector>

namespace rankscope::support {

/// What to start: the program (looked up in PATH), its arguments, and what differs from our own surroundings.
struct Command {
    std::vector<std::string> words;
    std::vector<std::pair<std::string, std::string>> environment{}; ///< added to ours
    std::string directory{}; ///< empty: ours
};

/// How a child ended.
struct Outcome {
    int exitCode = -1; ///< 128 + signal where a signal ended it
    bool timedOut = false; ///< it was killed because it took too long
    std::string output; ///< standard output
    std::string error; ///< standard error
};

/// A running child in a process group of its own, without standard input. What it writes is kept. When this goes while
/// the child runs, the group is killed.
class ChildProcess {
public:
    /// A program that cannot be started ends with exit code 127.
    explicit ChildProcess(const Command& command);
    ChildProcess(const ChildProcess&) = delete;
    ChildProcess& operator=(const ChildProcess&) = delete;
    ~ChildProcess();

    pid_t pid() const { return pid_; }
    bool isRunning();
    void signal(int number); ///< to the child alone
    void signalGroup(int number); ///< to all that it started and that stayed in its group

    std::string output() const; ///< so far
    std::string error() const; ///< so far

    /// Waits for the end; kills the group when it does not come in time.
    Outcome wait(std::chrono::milliseconds patience);

private:
    bool reap(std::chrono::milliseconds patience);

    pid_t pid_ = -1;
    int outputFile_ = -1;
    int errorFile_ = -1;
    std::optional<int> exitCode_;
};

/// Starts the command and waits for its end.
Outcome run(const Command& command, std::chrono::milliseconds patience = std::chrono::seconds(60));

/// A process as /proc tells it.
struct ProcessInfo {
    pid_t pid = 0;
    pid_t parent = 0;
    std::string name; ///< the program's file name
    std::vector<std::string> words; ///< its command line
};

/// The processes that descend from `ancestor`, without itself. Those whose parent died belong to init and are not
/// found.
std::vector<ProcessInfo> descendants(pid_t ancestor);

/// All processes with this variable in their starting environment, also orphaned ones.
std::vector<ProcessInfo> processesWithEnvironment(const std::string& name, const std::string& value);

/// A variable of the environment that the process started with.
std::optional<std::string> environmentOf(pid_t pid, const std::string& name);

/// Calls `condition` every few milliseconds until it holds; false when it does not within `patience`.
template <typename Condition> bool waitUntil(Condition condition, std::chrono::milliseconds patience);

void sleepBriefly(); ///< 5 ms, between two looks

template <typename Condition> bool waitUntil(Condition condition, std::chrono::milliseconds patience)
{
    const auto end = std::chrono::steady_clock::now() + patience;
    while (!condition()) {
        if (std::chrono::steady_clock::now() > end)
            return false;
        sleepBriefly();
    }
    return true;
}

} // namespace rankscope::support
