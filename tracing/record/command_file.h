#pragma once

#include "tracing/model/result.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace rankscope::tracing {

/// Commands to the ranks: one a line in DIR/commands, append only. Every process reads all of them in order.
Status appendCommand(const std::string& sessionDir, std::string_view command);

class CommandReader {
public:
    explicit CommandReader(const std::string& sessionDir);
    /// The next complete line, if any. Looks at the file at most every 5 ms.
    std::optional<std::string> next();

private:
    std::string path_;
    std::int64_t offset_ = 0;
    std::int64_t lastLookNs_ = 0;
};

} // namespace rankscope::tracing
