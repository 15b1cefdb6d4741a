#include "tracing/import/collective_matcher.h"

#include <algorithm>
#include <limits>
#include <map>
#include <tuple>

namespace rankscope::tracing {

namespace {

constexpr std::ptrdiff_t kGreatestShift = 64;
constexpr std::size_t kFewestPairs = 2;
constexpr std::int64_t kAlwaysGood = 200'000; // ns between the exits of one collective

std::int64_t median(std::vector<std::int64_t>& values)
{
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
}

bool compatible(CollectiveOp a, CollectiveOp b)
{
    return a == b || a == CollectiveOp::Unknown || b == CollectiveOp::Unknown;
}

struct Fit {
    std::size_t pairs = 0;
    std::size_t misfits = 0; ///< pairs of different operations
    double spread = 0; ///< mean distance of the ends' differences from their median
    std::int64_t typical = 0; ///< median distance
};

Fit fitOf(std::span<const OrderedEnd> reference, std::span<const OrderedEnd> other, std::ptrdiff_t shift)
{
    Fit fit;
    std::vector<std::int64_t> differences;
    for (std::size_t i = 0; i < reference.size(); ++i) {
        const std::ptrdiff_t j = static_cast<std::ptrdiff_t>(i) + shift;
        if (j < 0 || j >= static_cast<std::ptrdiff_t>(other.size()))
            continue;
        const OrderedEnd& partner = other[static_cast<std::size_t>(j)];
        differences.push_back(partner.endNs - reference[i].endNs);
        fit.misfits += compatible(partner.op, reference[i].op) ? 0 : 1;
    }
    fit.pairs = differences.size();
    if (fit.pairs == 0)
        return fit;
    // Long misfits count, one outlier does not decide.
    const std::int64_t centre = median(differences);
    for (std::int64_t& difference : differences) {
        difference = std::abs(difference - centre);
        fit.spread += static_cast<double>(difference);
    }
    fit.spread /= static_cast<double>(fit.pairs);
    fit.typical = median(differences);
    return fit;
}

/// Median time between the ends of two collectives that follow one another.
std::int64_t typicalGap(std::span<const OrderedEnd> ends)
{
    std::vector<std::int64_t> gaps;
    for (std::size_t i = 1; i < ends.size(); ++i)
        gaps.push_back(std::abs(ends[i].endNs - ends[i - 1].endNs));
    return gaps.empty() ? 0 : median(gaps);
}

class Matcher {
public:
    explicit Matcher(std::span<SourceTrace> traces)
        : traces_(traces)
    {
        std::int32_t world = 0;
        for (const SourceTrace& trace : traces) {
            world = std::max({ world, trace.worldSize.value_or(0), trace.rank.value_or(0) + 1 });
            present_.push_back(trace.rank.value_or(0));
        }
        worldSize_ = world;
    }

    MatchResult run()
    {
        for (std::size_t t = 0; t < traces_.size(); ++t) {
            for (std::size_t p = 0; p < traces_[t].parts.size(); ++p)
                sortIn(t, p);
        }
        for (auto& [key, instance] : numbered_)
            finish(std::move(instance));
        for (auto& [key, sequences] : ordered_)
            matchByOrder(key.first, sequences);
        countLonely();
        return std::move(result_);
    }

private:
    using Member = SourceInstance::Member;
    using Sequences = std::map<std::size_t, std::vector<Member>>; ///< by trace, in order

    std::uint32_t groupOf(const SourceTrace& trace, const SourcePart& part)
    {
        SourceGroup group = trace.groups.empty() ? SourceGroup{} : trace.groups[part.group];
        if (group.ranks.empty() && (group.size == 0 || group.size == worldSize_)) {
            group.size = worldSize_; // nothing known: all ranks of the job
            for (std::int32_t r = 0; r < worldSize_; ++r)
                group.ranks.push_back(r);
        }
        // The same ranks under the same name are one group, whichever file said so.
        const auto key = std::tuple(group.name, group.ranks, group.size);
        const auto [it, isNew] = groups_.try_emplace(key, static_cast<std::uint32_t>(result_.groups.size()));
        if (isNew)
            result_.groups.push_back(std::move(group));
        return it->second;
    }

    const SourcePart& at(const Member& member) const { return traces_[member.trace].parts[member.part]; }
    std::int64_t endOf(const Member& member) const
    {
        // Relative to the first file's base, so that 64 bits are enough; a damaged file's are kept within them.
        constexpr std::int64_t kFar = std::numeric_limits<std::int64_t>::max() / 8;
        std::int64_t distance = 0, end = 0;
        if (__builtin_sub_overflow(traces_[member.trace].baseNs, traces_.front().baseNs, &distance)
            || __builtin_add_overflow(at(member).endNs, distance, &end))
            return kFar;
        return std::clamp(end, -kFar, kFar);
    }

