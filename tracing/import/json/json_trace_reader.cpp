#include "tracing/import/json/json_trace_reader.h"

#include "tracing/import/byte_source.h"
#include "tracing/import/json/decimal.h"
#include "tracing/import/json/json_event.h"
#include "tracing/import/json/object_scanner.h"
#include "tracing/import/json/trace_event_mapper.h"
#include "tracing/import/own_values.h"

#include <rapidjson/document.h>

#include <condition_variable>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <thread>

namespace rankscope::tracing {

namespace {

constexpr std::size_t kBatchBytes = 1u << 19;
constexpr std::size_t kBatchesAhead = 6;

struct Batch {
    std::string text;
    std::vector<std::size_t> ends;
    ReadProgress progress;
};

/// Cuts the file into batches on a thread of its own, a few ahead of the parser.
class Scanning {
public:
    explicit Scanning(ByteSource& source)
        : source_(source)
        , scanner_(source)
        , thread_([this] { run(); })
    {
    }
    Scanning(const Scanning&) = delete;
    Scanning& operator=(const Scanning&) = delete;
    ~Scanning()
    {
        {
            const std::lock_guard lock(mutex_);
            stop_ = true;
        }
        changed_.notify_all();
        thread_.join();
    }

    /// Waits for the next batch; empty at the end.
    std::optional<Batch> next()
    {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] { return !ready_.empty() || finished_; });
        if (ready_.empty())
            return std::nullopt;
        Batch batch = std::move(ready_.front());
        ready_.pop_front();
        changed_.notify_all();
        return batch;
    }
    void recycle(Batch batch)
    {
        const std::lock_guard lock(mutex_);
        spare_.push_back(std::move(batch));
    }
    /// After next() gave nothing.
    const ObjectScanner& scanner() const { return scanner_; }
    const std::optional<Error>& error() const { return error_; }

private:
    void run()
    {
        for (;;) {
            Batch batch = spareBatch();
            const auto more = scanner_.next(kBatchBytes, batch.text, batch.ends);
            batch.progress = { source_.fileBytesRead(), source_.fileBytes(), 0 };
            std::unique_lock lock(mutex_);
            changed_.wait(lock, [&] { return ready_.size() < kBatchesAhead || stop_; });
            if (!more)
                error_ = more.error();
            finished_ = !more || !*more || stop_;
            if (!batch.ends.empty())
                ready_.push_back(std::move(batch));
            changed_.notify_all();
            if (finished_)
                return;
        }
    }
    Batch spareBatch()
    {
        const std::lock_guard lock(mutex_);
        if (spare_.empty())
            return {};
        Batch batch = std::move(spare_.back());
        spare_.pop_back();
        batch.text.clear();
        batch.ends.clear();
        return batch;
    }

    ByteSource& source_;
    ObjectScanner scanner_;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<Batch> ready_;
    std::vector<Batch> spare_;
    bool finished_ = false;
    bool stop_ = false;
    std::optional<Error> error_;
    std::thread thread_; // last: starts when everything else is there
};

void addLoss(SourceTrace& trace, const char* kind, std::int64_t count)
{
    if (count > 0)
        trace.losses.push_back({ kind, count, trace.path });
}

/// Not by recursion: however deep a value nests, the stack is enough.
rapidjson::Document& parse(rapidjson::Document& document, const std::string& json)
{
    return document.Parse<rapidjson::kParseIterativeFlag>(json.c_str());
}

std::string textOf(const rapidjson::Value& value)
{
    if (value.IsString())
        return value.GetString();
    if (value.IsInt64())
        return std::to_string(value.GetInt64());
    if (value.IsDouble())
        return std::to_string(value.GetDouble());
    return value.IsBool() ? (value.GetBool() ? "true" : "false") : "";
}

