#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace rankscope::tracing {

/// One field of a protobuf message: a number, or the bytes of a text or an inner message.
struct ProtobufField {
    int number = 0;
    std::uint64_t value = 0;
    std::string_view bytes;
};
/// Fields in order; a fault in the encoding throws.
std::vector<ProtobufField> protobufFields(std::string_view message);

/// What trace_processor would make of a trace of track events: slices by their tracks, in order of time.
struct PerfettoTrace {
    struct Slice {
        std::string process, track, category, name;
        std::uint64_t beginNs = 0, endNs = 0;
        std::vector<std::uint64_t> flows;
        std::map<std::string, std::string> annotations; ///< numbers as text
    };
    struct Sample {
        std::string process, track, unit;
        std::uint64_t timeNs = 0;
        double value = 0;
    };
    std::vector<Slice> slices;
    std::vector<Sample> samples;
    std::map<std::uint64_t, std::uint64_t> clocks; ///< of the snapshot: clock and its time
};
PerfettoTrace decodePerfetto(std::string_view bytes);

} // namespace rankscope::tracing
