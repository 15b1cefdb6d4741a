#pragma once

#include "tracing/import/source_trace.h"

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace rankscope::tracing {

/// What an export of ours says about the run as a whole, key by key: who recorded it, its size, its configuration, the
/// speed of its links, the units of its counters. Keys that are not known say nothing.
class OwnValues {
public:
    void add(std::string_view key, std::string_view value);
    /// To the traces of one file. What stands in a trace already stays.
    void applyTo(std::span<SourceTrace> traces) const;

private:
    void addLink(std::string_view ranks, std::string_view speed);

    std::string recorder_;
    std::optional<std::int32_t> worldSize_, coresPerNode_;
    std::optional<std::int64_t> originUtcNs_;
    std::map<std::string, std::string> configuration_, units_;
    std::vector<LinkSpeed> links_;
};

} // namespace rankscope::tracing
