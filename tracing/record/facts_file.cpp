#include "tracing/record/facts_file.h"

#include <cstring>
#include <fstream>
#include <type_traits>

namespace rankscope::tracing {

namespace {

// An entry: u32 bytes of the body, u32 checksum of the body, body. A body: u8 kind, fields.
constexpr std::size_t kEntryHead = 8;
constexpr std::uint32_t kLargestBody = 16u << 20;

enum class FactKind : std::uint8_t {
    Name = 1,
    Communicator = 2,
    Provenance = 3,
    Process = 4,
    Rank = 5,
    Attempt = 6,
    Checkpoint = 7,
    Restored = 8,
    Failure = 9,
    Fault = 10,
    Link = 11,
    Alert = 12,
};

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
    explicit Writer(FactKind kind) { number(kind); }

    template <typename T> void number(T value)
    {
        static_assert(std::is_trivially_copyable_v<T>);
        const auto* bytes = reinterpret_cast<const char*>(&value);
        body_.append(bytes, sizeof(T));
    }
    void text(const std::string& value)
    {
        number(static_cast<std::uint32_t>(value.size()));
        body_ += value;
    }
    template <typename T> void maybe(const std::optional<T>& value)
    {
        number(static_cast<std::uint8_t>(value.has_value()));
        number(value.value_or(T{}));
    }
    void numbers(const std::vector<std::int32_t>& values)
    {
        number(static_cast<std::uint32_t>(values.size()));
        for (const std::int32_t value : values)
            number(value);
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

    template <typename T> T number()
    {
        T value{};
        if (sizeof(T) > body_.size()) {
            good_ = false;
            return value;
        }
        std::memcpy(&value, body_.data(), sizeof(T));
        body_.remove_prefix(sizeof(T));
        return value;
    }
    std::string text()
    {
        const auto size = number<std::uint32_t>();
        if (size > body_.size()) {
            good_ = false;
            return {};
        }
        std::string value(body_.substr(0, size));
        body_.remove_prefix(size);
        return value;
    }
    std::vector<std::int32_t> numbers()
    {
        const auto count = number<std::uint32_t>();
        if (count > left() / sizeof(std::int32_t))
            fail();
        std::vector<std::int32_t> values;
        for (std::uint32_t i = 0; i < count && isGood(); ++i)
            values.push_back(number<std::int32_t>());
        return values;
    }
    template <typename T> std::optional<T> maybe()
    {
        const bool present = number<std::uint8_t>() != 0;
        const T value = number<T>();
        return present ? std::optional(value) : std::nullopt;
    }
    std::size_t left() const { return body_.size(); }
    void fail() { good_ = false; }
    bool isGood() const { return good_; }

private:
    std::string_view body_;
    bool good_ = true;
};

std::string encode(const NameFact& fact)
{
    Writer writer(FactKind::Name);
    writer.number(fact.id);
    writer.text(fact.text);
    return writer.entry();
}

std::string encode(const CommunicatorFact& fact)
{
    Writer writer(FactKind::Communicator);
    writer.number(fact.id);
    writer.text(fact.name);
    writer.number(fact.dimension);
    writer.numbers(fact.members);
    return writer.entry();
}

std::string encode(const ProvenanceFact& fact)
{
    Writer writer(FactKind::Provenance);
    writer.text(fact.key);
    writer.text(fact.value);
    return writer.entry();
}

std::string encode(const ProcessFact& fact)
{
    Writer writer(FactKind::Process);
    writer.number(fact.rank);
    writer.number(fact.worldSize);
    writer.number(fact.processId);
    writer.number(fact.cores);
    writer.number(fact.processStart);
    writer.text(fact.node);
    return writer.entry();
}

std::string encode(const RankFact& fact)
{
    Writer writer(FactKind::Rank);
    for (const auto& place : { fact.dp, fact.tp, fact.pp, fact.ep })
        writer.maybe(place);
    writer.maybe(fact.peakFlops);
    writer.text(fact.device);
    writer.number(fact.threads);
    return writer.entry();
}

std::string encode(const AttemptFact& fact)
{
    Writer writer(FactKind::Attempt);
    writer.number(fact.attempt);
    writer.number(fact.startTicks);
    return writer.entry();
}

std::string encode(const CheckpointFact& fact)
{
    Writer writer(FactKind::Checkpoint);
    writer.number(fact.step);
    writer.number(fact.beginTicks);
    writer.number(fact.endTicks);
    writer.number(fact.blockedNs);
    writer.number(fact.bytes);
    writer.text(fact.path);
    return writer.entry();
}

std::string encode(const RestoredFact& fact)
{
    Writer writer(FactKind::Restored);
    writer.number(fact.step);
    return writer.entry();
}

std::string encode(const FailureFact& fact)
{
    Writer writer(FactKind::Failure);
    writer.number(fact.attempt);
    writer.number(fact.detectedTicks);
    writer.text(fact.reason);
    writer.numbers(fact.ranks);
    return writer.entry();
}

std::string encode(const FaultFact& fact)
{
    Writer writer(FactKind::Fault);
    writer.text(fact.kind);
    writer.maybe(fact.rank);
    writer.maybe(fact.step);
    writer.number(fact.beginTicks);
    writer.number(fact.endTicks);
    writer.text(fact.detail);
    return writer.entry();
}

std::string encode(const LinkFact& fact)
{
    Writer writer(FactKind::Link);
    writer.number(fact.to);
    writer.number(fact.latencyNs);
    writer.number(fact.bytesPerSecond);
    return writer.entry();
}

std::string encode(const AlertFact& fact)
{
    Writer writer(FactKind::Alert);
    writer.text(fact.title);
    writer.text(fact.text);
    writer.numbers(fact.ranks);
    writer.number(fact.beginNs);
    writer.number(fact.endNs);
    return writer.entry();
}

Fact decodeAlert(Reader& reader)
{
    AlertFact fact;
    fact.title = reader.text();
    fact.text = reader.text();
    fact.ranks = reader.numbers();
    fact.beginNs = reader.number<std::int64_t>();
    fact.endNs = reader.number<std::int64_t>();
    return fact;
}

Fact decodeCommunicator(Reader& reader)
{
    CommunicatorFact fact;
    fact.id = reader.number<std::uint32_t>();
    fact.name = reader.text();
    fact.dimension = reader.number<Dimension>();
    fact.members = reader.numbers();
    return fact;
}

Fact decodeProcess(Reader& reader)
{
    ProcessFact fact;
    fact.rank = reader.number<std::int32_t>();
    fact.worldSize = reader.number<std::int32_t>();
    fact.processId = reader.number<std::int32_t>();
    fact.cores = reader.number<std::int32_t>();
    fact.processStart = reader.number<std::uint64_t>();
    fact.node = reader.text();
    return fact;
}

Fact decodeRank(Reader& reader)
{
    RankFact fact;
    for (auto* place : { &fact.dp, &fact.tp, &fact.pp, &fact.ep })
        *place = reader.maybe<std::int32_t>();
    fact.peakFlops = reader.maybe<double>();
    fact.device = reader.text();
    fact.threads = reader.number<std::int32_t>();
    return fact;
}

Fact decodeAttempt(Reader& reader)
{
    AttemptFact fact;
    fact.attempt = reader.number<std::int32_t>();
    fact.startTicks = reader.number<std::uint64_t>();
    return fact;
}

Fact decodeCheckpoint(Reader& reader)
{
    CheckpointFact fact;
    fact.step = reader.number<std::int64_t>();
    fact.beginTicks = reader.number<std::uint64_t>();
    fact.endTicks = reader.number<std::uint64_t>();
    fact.blockedNs = reader.number<std::int64_t>();
    fact.bytes = reader.number<std::int64_t>();
    fact.path = reader.text();
    return fact;
}

Fact decodeFailure(Reader& reader)
{
    FailureFact fact;
    fact.attempt = reader.number<std::int32_t>();
    fact.detectedTicks = reader.number<std::uint64_t>();
    fact.reason = reader.text();
    fact.ranks = reader.numbers();
    return fact;
}

Fact decodeFault(Reader& reader)
{
    FaultFact fact;
    fact.kind = reader.text();
    fact.rank = reader.maybe<std::int32_t>();
    fact.step = reader.maybe<std::int64_t>();
    fact.beginTicks = reader.number<std::uint64_t>();
    fact.endTicks = reader.number<std::uint64_t>();
    fact.detail = reader.text();
    return fact;
}

Fact decodeLink(Reader& reader)
{
    LinkFact fact;
    fact.to = reader.number<std::int32_t>();
    fact.latencyNs = reader.number<std::int64_t>();
    fact.bytesPerSecond = reader.number<std::int64_t>();
    return fact;
}

std::optional<Fact> decodeBody(std::string_view body)
{
    Reader reader(body);
    std::optional<Fact> fact;
    switch (reader.number<FactKind>()) {
    case FactKind::Name: {
        NameFact name;
        name.id = reader.number<std::uint32_t>();
        name.text = reader.text();
        fact = name;
        break;
    }
    case FactKind::Communicator:
        fact = decodeCommunicator(reader);
        break;
    case FactKind::Provenance: {
        ProvenanceFact provenance;
        provenance.key = reader.text();
        provenance.value = reader.text();
        fact = provenance;
        break;
    }
    case FactKind::Process:
        fact = decodeProcess(reader);
        break;
    case FactKind::Rank:
        fact = decodeRank(reader);
        break;
    case FactKind::Attempt:
        fact = decodeAttempt(reader);
        break;
    case FactKind::Checkpoint:
        fact = decodeCheckpoint(reader);
        break;
    case FactKind::Restored:
        fact = RestoredFact{ reader.number<std::int64_t>() };
        break;
    case FactKind::Failure:
        fact = decodeFailure(reader);
        break;
    case FactKind::Fault:
        fact = decodeFault(reader);
        break;
    case FactKind::Link:
        fact = decodeLink(reader);
        break;
    case FactKind::Alert:
        fact = decodeAlert(reader);
        break;
    }
    return reader.isGood() ? fact : std::nullopt;
}

} // namespace

std::string encodeFact(const Fact& fact)
{
    return std::visit([](const auto& some) { return encode(some); }, fact);
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
