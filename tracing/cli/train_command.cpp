#include "tracing/analysis/check/rules.h"
#include "tracing/analysis/wording.h"
#include "tracing/cli/commands.h"
#include "tracing/cli/launch/child.h"
#include "tracing/cli/launch/machine.h"
#include "tracing/cli/launch/mpi_command.h"
#include "tracing/cli/launch/run_plan.h"
#include "tracing/cli/launch/session_directory.h"
#include "tracing/cli/older_run.h"
#include "tracing/cli/output_path.h"
#include "tracing/cli/terminal.h"
#include "tracing/cli/training.h"
#include "tracing/collector/collector.h"
#include "tracing/model/shell_quote.h"
#include "tracing/record/facts_file.h"
#include "tracing/store/trace_reader.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <filesystem>
#include <system_error>

namespace rankscope::tracing {

namespace {

namespace fs = std::filesystem;

std::string readToEnd(int descriptor)
{
    std::string text;
    std::array<char, 65536> buffer;
    for (ssize_t count = 0; (count = read(descriptor, buffer.data(), buffer.size())) != 0;) {
        if (count < 0 && errno != EINTR)
            break;
        text.append(buffer.data(), static_cast<std::size_t>(std::max<ssize_t>(0, count)));
    }
    return text;
}

/// What rankscope-train is started with; the same for a plan and for a run.
std::vector<std::string> configWords(const TrainArguments& arguments)
{
    std::vector<std::string> words;
    if (!arguments.config.empty())
        words.push_back(arguments.config);
    words.insert(words.end(), arguments.overrides.begin(), arguments.overrides.end());
    return words;
}

Result<RunPlan> askForPlan(const fs::path& program, const Machine& machine, const TrainArguments& arguments)
{
    ProgramCall call{ { program.string(), "--plan", "--json" }, { coresVariable(machine) } };
    const std::vector<std::string> words = configWords(arguments);
    call.words.insert(call.words.end(), words.begin(), words.end());
    auto child = Child::start(call, Child::Output::Pipes, Child::Life::WithParent);
    if (!child)
        return child.error();
    const std::string answer = readToEnd(child->outputPipe());
    const std::string complaint = readToEnd(child->errorPipe());
    child->wait();
    if (answer.empty() && !complaint.empty())
        return Error(complaint.substr(0, complaint.find('\n')));
    return parsePlan(answer);
}

/// A configuration that cannot run is refused in one line.
Status checkPlan(const RunPlan& plan)
{
    if (plan.ok)
        return Done{};
    const std::size_t more = plan.errors.size() - 1;
    return Error(plan.errors.front()
        + (more > 0 ? fmt::format(" (and {})", plural(std::ssize(plan.errors) - 1, "more problem")) : ""));
}

/// Where the run goes: what was asked for, else the first free of run.rsdb, run-2.rsdb, ... A run file of that name may
/// be replaced, anything else is left alone.
Result<fs::path> chooseOutput(const std::string& asked)
{
    std::error_code error;
    fs::path out = asked.empty() ? "run.rsdb" : asked;
    for (int number = 2; asked.empty() && fs::exists(out, error); ++number)
        out = fmt::format("run-{}.rsdb", number);
    if (const Status good = checkOutput("--out", out.string()); !good)
        return good.error();
    if (!fs::exists(out, error))
        return out;
    if (const auto old = TraceReader::open(out.string()); !old && fs::file_size(out, error) > 0)
        return Error(fmt::format(
            "--out {}: exists and is not a run file that this program can replace; choose another", out.string()));
    if (const auto busy = isBeingRecorded(out.string()); busy && *busy)
        return Error(fmt::format("--out {}: another training is recording into it; choose another", out.string()));
    return out;
}

ProgramCall collectorCall(const fs::path& sessionDir, const fs::path& out)
{
    std::error_code ignored;
    const fs::path own = fs::read_symlink("/proc/self/exe", ignored);
    return { { own.string(), "collect", "--quiet", "--session", sessionDir.string(), "--out", out.string(), "--linger",
                 "60", "--launcher", std::to_string(getpid()) },
        {} };
}

/// Everything that is known before anything starts.
struct Preparation {
    fs::path program;
    RunPlan plan;
    Machine machine;
    fs::path out;
    std::optional<Rules> rules;
};

Result<Preparation> prepare(const TrainArguments& arguments)
{
    Preparation ready;
    const auto program = programBeside("rankscope-train");
    if (!program)
        return Error("rankscope-train is not beside this program; build it with MPI or install it");
    ready.program = *program;
    ready.machine = thisMachine();
    auto plan = askForPlan(ready.program, ready.machine, arguments);
    if (!plan)
        return plan.error();
    ready.plan = *plan;
    if (const Status good = checkPlan(ready.plan); !good)
        return good.error();
    if (!arguments.rules.empty()) {
        auto rules = readRules(arguments.rules);
        if (!rules)
            return rules.error();
        ready.rules = std::move(*rules);
    }
    if (!ready.machine.mpirun)
        return Error("mpirun is not in PATH; install the package openmpi-bin");
    auto out = chooseOutput(arguments.out);
    if (!out)
        return out.error();
    ready.out = *out;
    return ready;
}

void sayWhatBegins(const Preparation& ready)
{
    for (const std::string& warning : ready.plan.warnings)
        sayNote(warning);
    sayNote(fmt::format("training on {} with {} each, recording into {}", plural(ready.plan.ranks, "rank"),
        plural(ready.plan.threads, "thread"), ready.out.string()));
}

/// Ranks tell wrong usage and unreadable input by their exit codes; everything else is a failed run.
int exitCodeOf(const Training& training, int mpirunCode, int collectorCode)
{
    if (training.wasKilled())
        return 128 + SIGINT;
    if (mpirunCode == kWrongUsage || mpirunCode == kUnreadableInput)
        return mpirunCode;
    return mpirunCode != 0 || collectorCode != 0 ? kOwnFault : kGood;
}

void sayHowItEnded(
    const Training& training, const Preparation& ready, int mpirunCode, int collectorCode, bool isOlderBack)
{
    const std::string file = shellQuoted(ready.out.string());
    if (mpirunCode != 0 && !training.wasKilled()) {
        for (const std::string& line : training.whatMpiSaid())
            sayNote(line);
        sayError(fmt::format("the ranks ended with code {}; {} {}", mpirunCode,
            isOlderBack ? "nothing was replaced:" : "what they recorded until then is in",
            isOlderBack ? file + " is the run that was there before" : file));
    } else if (isOlderBack) {
        sayNote(fmt::format("stopped before the first step; {} is the run that was there before", file));
    }
    if (isOlderBack)
        return;
    if (collectorCode != 0)
        sayError(fmt::format("the recording is not whole: the collector ended with code {}", collectorCode));
    std::error_code ignored;
    if (!fs::exists(ready.out, ignored))
        return;
    sayNote(fmt::format("{} ({})\n  rankscope report {}\n  rankscope open {}", ready.out.string(),
        bytesText(static_cast<std::int64_t>(fs::file_size(ready.out, ignored))), file, file));
}

/// Into the run's provenance before anything is known of it.
Status registerRules(const Rules& rules, const fs::path& sessionDir)
{
    const Status text = appendJobFact(sessionDir.string(), ProvenanceFact{ std::string(kRulesKey), rules.text });
    return text ? appendJobFact(sessionDir.string(), ProvenanceFact{ std::string(kRulesHashKey), rules.hash }) : text;
}

/// Fewer cores than ranks where there were enough: the largest layout that fits them.
std::optional<Training::Settings::Instead> shrunk(
    const TrainArguments& arguments, const Preparation& ready, RunPlan& running, const fs::path& sessionDir)
{
    const Machine machine = thisMachine();
    if (machine.cores >= ready.machine.cores || running.ranks <= machine.cores)
        return std::nullopt;
    const auto fits = [&](const RunPlan::Smaller& layout) { return layout.ranks <= machine.cores; };
    const auto layout = std::ranges::find_if(ready.plan.smaller, fits);
    if (layout == ready.plan.smaller.end())
        return std::nullopt;
    running.ranks = layout->ranks;
    running.threads = std::max(1, std::min(running.threads, machine.cores / layout->ranks));
    std::vector<std::string> words = configWords(arguments);
    words.insert(words.end(), layout->overrides.begin(), layout->overrides.end());
    return Training::Settings::Instead{ mpiCall(running, machine, sessionDir, ready.program, words), layout->dp,
        fmt::format("{} of {} left: goes on with dp {} on {}", machine.cores, plural(ready.machine.cores, "core"),
            layout->dp, plural(layout->ranks, "rank")) };
}

int trainInSession(const TrainArguments& arguments, const Preparation& ready, const fs::path& sessionDir)
{
    auto older = OlderRun::setAside(ready.out);
    if (!older) {
        sayError(older.error().message());
        return kWrongUsage;
    }
    RunPlan running = ready.plan;
    Training training({ mpiCall(ready.plan, ready.machine, sessionDir, ready.program, configWords(arguments)),
        collectorCall(sessionDir, ready.out), sessionDir, ready.out, ready.plan.steps, ready.plan.restarts,
        ready.plan.hangSeconds, arguments.json || isatty(STDOUT_FILENO) == 0,
        [&] { return shrunk(arguments, ready, running, sessionDir); },
        ready.rules ? ready.rules->detectors : std::vector<diagnosis::DetectorRule>(), [&older] { older->drop(); } });
    if (const Status good = ready.rules ? registerRules(*ready.rules, sessionDir) : Status(Done{}); !good) {
        sayError(good.error().message());
        return kOwnFault;
    }
    if (const Status good = training.prepare(); !good) {
        sayError(good.error().message());
        return kOwnFault;
    }
    if (const Status recording = training.startCollector(); !recording) {
        sayError(recording.error().message());
        return kOwnFault;
    }
    sayWhatBegins(ready);
    const auto mpirunCode = training.runRanks();
    if (!mpirunCode)
        sayError(mpirunCode.error().message());
    const int collectorCode = training.finishCollector();
    if (!mpirunCode)
        return kOwnFault;
    const bool isOlderBack = older->isWaiting();
    older->putBack();
    sayHowItEnded(training, ready, *mpirunCode, collectorCode, isOlderBack);
    return exitCodeOf(training, *mpirunCode, collectorCode);
}

} // namespace

int trainCommand(const TrainArguments& arguments)
{
    const auto ready = prepare(arguments);
    if (!ready) {
        sayError(ready.error().message());
        return kWrongUsage;
    }
    const auto sessionDir = makeSessionDirectory();
    if (!sessionDir) {
        sayError(sessionDir.error().message());
        return kOwnFault;
    }
    const int exitCode = trainInSession(arguments, *ready, *sessionDir);
    // The collector has removed what it has written; a directory that is not empty holds what it could not.
    std::error_code ignored;
    fs::remove(*sessionDir, ignored);
    return exitCode;
}

} // namespace rankscope::tracing
