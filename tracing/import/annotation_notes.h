#pragma once

#include "tracing/import/rules/import_rules.h"
#include "tracing/import/source_trace.h"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace rankscope::tracing {

/// What the host's annotations say about one trace: the kinds of its ranges, its steps, and which pass of which
/// micro-batch each kernel belongs to.
class AnnotationNotes {
public:
    AnnotationNotes(const ImportRules& rules, SourceTrace& trace)
        : rules_(rules)
        , trace_(trace)
    {
    }

    /// Of a name of the trace; each is looked up once. Valid until the next call.
    const AnnotationMeaning& of(std::uint32_t name);
    /// Makes the event a range of the kind that its name says.
    void describe(SourceEvent& range);
    /// A range of a host thread: may be a step or an action.
    void note(std::uint32_t name, std::int64_t beginNs, std::int64_t endNs);

    /// Once, when all ranges are noted: sorts, numbers the micro-batches of names without a number, and lets what lies
    /// in an action have its numbers.
    void finish();

    struct Launch {
        std::int64_t correlation = 0, beginNs = 0;
    };
    /// After finish(): which of these host calls lie in an action. The calls are sorted.
    void linkLaunches(std::span<Launch> launches);
    /// The same for the host calls among the trace's events, which are closed.
    Status linkCalls();

private:
    class Sweep;
    void count();
    void inherit();
    void addLaunch(std::int64_t correlation, std::uint32_t action);
    void orderLaunches();

    const ImportRules& rules_;
    SourceTrace& trace_;
    std::vector<std::optional<AnnotationMeaning>> meanings_; ///< by name
    std::optional<std::size_t> stepRule_; ///< whose steps are in the trace
};

} // namespace rankscope::tracing
