#pragma once

#include "tracing/model/result.h"

#include <cstdio>
#include <cstdlib>
#include <span>
#include <utility>

namespace rankscope::support {

/// The value, or the end of the test with the reason.
template <typename T> T must(tracing::Result<T> result)
{
    if (!result) {
        std::fprintf(stderr, "cannot write a run for a test: %s\n", result.error().message().c_str());
        std::abort();
    }
    return std::move(*result);
}

template <typename Row> std::span<const Row> one(const Row& row) { return { &row, 1 }; }

} // namespace rankscope::support
