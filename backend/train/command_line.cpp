#include "backend/train/command_line.h"

#include <CLI/CLI.hpp>

namespace rankscope::backend {

using tracing::Error;
using tracing::Result;

Result<CommandLine> parseCommandLine(int argc, const char* const* argv)
{
    CommandLine line;
    std::vector<std::string> words;
    CLI::App parser;
    parser.set_help_flag(); // the text comes from the table of keys
    parser.add_flag("-h,--help", line.help);
    parser.add_flag("--plan", line.plan);
    parser.add_flag("--json", line.json);
    parser.add_option("words", words);
    try {
        parser.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        return Error(std::string(error.what()) + "; see rankscope-train --help");
    }
    for (const std::string& word : words) {
        if (word.find('=') != std::string::npos) {
            line.overrides.push_back(word);
        } else if (line.configPath.empty()) {
            line.configPath = word;
        } else {
            return Error(word + ": there is a configuration already, " + line.configPath + "; write keys as key=value");
        }
    }
    if (line.json && !line.plan)
        return Error("--json: only with --plan");
    return line;
}

} // namespace rankscope::backend
