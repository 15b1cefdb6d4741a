#include "backend/train/plan.h"

#include "backend/schedule/player.h"
#include "backend/train/config_keys.h"
#include "backend/train/layout.h"

#include <fmt/format.h>
#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>

#include <algorithm>

namespace rankscope::backend {

namespace {

/// Backward costs twice a forward: two matrix products for each one, one of them for the weights.
constexpr ActionTimes kBalanced{ .forward = 1, .backward = 2, .weight = 1, .transfer = 0 };

class PlanWriter {
public:
    std::string write(const Config& config, const std::vector<std::string>& problems)
    {
        json_.StartObject();
        member("schema", 1);
        member("ok", problems.empty());
        writeLines("errors", problems);
        writeLines("warnings", warningsOf(config));
        if (problems.empty())
            writeLayout(config);
        writeLinks(config);
        writeKeys(config);
        json_.EndObject();
        return buffer_.GetString();
    }

private:
    void value(std::string_view text) { json_.String(text.data(), static_cast<rapidjson::SizeType>(text.size())); }
    void value(bool flag) { json_.Bool(flag); }
    void value(int number) { json_.Int(number); }
    void value(std::int64_t number) { json_.Int64(number); }
    void value(double number) { json_.Double(number); }
    template <typename T> void member(const char* key, const T& of)
    {
        json_.Key(key);
        value(of);
    }

    void writeLines(const char* key, const std::vector<std::string>& lines)
    {
        json_.Key(key);
        json_.StartArray();
        for (const std::string& line : lines)
            value(line);
        json_.EndArray();
    }

    void writeLayout(const Config& config)
    {
        const Layout layout = layOut(config);
        const int ranks = config.meshSizes().worldSize();
        member("ranks", ranks);
        member("cores", availableCores());
        member("threads", threadsOf(config, ranks));
        member("ranks_share_cores", ranks > availableCores());
        member("parameters", layout.parameters);
        member("steps", config.train.steps);
        member("restarts", config.recovery.restarts);
        member("hang_seconds", config.recovery.hangSeconds);
        writeSmaller(config);
        member("global_batch", config.globalBatch());
        member("tokens_per_step", config.tokensPerStep());
        member("flop_per_token", modelFlopPerToken(config.model));
        json_.Key("layout");
        json_.StartObject();
        member("dp", config.parallel.dp);
        member("tp", config.parallel.tp);
        member("pp", config.parallel.pp);
        member("ep", config.parallel.ep);
        json_.Key("ranks");
        json_.StartArray();
        for (const RankPlan& rank : layout.ranks)
            writeRank(rank);
        json_.EndArray();
        json_.EndObject();
        writeSchedule(layout.schedule);
    }

    /// What a restart with fewer cores may go on with.
    void writeSmaller(const Config& config)
    {
        json_.Key("elastic");
        json_.StartArray();
        for (const Smaller& layout : config.recovery.elastic ? smallerLayouts(config) : std::vector<Smaller>()) {
            json_.StartObject();
            member("ranks", layout.ranks);
            member("dp", layout.dp);
            writeLines("overrides",
                { fmt::format("parallel.dp={}", layout.dp),
                    fmt::format("batch.micro_batches={}", layout.microBatches) });
            json_.EndObject();
        }
        json_.EndArray();
    }

    void writeRank(const RankPlan& rank)
    {
        json_.StartObject();
        member("rank", rank.rank);
        member("stage", rank.place.pp);
        member("dp", rank.place.dp);
        member("tp", rank.place.tp);
        member("ep", rank.place.ep);
        int layers = 0;
        for (const auto& chunk : rank.chunks)
            layers += chunk.slice.layerCount;
        member("first_layer", rank.chunks.front().slice.firstLayer);
        member("layers", layers);
        member("parameters", rank.parameters);
        member("weight_bytes", rank.weightBytes);
        member("optimizer_bytes", rank.optimizerBytes);
        member("activation_bytes", rank.activationBytes);
        member("memory_bytes", rank.bytes());
        json_.EndObject();
    }

    void writeSchedule(const Schedule& schedule)
    {
        const Played played = play(schedule, kBalanced);
        json_.Key("schedule");
        json_.StartObject();
        member("name", std::string_view(schedule.name));
        member("micro_batches", schedule.microBatches);
        member("bubble_share", static_cast<double>(played.stages[0].bubble()) / static_cast<double>(played.duration));
        json_.Key("stages");
        json_.StartArray();
        for (std::size_t stage = 0; stage < played.stages.size(); ++stage) {
            json_.StartObject();
            member("stage", static_cast<int>(stage));
            member("peak_activations", played.stages[stage].peakActivations);
            json_.EndObject();
        }
        json_.EndArray();
        json_.EndObject();
    }

