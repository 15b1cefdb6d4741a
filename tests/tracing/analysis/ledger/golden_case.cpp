#include "tests/tracing/analysis/ledger/golden_case.h"

#include <cstdlib>
#include <fstream>
#include <set>
#include <sstream>
#include <string_view>

namespace rankscope::tracing::ledger {

namespace {

using rapidjson::Value;

std::int64_t number(const Value& object, const char* key, std::int64_t otherwise = 0)
{
    return object.HasMember(key) && object[key].IsNumber() ? object[key].GetInt64() : otherwise;
}

template <typename T = std::int64_t> std::optional<T> maybe(const Value& object, const char* key)
{
    if (!object.HasMember(key) || !object[key].IsNumber())
        return std::nullopt;
    return static_cast<T>(object[key].GetInt64());
}

std::string text(const Value& object, const char* key, const char* otherwise = "")
{
    return object.HasMember(key) && object[key].IsString() ? object[key].GetString() : otherwise;
}

template <typename Visit> void each(const Value& object, const char* key, Visit visit)
{
    if (!object.HasMember(key) || !object[key].IsArray())
        return;
    for (const Value& item : object[key].GetArray())
        visit(item);
}

std::pair<Ns, Ns> interval(const Value& value)
{
    const Value& pair = value.IsArray() ? value : value["iv"];
    return { pair[0].GetInt64(), pair[1].IsNull() ? kStillOpen : pair[1].GetInt64() };
}

CollectiveOp opOf(const std::string& word)
{
    static const std::map<std::string, CollectiveOp> kWords{ { "all_reduce", CollectiveOp::AllReduce },
        { "all_gather", CollectiveOp::AllGather }, { "reduce_scatter", CollectiveOp::ReduceScatter },
        { "all_to_all", CollectiveOp::AllToAll }, { "broadcast", CollectiveOp::Broadcast },
        { "reduce", CollectiveOp::Reduce }, { "gather", CollectiveOp::Gather }, { "scatter", CollectiveOp::Scatter },
        { "barrier", CollectiveOp::Barrier }, { "send_recv", CollectiveOp::Send } };
    const auto it = kWords.find(word);
    return it == kWords.end() ? CollectiveOp::Unknown : it->second;
}

Pass passOf(const std::string& word)
{
    static const std::map<std::string, Pass> kWords{ { "F", Pass::Forward }, { "B", Pass::Backward },
        { "W", Pass::Weight }, { "R", Pass::Recompute }, { "O", Pass::Optimizer } };
    const auto it = kWords.find(word);
    return it == kWords.end() ? Pass::None : it->second;
}

DataType dtypeOf(const std::string& word)
{
    static const std::map<std::string, DataType> kWords{ { "fp32", DataType::Float32 }, { "bf16", DataType::BFloat16 },
        { "fp16", DataType::Float16 }, { "fp8", DataType::Float8 } };
    const auto it = kWords.find(word);
    return it == kWords.end() ? DataType::Unknown : it->second;
}

void readGroups(GoldenCase& out)
{
    each(out.json, "groups", [&](const Value& group) {
        Instance instance;
        instance.communicator = number(group, "comm");
        instance.sequence = number(group, "seq");
        instance.op = opOf(text(group, "op", "all_reduce"));
        instance.dimension = parseDimension(text(group, "dim", "none")).value_or(Dimension::None);
        each(group, "members", [&](const Value& member) { instance.members.push_back(member.GetInt()); });
        instance.root = maybe<std::int32_t>(group, "root");
        instance.source = maybe<std::int32_t>(group, "src");
        instance.destination = maybe<std::int32_t>(group, "dst");
        instance.size = number(group, "size");
        each(group, "bytes", [&](const Value& row) {
            instance.bytesMoved.emplace_back();
            for (const Value& bytes : row.GetArray())
                instance.bytesMoved.back().push_back(bytes.GetInt64());
        });
        out.instanceOf[text(group, "g")] = out.input.instances.size();
        out.input.instances.push_back(std::move(instance));
    });
    if (out.json.HasMember("groups"))
        return;
    // The oldest case has one all-reduce over all ranks and no list of groups.
    Instance instance;
    instance.op = CollectiveOp::AllReduce;
    instance.dimension = Dimension::Data;
    each(out.json, "ranks", [&](const Value& rank) { instance.members.push_back(rank["r"].GetInt()); });
    out.instanceOf["ar1"] = 0;
    out.input.instances.push_back(instance);
}

ComputeOp readCompute(const Value& value)
{
    ComputeOp op;
    std::tie(op.begin, op.end) = interval(value);
    if (value.IsArray())
        return op;
    op.pass = passOf(text(value, "pass"));
    op.dtype = dtypeOf(text(value, "dtype"));
    op.lane = maybe<std::int32_t>(value, "lane").value_or(0);
    op.threads = maybe<std::int32_t>(value, "threads").value_or(1);
    op.microBatch = maybe<std::int32_t>(value, "mb");
    op.chunk = maybe<std::int32_t>(value, "chunk");
    op.flop = maybe(value, "flop");
    op.redundantFlop = number(value, "redundant");
    op.bytes = maybe(value, "bytes");
    op.cpu = maybe(value, "cpu");
    op.work = maybe(value, "work");
    return op;
}

Annotation readAnnotation(const Value& value)
{
    Annotation out;
    std::tie(out.begin, out.end) = interval(value);
    const std::string kind = text(value, "kind");
    out.kind = kind == "checkpoint" ? AnnotationKind::Checkpoint
        : kind == "data"            ? AnnotationKind::Data
                                    : AnnotationKind::Planned;
    return out;
}

void attachLaunches(const Value& rank, RankInput& out)
{
    each(rank, "launch", [&](const Value& launch) {
        const Ns call = launch["call"][0].GetInt64();
        const Ns start = launch["kernel_start"].GetInt64();
        const auto attach = [&](auto& ops) {
            for (auto& op : ops) {
                if (op.begin == start && (!op.launch || call < *op.launch))
                    op.launch = call;
            }
        };
        attach(out.compute);
        attach(out.parts);
        attach(out.copies);
    });
}

RankInput readRank(const Value& rank, const GoldenCase& golden)
{
    RankInput out;
    out.rank = rank["r"].GetInt();
    const Value& window = golden.json["window"];
    out.stretches.push_back({ window[0].GetInt64(), window[1].GetInt64(), std::nullopt });
    each(rank, "compute", [&](const Value& op) { out.compute.push_back(readCompute(op)); });
    each(rank, "copy", [&](const Value& op) {
        const auto [begin, end] = interval(op);
        out.copies.push_back({ begin, end, std::nullopt });
    });
    each(rank, "ann", [&](const Value& a) { out.annotations.push_back(readAnnotation(a)); });
    each(rank, "comm", [&](const Value& part) {
        PartOp op;
        op.begin = part["entry"].GetInt64();
        op.end = part.HasMember("exit") && part["exit"].IsNumber() ? part["exit"].GetInt64() : kStillOpen;
        op.instance = golden.instanceOf.at(text(part, "g"));
        op.launchGroup = maybe(part, "launch_group");
        op.onHost = part.HasMember("host") && part["host"].IsBool() && part["host"].GetBool();
        out.parts.push_back(op);
    });
    attachLaunches(rank, out);
    const std::string name = std::to_string(out.rank);
    if (golden.json.HasMember("eps")) {
        const Value& eps = golden.json["eps"];
        out.clockError = eps.IsObject() ? number(eps, name.c_str()) : eps.GetInt64();
    }
    if (golden.json.HasMember("pipeline"))
        out.stage = maybe<std::int32_t>(golden.json["pipeline"]["stage_of"], name.c_str());
    if (golden.json.HasMember("peak")) {
        const Value& peak = golden.json["peak"];
        out.peak.flopPerSecond = maybe(peak, "flop_s");
        out.peak.bytesPerSecond = maybe(peak, "byte_s");
        if (peak.HasMember("dtype")) {
            for (const auto& member : peak["dtype"].GetObject())
                out.peak.dtypeFlopPerSecond[dtypeOf(member.name.GetString())] = member.value.GetInt64();
        }
    }
    return out;
}

StepMark readStep(const Value& value)
{
    StepMark step;
    step.step = number(value, "step");
    for (const auto& member : value["begin"].GetObject())
        step.begin[std::atoi(member.name.GetString())] = member.value.GetInt64();
    return step;
}

void readLifecycle(const Value& value, LedgerInput& input)
{
    Lifecycle lifecycle;
    each(value, "attempts", [&](const Value& attempt) {
        Attempt out;
        each(attempt, "steps", [&](const Value& step) { out.steps.push_back(readStep(step)); });
        lifecycle.attempts.push_back(std::move(out));
    });
    each(value, "checkpoints", [&](const Value& checkpoint) {
        lifecycle.checkpoints.push_back({ number(checkpoint, "step"), number(checkpoint, "published") });
    });
    each(value, "failures", [&](const Value& failure) {
        Failure out;
        each(failure, "faulty", [&](const Value& rank) { out.faulty.push_back(rank.GetInt()); });
        out.detected = number(failure, "detected");
        out.reformed = maybe(failure, "reformed");
        out.restoredStep = number(failure, "restored_step");
        lifecycle.failures.push_back(std::move(out));
    });
    const std::string end = text(value, "end");
    lifecycle.live = end == "live";
    lifecycle.finalStateAccepted = !end.empty() && end != "live" && end != "aborted";
    lifecycle.shutdown = maybe(value, "shutdown");
    input.lifecycle = std::move(lifecycle);
}

} // namespace

GoldenCase readGoldenCase(const std::string& path)
{
    std::ifstream file(path);
    std::stringstream buffer;
    buffer << file.rdbuf();
    GoldenCase out;
    out.json.Parse(buffer.str().c_str());
    if (out.json.HasParseError())
        return out;
    out.input.kernelGap = number(out.json, "delta", 30);
    readGroups(out);
    for (const Value& rank : out.json["ranks"].GetArray())
        out.input.ranks.push_back(readRank(rank, out));
    if (out.json.HasMember("pipeline")) {
        const Value& pipeline = out.json["pipeline"];
        const std::string name = text(pipeline, "schedule");
        out.input.pipeline = scheduleByName(name == "gpipe" ? name : "1f1b",
            static_cast<int>(number(pipeline, "stages", 1)), static_cast<int>(number(pipeline, "micro_batches", 1)), 1);
    }
    if (out.json.HasMember("calibration")) {
        for (const auto& member : out.json["calibration"].GetObject()) {
            const auto dimension = parseDimension(member.name.GetString());
            const Value& c = member.value;
            const std::int64_t busbw = number(c, "busbw_byte_s", number(c, "busbw", number(c, "byte_s")));
            if (dimension)
                out.input.calibration[*dimension] = { number(c, "alpha", number(c, "alpha_ns")), busbw };
        }
    }
    if (out.json.HasMember("lifecycle"))
        readLifecycle(out.json["lifecycle"], out.input);
    return out;
}

} // namespace rankscope::tracing::ledger