    std::int32_t worldRankOf(const SourceGroup& group, std::int32_t peer) const
    {
        const auto index = static_cast<std::size_t>(peer);
        return index < group.ranks.size() ? group.ranks[index] : peer;
    }

    void sortIn(std::size_t t, std::size_t p)
    {
        SourcePart& part = traces_[t].parts[p];
        const std::uint32_t group = groupOf(traces_[t], part);
        const std::int32_t rank = present_[t];
        if (isPointToPoint(part.op) && part.peer) {
            const std::int32_t peer = worldRankOf(result_.groups[group], *part.peer);
            part.peer = peer;
            const bool sends = part.op == CollectiveOp::Send;
            const auto key = std::tuple(sends ? rank : peer, sends ? peer : rank);
            const std::int64_t number = part.sequence.value_or(messages_[{ t, key }]++);
            join({ group, CollectiveOp::Send, number, std::get<0>(key), std::get<1>(key) }, { t, p }, 2);
        } else if (part.sequence && part.op != CollectiveOp::Unknown) {
            const auto& ranks = result_.groups[group].ranks;
            const auto expected = ranks.empty() ? result_.groups[group].size : static_cast<std::int32_t>(ranks.size());
            join({ group, part.op, *part.sequence, -1, -1 }, { t, p }, expected);
        } else {
            ordered_[{ group, traces_[t].lanes.empty() ? "" : streamOf(traces_[t].lanes[part.lane].name) }][t]
                .push_back({ t, p });
        }
    }

    /// Streams have the same number on every rank where ranks run the same program; the device's number behind differs.
    static std::string streamOf(const std::string& laneName)
    {
        const std::string stream = laneName.substr(0, laneName.find(" · "));
        return stream.substr(stream.rfind(' ') + 1);
    }

    using Key = std::tuple<std::uint32_t, CollectiveOp, std::int64_t, std::int32_t, std::int32_t>;
    void join(const Key& key, const Member& member, std::int32_t expected)
    {
        SourceInstance& instance = numbered_[key];
        instance.group = std::get<0>(key);
        instance.op = std::get<1>(key);
        instance.sequence = std::get<2>(key);
        instance.expected = expected;
        const auto twice = std::ranges::find(instance.members, member.trace, &Member::trace);
        if (twice != instance.members.end() && !isPointToPoint(instance.op)) {
            ++duplicates_; // a number used twice by one rank: the later one stays alone
            return;
        }
        instance.members.push_back(member);
    }

    void finish(SourceInstance instance)
    {
        instance.id = static_cast<std::int64_t>(result_.instances.size()) + 1;
        for (const Member& member : instance.members)
            traces_[member.trace].parts[member.part].instance = instance.id;
        result_.instances.push_back(std::move(instance));
    }

    void matchByOrder(std::uint32_t group, Sequences& sequences)
    {
        for (auto& [trace, members] : sequences)
            std::ranges::sort(members, {}, [&](const Member& m) { return std::pair(at(m).beginNs, m.part); });
        // The reference is the rank with the fewest, so that every other one can be laid along it.
        const auto reference = std::ranges::min_element(sequences, {}, [](const auto& s) { return s.second.size(); });
        const std::vector<OrderedEnd> referenceEnds = endsOf(reference->second);
        std::map<std::ptrdiff_t, SourceInstance> byPlace;
        for (auto& [trace, members] : sequences) {
            std::ptrdiff_t shift = 0;
            if (trace != reference->first) {
                const auto best = bestShift(referenceEnds, endsOf(members));
                if (!best) {
                    leaveAlone(group, trace, members);
                    continue;
                }
                shift = *best;
                if (shift != 0)
                    result_.how += (result_.how.empty() ? "matched by order; " : ", ") + std::string("rank ")
                        + std::to_string(present_[trace]) + " shifted by " + std::to_string(shift) + " against rank "
                        + std::to_string(present_[reference->first]);
            }
            for (std::size_t i = 0; i < members.size(); ++i)
                place(group, static_cast<std::ptrdiff_t>(i) - shift, members[i], byPlace);
        }
        std::map<CollectiveOp, std::int64_t> numbers;
        for (auto& [at, instance] : byPlace) {
            instance.sequence = numbers[instance.op]++;
            finish(std::move(instance));
        }
    }

    /// No pairing with the other ranks is convincing: every part stays alone rather than be matched by a guess.
    void leaveAlone(std::uint32_t group, std::size_t trace, const std::vector<Member>& members)
    {
        result_.notes.push_back({ "collectives not matched", static_cast<std::int64_t>(members.size()),
            "no order of rank " + std::to_string(present_[trace])
                + "'s collectives fits the other ranks' and there are no sequence numbers" });
        for (const Member& member : members) {
            SourceInstance alone;
            alone.group = group;
            alone.op = at(member).op;
            alone.sequence = aloneNumber_++;
            alone.members.push_back(member);
            alone.expected = expectedOf(group);
            finish(std::move(alone));
        }
    }

