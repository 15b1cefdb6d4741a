#include "tracing/import/clock_alignment.h"

#include "tracing/import/clock_fit.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <map>
#include <utility>

namespace rankscope::tracing {

namespace {

constexpr std::int64_t kMillisecond = 1'000'000;

/// Operations that nobody can leave before everybody has entered.
bool synchronises(CollectiveOp op)
{
    switch (op) {
    case CollectiveOp::AllReduce:
    case CollectiveOp::AllGather:
    case CollectiveOp::ReduceScatter:
    case CollectiveOp::AllToAll:
    case CollectiveOp::Barrier:
        return true;
    default:
        return false;
    }
}

std::string inUnit(double value, const char* unit)
{
    char text[48];
    std::snprintf(text, sizeof text, "%.3g %s", value, unit);
    return text;
}
std::string milliseconds(std::int64_t ns) { return inUnit(static_cast<double>(ns) / 1e6, "ms"); }

bool onOneClock(std::span<const SourceTrace> traces)
{
    return !traces.empty() && !traces.front().clock.empty()
        && std::ranges::all_of(traces, [&](const SourceTrace& trace) { return trace.clock == traces.front().clock; });
}

/// The end of one collective for each of its ranks.
struct Anchor {
    std::vector<std::pair<std::size_t, std::int64_t>> ends; ///< trace, ns since the first trace's base
};

class ClockAlignment {
public:
    ClockAlignment(std::span<SourceTrace> traces, const MatchResult& matches)
        : traces_(traces)
    {
        std::map<std::string, std::size_t> known;
        for (std::size_t t = 0; t < traces.size(); ++t) {
            const SourceTrace& trace = traces[t];
            const std::string name = !trace.clock.empty() ? trace.clock
                : trace.node.empty()                      ? "#" + std::to_string(t)
                                                          : trace.node;
            clockOf_.push_back(known.try_emplace(name, known.size()).first->second);
        }
        maps_.resize(known.size());
        for (const SourceInstance& instance : matches.instances)
            addAnchor(instance);
    }

    Alignment align()
    {
        Alignment out;
        out.anchors = static_cast<std::int64_t>(anchors_.size());
        if (anchors_.empty()) {
            out.note = traces_.size() > 1 ? "clocks not compared: no collective is in two files" : "";
            return out;
        }
        if (maps_.size() > 1) {
            fitClocks();
            centre();
        }
        const std::vector<ClockFit> left = whatIsLeft();
        for (std::size_t t = 0; t < traces_.size(); ++t) {
            const ClockMap& map = maps_[clockOf_[t]];
            out.errorNs = std::max(out.errorNs, left[t].errorNs);
            out.greatestShiftNs = std::max(out.greatestShiftNs, std::abs(map.shiftNs));
            out.greatestDrift = std::max(out.greatestDrift, std::abs(map.drift));
        }
        out.aligned = out.errorNs <= kMillisecond || out.errorNs <= quantile(transfers_, 0.5) / 2;
        for (std::size_t t = 0; t < traces_.size(); ++t) {
            traces_[t].clockMap = out.aligned ? onTheFile(maps_[clockOf_[t]]) : ClockMap{};
            traces_[t].clockResidualNs = left[t].residualNs;
            traces_[t].clockErrorNs
                = out.aligned ? left[t].errorNs : out.errorNs + std::abs(maps_[clockOf_[t]].shiftNs);
        }
        out.note = noteOf(out);
        return out;
    }

private:
    using Samples = std::vector<ClockSample>;

    /// A time of a trace since the first one's base, so that 64 bits are enough; none: they are not, the file is
    /// damaged.
    std::optional<std::int64_t> placeOf(std::size_t t, std::int64_t ns) const
    {
        std::int64_t difference = 0, out = 0;
        constexpr std::int64_t kFar = std::numeric_limits<std::int64_t>::max() / 4; // UTC until 2043; sums stay inside
        if (__builtin_sub_overflow(traces_[t].baseNs, traces_.front().baseNs, &difference)
            || __builtin_add_overflow(ns, difference, &out) || out > kFar || out < -kFar)
            return std::nullopt;
        return out;
    }

    void addAnchor(const SourceInstance& instance)
    {
        if (instance.members.size() < 2 || !synchronises(instance.op))
            return;
        Anchor anchor;
        std::int64_t shortest = std::numeric_limits<std::int64_t>::max();
        for (const auto& member : instance.members) {
            const SourcePart& part = traces_[member.trace].parts[member.part];
            const auto end = placeOf(member.trace, part.endNs), begin = placeOf(member.trace, part.beginNs);
            if (!end || !begin)
                return;
            anchor.ends.emplace_back(member.trace, *end);
            shortest = std::min(shortest, *end - *begin); // nobody waits in the shortest part
        }
        anchors_.push_back(std::move(anchor));
        transfers_.push_back(shortest);
    }

