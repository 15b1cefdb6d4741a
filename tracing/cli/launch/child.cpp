#include "tracing/cli/launch/child.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <utility>

namespace rankscope::tracing {

namespace {

/// Where a child that cannot be started tells errno.
struct Pipe {
    int ends[2] = { -1, -1 };

    bool open() { return pipe2(ends, O_CLOEXEC) == 0; }
    void close(int end)
    {
        if (ends[end] >= 0)
            ::close(std::exchange(ends[end], -1));
    }
    int release(int end) { return std::exchange(ends[end], -1); }
    ~Pipe()
    {
        close(0);
        close(1);
    }
};

std::vector<char*> pointersTo(std::vector<std::string>& words)
{
    std::vector<char*> pointers;
    for (std::string& word : words)
        pointers.push_back(word.data());
    pointers.push_back(nullptr);
    return pointers;
}

std::vector<std::string> environmentWith(const std::vector<std::pair<std::string, std::string>>& added)
{
    std::vector<std::string> all;
    for (char** entry = environ; *entry; ++entry) {
        const std::string_view text(*entry);
        const bool replaced = std::any_of(
            added.begin(), added.end(), [&](const auto& pair) { return text.starts_with(pair.first + "="); });
        if (!replaced)
            all.emplace_back(text);
    }
    for (const auto& [name, value] : added)
        all.push_back(name + "=" + value);
    return all;
}

/// Between fork and exec only what is safe after a fork: no allocation.
[[noreturn]] void becomeChild(
    char** words, char** environment, int output, int error, int failure, Child::Life life, pid_t parent)
{
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, nullptr);
    ::signal(SIGPIPE, SIG_DFL); // ignored signals would stay ignored
    const int nothing = open("/dev/null", O_RDONLY);
    dup2(nothing, STDIN_FILENO);
    if (output >= 0)
        dup2(output, STDOUT_FILENO);
    if (error >= 0)
        dup2(error, STDERR_FILENO);
    if (life == Child::Life::OnItsOwn) {
        setsid();
    } else {
        setpgid(0, 0);
        prctl(PR_SET_PDEATHSIG, SIGTERM);
        if (getppid() != parent)
            _exit(127); // it died before the line above
    }
    execve(words[0], words, environment);
    const int reason = errno;
    [[maybe_unused]] const auto written = write(failure, &reason, sizeof reason);
    _exit(127);
}

int exitCodeOf(int status) { return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status); }

} // namespace

Result<Child> Child::start(const ProgramCall& call, Output output, Life life)
{
    std::vector<std::string> words = call.words;
    std::vector<std::string> environment = environmentWith(call.environment);
    const std::vector<char*> wordPointers = pointersTo(words);
    const std::vector<char*> environmentPointers = pointersTo(environment);
    Pipe failure, out, error;
    if (!failure.open() || (output == Output::Pipes && (!out.open() || !error.open())))
        return Error(fmt::format("start {}: no pipe: {}", words[0], std::strerror(errno)));

    const pid_t parent = getpid();
    Child child;
    child.pid_ = fork();
    if (child.pid_ < 0)
        return Error(fmt::format("start {}: {}", words[0], std::strerror(errno)));
    if (child.pid_ == 0)
        becomeChild(const_cast<char**>(wordPointers.data()), const_cast<char**>(environmentPointers.data()),
            out.ends[1], error.ends[1], failure.ends[1], life, parent);

    if (life == Life::WithParent)
        setpgid(child.pid_, child.pid_); // whoever of the two comes first
    failure.close(1);
    int reason = 0;
    if (read(failure.ends[0], &reason, sizeof reason) == sizeof reason) {
        child.wait();
        return Error(fmt::format("start {}: {}", words[0], std::strerror(reason)));
    }
    child.outputPipe_ = out.release(0);
    child.errorPipe_ = error.release(0);
    return child;
}

Child::Child(Child&& other) noexcept { *this = std::move(other); }

Child& Child::operator=(Child&& other) noexcept
{
    if (this != &other) {
        closePipes();
        pid_ = std::exchange(other.pid_, -1);
        outputPipe_ = std::exchange(other.outputPipe_, -1);
        errorPipe_ = std::exchange(other.errorPipe_, -1);
        exitCode_ = other.exitCode_;
    }
    return *this;
}

Child::~Child() { closePipes(); }

void Child::closePipes()
{
    for (int* pipe : { &outputPipe_, &errorPipe_ }) {
        if (*pipe >= 0)
            close(std::exchange(*pipe, -1));
    }
}

std::optional<int> Child::poll()
{
    int status = 0;
    if (!exitCode_ && pid_ > 0 && waitpid(pid_, &status, WNOHANG) == pid_)
        exitCode_ = exitCodeOf(status);
    return exitCode_;
}

int Child::wait()
{
    int status = 0;
    while (!exitCode_) {
        const pid_t ended = waitpid(pid_, &status, 0);
        if (ended == pid_)
            exitCode_ = exitCodeOf(status);
        else if (errno != EINTR)
            exitCode_ = 127;
    }
    return *exitCode_;
}

void Child::signal(int number) const
{
    if (!exitCode_ && pid_ > 0)
        kill(pid_, number);
}

void Child::signalGroup(int number) const
{
    if (!exitCode_ && pid_ > 0)
        kill(-pid_, number);
}

} // namespace rankscope::tracing
