#pragma once

#include "tracing/model/result.h"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>

namespace rankscope::tracing {

class ExportTables;

/// Binary payloads of NVTX events, as an export has them where it was made without their JSON: a head of 32 bytes that
/// names a schema, then fields as NVTX_PAYLOAD_SCHEMA_ENTRIES says (nvToolsExtPayload.h).
class NvtxPayloads {
public:
    /// Reads the schemas; a database has them once a process, all alike.
    Status load(ExportTables& tables);

    /// The payload's whole numbers as a JSON object by their labels, what `--include-json` would have written; "" where
    /// the schema is not known or the payload shorter than it says.
    std::string json(std::string_view payload) const;

private:
    struct Field {
        std::int64_t flags = 0, type = 0, offset = 0; ///< offset 0: behind the field before, aligned
        std::string label;
    };
    struct Schema {
        std::int64_t bytes = 0;
        std::map<std::int64_t, Field> fields; ///< by place
    };
    std::map<std::pair<std::int64_t, std::int64_t>, Schema> schemas_; ///< by domain and number
};

} // namespace rankscope::tracing
