#include "tracing/analysis/run_ledger.h"

#include <charconv>

namespace rankscope::tracing {

namespace {

// Numbers and words with a blank after each; "-" is none. One function describes the layout for both directions.

class Packer {
public:
    void operator()(std::int64_t value)
    {
        char digits[24];
        const auto end = std::to_chars(digits, digits + sizeof digits, value).ptr;
        text.append(digits, end).push_back(' ');
    }
    void word(const std::string& value) { text.append(value.empty() ? "-" : value).push_back(' '); }
    bool good() const { return true; }

    std::string text;
};

class Unpacker {
public:
    explicit Unpacker(std::string_view text)
        : left_(text)
    {
    }

    std::string_view next()
    {
        const std::size_t blank = left_.find(' ');
        if (blank == std::string_view::npos) {
            good_ = false;
            return {};
        }
        const std::string_view token = left_.substr(0, blank);
        left_.remove_prefix(blank + 1);
        return token;
    }
    template <typename T> void operator()(T& value)
    {
        const std::string_view token = next();
        std::int64_t number = 0;
        const auto [end, code] = std::from_chars(token.data(), token.data() + token.size(), number);
        good_ = good_ && code == std::errc() && end == token.data() + token.size();
        value = static_cast<T>(number);
    }
    void word(std::string& value)
    {
        const std::string_view token = next();
        value = token == "-" ? std::string() : std::string(token);
    }
    bool good() const { return good_; }
    std::size_t left() const { return left_.size(); }

private:
    std::string_view left_;
    bool good_ = true;
};

template <typename T> void put(Packer& pack, const T& value) { pack(static_cast<std::int64_t>(value)); }
template <typename T> void put(Unpacker& pack, T& value) { pack(value); }

template <typename T> void putOptional(Packer& pack, const std::optional<T>& value)
{
    pack(value ? 1 : 0);
    if (value)
        pack(static_cast<std::int64_t>(*value));
}
template <typename T> void putOptional(Unpacker& pack, std::optional<T>& value)
{
    bool has = false;
    pack(has);
    if (has)
        pack(value.emplace());
}

/// Each element by `one`; a damaged count cannot ask for more elements than there are characters.
template <typename T, typename One> void putAll(Packer& pack, const std::vector<T>& values, One one)
{
    pack(static_cast<std::int64_t>(values.size()));
    for (const T& value : values)
        one(pack, value);
}
template <typename T, typename One> void putAll(Unpacker& pack, std::vector<T>& values, One one)
{
    std::size_t count = 0;
    pack(count);
    if (!pack.good() || count > pack.left())
        return;
    values.resize(count);
    for (T& value : values)
        one(pack, value);
}

constexpr auto kLeaf = [](auto& pack, auto& leaf) {
    put(pack, leaf.leaf);
    put(pack, leaf.dimension);
};

constexpr auto kRank = [](auto& pack, auto& rank) {
    put(pack, rank.rank);
    put(pack, rank.windowNs);
    putOptional(pack, rank.peakFlops);
};

constexpr auto kStep = [](auto& pack, auto& step) {
    put(pack, step.step);
    put(pack, step.attempt);
    put(pack, step.state);
    put(pack, step.begin);
    put(pack, step.end);
};

constexpr auto kRow = [](auto& pack, auto& row) {
    kLeaf(pack, row.leaf);
    put(pack, row.rank);
    put(pack, row.step);
    put(pack, row.ns);
    put(pack, row.low);
    put(pack, row.high);
    putOptional(pack, row.culprit);
    pack.word(row.cause);
    putAll(pack, row.culprits, [](auto& p, auto& rank) { put(p, rank); });
};

constexpr auto kTotal = [](auto& pack, auto& total) {
    kLeaf(pack, total.leaf);
    put(pack, total.ns);
    put(pack, total.low);
    put(pack, total.high);
};

template <typename Pack, typename S> void putSaving(Pack& pack, S& saving)
{
    put(pack, saving.prediction.baselineNs);
    put(pack, saving.prediction.predictedNs);
    put(pack, saving.prediction.lowNs);
    put(pack, saving.prediction.highNs);
    putOptional(pack, saving.culprit);
    pack.word(saving.cause);
}
constexpr auto kSaving = [](auto& pack, auto& saving) {
    using Pack = std::remove_cvref_t<decltype(pack)>;
    if constexpr (std::is_same_v<Pack, Packer>) {
        pack(saving.leaf ? 1 : 0);
        kLeaf(pack, saving.leaf ? *saving.leaf : ledger::LeafKey{});
    } else {
        bool has = false;
        ledger::LeafKey leaf;
        pack(has);
        kLeaf(pack, leaf);
        if (has)
            saving.leaf = leaf;
    }
    putSaving(pack, saving);
};

void putCounted(Packer& pack, const RunLedger& run)
{
    putOptional(pack, run.counted ? std::optional(run.counted->first) : std::nullopt);
    putOptional(pack, run.counted ? std::optional(run.counted->last) : std::nullopt);
}
void putCounted(Unpacker& pack, RunLedger& run)
{
    std::optional<std::int64_t> first, last;
    putOptional(pack, first);
    putOptional(pack, last);
    if (first && last)
        run.counted = StepRange{ *first, *last };
}

template <typename Pack, typename Run> void putRun(Pack& pack, Run& run)
{
    for (auto* number :
        { &run.capacityNs, &run.notRecordedNs, &run.orderViolations, &run.violationsBeyondError, &run.flopViolations,
            &run.eagerSends, &run.goodput.total, &run.goodput.start, &run.goodput.committed, &run.goodput.provisional,
            &run.goodput.lost, &run.goodput.down, &run.goodput.ettrPpm, &run.goodput.ettrFirmPpm })
        put(pack, *number);
    put(pack, run.gpuTime);
    put(pack, run.ranksAbsent);
    put(pack, run.countedSteps);
    putCounted(pack, run);
    putAll(pack, run.ranks, kRank);
    putAll(pack, run.steps, kStep);
    putAll(pack, run.rows, kRow);
    putAll(pack, run.totals, kTotal);
    putAll(pack, run.savings, kSaving);
}

} // namespace

std::string packed(const RunLedger& run)
{
    Packer pack;
    putRun(pack, run);
    return std::move(pack.text);
}

std::optional<RunLedger> unpacked(std::string_view text)
{
    Unpacker pack(text);
    RunLedger run;
    putRun(pack, run);
    if (!pack.good() || pack.left() != 0)
        return std::nullopt;
    return run;
}

} // namespace rankscope::tracing
