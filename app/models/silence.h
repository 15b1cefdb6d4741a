#pragma once

#include "app/session/run_snapshot.h"
#include "tracing/store/trace_reader.h"

#include <QString>

#include <cstdint>
#include <optional>
#include <vector>

namespace rankscope::app {

inline constexpr std::int64_t kSilentAfterNs = 2'000'000'000;

/// A rank of a growing run that has delivered nothing for kSilentAfterNs. Recorded spans come when they end: it may
/// hang in one that has not, or be gone.
struct Silence {
    std::int32_t rank = 0;
    std::optional<std::int64_t> lastNs; ///< end of its newest span, on the run's clock; none: it has none
    QString last; ///< "all-reduce in step 41", "matmul after step 40"
    bool operator==(const Silence&) const = default;
};

/// The silent ranks at a moment, the longest silent first.
tracing::Result<std::vector<Silence>> readSilence(
    tracing::TraceReader& reader, const RunSnapshot& run, std::int64_t nowNs);

/// "rank 3 has recorded nothing for 12 s; last: all-reduce in step 41". Empty: nobody is silent.
QString silenceText(const std::vector<Silence>& silent, std::size_t ranks, std::int64_t nowNs);

} // namespace rankscope::app
