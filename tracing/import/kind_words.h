#pragma once

#include "tracing/model/kinds.h"

#include <optional>
#include <string_view>

namespace rankscope::tracing {

/// The kind that is written like this (see toString in model/kinds.h); `greatest` is the last one.
template <typename Kind> std::optional<Kind> kindOfWord(std::string_view word, Kind greatest)
{
    for (int i = 0; i <= static_cast<int>(greatest); ++i) {
        if (toString(static_cast<Kind>(i)) == word)
            return static_cast<Kind>(i);
    }
    return std::nullopt;
}

} // namespace rankscope::tracing
