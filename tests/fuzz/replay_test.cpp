#include "tests/fuzz/fuzz_input.h"

#include "tests/support/temporary_directory.h"
#include "tracing/import/importer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>

namespace rankscope::tracing {

namespace {

namespace fs = std::filesystem;

std::vector<std::uint8_t> contentOf(const fs::path& path)
{
    std::ifstream file(path, std::ios::binary);
    return { std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>() };
}

constexpr int kRounds = 500, kRoundsOfLarge = 8;
constexpr std::size_t kLarge = 1u << 16;

/// The seed as it is, cut off at eight places, and with a few bytes changed, always the same ones. A fault ends the
/// program; under the sanitizers also one that would go unnoticed.
void replaySeed(const std::string& format, const std::vector<std::uint8_t>& whole, int rounds)
{
    std::minstd_rand random(1);
    readFuzzed(format, whole.data(), whole.size());
    for (std::size_t part = 0; part < 8; ++part)
        readFuzzed(format, whole.data(), whole.size() * part / 8);
    for (int round = 0; round < (whole.size() < kLarge ? rounds : kRoundsOfLarge) && !whole.empty(); ++round) {
        std::vector<std::uint8_t> changed = whole;
        for (int i = 0; i < 3; ++i)
            changed[random() % changed.size()] = static_cast<std::uint8_t>(random());
        if (round % 4 == 3) { // a stretch of the seed twice
            const auto from = static_cast<std::ptrdiff_t>(random() % whole.size());
            const auto length = std::min<std::ptrdiff_t>(
                static_cast<std::ptrdiff_t>(whole.size()) - from, 1 + static_cast<std::ptrdiff_t>(random() % 64));
            changed.insert(changed.begin() + from, whole.begin() + from, whole.begin() + from + length);
        }
        readFuzzed(format, changed.data(), changed.size());
    }
}

void replay(const std::string& format, const std::string& seedsOf, int rounds = kRounds)
{
    const fs::path folder = fs::path("tests/fuzz/corpus") / seedsOf;
    ASSERT_TRUE(fs::is_directory(folder)) << "run it in the project's root: no " << folder;
    std::vector<fs::path> seeds{ fs::directory_iterator(folder), fs::directory_iterator() };
    std::ranges::sort(seeds);
    ASSERT_FALSE(seeds.empty());
    for (const fs::path& seed : seeds)
        replaySeed(format, contentOf(seed), rounds);
}

void replay(const std::string& format) { replay(format, format); }

} // namespace

TEST(FuzzReplay, JsonSeedsComeBack) { replay("json"); }
TEST(FuzzReplay, NsightSeedsComeBack) { replay("nsight"); }
TEST(FuzzReplay, PipelineSeedsComeBack) { replay("pipeline"); }
TEST(FuzzReplay, TableSeedsComeBack) { replay("table"); }
TEST(FuzzReplay, FlightRecorderSeedsComeBack) { replay("flight_recorder"); }
TEST(FuzzReplay, RulesComeBack) { replay("rules"); }
TEST(FuzzReplay, ClocksComeBack) { replay("clocks"); }
TEST(FuzzReplay, WholeImportsComeBack)
{
    for (const char* format : { "json", "table", "pipeline", "nsight" })
        replay("import", format, kRoundsOfLarge);
}

TEST(FuzzReplay, RunFilesComeBack)
{
    const support::TemporaryDirectory folder;
    const std::string run = (folder / "run.rsdb").string();
    ASSERT_TRUE(importTraces({ "tests/fuzz/corpus/json/kineto.json" }, run));
    replaySeed("run_file", contentOf(run), kRounds);
}

} // namespace rankscope::tracing
