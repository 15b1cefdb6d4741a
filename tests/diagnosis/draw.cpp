#include "tests/diagnosis/draw.h"

#include <fmt/format.h>

#include <array>
#include <random>

namespace rankscope::diagnosis_score {

namespace {

struct Layout {
    const char* name;
    std::vector<std::string> settings;
};
const Layout kData{ "dp 2", { "parallel.dp=2", "batch.micro_batches=2" } };
const Layout kPipeline{ "pp 2", { "parallel.pp=2", "batch.micro_batches=4" } };
const Layout kTensor{ "tp 2", { "parallel.tp=2", "batch.micro_batches=2" } };

class Draw {
public:
    explicit Draw(std::uint64_t seed)
        : chance_(seed)
    {
    }

    int between(int least, int most) { return static_cast<int>(least + chance_() % static_cast<unsigned>(most - least + 1)); }
    bool coin() { return chance_() % 2 == 0; }

private:
    std::mt19937_64 chance_;
};

/// Adds the settings of one more fault to the case.
class Faults {
public:
    explicit Faults(std::vector<std::string>& settings)
        : settings_(settings)
    {
    }

    Faults& add(const char* kind, int rank, int step)
    {
        ++index_;
        set("kind", fmt::format("\"{}\"", kind));
        set("rank", fmt::format("{}", rank));
        return set("step", fmt::format("{}", step));
    }

    Faults& set(const char* key, const std::string& value)
    {
        settings_.push_back(fmt::format("fault.{}.{}={}", index_, key, value));
        return *this;
    }

private:
    std::vector<std::string>& settings_;
    int index_ = -1;
};

constexpr std::array kKinds{ "slow_rank", "stalled_data", "host_pause", "slow_link", "jitter", "imbalanced_stage",
    "lost_rank", "hung_rank", "full_disk", "nan_gradient", "corrupt_shard" };

void addLasting(Faults& faults, const std::string& kind, int rank, int step, Draw& draw, bool isPipeline)
{
    faults.add(kind.c_str(), rank, step);
    if (kind == "slow_rank")
        faults.set("factor", draw.coin() ? "2" : "3");
    if (kind == "imbalanced_stage")
        faults.set("factor", draw.coin() ? "1.6" : "2");
    if (kind == "jitter")
        faults.set("ms", fmt::format("{}", draw.between(5, 10)));
    if (kind == "stalled_data")
        faults.set("ms", fmt::format("{}", draw.between(8, 20)));
    if (kind == "host_pause")
        faults.set("ms", fmt::format("{}", draw.between(20, 40))).set("every_ms", fmt::format("{}", draw.between(50, 90)));
    if (kind == "slow_link") // some 100 to 200 ms a sum of gradients or a message: well above what a busy machine adds
        faults.set("to", fmt::format("{}", 1 - rank))
            .set("gbit_s", isPipeline ? (draw.coin() ? "0.004" : "0.006") : (draw.coin() ? "0.04" : "0.07"));
}

std::vector<std::string> failing(const Layout& layout)
{
    std::vector<std::string> settings = layout.settings;
    for (const char* setting : { "checkpoint.dir=checkpoints", "checkpoint.every=8", "recovery.restarts=1",
             "recovery.hang_seconds=4", "train.steps=30" })
        settings.emplace_back(setting);
    return settings;
}

void addFailing(Faults& faults, const std::string& kind, int rank, Draw& draw)
{
    const int step = draw.between(18, 23);
    if (kind == "corrupt_shard") { // shows when the state is read again
        faults.add("corrupt_shard", rank, 16).add("lost_rank", rank, step);
        return;
    }
    faults.add(kind.c_str(), rank, kind == "full_disk" ? 10 : step);
    if (kind != "full_disk" && kind != "nan_gradient" && draw.coin())
        faults.set("moment", "\"all_reduce\"");
}

Case plainFault(const std::string& kind, Draw& draw)
{
    const int rank = draw.between(0, 1), step = draw.between(10, 18);
    const bool fails = kind == "lost_rank" || kind == "hung_rank" || kind == "full_disk" || kind == "nan_gradient"
        || kind == "corrupt_shard";
    const Layout* layout = draw.coin() ? &kData : &kPipeline;
    if (kind == "imbalanced_stage")
        layout = &kPipeline;
    else if (kind == "slow_rank" && draw.between(0, 3) == 0)
        layout = &kTensor;
    else if (kind == "stalled_data") // of a pipeline only the first stage and the last one load
        layout = &kData;
    Case result{ fmt::format("{} on {}", kind, layout->name), fails ? failing(*layout) : layout->settings };
    Faults faults(result.settings);
    if (fails)
        addFailing(faults, kind, rank, draw);
    else
        addLasting(faults, kind, rank, step, draw, layout == &kPipeline);
    return result;
}

/// Cases that are made to look like something else.
Case misleading(std::size_t number, Draw& draw)
{
    const int rank = draw.between(0, 1), step = draw.between(10, 16);
    switch (number % 4) {
    case 0: { // two at once, on different ranks: each waits for the other
        Case two{ "two at once on dp 2", kData.settings };
        Faults faults(two.settings);
        faults.add("slow_rank", rank, step).set("factor", "2");
        faults.add("stalled_data", 1 - rank, step + 8).set("ms", "25");
        return two;
    }
    case 1: { // it stops long before the end
        Case stops{ "slow_rank that stops on dp 2", kData.settings };
        Faults(stops.settings).add("slow_rank", rank, step).set("factor", "2.5").set("until", fmt::format("{}", step + 14));
        return stops;
    }
    case 2: { // the last stage waits all the time, and the first one is slow
        Case victim{ "victim waits on pp 2", kPipeline.settings };
        Faults(victim.settings).add("slow_rank", 0, step).set("factor", "3");
        return victim;
    }
    default: { // waits and transfers grow on both ranks; the data of one stalls for a while
        Case stops{ "stalled_data that stops on dp 2", kData.settings };
        Faults(stops.settings).add("stalled_data", rank, step).set("ms", "20").set("until", fmt::format("{}", step + 14));
        return stops;
    }
    }
}

} // namespace

std::vector<Case> drawFaults(std::size_t count, std::uint64_t seed)
{
    Draw draw(seed);
    std::vector<Case> cases;
    std::size_t kind = 0, trick = 0;
    while (cases.size() < count) {
        if (cases.size() % 6 == 5)
            cases.push_back(misleading(trick++, draw));
        else
            cases.push_back(plainFault(kKinds[kind++ % kKinds.size()], draw));
    }
    return cases;
}

std::vector<Case> drawClean(std::size_t count, std::uint64_t seed)
{
    const std::array layouts{ &kData, &kPipeline, &kTensor };
    std::vector<Case> cases;
    for (std::size_t i = 0; i < count; ++i) {
        const Layout& layout = *layouts[i % layouts.size()];
        Case clean{ fmt::format("clean {}", layout.name), layout.settings };
        clean.settings.push_back(fmt::format("train.seed={}", seed + i));
        cases.push_back(std::move(clean));
    }
    return cases;
}

std::string baseConfiguration()
{
    return R"([model]
layers = 4
width = 64
heads = 4
sequence = 64
[batch]
micro_batch = 4
[train]
steps = 44
threads = 1
validate_every = 0
peak_gflops = 30
max_seconds = 30
[data]
path = "/usr/share/doc/jargon-text/jargon.txt.gz"
)";
}

} // namespace rankscope::diagnosis_score