void readDistributedInfo(const std::string& json, SourceTrace& trace)
{
    rapidjson::Document info;
    if (parse(info, json).HasParseError() || !info.IsObject())
        return;
    if (info.HasMember("rank") && info["rank"].IsInt() && info["rank"].GetInt() >= 0)
        trace.rank = info["rank"].GetInt();
    if (info.HasMember("world_size") && info["world_size"].IsInt() && info["world_size"].GetInt() > 0)
        trace.worldSize = info["world_size"].GetInt();
    for (const char* key : { "backend", "nccl_version" }) {
        if (info.HasMember(key))
            trace.metadata[key] = textOf(info[key]);
    }
}

void readDevice(const std::string& json, SourceTrace& trace)
{
    rapidjson::Document devices;
    if (parse(devices, json).HasParseError() || !devices.IsArray() || devices.Empty() || !devices[0].IsObject())
        return;
    if (devices[0].HasMember("name") && devices[0]["name"].IsString())
        trace.device = devices[0]["name"].GetString();
}

void readValues(const std::map<std::string, std::string>& values, SourceTrace& trace)
{
    for (const auto& [key, json] : values) {
        if (key == "distributedInfo")
            readDistributedInfo(json, trace);
        else if (key == "deviceProperties")
            readDevice(json, trace);
        else if (key == "baseTimeNanoseconds")
            trace.baseNs
                = wholeNumber(std::string_view(json).substr(0, json.find_last_of("0123456789") + 1)).value_or(0);
        else if (json.size() < 4096) {
            rapidjson::Document value;
            if (!parse(value, json).HasParseError())
                trace.metadata[key] = textOf(value);
        }
    }
    if (const auto host = trace.metadata.find("host_name"); host != trace.metadata.end())
        trace.node = host->second;
}

/// Traces of the ranks in a file: one, or in an export of ours a process each.
class RanksOfFile {
public:
    RanksOfFile(const ImportRules& rules, std::string path, bool isOwn)
        : rules_(rules)
        , path_(std::move(path))
        , isOwn_(isOwn)
    {
    }

    void add(const JsonEvent& event) { mapperOf(isOwn_ ? wholeNumber(event.processId).value_or(0) : 0).add(event); }

    Result<std::vector<SourceTrace>> finish(const std::map<std::string, std::string>& values)
    {
        std::vector<SourceTrace> traces;
        for (auto& [process, rank] : ranks_) {
            readValues(values, rank->trace);
            if (isOwn_)
                readRank(values, process, rank->trace);
            const Status finished = rank->mapper.finish();
            if (rank->trace.events->error())
                return rank->trace.events->error()->in("read " + path_);
            if (!finished)
                return finished.error().in("read " + path_);
            rank->trace.format
                = values.contains("schemaVersion") || values.contains("distributedInfo") ? "pytorch" : "chrome";
            traces.push_back(std::move(rank->trace));
        }
        if (isOwn_)
            readRun(values, traces);
        return traces;
    }

private:
    static constexpr std::size_t kMemoryOfARank = 12u << 20; ///< where there may be many
    static constexpr std::int64_t kMostRanks = 1 << 16;

    struct Rank {
        Rank(const ImportRules& rules, bool isOwn)
            : mapper(rules, prepared(trace, isOwn), isOwn)
        {
        }
        static SourceTrace& prepared(SourceTrace& trace, bool isOwn)
        {
            if (isOwn)
                trace.events = std::make_unique<EventSpool>(kMemoryOfARank);
            return trace;
        }
        SourceTrace trace;
        TraceEventMapper mapper;
    };

    TraceEventMapper& mapperOf(std::int64_t process)
    {
        auto& rank = ranks_[process >= 0 && process < kMostRanks ? process : 0];
        if (!rank) {
            rank = std::make_unique<Rank>(rules_, isOwn_);
            rank->trace.path = path_;
        }
        return rank->mapper;
    }

