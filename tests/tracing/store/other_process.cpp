#include "tests/tracing/store/other_process.h"

#include <csignal>
#include <cstring>
#include <sched.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>

namespace rankscope::tracing {

namespace {

std::string reason(const char* what) { return std::string("skip: ") + what + ": " + std::strerror(errno); }

/// A namespace whose mounts nobody else sees.
std::string enterNamespace()
{
    if (::unshare(CLONE_NEWNS) != 0)
        return reason("unshare");
    if (::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0)
        return reason("mount");
    return {};
}

std::string readAll(int file)
{
    std::string text;
    std::array<char, 4096> part{};
    for (ssize_t got = 0; (got = ::read(file, part.data(), part.size())) > 0;)
        text.append(part.data(), static_cast<std::size_t>(got));
    return text;
}

} // namespace

std::string inChild(const std::function<std::string()>& work, bool mounts)
{
    std::array<int, 2> pipe{};
    if (::pipe(pipe.data()) != 0)
        return reason("pipe");
    const pid_t child = ::fork();
    if (child == 0) {
        std::string answer = mounts ? enterNamespace() : std::string();
        if (answer.empty())
            answer = work();
        const bool told = ::write(pipe[1], answer.data(), answer.size()) == static_cast<ssize_t>(answer.size());
        ::_exit(told ? 0 : 1);
    }
    ::close(pipe[1]);
    const std::string answer = readAll(pipe[0]);
    ::close(pipe[0]);
    int status = 0;
    ::waitpid(child, &status, 0);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? answer : answer + " (the child died)";
}

void killedWhenReady(const std::function<void(const std::function<void()>& ready)>& work)
{
    std::array<int, 2> pipe{};
    if (::pipe(pipe.data()) != 0)
        return;
    const pid_t child = ::fork();
    if (child == 0) {
        work([&] {
            [[maybe_unused]] const ssize_t told = ::write(pipe[1], "!", 1);
            for (;;)
                ::pause();
        });
        ::_exit(1);
    }
    ::close(pipe[1]);
    char told = 0;
    [[maybe_unused]] const ssize_t got = ::read(pipe[0], &told, 1);
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    ::close(pipe[0]);
}

std::string mountSmall(const std::string& folder, const std::string& size)
{
    return ::mount("tmpfs", folder.c_str(), "tmpfs", 0, ("size=" + size).c_str()) == 0 ? "" : reason("mount tmpfs");
}

std::string mountReadOnly(const std::string& folder)
{
    if (::mount(folder.c_str(), folder.c_str(), nullptr, MS_BIND, nullptr) != 0)
        return reason("bind mount");
    return ::mount(nullptr, folder.c_str(), nullptr, MS_BIND | MS_REMOUNT | MS_RDONLY, nullptr) == 0
        ? ""
        : reason("remount");
}

} // namespace rankscope::tracing
