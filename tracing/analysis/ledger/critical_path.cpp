#include "tracing/analysis/ledger/replay.h"

#include <algorithm>

namespace rankscope::tracing::ledger {

namespace {

bool hops(const Segment& segment, const std::vector<SplitPart>& parts)
{
    if (segment.part < 0 || segment.label == Label::Transfer || segment.label == Label::Unsplit)
        return false;
    return parts[static_cast<std::size_t>(segment.part)].late >= 0;
}

} // namespace

std::vector<PathSegment> criticalPath(const LedgerResult& ledger, Ns begin, Ns end)
{
    std::vector<PathSegment> path;
    if (ledger.ranks.empty() || end <= begin)
        return path;
    // Starts on the rank that was busy last.
    std::size_t r = 0;
    Ns latest = std::numeric_limits<Ns>::min();
    for (std::size_t q = 0; q < ledger.ranks.size(); ++q) {
        for (auto it = ledger.ranks[q].segments.rbegin(); it != ledger.ranks[q].segments.rend(); ++it) {
            if (it->begin >= end || it->label == Label::Tail)
                continue;
            if (std::min(it->end, end) > latest) {
                latest = std::min(it->end, end);
                r = q;
            }
            break;
        }
    }
    Ns at = end;
    std::vector<bool> visited(ledger.ranks.size(), false); // ranks hopped through at this instant
    while (at > begin) {
        const auto& segments = ledger.ranks[r].segments;
        const auto it = std::ranges::lower_bound(segments, at, {}, &Segment::end);
        const bool inside = it != segments.end() && it->begin < at;
        if (inside && hops(*it, ledger.ranks[r].parts) && !visited[r]) {
            const auto late = static_cast<std::size_t>(ledger.ranks[r].parts[static_cast<std::size_t>(it->part)].late);
            if (late != r && !visited[late]) {
                visited[r] = true;
                r = late;
                continue;
            }
        }
        Ns from = begin;
        if (inside)
            from = std::max(begin, it->begin);
        else if (it != segments.begin())
            from = std::max(begin, std::prev(it)->end);
        if (from >= at)
            from = begin; // nothing recorded before: the rest of the window is one stretch
        const PathSegment piece{ static_cast<std::int32_t>(r), from, at, inside ? it->label : Label::NotRecorded,
            inside ? it->part : -1 };
        path.push_back(piece);
        at = from;
        std::fill(visited.begin(), visited.end(), false);
    }
    std::ranges::reverse(path);
    return path;
}

} // namespace rankscope::tracing::ledger
