#include "tracing/import/json/json_trace_reader.h"

#include "tracing/import/byte_source.h"
#include "tracing/import/json/decimal.h"
#include "tracing/import/json/json_event.h"
#include "tracing/import/json/object_scanner.h"
#include "tracing/import/json/trace_event_mapper.h"

#include <rapidjson/document.h>

#include <condition_variable>
#include <deque>
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
    if (info.Parse(json.c_str()).HasParseError() || !info.IsObject())
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
    if (devices.Parse(json.c_str()).HasParseError() || !devices.IsArray() || devices.Empty() || !devices[0].IsObject())
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
            if (!value.Parse(json.c_str()).HasParseError())
                trace.metadata[key] = textOf(value);
        }
    }
    if (const auto host = trace.metadata.find("host_name"); host != trace.metadata.end())
        trace.node = host->second;
}

} // namespace

Result<SourceTrace> readJsonTrace(const std::string& path, const ReadProgressCallback& progress)
{
    auto source = ByteSource::open(path);
    if (!source)
        return source.error();
    SourceTrace trace;
    trace.path = path;
    TraceEventMapper mapper(trace);
    JsonEventParser parser;
    JsonEvent event;
    std::int64_t events = 0, broken = 0;
    Scanning scanning(**source);
    while (auto batch = scanning.next()) {
        std::size_t begin = 0;
        for (const std::size_t end : batch->ends) {
            if (parser.parse(std::string_view(batch->text).substr(begin, end - begin), event)) {
                mapper.add(event);
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
    readValues(scanner.values(), trace);
    mapper.finish();
    trace.events->close();
    trace.format = scanner.values().contains("schemaVersion") || scanner.values().contains("distributedInfo")
        ? "pytorch"
        : "chrome";
    addLoss(trace, "broken event", broken);
    addLoss(trace, "repaired event", parser.repaired());
    addLoss(trace, "damage between events", scanner.skipped());
    addLoss(trace, "unterminated file", scanner.terminated() ? 0 : 1);
    addLoss(trace, "compressed data cut off", (*source)->truncated() ? 1 : 0);
    if (trace.events->error())
        return trace.events->error()->in("read " + path);
    return trace;
}

} // namespace rankscope::tracing
