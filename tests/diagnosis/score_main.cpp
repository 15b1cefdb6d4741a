// Scores the findings against injected faults; see the script `score` beside it.

#include "tests/diagnosis/score.h"
#include "tests/support/child_process.h"
#include "tests/support/temporary_directory.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <unistd.h>

namespace rankscope::diagnosis_score {
namespace {

constexpr int kSkipped = 77; ///< for ctest

struct Arguments {
    std::size_t faults = 100, clean = 50;
    std::size_t atLeast = 0; ///< right ones of the faults; 0: 97 of 100
    std::uint64_t seed = 1;
    std::string keep; ///< folder for the files of wrong answers
    std::string only; ///< part of a case's name
};

bool parse(int argc, char** argv, Arguments& arguments)
{
    for (int i = 1; i + 1 < argc; i += 2) {
        const std::string_view key = argv[i];
        const char* value = argv[i + 1];
        if (key == "--faults")
            arguments.faults = std::strtoull(value, nullptr, 10);
        else if (key == "--clean")
            arguments.clean = std::strtoull(value, nullptr, 10);
        else if (key == "--at-least")
            arguments.atLeast = std::strtoull(value, nullptr, 10);
        else if (key == "--seed")
            arguments.seed = std::strtoull(value, nullptr, 10);
        else if (key == "--keep")
            arguments.keep = value;
        else if (key == "--only")
            arguments.only = value;
        else
            return false;
    }
    return argc % 2 == 1;
}

class Scoring {
public:
    explicit Scoring(const Arguments& arguments)
        : arguments_(arguments)
    {
    }

    /// Whether the answer was right.
    bool take(const Case& drawn)
    {
        const support::TemporaryDirectory folder;
        const auto answer = answerTo(drawn, folder.path());
        ++taken_;
        if (!answer) {
            fmt::print("{:3}  WRONG  {}: {}\n", taken_, drawn.name, answer.error().message());
            return false;
        }
        matrix_.add(*answer);
        fmt::print("{:3}  {}  {}", taken_, answer->isRight ? "right" : "WRONG", drawn.name);
        for (const Answer::Expected& expected : answer->expected)
            fmt::print(": {}", expected.found);
        for (const std::string& alarm : answer->alarms)
            fmt::print("; false: {}", alarm);
        fmt::print("\n");
        if (!answer->isRight)
            keepFiles(drawn, folder.path());
        std::fflush(stdout);
        return answer->isRight;
    }

    std::string matrix() const { return matrix_.text(); }

private:
    void keepFiles(const Case& drawn, const std::filesystem::path& folder) const
    {
        fmt::print("     {}\n", fmt::join(drawn.settings, " "));
        if (arguments_.keep.empty())
            return;
        std::error_code ignored;
        std::filesystem::create_directories(arguments_.keep, ignored);
        std::filesystem::copy_file(folder / "run.rsdb", std::filesystem::path(arguments_.keep) / fmt::format("{}.rsdb", taken_),
            std::filesystem::copy_options::overwrite_existing, ignored);
    }

    const Arguments& arguments_;
    std::size_t taken_ = 0;
    ConfusionMatrix matrix_;
};

std::size_t rightOf(Scoring& scoring, std::vector<Case> cases, const std::string& only)
{
    std::erase_if(cases, [&](const Case& drawn) { return drawn.name.find(only) == std::string::npos; });
    std::size_t right = 0;
    for (const Case& drawn : cases)
        right += scoring.take(drawn) ? 1 : 0;
    fmt::print("{} of {} right\n", right, cases.size());
    return right;
}

int run(const Arguments& arguments)
{
    if (access("/usr/share/doc/jargon-text/jargon.txt.gz", R_OK) != 0
        || support::run({ { "mpirun", "--version" } }).exitCode != 0) {
        fmt::print("skipped: needs the packages jargon-text and openmpi-bin\n");
        return kSkipped;
    }
    Scoring scoring(arguments);
    const std::size_t right = rightOf(scoring, drawFaults(arguments.faults, arguments.seed), arguments.only);
    const std::size_t quiet = rightOf(scoring, drawClean(arguments.clean, arguments.seed), arguments.only);
    fmt::print("\n{}", scoring.matrix());
    const std::size_t least = arguments.atLeast > 0 ? arguments.atLeast : (97 * arguments.faults + 99) / 100;
    return right >= least && quiet == arguments.clean ? 0 : 1;
}

} // namespace
} // namespace rankscope::diagnosis_score

int main(int argc, char** argv)
{
    rankscope::diagnosis_score::Arguments arguments;
    if (!rankscope::diagnosis_score::parse(argc, argv, arguments)) {
        std::fprintf(stderr,
            "test_diagnosis_score [--faults 100] [--clean 50] [--at-least 97] [--seed 1] [--keep DIR] [--only WORDS]\n"
            "Faults are strong: 1.6 to 3 times the compute, stalls of 5 to 40 ms, 100 to 200 ms a step on a link.\n");
        return 2;
    }
    return rankscope::diagnosis_score::run(arguments);
}
