#pragma once

#include "tracing/cli/launch/mpi_command.h"
#include "tracing/model/result.h"

#include <sys/types.h>

#include <optional>

namespace rankscope::tracing {

/// A child process, without standard input. It is not killed when this goes.
class Child {
public:
    enum class Output { Inherit, Pipes };
    enum class Life {
        WithParent, ///< a process group of its own, SIGTERM when we die
        OnItsOwn, ///< a session of its own: survives us and the terminal
    };
    static Result<Child> start(const ProgramCall& call, Output output, Life life);
    Child(Child&& other) noexcept;
    Child& operator=(Child&& other) noexcept;
    Child(const Child&) = delete;
    Child& operator=(const Child&) = delete;
    ~Child();

    int outputPipe() const { return outputPipe_; } ///< -1 where it was not asked for
    int errorPipe() const { return errorPipe_; }
    pid_t pid() const { return pid_; }

    /// Exit code, 128 + signal where a signal ended it; none while it runs.
    std::optional<int> poll();
    int wait();
    void signal(int number) const; ///< to the child; nothing once it ended
    void signalGroup(int number) const; ///< to it and its descendants

private:
    Child() = default;
    void closePipes();

    pid_t pid_ = -1;
    int outputPipe_ = -1;
    int errorPipe_ = -1;
    std::optional<int> exitCode_;
};

} // namespace rankscope::tracing
