#pragma once

#include "tracing/model/result.h"
#include "tracing/record/ring_file.h"
#include "tracing/record/ring_layout.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace rankscope::tracing {

/// The collector's side of one ring file. What stands in the file is not trusted: sizes are checked when it is opened
/// and kept, head and tail are checked at every reading.
class RingReader {
public:
    static Result<RingReader> open(const std::string& path);

    const std::string& path() const { return path_; }
    /// The file's name without directory: what the run file knows the ring by.
    const std::string& name() const { return name_; }
    /// "p12-34-1" of "p12-34-1-0.ring": the beginning of the process's facts file.
    std::string recorderKey() const;
    /// 0 for the recorder's first thread, 1 for its second, ...
    std::uint32_t number() const;

    std::int32_t rank() const { return rank_; }
    std::int32_t worldSize() const { return worldSize_; }
    ProcessIdentity process() const { return process_; }
    std::optional<Calibration> calibration() const;
    std::uint64_t capacity() const { return capacity_; }

    std::uint64_t position() const { return position_; }
    /// Where to go on after a restart.
    void seek(std::uint64_t position) { position_ = position; }
    void seekToTail() { position_ = header().tail.load(std::memory_order_relaxed); }
    /// When the thread began to record: none of its records can be older.
    std::uint64_t openedTicks() const { return header().opened.ticks; }

    /// Copies up to `most` records that were not read yet to the end of `out`. Returns the records that were skipped
    /// because the head makes no sense (0 in a sound ring).
    std::uint64_t read(std::vector<Record>& out, std::size_t most);
    /// Gives the producer the room of everything read. Only after what was read is safe.
    void release();
    std::uint64_t waiting() const;

    std::uint64_t dropped() const { return header().dropped.load(std::memory_order_relaxed); }
    bool isClosed() const { return header().closed.load(std::memory_order_acquire) != 0; }
    /// The spans that were open when the writer died, without the last one if it reached the ring as well.
    std::vector<Record> openSpans() const;

private:
    RingReader(std::string path, Mapping mapping);
    RingHeader& header() const { return *static_cast<RingHeader*>(mapping_.data()); }
    const Record& slot(std::uint64_t number) const;

    std::string path_;
    std::string name_;
    Mapping mapping_;
    std::uint64_t capacity_ = 0;
    std::int32_t rank_ = 0;
    std::int32_t worldSize_ = 0;
    ProcessIdentity process_;
    std::uint64_t position_ = 0;
};

} // namespace rankscope::tracing
