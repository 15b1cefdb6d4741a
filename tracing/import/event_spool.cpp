#include "tracing/import/event_spool.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <queue>
#include <string>

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

namespace rankscope::tracing {

namespace {

constexpr std::size_t kChunk = 8192;

bool earlier(const SourceEvent& a, const SourceEvent& b)
{
    if (a.beginNs != b.beginNs)
        return a.beginNs < b.beginNs;
    return a.endNs > b.endNs;
}

int temporaryFile()
{
    const char* folder = std::getenv("TMPDIR");
    std::string path = std::string(folder && *folder ? folder : "/tmp") + "/rankscope-import-XXXXXX";
    const int file = mkstemp(path.data());
    if (file >= 0)
        unlink(path.c_str()); // gone with the process, however it ends
    return file;
}

} // namespace

EventSpool::EventSpool(std::size_t memoryBytes)
    : memoryBytes_(memoryBytes)
    , runEvents_(std::max<std::size_t>(kChunk, memoryBytes / 4 / sizeof(SourceEvent)))
{
}

EventSpool::~EventSpool()
{
    for (const Run& run : runs_) {
        if (run.memory.empty() && run.events)
            munmap(const_cast<SourceEvent*>(run.events), run.count * sizeof(SourceEvent));
    }
    if (file_ >= 0)
        ::close(file_);
}

void EventSpool::closeRun()
{
    if (current_.empty())
        return;
    std::sort(current_.begin(), current_.end(),
        [](const SourceEvent& a, const SourceEvent& b) { return a.lane != b.lane ? a.lane < b.lane : earlier(a, b); });
    Run run;
    run.count = current_.size();
    for (std::size_t i = 0; i < current_.size(); ++i) {
        if (i == 0 || current_[i].lane != current_[i - 1].lane)
            run.laneBegins.emplace_back(current_[i].lane, i);
    }
    run.memory = std::move(current_);
    current_ = {};
    run.events = run.memory.data();
    const std::size_t bytes = run.count * sizeof(SourceEvent);
    if (inMemory_ + bytes > memoryBytes_ && spill(run)) {
        run.memory = {};
    } else {
        inMemory_ += bytes;
    }
    runs_.push_back(std::move(run));
    if (!runs_.back().memory.empty())
        runs_.back().events = runs_.back().memory.data();
}

bool EventSpool::spill(Run& run)
{
    if (file_ < 0)
        file_ = temporaryFile();
    const auto bytes = static_cast<std::int64_t>(run.count * sizeof(SourceEvent));
    // Mappings begin at pages.
    const std::int64_t offset = (fileBytes_ + 4095) / 4096 * 4096;
    const int failed = file_ < 0 ? errno : posix_fallocate(file_, offset, bytes);
    if (failed != 0) {
        error_ = Error(
            "import's temporary file: " + std::string(std::strerror(failed)) + "; set TMPDIR to a larger folder");
        return false;
    }
    void* mapped = mmap(nullptr, static_cast<std::size_t>(bytes), PROT_READ | PROT_WRITE, MAP_SHARED, file_, offset);
    if (mapped == MAP_FAILED)
        return false;
    std::memcpy(mapped, run.events, static_cast<std::size_t>(bytes));
    run.events = static_cast<const SourceEvent*>(mapped);
    fileBytes_ = offset + bytes;
    return true;
}

void EventSpool::close() { closeRun(); }

std::optional<std::pair<std::int64_t, std::int64_t>> EventSpool::extent(std::int64_t lowest, std::int64_t highest) const
{
    std::optional<std::pair<std::int64_t, std::int64_t>> out;
    for (const Run& run : runs_) {
        for (const auto& [lane, first] : run.laneBegins) {
            // Sorted by begin inside a lane: only its two ends count.
            const auto events = laneOf(run, lane);
            const auto from = std::ranges::lower_bound(events, lowest, {}, &SourceEvent::beginNs);
            const auto to = std::ranges::upper_bound(events, highest, {}, &SourceEvent::beginNs);
            if (from >= to)
                continue;
            const std::int64_t last = std::prev(to)->beginNs;
            out = out ? std::pair(std::min(out->first, from->beginNs), std::max(out->second, last))
                      : std::pair(from->beginNs, last);
        }
    }
    return out;
}

std::span<const SourceEvent> EventSpool::laneOf(const Run& run, std::uint32_t lane) const
{
    const auto it = std::ranges::lower_bound(run.laneBegins, lane, {}, &std::pair<std::uint32_t, std::size_t>::first);
    if (it == run.laneBegins.end() || it->first != lane)
        return {};
    const std::size_t end = std::next(it) == run.laneBegins.end() ? run.count : std::next(it)->second;
    return { run.events + it->second, end - it->second };
}

Status EventSpool::visit(std::uint32_t lane, const std::function<Status(std::span<const SourceEvent>)>& visitor)
{
    std::vector<std::span<const SourceEvent>> rest;
    for (const Run& run : runs_) {
        if (const auto events = laneOf(run, lane); !events.empty())
            rest.push_back(events);
    }
    if (rest.size() == 1) {
        for (std::span<const SourceEvent> all = rest.front(); !all.empty();) {
            const auto chunk = all.first(std::min(kChunk, all.size()));
            if (Status status = visitor(chunk); !status)
                return status;
            all = all.subspan(chunk.size());
        }
        return Done{};
    }
    const auto later = [&](std::size_t a, std::size_t b) { return earlier(rest[b].front(), rest[a].front()); };
    std::priority_queue<std::size_t, std::vector<std::size_t>, decltype(later)> heads(later);
    for (std::size_t i = 0; i < rest.size(); ++i)
        heads.push(i);
    std::vector<SourceEvent> chunk;
    chunk.reserve(kChunk);
    while (!heads.empty()) {
        const std::size_t i = heads.top();
        heads.pop();
        chunk.push_back(rest[i].front());
        rest[i] = rest[i].subspan(1);
        if (!rest[i].empty())
            heads.push(i);
        if (chunk.size() == kChunk || heads.empty()) {
            if (Status status = visitor(chunk); !status)
                return status;
            chunk.clear();
        }
    }
    return Done{};
}

} // namespace rankscope::tracing