    /// What two clocks saw together: the median of each one's ranks.
    std::map<std::pair<std::size_t, std::size_t>, Samples> samplesOfPairs() const
    {
        std::map<std::pair<std::size_t, std::size_t>, Samples> pairs;
        for (const Anchor& anchor : anchors_) {
            std::map<std::size_t, std::vector<std::int64_t>> byClock;
            for (const auto& [trace, end] : anchor.ends)
                byClock[clockOf_[trace]].push_back(end);
            // Against the first one: enough to connect them all, and a collective of many nodes stays cheap.
            const auto& [first, firstEnds] = *byClock.begin();
            for (auto it = std::next(byClock.begin()); it != byClock.end(); ++it)
                pairs[{ first, it->first }].push_back({ quantile(firstEnds, 0.5), quantile(it->second, 0.5) });
        }
        return pairs;
    }

    /// From clock to clock along the pairs with the most common collectives (a spanning tree), each onto the first.
    void fitClocks()
    {
        const auto pairs = samplesOfPairs();
        std::vector<bool> done(maps_.size(), false);
        for (std::size_t start = 0; start < maps_.size(); ++start) {
            done[start] = true; // clocks that nothing connects with others stay as they are
            for (;;) {
                const std::pair<const std::pair<std::size_t, std::size_t>, Samples>* best = nullptr;
                for (const auto& pair : pairs) {
                    if (done[pair.first.first] != done[pair.first.second]
                        && (!best || pair.second.size() > best->second.size()))
                        best = &pair;
                }
                if (!best)
                    break;
                const auto& [a, b] = best->first;
                connect(done[a] ? b : a, done[a] ? a : b, best->second, done[a]);
                done[a] = done[b] = true;
            }
        }
    }

    void connect(std::size_t clock, std::size_t to, Samples samples, bool swap)
    {
        for (ClockSample& sample : samples) {
            if (swap)
                std::swap(sample.fromNs, sample.toNs);
        }
        maps_[clock] = fitClock(samples).map.then(maps_[to]);
    }

    /// The ends of an anchor on the common clock, and their median.
    std::int64_t centreOf(const Anchor& anchor) const
    {
        std::vector<std::int64_t> ends;
        for (const auto& [trace, end] : anchor.ends)
            ends.push_back(maps_[clockOf_[trace]](end));
        return quantile(std::move(ends), 0.5);
    }

    /// The first clock's own jitter went into all others: once more, against the median of all.
    void centre()
    {
        std::vector<std::vector<std::int64_t>> left(maps_.size());
        for (const Anchor& anchor : anchors_) {
            const std::int64_t centre = centreOf(anchor);
            for (const auto& [trace, end] : anchor.ends)
                left[clockOf_[trace]].push_back(centre - maps_[clockOf_[trace]](end));
        }
        std::int64_t least = std::numeric_limits<std::int64_t>::max();
        for (std::size_t c = 0; c < maps_.size(); ++c) {
            maps_[c].shiftNs += leastMedian(left[c]);
            if (!left[c].empty())
                least = std::min(least, maps_[c].shiftNs);
        }
        // Onto the clock that is furthest ahead: one that counts from UTC stays, one that counts from a start moves.
        for (std::size_t c = 0; c < maps_.size(); ++c)
            maps_[c].shiftNs -= left[c].empty() ? 0 : least;
    }

    /// How far each trace's ends are from the common ones.
    std::vector<ClockFit> whatIsLeft() const
    {
        std::vector<Samples> samples(traces_.size());
        for (const Anchor& anchor : anchors_) {
            const std::int64_t centre = centreOf(anchor);
            for (const auto& [trace, end] : anchor.ends)
                samples[trace].push_back({ maps_[clockOf_[trace]](end), centre });
        }
        std::vector<ClockFit> left;
        for (Samples& own : samples) {
            std::ranges::sort(own, {}, &ClockSample::fromNs);
            left.push_back(own.empty() ? ClockFit{} : judgeClock({}, own));
        }
        return left;
    }

    /// Maps count from the first trace's base; a trace's own times begin at UTC 0.
    ClockMap onTheFile(ClockMap map) const
    {
        map.pivotNs += traces_.front().baseNs;
        return map;
    }

    std::string noteOf(const Alignment& out) const
    {
        if (!out.aligned)
            return "clocks not aligned: ends of the same collectives differ by " + milliseconds(out.errorNs)
                + " after the best shift" + (out.greatestDrift > 0 ? " and drift" : "")
                + ", more than a transfer takes";
        const std::string drift
            = out.greatestDrift > 0 ? " and by a drift of " + inUnit(out.greatestDrift * 1e6, "ppm") : "";
        return "clocks moved by at most " + milliseconds(out.greatestShiftNs) + drift + ", ends then agree within "
            + milliseconds(out.errorNs) + " (" + std::to_string(anchors_.size()) + " collectives)";
    }

    std::span<SourceTrace> traces_;
    std::vector<std::size_t> clockOf_; ///< by trace
    std::vector<ClockMap> maps_; ///< by clock: onto the common one
    std::vector<Anchor> anchors_;
    std::vector<std::int64_t> transfers_; ///< shortest part of each anchor
};

} // namespace

Alignment alignClocks(std::span<SourceTrace> traces, const MatchResult& matches)
{
    if (onOneClock(traces)) {
        Alignment out;
        out.aligned = true;
        return out;
    }
    return ClockAlignment(traces, matches).align();
}

} // namespace rankscope::tracing
