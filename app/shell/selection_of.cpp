#include "app/shell/selection_of.h"

namespace rankscope::app {
namespace {

Selection::Kind kindOf(timeline::RowKind row)
{
    switch (row) {
    case timeline::RowKind::Kernel:
        return Selection::Kind::Kernel;
    case timeline::RowKind::Copy:
        return Selection::Kind::Copy;
    case timeline::RowKind::HostCall:
        return Selection::Kind::HostCall;
    case timeline::RowKind::Collective:
        return Selection::Kind::Collective;
    case timeline::RowKind::Bubble:
        return Selection::Kind::Bubble;
    case timeline::RowKind::Range:
        return Selection::Kind::Range;
    // A labelled stretch of a rank's time is no row of the file: its time is counted like a marked one.
    case timeline::RowKind::Ledger:
        return Selection::Kind::Area;
    }
    return Selection::Kind::None;
}

} // namespace

Selection selectionOf(const timeline::Selection& from)
{
    Selection selection;
    if (from.area && !from.hit) {
        selection.kind = Selection::Kind::Area;
        selection.window = *from.area;
        return selection;
    }
    if (!from.hit)
        return selection;
    selection.rank = from.hit->rank;
    selection.lane = from.hit->lane;
    if (from.hit->span) {
        selection.kind = kindOf(from.hit->span->row);
        selection.window = { from.hit->span->beginNs, from.hit->span->endNs };
        if (from.hit->span->instance >= 0)
            selection.instance = tracing::InstanceId{ from.hit->span->instance };
    } else if (from.hit->fold) {
        selection.kind = Selection::Kind::Fold;
        selection.window = { from.hit->fold->beginNs, from.hit->fold->endNs };
    }
    return selection;
}

} // namespace rankscope::app
