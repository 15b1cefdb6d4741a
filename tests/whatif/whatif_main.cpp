// Puts what-if predictions to the test; see the script `predict` beside it.

#include "tests/support/child_process.h"
#include "tests/support/temporary_directory.h"
#include "tests/whatif/measure.h"
#include "tests/whatif/pairs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <unistd.h>

namespace rankscope::whatif {
namespace {

constexpr int kSkipped = 77; ///< for ctest
constexpr std::size_t kLeastPairs = 20;

struct Arguments {
    std::string pairs;
    std::string only; ///< part of a pair's name
    std::string keep; ///< folder for the files of all runs
    std::size_t repeats = 2;
    bool heldOut = true;
    bool check = false;
};

bool parse(int argc, char** argv, Arguments& arguments)
{
    for (int i = 1; i + 1 < argc; i += 2) {
        const std::string_view key = argv[i], value = argv[i + 1];
        if (key == "--pairs")
            arguments.pairs = value;
        else if (key == "--only")
            arguments.only = value;
        else if (key == "--keep")
            arguments.keep = value;
        else if (key == "--repeats")
            arguments.repeats = std::max<std::size_t>(1, std::strtoull(argv[i + 1], nullptr, 10));
        else if (key == "--held-out")
            arguments.heldOut = value != "no";
        else if (key == "--check")
            arguments.check = value == "yes";
        else
            return false;
    }
    return argc % 2 == 1 && !arguments.pairs.empty();
}

int check(const std::vector<Pair>& pairs)
{
    for (const Pair& pair : pairs) {
        for (const auto* settings : { &pair.base, &pair.changed }) {
            if (const auto status = planned(*settings); !status) {
                fmt::print("{}: {}\n", pair.name, status.error().message());
                return 1;
            }
        }
    }
    const auto heldOut = std::ranges::count(pairs, true, &Pair::heldOut);
    fmt::print("{} pairs, {} of them held out\n", pairs.size(), heldOut);
    return pairs.size() >= kLeastPairs && heldOut > 0 ? 0 : 1;
}

/// Keeps the errors of all pairs and of those held out.
class Summary {
public:
    void add(const Pair& pair, const Measured& measured)
    {
        errors_.push_back(std::abs(measured.error()));
        noise_.push_back(measured.noise);
        if (pair.heldOut)
            heldOut_.push_back(errors_.back());
    }

    void print() const
    {
        if (errors_.empty())
            return;
        fmt::print(
            "{} pairs: median error {:.1f} %, greatest {:.1f} %; noise of repeating the base run: median {:.1f} %, "
            "greatest {:.1f} %\n",
            errors_.size(), 100 * median(errors_), 100 * std::ranges::max(errors_), 100 * median(noise_),
            100 * std::ranges::max(noise_));
        if (!heldOut_.empty())
            fmt::print("{} held out: median error {:.1f} %\n", heldOut_.size(), 100 * median(heldOut_));
    }

private:
    std::vector<double> errors_, heldOut_, noise_;
};

int predict(const Arguments& arguments, const std::vector<Pair>& pairs)
{
    fmt::print(
        "{:54} {:>9} {:>9} {:>9} {:>7} {:>6}\n", "pair, ms a step", "base", "predicted", "measured", "error", "noise");
    Summary summary;
    std::size_t failed = 0, number = 0;
    for (const Pair& pair : pairs) {
        ++number;
        if (pair.name.find(arguments.only) == std::string::npos || (pair.heldOut && !arguments.heldOut))
            continue;
        const support::TemporaryDirectory temporary;
        std::filesystem::path folder = temporary.path();
        if (!arguments.keep.empty()) {
            folder = std::filesystem::path(arguments.keep) / std::to_string(number);
            std::filesystem::create_directories(folder);
        }
        const std::string name = fmt::format("{:2} {}{}", number, pair.name, pair.heldOut ? " *" : "");
        const auto measured = measure(pair, arguments.repeats, folder);
        if (!measured) {
            ++failed;
            fmt::print("{:54} no result: {}\n", name, measured.error().message());
            continue;
        }
        summary.add(pair, *measured);
        fmt::print("{:54} {:9.2f} {:9.2f} {:9.2f} {:+6.1f}% {:5.1f}%\n", name, measured->baseNs / 1e6,
            measured->predictedNs / 1e6, measured->changedNs / 1e6, 100 * measured->error(), 100 * measured->noise);
        std::fflush(stdout);
    }
    summary.print();
    return failed == 0 ? 0 : 1;
}

int run(const Arguments& arguments)
{
    const auto pairs = readPairs(arguments.pairs);
    if (!pairs) {
        fmt::print(stderr, "{}\n", pairs.error().message());
        return 2;
    }
    if (access("/usr/share/doc/jargon-text/jargon.txt.gz", R_OK) != 0) {
        fmt::print("skipped: needs the package jargon-text\n");
        return kSkipped;
    }
    return arguments.check ? check(*pairs) : predict(arguments, *pairs);
}

} // namespace
} // namespace rankscope::whatif

int main(int argc, char** argv)
{
    rankscope::whatif::Arguments arguments;
    if (!rankscope::whatif::parse(argc, argv, arguments)) {
        std::fprintf(stderr,
            "test_whatif --pairs F.toml [--only WORDS] [--repeats 2] [--held-out yes|no] [--keep DIR] [--check "
            "yes|no]\n");
        return 2;
    }
    return rankscope::whatif::run(arguments);
}
