#include "tracing/analysis/ledger/label_clock.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace rankscope::tracing::ledger {

namespace {

Ns& at(LabelTimes& times, Label label) { return times[static_cast<std::size_t>(label)]; }

} // namespace

LabelClock::LabelClock(const std::vector<Segment>& segments, const ComputeShare& share)
    : segments_(segments)
    , share_(share)
{
    LabelTimes running{};
    for (std::size_t i = 0; i < segments.size(); ++i) {
        if (i % kStride == 0)
            sums_.push_back(running);
        add(segments[i], segments[i].begin, segments[i].end, running);
    }
}

void LabelClock::add(const Segment& segment, Ns from, Ns to, LabelTimes& times) const
{
    if (segment.label != Label::Compute) {
        at(times, segment.label) += to - from;
        return;
    }
    const Ns off = share_.descheduledUpTo(to) - share_.descheduledUpTo(from);
    at(times, Label::Descheduled) += off;
    at(times, Label::Compute) += to - from - off;
}

std::size_t LabelClock::firstAfter(Ns t) const
{
    return static_cast<std::size_t>(std::ranges::upper_bound(segments_, t, {}, &Segment::end) - segments_.begin());
}

LabelTimes LabelClock::between(Ns from, Ns to) const
{
    LabelTimes times{};
    if (to <= from)
        return times;
    const auto upTo = [&](Ns t, LabelTimes& sum) {
        const std::size_t last = firstAfter(t);
        const std::size_t base = sums_.empty() ? 0 : std::min(last / kStride, sums_.size() - 1);
        if (!sums_.empty())
            sum = sums_[base];
        for (std::size_t i = base * kStride; i < last; ++i)
            add(segments_[i], segments_[i].begin, segments_[i].end, sum);
        if (last < segments_.size() && segments_[last].begin < t)
            add(segments_[last], segments_[last].begin, t, sum);
    };
    LabelTimes before{};
    upTo(from, before);
    upTo(to, times);
    for (std::size_t c = 0; c < times.size(); ++c)
        times[c] -= before[c];
    const Ns recorded = std::accumulate(times.begin(), times.end(), Ns{ 0 });
    Ns length = 0;
    if (__builtin_sub_overflow(to, from, &length))
        length = std::numeric_limits<Ns>::max(); // since ever: of a part that began before its rank's first stretch
    at(times, Label::NotRecorded) = length - recorded;
    return times;
}

} // namespace rankscope::tracing::ledger
