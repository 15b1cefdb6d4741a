#include "tracing/import/nsight/nccl_linker.h"

#include <rapidjson/document.h>

#include <algorithm>
#include <initializer_list>

namespace rankscope::tracing {

namespace {

/// A launch is looked for in at most so many ranges that began before it: they nest a few levels deep.
constexpr std::size_t kRangesBack = 512;

bool isNcclCall(std::string_view name)
{
    return name.size() > 4 && name.starts_with("nccl") && name[4] >= 'A' && name[4] <= 'Z';
}

/// First of the keys that is there, as text.
std::string textOf(const rapidjson::Document& json, std::initializer_list<const char*> keys)
{
    for (const char* key : keys) {
        const auto it = json.FindMember(key);
        if (it == json.MemberEnd())
            continue;
        if (it->value.IsString())
            return it->value.GetString();
        if (it->value.IsUint64())
            return std::to_string(it->value.GetUint64());
    }
    return {};
}

std::optional<std::int64_t> numberOf(const rapidjson::Document& json, std::initializer_list<const char*> keys)
{
    for (const char* key : keys) {
        const auto it = json.FindMember(key);
        if (it != json.MemberEnd() && it->value.IsInt64())
            return it->value.GetInt64();
    }
    return std::nullopt;
}

std::optional<std::int32_t> rankOf(const rapidjson::Document& json, std::initializer_list<const char*> keys)
{
    const auto number = numberOf(json, keys);
    return number && *number >= 0 && *number < (1 << 24) ? std::optional(static_cast<std::int32_t>(*number))
                                                         : std::nullopt;
}

} // namespace

bool NcclLinker::describes(std::string_view rangeName)
{
    return isNcclCall(rangeName) || rangeName.starts_with("nccl:") || rangeName.starts_with("c10d::");
}

void NcclLinker::addRange(
    std::int64_t globalTid, std::int64_t beginNs, std::int64_t endNs, std::string_view name, const std::string& payload)
{
    Call call;
    call.beginNs = beginNs;
    call.endNs = endNs;
    call.op = rules_.operationOf(name);
    if (name.starts_with("ncclGroupStart"))
        call.kind = Kind::GroupStart;
    else if (name.starts_with("ncclGroupEnd"))
        call.kind = Kind::GroupEnd;
    else if (!isNcclCall(name))
        call.kind = Kind::Framework;
    if (!payload.empty())
        readPayload(call, payload, globalTid & ~std::int64_t{ 0xFFFFFF });
    if (call.kind != Kind::Call || call.op != CollectiveOp::Unknown)
        calls_[globalTid].push_back(std::move(call));
}

void NcclLinker::readPayload(Call& call, const std::string& payload, std::int64_t globalPid)
{
    rapidjson::Document json;
    if (json.Parse<rapidjson::kParseIterativeFlag>(payload.c_str()).HasParseError() || !json.IsObject())
        return;
    call.communicator = textOf(json, { "NCCL communicator ID", "commHash", "Comm hash" });
    call.sequence = numberOf(json, { "seqNumber", "Sequence number" });
    call.peer = rankOf(json, { "Peer rank", "peer", "Root", "root" });
    call.bytes = std::max<std::int64_t>(0, numberOf(json, { "Message size [bytes]", "bytes" }).value_or(0));
    if (const auto count = numberOf(json, { "count" });
        call.bytes == 0 && count && *count > 0 && *count < (std::int64_t{ 1 } << 50))
        call.bytes = *count * bytesOfType(textOf(json, { "dataType", "datatype" }));
    const auto size = rankOf(json, { "No. of ranks", "nRanks", "nranks" });
    const auto rank = rankOf(json, { "Rank", "commRank" });
    if (!size || *size == 0)
        return;
    if (!call.communicator.empty())
        sizes_[call.communicator] = *size;
    Place& place = places_[globalPid];
    if (rank && *size > place.size)
        place = { *rank, *size };
}

void NcclLinker::addCall(std::int64_t globalTid, std::int64_t beginNs, std::int64_t correlation)
{
    const auto it = launches_.find({ globalTid & ~std::int64_t{ 0xFFFFFF }, correlation });
    if (it != launches_.end() && !it->second.known)
        it->second = { globalTid, beginNs, true };
}

void NcclLinker::sort()
{
    for (auto& [thread, calls] : calls_)
        std::ranges::stable_sort(calls, {}, &Call::beginNs);
}

std::optional<NcclLinker::Place> NcclLinker::placeOf(std::int64_t globalPid) const
{
    const auto it = places_.find(globalPid);
    return it == places_.end() ? std::nullopt : std::optional(it->second);
}

/// The calls between a group's start and its end; groups may nest, only the outermost end launches.
std::vector<NcclLinker::Call> NcclLinker::callsOfGroup(const std::vector<Call>& all, std::size_t groupEnd)
{
    std::vector<Call> calls;
    int open = 1;
    for (std::size_t i = groupEnd; i-- > 0 && open > 0;) {
        open += all[i].kind == Kind::GroupEnd ? 1 : all[i].kind == Kind::GroupStart ? -1 : 0;
        if (all[i].kind == Kind::Call)
            calls.push_back(all[i]);
    }
    return calls;
}

std::vector<NcclLinker::Call> NcclLinker::callsAt(const Launch& launch, CollectiveOp& framework) const
{
    const auto thread = calls_.find(launch.globalTid);
    if (thread == calls_.end())
        return {};
    const std::vector<Call>& all = thread->second;
    std::vector<Call> calls;
    const auto after = std::ranges::upper_bound(all, launch.beginNs, {}, &Call::beginNs) - all.begin();
    auto i = static_cast<std::size_t>(after);
    for (std::size_t back = 0; i-- > 0 && back < kRangesBack; ++back) {
        if (all[i].endNs <= launch.beginNs)
            continue;
        if (all[i].kind == Kind::Framework && framework == CollectiveOp::Unknown)
            framework = all[i].op;
        if (all[i].kind == Kind::GroupEnd && calls.empty())
            calls = callsOfGroup(all, i);
        if (all[i].kind == Kind::Call && calls.empty())
            calls = { all[i] };
    }
    return calls;
}

/// NCCL counts what one rank gives (all-gather) or gets (reduce-scatter); METRICS 4.1 wants the whole.
std::int64_t NcclLinker::wholeBuffer(const Call& call) const
{
    if (call.op != CollectiveOp::AllGather && call.op != CollectiveOp::ReduceScatter)
        return call.bytes;
    const auto size = sizes_.find(call.communicator);
    std::int64_t whole = 0;
    if (size == sizes_.end() || __builtin_mul_overflow(call.bytes, std::int64_t{ size->second }, &whole))
        return 0;
    return whole;
}

void NcclLinker::describe(SourceTrace& trace, SourcePart& part, std::int64_t globalPid)
{
    const auto launch = launches_.find({ globalPid, part.correlation.value_or(-1) });
    if (launch == launches_.end() || !launch->second.known)
        return;
    CollectiveOp framework = CollectiveOp::Unknown;
    const std::vector<Call> calls = callsAt(launch->second, framework);
    const bool messages = std::ranges::any_of(calls, [](const Call& call) { return isPointToPoint(call.op); });
    const bool single = calls.size() == 1;
    if (part.op == CollectiveOp::Unknown && messages && framework != CollectiveOp::Unknown
        && !isPointToPoint(framework))
        part.op = framework; // an all-to-all is sends and receives to NCCL
    if (part.op == CollectiveOp::Unknown && single)
        part.op = calls.front().op;
    if (part.op == CollectiveOp::Unknown && calls.empty())
        part.op = framework;
    for (const Call& call : calls) {
        if (call.op == CollectiveOp::Receive && !single)
            continue; // what is sent is counted
        if (__builtin_add_overflow(part.bytes, wholeBuffer(call), &part.bytes))
            part.bytes = 0;
    }
    for (const Call& call : calls) {
        if (call.communicator.empty())
            continue;
        part.group = groupOf(trace, call.communicator);
        break;
    }
    if (single) {
        part.sequence = calls.front().sequence;
        part.peer = calls.front().peer;
    }
}

std::uint32_t NcclLinker::groupOf(SourceTrace& trace, const std::string& communicator) const
{
    const auto known = std::ranges::find(trace.groups, communicator, &SourceGroup::name);
    if (known != trace.groups.end())
        return static_cast<std::uint32_t>(known - trace.groups.begin());
    SourceGroup group;
    group.name = communicator;
    if (const auto size = sizes_.find(communicator); size != sizes_.end())
        group.size = size->second;
    trace.groups.push_back(std::move(group));
    return static_cast<std::uint32_t>(trace.groups.size() - 1);
}

} // namespace rankscope::tracing
