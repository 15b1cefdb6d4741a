#include "backend/train/config_keys.h"

#include "tracing/model/pipeline_schedule.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <type_traits>

namespace rankscope::backend {

using tracing::Done;
using tracing::Error;
using tracing::Status;

namespace {

constexpr double kMany = 1e9;
/// Links are this many at most: a mistyped index must not grow a list without end.
constexpr std::size_t kMostLinks = 4096;

#define RS_FIELD(type, member) [](Config& config) -> type& { return config.member; }

const std::vector<ConfigKey>& table()
{
    static const std::vector<ConfigKey> keys{
        { "model.layers", "transformer blocks; divided evenly over the stages", RS_FIELD(int, model.layers), 1, 1000 },
        { "model.width", "numbers a token carries between blocks; a multiple of heads", RS_FIELD(int, model.width), 1,
            65536 },
        { "model.heads", "attention heads", RS_FIELD(int, model.heads), 1, 1024 },
        { "model.vocab", "tokens that exist; 256 with the byte tokenizer", RS_FIELD(int, model.vocab), 256, 256 },
        { "model.sequence", "tokens of one sequence", RS_FIELD(int, model.sequence), 1, 65536 },
        { "model.experts", "MLPs of a layer among which each token is sent to some; 0 for one MLP without a choice",
            RS_FIELD(int, model.experts), 0, 1024 },
        { "model.top_k", "experts that a token is sent to", RS_FIELD(int, model.topK), 1, 1024 },
        { "model.capacity_factor",
            "tokens an expert takes of a micro-batch, times an even share; the rest are dropped; 0 for no limit",
            RS_FIELD(double, model.capacityFactor), 0, kMany },
        { "model.balance_loss", "weight of the loss that draws the router to use all experts alike",
            RS_FIELD(double, model.balanceLoss), 0, kMany },
        { "parallel.dp", "replicas that each take a share of the batch", RS_FIELD(int, parallel.dp), 1, 4096 },
        { "parallel.tp", "ranks that split each matrix; divides model.heads and model.vocab",
            RS_FIELD(int, parallel.tp), 1, 1024 },
        { "parallel.sequence_parallel",
            "splits the sequence, too, outside of split matrices: half-sums and gathers instead of sums; needs tp",
            RS_FIELD(bool, parallel.sequenceParallel) },
        { "parallel.pp", "pipeline stages; divides model.layers", RS_FIELD(int, parallel.pp), 1, 1000 },
        { "parallel.ep", "replicas that divide the experts; divides parallel.dp and model.experts",
            RS_FIELD(int, parallel.ep), 1, 4096 },
        { "parallel.schedule", "order of forward and backward passes on a stage",
            RS_FIELD(std::string, parallel.schedule), 0, 0,
            { tracing::scheduleNames().begin(), tracing::scheduleNames().end() } },
        { "parallel.chunks", "model chunks of a stage with the interleaved schedule", RS_FIELD(int, parallel.chunks), 1,
            1000 },
        { "parallel.bucket_kb", "kB (1024 bytes) of gradients that the replicas sum in one all-reduce",
            RS_FIELD(int, parallel.bucketKb), 1, 1 << 20 },
        { "parallel.zero", "1: each replica keeps the optimizer's state of its own share of the weights alone (ZeRO-1)",
            RS_FIELD(int, parallel.zero), 0, 1 },
        { "parallel.comm",
            "how replicas sum gradients: in buckets that overlap the backward pass, or after it, tensor by tensor",
            RS_FIELD(std::string, parallel.comm), 0, 0, { "overlapped", "naive" } },
        { "batch.micro_batch", "sequences that pass a stage together", RS_FIELD(int, batch.microBatch), 1, 65535 },
        { "batch.micro_batches", "micro-batches of a step on each replica", RS_FIELD(int, batch.microBatches), 1,
            65535 },
        { "optimizer.lr", "greatest learning rate of AdamW", RS_FIELD(double, optimizer.lr), 0, 10 },
        { "optimizer.betas", "AdamW's decay of its two moments", RS_FIELD(std::vector<double>, optimizer.betas), 0, 1 },
        { "optimizer.weight_decay", "AdamW's decay of matrices", RS_FIELD(double, optimizer.weightDecay), 0, 10 },
        { "optimizer.clip", "greatest norm of the gradient; 0 for none", RS_FIELD(double, optimizer.clip), 0, kMany },
        { "optimizer.warmup", "steps in which the learning rate rises", RS_FIELD(int, optimizer.warmup), 0, kMany },
        { "optimizer.final_lr", "share of lr that is left at the last step, after a cosine",
            RS_FIELD(double, optimizer.finalLr), 0, 1 },
        { "train.steps", "optimiser updates", RS_FIELD(int, train.steps), 1, kMany },
        { "train.seed", "of the initial weights and of the order of the data", RS_FIELD(int, train.seed), 0, kMany },
        { "train.dtype", "numbers that matrices are multiplied in; what is stored and updated is fp32",
            RS_FIELD(std::string, train.dtype), 0, 0, { "fp32", "bf16" } },
        { "train.device", "what computes; auto takes what there is, which is the CPU where there is no GPU",
            RS_FIELD(std::string, train.device), 0, 0, { "auto", "cpu", "cuda" } },
        { "train.recompute", "what backward computes again instead of keeping it: norms and GELU, or whole layers",
            RS_FIELD(std::string, train.recompute), 0, 0, { "none", "selective", "full" } },
        { "train.threads", "threads of a rank; 0 for cores divided by ranks", RS_FIELD(int, train.threads), 0, 1024 },
        { "train.validate_every", "steps between two looks at the held-out text, besides first and last; 0 for none",
            RS_FIELD(int, train.validateEvery), 0, kMany },
        { "train.validate_batches", "micro-batches of held-out text that each replica looks at",
            RS_FIELD(int, train.validateBatches), 1, 65535 },
        { "train.max_seconds", "ends after the step in which so much time has passed; 0 for no limit",
            RS_FIELD(double, train.maxSeconds), 0, kMany },
        { "train.peak_gflops", "declared peak of a rank in 1e9 FLOP/s; 0 to measure it with a matrix product",
            RS_FIELD(double, train.peakGflops), 0, kMany },
        { "data.path", "text to train on: a UTF-8 file or a folder of them, plain or .gz",
            RS_FIELD(std::string, data.path) },
        { "data.tokenizer", "how text becomes tokens", RS_FIELD(std::string, data.tokenizer), 0, 0, { "byte" } },
        { "data.holdout", "share of the text, at its end, that is never trained on; 0 for none",
            RS_FIELD(double, data.holdout), 0, 0.5 },
        { "checkpoint.dir", "folder of the checkpoints; a relative one is in the working directory",
            RS_FIELD(std::string, checkpoint.dir) },
        { "checkpoint.every", "steps between two checkpoints; 0 for none", RS_FIELD(int, checkpoint.every), 0, kMany },
        { "checkpoint.keep", "newest checkpoints of a run that stay; older ones are removed",
            RS_FIELD(int, checkpoint.keep), 1, kMany },
        { "checkpoint.async", "copies the state first and writes it behind the next steps",
            RS_FIELD(bool, checkpoint.async) },
        { "checkpoint.resume", "goes on from the newest complete checkpoint in the folder, also another run's",
            RS_FIELD(bool, checkpoint.resume) },
        { "recovery.restarts", "times that a run whose ranks failed is started again", RS_FIELD(int, recovery.restarts),
            0, 1000 },
        { "recovery.elastic", "goes on with fewer replicas where a restart finds fewer cores than ranks",
            RS_FIELD(bool, recovery.elastic) },
        { "recovery.hang_seconds", "time without progress after which ranks count as hung; 0 for never",
            RS_FIELD(double, recovery.hangSeconds), 0, kMany },
    };
    return keys;
}

#undef RS_FIELD

constexpr std::array<LinkKey, 4> kLinkKeys{ {
    { "from", "rank that sends", &Link::from, 0, kMany },
    { "to", "rank that receives; the way back is another link", &Link::to, 0, kMany },
    { "gbit_s", "bandwidth in 1e9 bits/s; 0 for no limit", &Link::gbitPerSecond, 0, 1e6 },
    { "delay_us", "time a message spends under way besides, in microseconds", &Link::delayUs, 0, 1e7 },
} };

const std::array<FaultKey, 12>& faultTable()
{
    static const std::array<FaultKey, 12> keys{ {
        { "kind", "what goes wrong", &Fault::kind, 0, 0, faultKinds() },
        { "rank", "where; with imbalanced_stage a rank of the stage, with hot_expert the one whose first expert it is",
            &Fault::rank, 0, kMany },
        { "to", "slow_link: the rank that receives", &Fault::to, 0, kMany },
        { "step", "the first step concerned", &Fault::step, 1, kMany },
        { "until", "the last step concerned; 0: to the end", &Fault::until, 0, kMany },
        { "attempt", "of the run: 0 for the first, 1 for the first restart", &Fault::attempt, 0, 1000 },
        { "factor", "slow_rank, imbalanced_stage: how much longer computing takes; hot_expert: times its even share",
            &Fault::factor, 1, 1000 },
        { "ms", "how long a pause is; a rank dies or hangs so long after its step began", &Fault::ms, 0, 1e6 },
        { "every_ms", "host_pause: from one pause to the next", &Fault::everyMs, 1, 1e6 },
        { "gbit_s", "slow_link: bandwidth in 1e9 bits/s; 0 for no limit", &Fault::gbitPerSecond, 0, 1e6 },
        { "delay_us", "slow_link: delay in microseconds", &Fault::delayUs, 0, 1e7 },
        { "moment", "lost_rank, hung_rank: when in the step", &Fault::moment, 0, 0, faultMoments() },
    } };
    return keys;
}

std::string spell(const RawValue& value)
{
    return std::visit(
        [](const auto& v) {
            if constexpr (std::is_same_v<std::decay_t<decltype(v)>, std::vector<double>>)
                return fmt::format("[{}]", fmt::join(v, ", "));
            else
                return fmt::format("{}", v);
        },
        value);
}

Error refusal(std::string_view key, const RawValue& value, const std::string& allowed)
{
    return Error(fmt::format("{} = {}: allowed is {}", key, spell(value), allowed));
}

std::string spellRange(double least, double most, bool whole)
{
    if (least == most)
        return fmt::format("{}", least);
    const std::string upTo = most == kMany ? fmt::format("{} or more", least) : fmt::format("{} to {}", least, most);
    return (whole ? "a whole number, " : "a number, ") + upTo;
}

std::optional<double> numberOf(const RawValue& value)
{
    if (const auto* integer = std::get_if<std::int64_t>(&value))
        return static_cast<double>(*integer);
    if (const auto* number = std::get_if<double>(&value))
        return *number;
    return std::nullopt;
}

/// True if the value was a number that may stand there.
template <typename T> bool assignNumber(T& field, const RawValue& value, double least, double most)
{
    const auto number = numberOf(value);
    if (!number || !(*number >= least && *number <= most))
        return false;
    if (std::is_integral_v<T> && *number != std::floor(*number))
        return false;
    field = static_cast<T>(*number);
    return true;
}

bool assign(Config& config, const ConfigKey& key, int& (*field)(Config&), const RawValue& value)
{
    return assignNumber(field(config), value, key.least, key.most);
}
bool assign(Config& config, const ConfigKey& key, double& (*field)(Config&), const RawValue& value)
{
    return assignNumber(field(config), value, key.least, key.most);
}
bool assign(Config& config, const ConfigKey& key, std::string& (*field)(Config&), const RawValue& value)
{
    const auto* text = std::get_if<std::string>(&value);
    if (!text || (!key.words.empty() && std::ranges::find(key.words, *text) == key.words.end()))
        return false;
    field(config) = *text;
    return true;
}
bool assign(Config& config, const ConfigKey&, bool& (*field)(Config&), const RawValue& value)
{
    const auto* flag = std::get_if<bool>(&value);
    if (flag)
        field(config) = *flag;
    return flag != nullptr;
}
bool assign(Config& config, const ConfigKey& key, std::vector<double>& (*field)(Config&), const RawValue& value)
{
    const auto* list = std::get_if<std::vector<double>>(&value);
    const auto fits = [&](double number) { return number >= key.least && number < key.most; };
    if (!list || list->size() != 2 || !std::ranges::all_of(*list, fits))
        return false;
    field(config) = *list;
    return true;
}

} // namespace

std::span<const ConfigKey> configKeys() { return table(); }
std::span<const LinkKey> linkKeys() { return kLinkKeys; }
std::span<const FaultKey> faultKeys() { return faultTable(); }

std::string_view ConfigKey::type() const
{
    constexpr std::array<std::string_view, 5> types{ "integer", "number", "text", "two numbers", "true or false" };
    return types[field.index()];
}

std::string ConfigKey::allowed() const
{
    if (std::holds_alternative<std::string& (*)(Config&)>(field))
        return words.empty() ? "any text" : fmt::format("{}", fmt::join(words, ", "));
    if (std::holds_alternative<std::vector<double>& (*)(Config&)>(field))
        return "two numbers, 0 to below 1: [0.9, 0.95]";
    if (std::holds_alternative<bool& (*)(Config&)>(field))
        return "true, false";
    return spellRange(least, most, std::holds_alternative<int& (*)(Config&)>(field));
}

std::string ConfigKey::value(const Config& config) const
{
    Config copy = config; // the accessors serve both ways; nothing is written here
    return std::visit(
        [&](auto access) {
            const auto& value = access(copy);
            using T = std::decay_t<decltype(value)>;
            if constexpr (std::is_same_v<T, std::vector<double>>)
                return fmt::format("[{}]", fmt::join(value, ", "));
            else if constexpr (std::is_same_v<T, std::string>)
                return fmt::format("\"{}\"", value);
            else
                return fmt::format("{}", value);
        },
        field);
}

std::string LinkKey::allowed() const { return spellRange(least, most, std::holds_alternative<int Link::*>(field)); }

std::string LinkKey::value(const Link& link) const
{
    return std::visit([&](auto member) { return fmt::format("{}", link.*member); }, field);
}

Status setKey(Config& config, const ConfigKey& key, const RawValue& value)
{
    if (std::visit([&](auto field) { return assign(config, key, field, value); }, key.field))
        return Done{};
    return refusal(key.name, value, key.allowed());
}

Status setLinkKey(Config& config, std::size_t link, std::string_view name, const RawValue& value)
{
    const std::string full = fmt::format("link.{}.{}", link, name);
    const auto key = std::ranges::find(kLinkKeys, name, &LinkKey::name);
    if (key == kLinkKeys.end())
        return unknownKey(full);
    if (link >= kMostLinks)
        return Error(fmt::format("{}: there are {} links at most", full, kMostLinks));
    if (config.links.size() <= link)
        config.links.resize(link + 1);
    const bool fits = std::visit(
        [&](auto member) { return assignNumber(config.links[link].*member, value, key->least, key->most); },
        key->field);
    return fits ? Status(Done{}) : refusal(full, value, key->allowed());
}

std::string FaultKey::allowed() const
{
    return words.empty() ? spellRange(least, most, std::holds_alternative<int Fault::*>(field))
                         : fmt::format("{}", fmt::join(words, ", "));
}

std::string FaultKey::value(const Fault& fault) const
{
    return std::visit(
        [&](auto member) {
            if constexpr (std::is_same_v<decltype(member), std::string Fault::*>)
                return fmt::format("\"{}\"", fault.*member);
            else
                return fmt::format("{}", fault.*member);
        },
        field);
}

Status setFaultKey(Config& config, std::size_t fault, std::string_view name, const RawValue& value)
{
    const std::string full = fmt::format("fault.{}.{}", fault, name);
    const auto key = std::ranges::find(faultTable(), name, &FaultKey::name);
    if (key == faultTable().end())
        return unknownKey(full);
    if (fault >= kMostLinks)
        return Error(fmt::format("{}: there are {} faults at most", full, kMostLinks));
    if (config.faults.size() <= fault)
        config.faults.resize(fault + 1);
    Fault& of = config.faults[fault];
    if (const auto* text = std::get_if<std::string Fault::*>(&key->field)) {
        const auto* word = std::get_if<std::string>(&value);
        if (!word || std::ranges::find(key->words, *word) == key->words.end())
            return refusal(full, value, key->allowed());
        of.*(*text) = *word;
        return Done{};
    }
    const auto* whole = std::get_if<int Fault::*>(&key->field);
    const bool fits = whole ? assignNumber(of.*(*whole), value, key->least, key->most)
                            : assignNumber(of.*std::get<double Fault::*>(key->field), value, key->least, key->most);
    return fits ? Status(Done{}) : refusal(full, value, key->allowed());
}

Error unknownKey(const std::string& name)
{
    const std::string section = name.substr(0, name.find('.'));
    std::vector<std::string_view> keys;
    std::vector<std::string> sections;
    for (const ConfigKey& key : configKeys()) {
        const std::string of(key.name.substr(0, key.name.find('.')));
        if (of == section)
            keys.push_back(key.name.substr(of.size() + 1));
        if (std::ranges::find(sections, of) == sections.end())
            sections.push_back(of);
    }
    sections.emplace_back("link");
    sections.emplace_back("fault");
    if (section == "fault") {
        std::vector<std::string_view> names;
        for (const FaultKey& key : faultTable())
            names.push_back(key.name);
        return Error(fmt::format("{}: unknown key; write fault.0.KEY with one of {}", name, fmt::join(names, ", ")));
    }
    if (section == "link")
        return Error(fmt::format("{}: unknown key; write link.0.KEY with one of from, to, gbit_s, delay_us", name));
    if (keys.empty())
        return Error(fmt::format("{}: unknown section; there are {}", name, fmt::join(sections, ", ")));
    return Error(fmt::format("{}: unknown key; [{}] has {}", name, section, fmt::join(keys, ", ")));
}

} // namespace rankscope::backend
