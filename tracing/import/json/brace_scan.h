#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace rankscope::tracing {

/// Finds the brace that closes an object, strings and escapes minded, 64 bytes at a time. Carries its state over calls,
/// so that an object may come in bits.
class BraceScan {
public:
    /// Goes on in `text`; returns the position behind the closing brace, or npos when it is not there yet.
    std::size_t feed(std::string_view text);

    static constexpr std::size_t npos = std::string_view::npos;

private:
    std::size_t feedByBytes(std::string_view text, std::size_t from, std::size_t to);

    std::int64_t depth_ = 0;
    bool inString_ = false;
    bool escaped_ = false; ///< the next byte stands behind a backslash
};

} // namespace rankscope::tracing
