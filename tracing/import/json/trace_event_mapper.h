#pragma once

#include "tracing/import/annotation_notes.h"
#include "tracing/import/json/collective_linker.h"
#include "tracing/import/json/json_event.h"
#include "tracing/import/source_trace.h"

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

namespace rankscope::tracing {

/// Turns trace events (PyTorch's from 2020 on, any Chrome JSON, MindStudio's) into lanes, events, parts and steps of
/// one rank. Times are the file's, to the nanosecond.
class TraceEventMapper {
public:
    /// `isOwn`: the events are from our own export, whose arguments say what a name may not.
    TraceEventMapper(const ImportRules& rules, SourceTrace& trace, bool isOwn = false);

    void add(const JsonEvent& event);
    /// Closes what is open and the events, links collectives, writes counts of losses.
    Status finish();

private:
    enum class Role : std::uint8_t { Host, Compute, Communication, Copy, Sync, Device, Counter, Async };
    struct Times {
        std::int64_t beginNs = 0, endNs = 0;
    };
    struct OpenSpan {
        std::int64_t beginNs = 0;
        std::uint32_t name = 0;
    };

    std::optional<Times> timesOf(const JsonEvent& event);
    void complete(const JsonEvent& event, Times times);
    void kernel(const JsonEvent& event, Times times);
    void copy(const JsonEvent& event, Times times);
    void hostCall(const JsonEvent& event, Times times);
    void range(const JsonEvent& event, Times times, Role role);
    void begin(const JsonEvent& event, std::int64_t at);
    void end(const JsonEvent& event, std::int64_t at);
    void async(const JsonEvent& event, std::int64_t at);
    void counter(const JsonEvent& event, std::int64_t at);
    void metadata(const JsonEvent& event);
    bool communicates(const JsonEvent& event);

    std::uint32_t laneOf(const JsonEvent& event, Role role);
    std::uint64_t threadOf(const JsonEvent& event);
    void append(std::uint32_t lane, Times times, const JsonEvent& event, SourceKind kind, std::int64_t extra);
    void lose(const std::string& kind, std::int64_t count = 1) { losses_[kind] += count; }
    void nameLanes();
    std::string nameOf(std::size_t lane) const;
    std::string communicationName(std::size_t lane) const;

    void readOwnArguments(const JsonEvent& event, SourceEvent& out);
    static void readOwnArguments(const JsonEvent& event, SourcePart& out);
    void note(const JsonEvent& event, Times times);

    const ImportRules& rules_;
    SourceTrace& trace_;
    const bool isOwn_;
    CollectiveLinker linker_;
    AnnotationNotes notes_;
    std::vector<std::optional<bool>> communicates_; ///< by kernel name
    std::unordered_map<std::uint64_t, std::uint32_t> lanes_; ///< by process, thread and role
    struct LaneOrigin {
        std::uint32_t process = 0, thread = 0;
        Role role = Role::Host;
    };
    std::vector<LaneOrigin> origins_;
    std::map<std::uint32_t, std::string> processNames_; ///< by number of the process' text
    std::map<std::uint64_t, std::string> threadNames_;
    std::unordered_map<std::uint64_t, std::vector<OpenSpan>> open_; ///< B without E, by thread
    std::unordered_map<std::string, OpenSpan> openAsync_;
    std::map<std::string, std::int64_t> losses_;
    bool isFirst_ = true; ///< no event of the file was taken yet
    std::int64_t lastNs_ = 0;
    std::string scratch_;
};

} // namespace rankscope::tracing
