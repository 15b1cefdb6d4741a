#pragma once

#include "tracing/model/ids.h"
#include "tracing/model/kinds.h"
#include "tracing/model/rows.h"

#include <QMetaType>

#include <cstdint>
#include <optional>

namespace rankscope::app {

/// What the person points at. Enough to find the row again in the file: a lane, its stretch, and which table it lies
/// in.
struct Selection {
    enum class Kind { None, Kernel, Copy, HostCall, Collective, Bubble, Range, Fold, Area };

    Kind kind = Kind::None;
    std::int32_t rank = 0;
    tracing::LaneId lane{};
    tracing::Window window; ///< of the row, the fold, or the area: a stretch of all lanes
    std::optional<tracing::InstanceId> instance{}; ///< collectives: selects all ranks' parts

    bool isEmpty() const { return kind == Kind::None; }
    bool operator==(const Selection&) const = default;
};

} // namespace rankscope::app

Q_DECLARE_METATYPE(rankscope::app::Selection)