    void place(std::uint32_t group, std::ptrdiff_t position, const Member& member,
        std::map<std::ptrdiff_t, SourceInstance>& byPlace)
    {
        SourceInstance& instance = byPlace[position];
        const CollectiveOp op = at(member).op;
        if (!compatible(instance.op, op)) {
            ++mismatches_;
            SourceInstance alone;
            alone.group = group;
            alone.op = op;
            alone.sequence = position;
            alone.members.push_back(member);
            alone.expected = expectedOf(group);
            return finish(std::move(alone));
        }
        if (op != CollectiveOp::Unknown)
            instance.op = op;
        instance.group = group;
        instance.expected = expectedOf(group);
        instance.members.push_back(member);
    }

    std::int32_t expectedOf(std::uint32_t group) const
    {
        const SourceGroup& g = result_.groups[group];
        return g.ranks.empty() ? g.size : static_cast<std::int32_t>(g.ranks.size());
    }

    std::vector<OrderedEnd> endsOf(const std::vector<Member>& members) const
    {
        std::vector<OrderedEnd> ends;
        for (const Member& member : members)
            ends.push_back({ endOf(member), at(member).op });
        return ends;
    }

    void countLonely()
    {
        for (const SourceInstance& instance : result_.instances) {
            const SourceGroup& group = result_.groups[instance.group];
            const auto inFiles = std::ranges::count_if(present_, [&](std::int32_t rank) {
                return group.ranks.empty() || std::ranges::find(group.ranks, rank) != group.ranks.end();
            });
            if (instance.members.size() == 1 && inFiles > 1 && instance.expected != 1)
                ++result_.withoutPartner;
        }
        const auto note = [&](const char* kind, std::int64_t count, const char* detail) {
            if (count > 0)
                result_.notes.push_back({ kind, count, detail });
        };
        note("collective without a partner", result_.withoutPartner, "the other ranks' files do not hold it");
        note("collectives that do not fit", mismatches_, "ranks ran different operations in the same place");
        note("sequence number used twice", duplicates_, "one rank has two collectives of one number");
    }

    std::span<SourceTrace> traces_;
    std::int32_t worldSize_ = 0;
    std::vector<std::int32_t> present_; ///< rank by trace
    MatchResult result_;
    std::map<std::tuple<std::string, std::vector<std::int32_t>, std::int32_t>, std::uint32_t> groups_;
    std::map<Key, SourceInstance> numbered_;
    std::map<std::pair<std::uint32_t, std::string>, Sequences> ordered_;
    std::map<std::pair<std::size_t, std::tuple<std::int32_t, std::int32_t>>, std::int64_t> messages_;
    std::int64_t mismatches_ = 0;
    std::int64_t duplicates_ = 0;
    std::int64_t aloneNumber_ = 1'000'000'000; ///< far from real sequence numbers
};

} // namespace

std::optional<std::ptrdiff_t> bestShift(std::span<const OrderedEnd> reference, std::span<const OrderedEnd> other)
{
    if (reference.empty() || other.empty())
        return std::nullopt;
    const auto n = static_cast<std::ptrdiff_t>(reference.size()), m = static_cast<std::ptrdiff_t>(other.size());
    const std::ptrdiff_t fromTheEnd = m - n;
    const std::ptrdiff_t reach = std::min(kGreatestShift, std::max(n, m) - 1);
    const std::ptrdiff_t first = std::min<std::ptrdiff_t>(0, fromTheEnd) - reach;
    const std::ptrdiff_t last = std::max<std::ptrdiff_t>(0, fromTheEnd) + reach;
    std::ptrdiff_t best = fromTheEnd;
    std::tuple<double, double, std::ptrdiff_t, std::ptrdiff_t> bestScore;
    bool found = false, convincing = false;
    for (std::ptrdiff_t shift = first; shift <= last; ++shift) {
        const Fit fit = fitOf(reference, other, shift);
        if (fit.pairs < std::min(kFewestPairs, reference.size())
            || static_cast<std::ptrdiff_t>(fit.pairs) * 2 < std::min(n, m))
            continue;
        // Pairs that are left over cost: else two that agree by chance would win.
        const double coverage = static_cast<double>(std::min(n, m)) / static_cast<double>(fit.pairs);
        const double misfits = static_cast<double>(fit.misfits) / static_cast<double>(fit.pairs);
        const std::tuple score{ misfits, fit.spread * coverage, std::abs(shift - fromTheEnd), std::abs(shift) };
        if (!found || score < bestScore) {
            found = true;
            bestScore = score;
            best = shift;
            convincing = fit.misfits == 0 && fit.typical <= std::max(kAlwaysGood, typicalGap(reference) / 4);
        }
    }
    return convincing ? std::optional(best) : std::nullopt;
}

MatchResult matchCollectives(std::span<SourceTrace> traces) { return Matcher(traces).run(); }

} // namespace rankscope::tracing
