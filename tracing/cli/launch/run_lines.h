#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rankscope::tracing {

/// Cuts a stream of bytes into lines.
class LineSplitter {
public:
    /// Whole lines, without their ends; an unfinished one waits for the next bytes.
    std::vector<std::string> take(std::string_view bytes);
    std::optional<std::string> rest(); ///< the last line, if it had no end

private:
    std::string pending_;
};

/// Turns the JSON lines of rankscope-train into what a person watches.
class ProgressText {
public:
    explicit ProgressText(std::int64_t steps)
        : steps_(steps)
    {
    }

    struct Shown {
        std::string text;
        bool stays = false; ///< false: the next one takes its place
        bool operator==(const Shown&) const = default;
    };
    /// "step 12 of 100   loss 3.412   1,234 tokens/s   84.1 ms a step   7.40 s left"; none for a line that is no JSON
    /// object (it is shown as it is) or that says nothing to a person.
    std::optional<Shown> take(std::string_view line);

private:
    std::int64_t steps_;
    double meanStepMs_ = 0;
    std::int64_t seen_ = 0;
};

} // namespace rankscope::tracing
