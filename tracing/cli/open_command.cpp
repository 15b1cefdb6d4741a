#include "tracing/cli/commands.h"
#include "tracing/cli/launch/machine.h"
#include "tracing/cli/open_run.h"
#include "tracing/cli/terminal.h"

#include <unistd.h>

#include <fmt/format.h>

#include <cerrno>
#include <cstring>

namespace rankscope::tracing {

int openCommand(const OpenArguments& arguments)
{
    for (const std::string& file : arguments.files) {
        if (access(file.c_str(), R_OK) != 0) {
            sayError(fmt::format("open {}: {}; check the path", file, std::strerror(errno)));
            return kUnreadableInput;
        }
    }
    const auto app = programBeside("rankscope-app");
    if (!app) {
        sayError("rankscope-app is not beside this program; build it (needs Qt 6) or install it");
        return kWrongUsage;
    }
    std::vector<std::string> words{ app->string() };
    for (const std::string& file : arguments.files) {
        const auto run = runFileOf(file);
        if (!run) {
            sayError(run.error().message());
            return kUnreadableInput;
        }
        words.push_back(*run);
    }
    std::vector<char*> pointers;
    for (std::string& word : words)
        pointers.push_back(word.data());
    pointers.push_back(nullptr);
    execv(pointers[0], pointers.data());
    sayError(fmt::format("start {}: {}", words[0], std::strerror(errno)));
    return kOwnFault;
}

} // namespace rankscope::tracing