    void writeLinks(const Config& config)
    {
        json_.Key("links");
        json_.StartArray();
        for (const Link& link : config.links) {
            json_.StartObject();
            member("from", link.from);
            member("to", link.to);
            member("gbit_s", link.gbitPerSecond);
            member("delay_us", link.delayUs);
            json_.EndObject();
        }
        json_.EndArray();
    }

    void writeKeys(const Config& config)
    {
        json_.Key("keys");
        json_.StartArray();
        for (const ConfigKey& key : configKeys()) {
            startKey(key.name, key.type(), key.allowed(), key.meaning);
            member("default", key.value(Config{}));
            member("value", key.value(config));
            json_.EndObject();
        }
        for (const LinkKey& key : linkKeys()) {
            startKey(fmt::format("link.N.{}", key.name), "number", key.allowed(), key.meaning);
            json_.EndObject();
        }
        json_.EndArray();
    }
    void startKey(std::string_view name, std::string_view type, const std::string& allowed, std::string_view meaning)
    {
        json_.StartObject();
        member("key", name);
        member("type", type);
        member("allowed", std::string_view(allowed));
        member("meaning", meaning);
    }
    void member(const char* key, const std::string& of) { member(key, std::string_view(of)); }

    rapidjson::StringBuffer buffer_;
    rapidjson::Writer<rapidjson::StringBuffer> json_{ buffer_ };
};

} // namespace

std::string planJson(const Config& config, const std::vector<std::string>& problems)
{
    return PlanWriter().write(config, problems);
}

std::string planText(const Config& config)
{
    const Layout layout = layOut(config);
    const int ranks = config.meshSizes().worldSize();
    const auto& largest = std::ranges::max(layout.ranks, {}, &RankPlan::bytes);
    const Played played = play(layout.schedule, kBalanced);
    std::string text;
    for (const std::string& warning : warningsOf(config))
        text += warning + "\n";
    text += fmt::format("{} ranks: dp {} x tp {} x pp {}, {} thread(s) each on {} core(s)\n", ranks, config.parallel.dp,
        config.parallel.tp, config.parallel.pp, threadsOf(config, ranks), availableCores());
    text += fmt::format("{} parameters; rank {} holds most: {:.1f} MB\n", layout.parameters, largest.rank,
        static_cast<double>(largest.bytes()) / 1e6);
    text += fmt::format(
        "{} steps of {} sequences, {} tokens\n", config.train.steps, config.globalBatch(), config.tokensPerStep());
    text += fmt::format("schedule {}: {} micro-batches, {:.0f} % of a balanced step is bubble\n", layout.schedule.name,
        layout.schedule.microBatches,
        100 * static_cast<double>(played.stages[0].bubble()) / static_cast<double>(played.duration));
    return text;
}

std::string helpText()
{
    std::string text = "Trains a GPT over MPI ranks; usually started by rankscope train or by the app.\n\n"
                       "  mpirun -n 2 rankscope-train samples/quickstart.toml train.steps=20\n"
                       "  rankscope-train --plan samples/quickstart.toml parallel.pp=2 --json\n\n"
                       "Usage: rankscope-train [--plan [--json]] [CONFIG.toml] [key=value ...]\n"
                       "  --plan   say what the configuration means and start nothing (exit code 2: it cannot run)\n"
                       "  --json   with --plan: one JSON object\n"
                       "  --help   this text\n\nKeys:\n";
    for (const ConfigKey& key : configKeys())
        text
            += fmt::format("  {:<24} {} ({}; default {})\n", key.name, key.meaning, key.allowed(), key.value(Config{}));
    for (const LinkKey& key : linkKeys())
        text += fmt::format("  link.N.{:<17} {} ({})\n", key.name, key.meaning, key.allowed());
    for (const FaultKey& key : faultKeys())
        text += fmt::format("  fault.N.{:<16} {} ({})\n", key.name, key.meaning, key.allowed());
    text += "In the file a link is a [[link]] table, a fault a [[fault]] table. RANKSCOPE_SESSION names the session "
            "directory of a recording.\n";
    return text;
}

} // namespace rankscope::backend
