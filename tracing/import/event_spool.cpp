#include "tracing/import/event_spool.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <queue>
#include <string>

#include <fcntl.h>
#include <unistd.h>

namespace rankscope::tracing {

namespace {

constexpr std::size_t kChunk = 8192; ///< events handed out at once
constexpr std::size_t kEventsAhead = 65536; ///< read from the file for all runs of a lane together
constexpr std::size_t kLeastAhead = 128;

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
    const int file = mkostemp(path.data(), O_CLOEXEC);
    if (file >= 0)
        unlink(path.c_str()); // gone with the process, however it ends
    return file;
}

Error fileError(int code)
{
    return Error("import's temporary file: " + std::string(std::strerror(code)) + "; set TMPDIR to a larger folder");
}

} // namespace

/// A place in one run's part of a lane; what lies in the file is read a piece at a time.
class EventSpool::Cursor {
public:
    Cursor(const EventSpool& spool, const Run& run, std::size_t first, std::size_t end)
        : spool_(spool)
        , run_(run)
        , next_(first)
        , end_(end)
    {
    }

    /// What can be taken now; empty: the end, or an error.
    std::span<const SourceEvent> ready() const { return ready_; }
    void take(std::size_t count) { ready_ = ready_.subspan(count); }

    /// Makes events ready where there are none and the run has more.
    Status load(std::size_t most)
    {
        if (!ready_.empty() || next_ == end_)
            return Done{};
        if (!run_.memory.empty()) {
            ready_ = std::span(run_.memory).subspan(next_, end_ - next_);
            next_ = end_;
            return Done{};
        }
        if (!buffer_) {
            size_ = std::min(most, end_ - next_);
            buffer_ = std::make_unique_for_overwrite<SourceEvent[]>(size_);
        }
        const std::span<SourceEvent> piece(buffer_.get(), std::min(size_, end_ - next_));
        if (Status status = spool_.read(run_, next_, piece); !status)
            return status;
        next_ += piece.size();
        ready_ = piece;
        return Done{};
    }

private:
    const EventSpool& spool_;
    const Run& run_;
    std::size_t next_, end_; ///< of the run, not ready yet
    std::unique_ptr<SourceEvent[]> buffer_;
    std::size_t size_ = 0;
    std::span<const SourceEvent> ready_;
};

EventSpool::EventSpool(std::size_t memoryBytes)
    : memoryBytes_(memoryBytes)
    , runEvents_(std::max<std::size_t>(kChunk, memoryBytes / 4 / sizeof(SourceEvent)))
{
}

EventSpool::~EventSpool()
{
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
            run.lanes.push_back({ current_[i].lane, i, current_[i].beginNs, 0 });
        run.lanes.back().lastBeginNs = current_[i].beginNs;
    }
    const std::size_t bytes = run.count * sizeof(SourceEvent);
    run.memory.swap(current_);
    if (inMemory_ + bytes > memoryBytes_) {
        if (const Status spilled = spill(run); spilled) {
            current_ = std::move(run.memory); // its room is for the next run
            current_.clear();
            run.memory = {};
        } else if (!error_) {
            error_ = spilled.error();
        }
    }
    inMemory_ += run.memory.size() * sizeof(SourceEvent);
    runs_.push_back(std::move(run));
    current_.reserve(runEvents_); // the file is a large one
}

Status EventSpool::spill(Run& run)
{
    if (file_ < 0)
        file_ = temporaryFile();
    if (file_ < 0)
        return fileError(errno);
    const char* from = reinterpret_cast<const char*>(run.memory.data());
    const std::size_t bytes = run.count * sizeof(SourceEvent);
    for (std::size_t done = 0; done < bytes;) {
        const ssize_t written = pwrite(file_, from + done, bytes - done, fileBytes_ + static_cast<off_t>(done));
        if (written < 0 && errno != EINTR)
            return fileError(errno);
        done += static_cast<std::size_t>(std::max<ssize_t>(0, written));
    }
    run.offset = fileBytes_;
    fileBytes_ += static_cast<std::int64_t>(bytes);
    return Done{};
}

void EventSpool::moveToFile()
{
    for (Run& run : runs_) {
        if (run.memory.empty() || !spill(run))
            continue;
        inMemory_ -= run.memory.size() * sizeof(SourceEvent);
        run.memory = {};
    }
}

void EventSpool::close()
{
    closeRun();
    current_ = {};
}

std::pair<std::size_t, std::size_t> EventSpool::placeOf(const Run& run, const LanePlace& lane)
{
    const std::size_t next = static_cast<std::size_t>(&lane - run.lanes.data()) + 1;
    return { lane.first, next == run.lanes.size() ? run.count : run.lanes[next].first };
}

