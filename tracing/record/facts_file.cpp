#include "tracing/record/facts_file.h"

#include <cstring>
#include <fstream>
#include <tuple>
#include <type_traits>

namespace rankscope::tracing {

namespace {

// An entry: u32 bytes of the body, u32 checksum of the body, body. A body: u8 kind, fields.
constexpr std::size_t kEntryHead = 8;
constexpr std::uint32_t kLargestBody = 16u << 20;

/// The place among Fact's alternatives: part of the format, so new ones go to the end.
using FactKind = std::uint8_t;
constexpr FactKind kFirstKind = 1;

/// FNV-1a, 32 bits.
std::uint32_t checksum(std::string_view bytes)
{
    std::uint32_t hash = 2166136261u;
    for (const char byte : bytes)
        hash = (hash ^ static_cast<unsigned char>(byte)) * 16777619u;
    return hash;
}

class Writer {
public:
    explicit Writer(FactKind kind) { put(kind); }

    template <typename T> void put(const T& value)
    {
        static_assert(std::is_arithmetic_v<T> || std::is_enum_v<T>);
        const auto* bytes = reinterpret_cast<const char*>(&value);
        body_.append(bytes, sizeof(T));
    }
    void put(const std::string& value)
    {
        put(static_cast<std::uint32_t>(value.size()));
        body_ += value;
    }
    template <typename T> void put(const std::optional<T>& value)
    {
        put(static_cast<std::uint8_t>(value.has_value()));
        put(value.value_or(T{}));
    }
    void put(const std::vector<std::int32_t>& values)
    {
        put(static_cast<std::uint32_t>(values.size()));
        for (const std::int32_t value : values)
            put(value);
    }
    std::string entry() const
    {
        std::string result(kEntryHead, '\0');
        const auto size = static_cast<std::uint32_t>(body_.size());
        const std::uint32_t check = checksum(body_);
        std::memcpy(result.data(), &size, sizeof size);
        std::memcpy(result.data() + sizeof size, &check, sizeof check);
        return result + body_;
    }

private:
    std::string body_;
};

/// Reads zeroes past the end and remembers it: a body that is too short is a bad one.
class Reader {
public:
    explicit Reader(std::string_view body)
        : body_(body)
    {
    }

    template <typename T> void get(T& value)
    {
        if (sizeof(T) > body_.size()) {
            good_ = false;
            value = {};
            return;
        }
        std::memcpy(&value, body_.data(), sizeof(T));
        body_.remove_prefix(sizeof(T));
    }
    void get(std::string& value)
    {
        const auto size = number<std::uint32_t>();
        if (size > body_.size()) {
            good_ = false;
            return;
        }
        value = body_.substr(0, size);
        body_.remove_prefix(size);
    }
    void get(std::vector<std::int32_t>& values)
    {
        const auto count = number<std::uint32_t>();
        if (count > body_.size() / sizeof(std::int32_t))
            good_ = false;
        for (std::uint32_t i = 0; i < count && good_; ++i)
            values.push_back(number<std::int32_t>());
    }
    template <typename T> void get(std::optional<T>& value)
    {
        const bool present = number<std::uint8_t>() != 0;
        value = number<T>();
        if (!present)
            value.reset();
    }
    template <typename T> T number()
    {
        T value{};
        get(value);
        return value;
    }
    bool isGood() const { return good_; }

private:
    std::string_view body_;
    bool good_ = true;
};

// The fields of each fact in the order in which they lie in the file, for both directions.
auto fields(NameFact& fact) { return std::tie(fact.id, fact.text); }
auto fields(CommunicatorFact& fact) { return std::tie(fact.id, fact.name, fact.dimension, fact.members); }
auto fields(ProvenanceFact& fact) { return std::tie(fact.key, fact.value); }
auto fields(ProcessFact& fact)
{
    return std::tie(fact.rank, fact.worldSize, fact.processId, fact.cores, fact.processStart, fact.node);
}
auto fields(RankFact& fact)
{
    return std::tie(fact.dp, fact.tp, fact.pp, fact.ep, fact.peakFlops, fact.device, fact.threads);
}
auto fields(AttemptFact& fact) { return std::tie(fact.attempt, fact.startTicks); }
auto fields(CheckpointFact& fact)
{
    return std::tie(fact.step, fact.beginTicks, fact.endTicks, fact.blockedNs, fact.bytes, fact.path);
}
auto fields(RestoredFact& fact) { return std::tie(fact.step); }
auto fields(FailureFact& fact) { return std::tie(fact.attempt, fact.detectedTicks, fact.reason, fact.ranks); }
auto fields(FaultFact& fact)
{
    return std::tie(fact.kind, fact.rank, fact.step, fact.beginTicks, fact.endTicks, fact.detail);
}
auto fields(LinkFact& fact) { return std::tie(fact.to, fact.latencyNs, fact.bytesPerSecond); }
auto fields(AlertFact& fact) { return std::tie(fact.title, fact.text, fact.ranks, fact.beginNs, fact.endNs); }

/// Tries the alternatives of Fact one after the other.
template <std::size_t Index = 0> std::optional<Fact> decodeFields(Reader& reader, std::size_t index)
{
    if constexpr (Index < std::variant_size_v<Fact>) {
        if (index != Index)
            return decodeFields<Index + 1>(reader, index);
        std::variant_alternative_t<Index, Fact> fact;
        std::apply([&](auto&... field) { (reader.get(field), ...); }, fields(fact));
        return fact;
    }
    return std::nullopt;
}

std::optional<Fact> decodeBody(std::string_view body)
{
    Reader reader(body);
    const auto kind = reader.number<FactKind>();
    if (kind < kFirstKind)
        return std::nullopt;
    std::optional<Fact> fact = decodeFields(reader, std::size_t{ kind } - kFirstKind);
    return reader.isGood() ? fact : std::nullopt;
}

} // namespace

std::string encodeFact(const Fact& fact)
{
    Writer writer(static_cast<FactKind>(fact.index() + kFirstKind));
    std::visit(
        [&](auto some) { std::apply([&](const auto&... field) { (writer.put(field), ...); }, fields(some)); }, fact);
    return writer.entry();
}

std::string jobFactsPath(const std::string& sessionDir) { return sessionDir + "/job.facts"; }

Status appendJobFact(const std::string& sessionDir, const Fact& fact)
{
    const std::string path = jobFactsPath(sessionDir);
    const std::string entry = encodeFact(fact);
    std::ofstream file(path, std::ios::binary | std::ios::app);
    if (!file.write(entry.data(), static_cast<std::streamsize>(entry.size())).flush())
        return Error("write " + path + ": the session directory is full or not writable");
    return Done{};
}

FactsRead decodeFacts(std::string_view bytes)
{
    FactsRead result;
    while (bytes.size() - result.consumed >= kEntryHead) {
        const std::string_view rest = bytes.substr(result.consumed);
        std::uint32_t size = 0, check = 0;
        std::memcpy(&size, rest.data(), sizeof size);
        std::memcpy(&check, rest.data() + sizeof size, sizeof check);
        if (size == 0 || size > kLargestBody) {
            result.corrupt = true;
            break;
        }
        if (rest.size() - kEntryHead < size)
            break;
        const std::string_view body = rest.substr(kEntryHead, size);
        if (checksum(body) != check) {
            result.corrupt = true;
            break;
        }
        if (auto fact = decodeBody(body))
            result.facts.push_back(std::move(*fact));
        else
            ++result.unknown;
        result.consumed += kEntryHead + size;
    }
    return result;
}

} // namespace rankscope::tracing
