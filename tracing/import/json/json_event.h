#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rankscope::tracing {

/// One trace event as text fields; views point into the parser's buffer and hold until the next event.
struct JsonEvent {
    struct Argument {
        std::string_view key;
        std::string_view
            value; ///< text of a string, number or literal; the first scalars of a list, separated by commas
        bool isString = false;
    };

    char phase = 0; ///< "ph"
    std::string_view name, category, processId, threadId, id, timestamp, duration;
    std::vector<Argument> arguments; ///< of "args", one level deep; lists flattened

    /// Last of that key, as JSON readers do; empty: absent.
    std::string_view argument(std::string_view key) const;
    std::optional<std::int64_t> number(std::string_view key) const;
};

/// Parses single event objects. Repairs what writers are known to get wrong (raw control characters, bad escapes, NaN,
/// invalid UTF-8) and counts it.
class JsonEventParser {
public:
    JsonEventParser();
    JsonEventParser(const JsonEventParser&) = delete;
    JsonEventParser& operator=(const JsonEventParser&) = delete;
    ~JsonEventParser();

    /// False: not an object that can be understood.
    bool parse(std::string_view text, JsonEvent& event);
    std::int64_t repaired() const { return repaired_; }

private:
    struct Impl;
    bool attempt(JsonEvent& event);
    void repair(std::string_view text);

    std::string buffer_;
    std::unique_ptr<Impl> impl_;
    std::int64_t repaired_ = 0;
};

} // namespace rankscope::tracing
