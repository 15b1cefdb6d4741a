#include "tests/support/child_process.h"

#include "tests/support/temporary_directory.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <poll.h>
#include <set>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace fs = std::filesystem;

namespace rankscope::support {
namespace {

/// Runs in the child, after fork: only calls that are safe there, but for the environment, which no thread of a test
/// changes.
[[noreturn]] void becomeCommand(const Command& command, int outputFile, int errorFile)
{
    setpgid(0, 0);
    dup2(outputFile, STDOUT_FILENO);
    dup2(errorFile, STDERR_FILENO);
    if (!std::freopen("/dev/null", "r", stdin) || (!command.directory.empty() && chdir(command.directory.c_str()) != 0))
        _exit(126);
    for (const auto& [name, value] : command.environment)
        setenv(name.c_str(), value.c_str(), 1);
    std::vector<char*> words;
    for (const auto& word : command.words)
        words.push_back(const_cast<char*>(word.c_str()));
    words.push_back(nullptr);
    execvp(words[0], words.data());
    std::perror(words[0]);
    _exit(127);
}

std::string contentOf(int file)
{
    std::string text;
    char buffer[4096];
    for (ssize_t n = 0; (n = pread(file, buffer, sizeof buffer, static_cast<off_t>(text.size()))) > 0;)
        text.append(buffer, static_cast<std::size_t>(n));
    return text;
}

std::vector<std::string> splitAtZeros(const std::string& text)
{
    std::vector<std::string> parts;
    for (std::size_t begin = 0; begin < text.size();) {
        const auto end = std::min(text.find('\0', begin), text.size());
        parts.push_back(text.substr(begin, end - begin));
        begin = end + 1;
    }
    return parts;
}

/// /proc/PID/stat: "pid (name) state parent ...".
pid_t parentOf(const fs::path& directory)
{
    const auto stat = readText(directory / "stat");
    const auto close = stat.rfind(')');
    return close == std::string::npos || close + 4 > stat.size() ? 0 : std::atoi(stat.c_str() + close + 4);
}

std::vector<ProcessInfo> allProcesses()
{
    std::vector<ProcessInfo> processes;
    std::error_code error;
    for (const auto& entry : fs::directory_iterator("/proc", error)) {
        const pid_t pid = std::atoi(entry.path().filename().c_str());
        auto words = pid > 0 ? splitAtZeros(readText(entry.path() / "cmdline")) : std::vector<std::string>();
        if (words.empty())
            continue;
        processes.push_back({ pid, parentOf(entry.path()), fs::path(words[0]).filename().string(), std::move(words) });
    }
    return processes;
}

} // namespace

ChildProcess::ChildProcess(const Command& command)
    : outputFile_(memfd_create("stdout", MFD_CLOEXEC))
    , errorFile_(memfd_create("stderr", MFD_CLOEXEC))
{
    pid_ = fork();
    if (pid_ == 0)
        becomeCommand(command, outputFile_, errorFile_);
    if (pid_ < 0)
        exitCode_ = 127;
    else
        setpgid(pid_, pid_);
}

ChildProcess::~ChildProcess()
{
    if (!exitCode_) {
        signalGroup(SIGKILL);
        reap(std::chrono::seconds(10));
    }
    close(outputFile_);
    close(errorFile_);
}

bool ChildProcess::isRunning() { return !reap(std::chrono::milliseconds(0)); }

void ChildProcess::signal(int number)
{
    if (!exitCode_)
        kill(pid_, number);
}

void ChildProcess::signalGroup(int number)
{
    if (pid_ > 0)
        kill(-pid_, number);
}

std::string ChildProcess::output() const { return contentOf(outputFile_); }

std::string ChildProcess::error() const { return contentOf(errorFile_); }

bool ChildProcess::reap(std::chrono::milliseconds patience)
{
    if (exitCode_)
        return true;
    const int handle = static_cast<int>(syscall(SYS_pidfd_open, pid_, 0));
    pollfd ended{ handle, POLLIN, 0 };
    poll(&ended, 1, static_cast<int>(patience.count()));
    close(handle);
    int status = 0;
    if (waitpid(pid_, &status, WNOHANG) != pid_)
        return false;
    exitCode_ = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    return true;
}

Outcome ChildProcess::wait(std::chrono::milliseconds patience)
{
    Outcome outcome;
    if (!reap(patience)) {
        outcome.timedOut = true;
        signalGroup(SIGKILL);
        reap(std::chrono::seconds(10));
    }
    outcome.exitCode = exitCode_.value_or(-1);
    outcome.output = output();
    outcome.error = error();
    return outcome;
}

Outcome run(const Command& command, std::chrono::milliseconds patience) { return ChildProcess(command).wait(patience); }

std::vector<ProcessInfo> descendants(pid_t ancestor)
{
    auto candidates = allProcesses();
    std::set<pid_t> family{ ancestor };
    std::vector<ProcessInfo> found;
    for (bool grew = true; grew;) {
        grew = false;
        for (auto& process : candidates) {
            if (family.contains(process.parent) && family.insert(process.pid).second) {
                found.push_back(process);
                grew = true;
            }
        }
    }
    return found;
}

std::optional<std::string> environmentOf(pid_t pid, const std::string& name)
{
    for (const auto& variable : splitAtZeros(readText("/proc/" + std::to_string(pid) + "/environ"))) {
        if (variable.starts_with(name + "="))
            return variable.substr(name.size() + 1);
    }
    return std::nullopt;
}

std::vector<ProcessInfo> processesWithEnvironment(const std::string& name, const std::string& value)
{
    std::vector<ProcessInfo> found;
    for (auto& process : allProcesses()) {
        if (environmentOf(process.pid, name) == value)
            found.push_back(std::move(process));
    }
    return found;
}

void sleepBriefly() { std::this_thread::sleep_for(std::chrono::milliseconds(5)); }

} // namespace rankscope::support