    /// What the export's first key says of a rank.
    void readRank(const std::map<std::string, std::string>& values, std::int64_t process, SourceTrace& trace) const
    {
        trace.rank = static_cast<std::int32_t>(process);
        trace.clock = path_;
        trace.metadata.erase("rankscope");
        const auto own = values.find("rankscope");
        rapidjson::Document facts;
        if (own == values.end() || parse(facts, own->second).HasParseError() || !facts.IsObject())
            return;
        if (facts.HasMember("world_size") && facts["world_size"].IsInt() && facts["world_size"].GetInt() > 0)
            trace.worldSize = facts["world_size"].GetInt();
        if (!facts.HasMember("ranks") || !facts["ranks"].IsArray())
            return;
        for (const auto& rank : facts["ranks"].GetArray()) {
            if (!rank.IsObject() || !rank.HasMember("rank") || !rank["rank"].IsInt64()
                || rank["rank"].GetInt64() != process)
                continue;
            for (const auto& [key, text] : { std::pair("node", &trace.node), std::pair("device", &trace.device) }) {
                if (rank.HasMember(key) && rank[key].IsString())
                    *text = rank[key].GetString();
            }
            if (rank.HasMember("clock_error_ns") && rank["clock_error_ns"].IsInt64())
                trace.clockErrorNs = std::max<std::int64_t>(0, rank["clock_error_ns"].GetInt64());
            if (rank.HasMember("peak_flops") && rank["peak_flops"].IsNumber())
                trace.peakFlops = rank["peak_flops"].GetDouble();
            for (const auto& [key, place] : { std::pair("stage", &trace.stage), std::pair("dp", &trace.dp),
                     std::pair("tp", &trace.tp), std::pair("ep", &trace.ep) }) {
                if (rank.HasMember(key) && rank[key].IsInt())
                    *place = rank[key].GetInt();
            }
        }
    }

    /// What it says of the run as a whole.
    static void readRun(const std::map<std::string, std::string>& values, std::vector<SourceTrace>& traces)
    {
        const auto own = values.find("rankscope");
        rapidjson::Document facts;
        if (own == values.end() || parse(facts, own->second).HasParseError() || !facts.IsObject()
            || !facts.HasMember("run") || !facts["run"].IsObject())
            return;
        OwnValues run;
        for (const auto& value : facts["run"].GetObject()) {
            if (value.value.IsString())
                run.add({ value.name.GetString(), value.name.GetStringLength() },
                    { value.value.GetString(), value.value.GetStringLength() });
        }
        run.applyTo(traces);
    }

    const ImportRules& rules_;
    std::string path_;
    bool isOwn_;
    std::map<std::int64_t, std::unique_ptr<Rank>> ranks_; ///< by number of the process
};

} // namespace

Result<std::vector<SourceTrace>> readJsonTraces(
    const std::string& path, const ImportRules& rules, const ReadProgressCallback& progress)
{
    const auto first = firstBytes(path, 16);
    if (!first)
        return first.error();
    auto source = ByteSource::open(path);
    if (!source)
        return source.error();
    RanksOfFile ranks(rules, path, first->starts_with("{\"rankscope\""));
    JsonEventParser parser;
    JsonEvent event;
    std::int64_t events = 0, broken = 0;
    Scanning scanning(**source);
    while (auto batch = scanning.next()) {
        std::size_t begin = 0;
        for (const std::size_t end : batch->ends) {
            if (parser.parse(std::string_view(batch->text).substr(begin, end - begin), event)) {
                ranks.add(event);
                ++events;
            } else {
                ++broken;
            }
            begin = end;
        }
        batch->progress.events = events;
        if (progress && !progress(batch->progress))
            return Error("read " + path + ": cancelled");
        scanning.recycle(std::move(*batch));
    }
    if (scanning.error())
        return scanning.error()->in("read " + path);
    const ObjectScanner& scanner = scanning.scanner();
    if (!scanner.foundEvents() || events == 0)
        return Error(
            "read " + path + ": no trace events in it; expected an array of events or an object with traceEvents");
    auto traces = ranks.finish(scanner.values());
    if (!traces)
        return traces;
    SourceTrace& trace = traces->front();
    addLoss(trace, "broken event", broken);
    addLoss(trace, "repaired event", parser.repaired());
    addLoss(trace, "damage between events", scanner.skipped());
    addLoss(trace, "unterminated file", scanner.terminated() ? 0 : 1);
    addLoss(trace, "compressed data cut off", (*source)->truncated() ? 1 : 0);
    return traces;
}

} // namespace rankscope::tracing