Status EventSpool::read(const Run& run, std::size_t first, std::span<SourceEvent> out) const
{
    if (!run.memory.empty()) {
        std::ranges::copy(std::span(run.memory).subspan(first, out.size()), out.begin());
        return Done{};
    }
    char* to = reinterpret_cast<char*>(out.data());
    const auto offset = run.offset + static_cast<off_t>(first * sizeof(SourceEvent));
    for (std::size_t done = 0; done < out.size_bytes();) {
        const ssize_t got = pread(file_, to + done, out.size_bytes() - done, offset + static_cast<off_t>(done));
        if (got == 0 || (got < 0 && errno != EINTR))
            return fileError(got == 0 ? EIO : errno);
        done += static_cast<std::size_t>(std::max<ssize_t>(0, got));
    }
    return Done{};
}

std::int64_t EventSpool::beginAt(const Run& run, std::size_t event) const
{
    SourceEvent one;
    const Status status = read(run, event, std::span(&one, 1)); // a failure is met again, and told, by visit()
    return status ? one.beginNs : 0;
}

std::size_t EventSpool::firstFrom(const Run& run, std::size_t first, std::size_t end, std::int64_t beginNs) const
{
    while (first < end) {
        const std::size_t middle = first + (end - first) / 2;
        if (beginAt(run, middle) < beginNs)
            first = middle + 1;
        else
            end = middle;
    }
    return first;
}

std::optional<std::pair<std::int64_t, std::int64_t>> EventSpool::extent(std::int64_t lowest, std::int64_t highest) const
{
    std::optional<std::pair<std::int64_t, std::int64_t>> out;
    for (const Run& run : runs_) {
        for (const LanePlace& lane : run.lanes) {
            std::int64_t from = lane.firstBeginNs, to = lane.lastBeginNs;
            if (from > highest || to < lowest)
                continue;
            // Sorted by begin inside a lane: only the two ends within the bounds count.
            const auto [first, end] = placeOf(run, lane);
            const std::size_t inside = from < lowest ? firstFrom(run, first, end, lowest) : first;
            const bool isCut = to > highest; // so it is not the greatest time there is
            const std::size_t outside = isCut ? firstFrom(run, first, end, highest + 1) : end;
            if (inside >= outside)
                continue;
            from = inside == first ? from : beginAt(run, inside);
            to = outside == end ? to : beginAt(run, outside - 1);
            out = out ? std::pair(std::min(out->first, from), std::max(out->second, to)) : std::pair(from, to);
        }
    }
    return out;
}

Status EventSpool::visit(std::uint32_t lane, const Visitor& visitor) const
{
    std::vector<Cursor> cursors;
    for (const Run& run : runs_) {
        const auto place = std::ranges::lower_bound(run.lanes, lane, {}, &LanePlace::lane);
        if (place != run.lanes.end() && place->lane == lane) {
            const auto [first, end] = placeOf(run, *place);
            cursors.emplace_back(*this, run, first, end);
        }
    }
    const std::size_t ahead = std::clamp(kEventsAhead / std::max<std::size_t>(1, cursors.size()), kLeastAhead, kChunk);
    const auto front = [&](std::size_t i) -> const SourceEvent& { return cursors[i].ready().front(); };
    const auto later = [&](std::size_t a, std::size_t b) { return earlier(front(b), front(a)); };
    std::priority_queue<std::size_t, std::vector<std::size_t>, decltype(later)> heads(later);
    for (std::size_t i = 0; i < cursors.size(); ++i) {
        if (Status status = cursors[i].load(ahead); !status)
            return status;
        heads.push(i);
    }
    std::vector<SourceEvent> chunk;
    if (cursors.size() > 1)
        chunk.reserve(kChunk);
    while (!heads.empty()) {
        const std::size_t i = heads.top();
        heads.pop();
        const auto ready = cursors[i].ready().first(std::min(kChunk - chunk.size(), cursors[i].ready().size()));
        // As long as no other run has an earlier one: runs of a file that is in order hardly overlap.
        std::size_t count = heads.empty() ? ready.size() : 1;
        while (count < ready.size() && !earlier(front(heads.top()), ready[count]))
            ++count;
        if (cursors.size() > 1)
            chunk.insert(chunk.end(), ready.begin(), ready.begin() + static_cast<std::ptrdiff_t>(count));
        else if (Status status = visitor(ready.first(count)); !status)
            return status;
        cursors[i].take(count);
        if (Status status = cursors[i].load(ahead); !status)
            return status;
        if (!cursors[i].ready().empty())
            heads.push(i);
        if (chunk.size() == kChunk || (heads.empty() && !chunk.empty())) {
            if (Status status = visitor(chunk); !status)
                return status;
            chunk.clear();
        }
    }
    return Done{};
}

} // namespace rankscope::tracing
