#pragma once

#include <cctype>
#include <string>
#include <string_view>

namespace rankscope::tracing {

/// Lower case, without blanks, underscores and hyphens: "_all_gather_base" and "AllGather" meet.
inline std::string folded(std::string_view text)
{
    std::string out;
    for (const char c : text) {
        if (c != '_' && c != '-' && c != ' ')
            out.push_back(static_cast<char>(std::tolower(static_cast<unsigned char>(c))));
    }
    return out;
}

} // namespace rankscope::tracing
