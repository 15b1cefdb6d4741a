#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace rankscope::tracing {

/// Exit codes that scripts rely on.
enum ExitCode {
    kGood = 0,
    kCheckSaidNo = 1,
    kWrongUsage = 2,
    kUnreadableInput = 3,
    kOwnFault = 4,
};

// Each command writes its result to standard output, what went wrong to standard error in one line, and gives the exit
// code.

struct TrainArguments {
    std::string config; ///< empty: defaults
    std::string out; ///< empty: the first free of run.rsdb, run-2.rsdb, ...
    std::string rules; ///< thresholds to register with the run; empty: none
    bool json = false; ///< the ranks' JSON lines, also on a terminal
    std::vector<std::string> overrides; ///< "key=value"
};
int trainCommand(const TrainArguments& arguments);

struct CollectArguments {
    std::string session;
    std::string out;
    std::string name;
    bool quiet = false;
    double lingerSeconds = 5;
    std::int32_t launcher = 0; ///< its process; 0: none
};
int collectCommand(const CollectArguments& arguments);

struct ImportArguments {
    std::vector<std::string> inputs; ///< files and folders
    std::string out; ///< empty: the first free of run.rsdb, run-2.rsdb, ...
    std::vector<std::string> rules; ///< files of the user's own
    bool printRules = false; ///< print the built-in rules instead
};
int importCommand(const ImportArguments& arguments);

struct InfoArguments {
    std::string file; ///< may be empty with schema
    bool json = false;
    bool schema = false; ///< print the tables and columns with their meaning instead
};
int infoCommand(const InfoArguments& arguments);

struct ReportArguments {
    std::vector<std::string> files; ///< one, or two to compare
    bool json = false;
    bool brief = false; ///< --text
    std::string steps; ///< "A:B" or empty
    std::string hta; ///< "rounded", "unrounded", or empty: our own figures
};
int reportCommand(const ReportArguments& arguments);

struct LedgerArguments {
    std::string file;
    bool json = false;
    std::string steps; ///< "A:B" or empty
    std::string by; ///< "rank,step,leaf", some of them, or empty
};
int ledgerCommand(const LedgerArguments& arguments);

struct CheckArguments {
    std::vector<std::string> files;
    std::string rules;
    std::string junit; ///< file for JUnit's XML; empty: none
    std::string markdown; ///< file for a Markdown summary; empty: none
};
int checkCommand(const CheckArguments& arguments);

struct WatchArguments {
    std::string file;
    std::string rules;
    bool json = false;
};
int watchCommand(const WatchArguments& arguments);

struct WhatIfArguments {
    std::string file;
    std::vector<std::string> changes;
    bool published = false; ///< the slowdown by StragglerAnalysis' rules instead
    bool json = false;
};
int whatIfCommand(const WhatIfArguments& arguments);

struct SqlArguments {
    std::string file;
    std::string text;
    bool csv = false;
    bool json = false;
    std::optional<std::uint64_t> rows; ///< at most; 0: all; absent: all, on a terminal 1000
};
int sqlCommand(const SqlArguments& arguments);

struct ExportArguments {
    std::string file;
    std::string perfetto, chrome; ///< files to write, or empty
    std::string csv; ///< folder, or empty
};
int exportCommand(const ExportArguments& arguments);

struct OpenArguments {
    std::vector<std::string> files;
};
int openCommand(const OpenArguments& arguments);

} // namespace rankscope::tracing
