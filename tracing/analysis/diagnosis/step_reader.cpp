#include "tracing/analysis/diagnosis/step_reader.h"

#include "tracing/model/interval.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <unordered_map>

namespace rankscope::tracing::diagnosis {

namespace {

constexpr std::int64_t kStepsAtOnce = 64;
/// The collector writes what ranks do at the same time sooner than that.
constexpr std::int64_t kLongestDelayNs = 5'000'000'000;
/// A receiver that found its message there did not see how long it was under way.
constexpr std::int64_t kAtOnceNs = 50'000;
constexpr std::string_view kQueueCounter = "ready to work without a core";

/// The kernels of one rank and step by signature, until their quartiles are known.
using Durations = std::map<SignatureId, std::vector<std::int64_t>>;

struct Entered {
    std::int32_t rank = 0;
    CollectivePart part;
    Dimension dimension = Dimension::None;
};

class StepsReader {
public:
    StepsReader(TraceReader& reader, std::vector<StepMeasures>& steps)
        : reader_(reader)
        , steps_(steps)
        , window_{ steps.front().window.beginNs, steps.front().window.endNs }
    {
        for (const StepMeasures& step : steps) {
            window_.beginNs = std::min(window_.beginNs, step.window.beginNs);
            window_.endNs = std::max(window_.endNs, step.window.endNs);
        }
    }

    Status run()
    {
        const auto lanes = reader_.lanes();
        if (!lanes)
            return lanes.error();
        std::set<std::int32_t> ranks;
        for (const StepMeasures& step : steps_) {
            for (const RankStep& rank : step.ranks)
                ranks.insert(rank.rank);
        }
        for (const std::int32_t rank : ranks) {
            if (const Status read = readRank(rank, *lanes); !read)
                return read;
        }
        addFlights();
        return Done{};
    }

private:
    /// One of a rank's steps while its rows come in.
    struct Open {
        RankStep* step = nullptr;
        Durations durations;
        std::vector<Window> busy;
    };

    Status readRank(std::int32_t rank, const std::vector<Lane>& lanes)
    {
        open_.clear();
        for (StepMeasures& step : steps_) {
            for (RankStep& own : step.ranks) {
                if (own.rank == rank)
                    open_.push_back({ &own, {}, {} });
            }
        }
        std::ranges::sort(open_, {}, [](const Open& open) { return open.step->window.beginNs; });
        for (const Lane& lane : lanes) {
            if (lane.rank != rank)
                continue;
            if (const Status read = readLane(lane); !read)
                return read;
        }
        for (Open& open : open_)
            finish(open);
        return Done{};
    }

    Open* at(std::int64_t time)
    {
        auto next
            = std::ranges::upper_bound(open_, time, {}, [](const Open& open) { return open.step->window.beginNs; });
        if (next == open_.begin() || time >= (next - 1)->step->window.endNs)
            return nullptr;
        return &*(next - 1);
    }

    Status readLane(const Lane& lane)
    {
        switch (lane.kind) {
        case LaneKind::Compute:
            return reader_.visit<Kernel>(
                lane.id, window_, [&](std::span<const Kernel> rows) { return addKernels(rows); });
        case LaneKind::Communication:
            return reader_.visit<CollectivePart>(
                lane.id, window_, [&](std::span<const CollectivePart> rows) { return addParts(lane, rows); });
        case LaneKind::Copy:
            return reader_.visit<Copy>(lane.id, window_, [&](std::span<const Copy> rows) {
                for (const Copy& row : rows)
                    addBusy({ row.beginNs, row.endNs });
                return true;
            });
        case LaneKind::Host:
            return reader_.visit<Range>(lane.id, window_, [&](std::span<const Range> rows) { return addRanges(rows); });
        case LaneKind::Counter:
            if (lane.name == kQueueCounter)
                return readQueue(lane);
            break;
        }
        return Done{};
    }

    void addBusy(Window busy)
    {
        if (Open* open = at(busy.beginNs))
            open->busy.push_back(busy);
    }

    bool addKernels(std::span<const Kernel> rows)
    {
        for (const Kernel& row : rows) {
            Open* open = at(row.beginNs);
            if (!open)
                continue;
            open->busy.push_back({ row.beginNs, row.endNs });
            const std::int64_t wall = row.endNs - row.beginNs;
            open->durations[row.signature].push_back(wall);
            const std::int64_t onCore = row.cpuNs ? std::min(*row.cpuNs, wall) : wall;
            open->step->kernels[row.signature].sumNs += onCore;
            open->step->offCoreNs += wall - onCore;
        }
        return true;
    }

    bool addParts(const Lane& lane, std::span<const CollectivePart> rows)
    {
        for (const CollectivePart& row : rows) {
            addBusy({ row.beginNs, row.endNs });
            instances_[row.instance].push_back({ lane.rank, row, lane.dimension });
        }
        return true;
    }

    bool addRanges(std::span<const Range> rows)
    {
        for (const Range& row : rows) {
            const bool isBusy
                = row.kind == RangeKind::Data || row.kind == RangeKind::Checkpoint || row.kind == RangeKind::Validation;
            Open* open = isBusy ? at(row.beginNs) : nullptr;
            if (!open)
                continue;
            open->busy.push_back({ row.beginNs, row.endNs });
            if (row.kind == RangeKind::Data)
                open->step->dataNs += row.endNs - row.beginNs;
        }
        return true;
    }

    /// Samples are taken when a step has just ended.
    Status readQueue(const Lane& lane)
    {
        constexpr double kNsPerSecond = 1e9;
        const Window until{ window_.beginNs, std::numeric_limits<std::int64_t>::max() };
        return reader_.visit<CounterSample>(lane.id, until, [&](std::span<const CounterSample> rows) {
            for (const CounterSample& row : rows) {
                const auto next = std::ranges::upper_bound(
                    open_, row.timeNs, {}, [](const Open& open) { return open.step->window.endNs; });
                if (next != open_.begin() && !(next - 1)->step->queueNs)
                    (next - 1)->step->queueNs = static_cast<std::int64_t>(row.value * kNsPerSecond);
            }
            return rows.empty() || rows.back().timeNs < window_.endNs;
        });
    }

    static void finish(Open& open)
    {
        for (auto& [signature, durations] : open.durations) {
            const auto quartile = durations.begin() + std::ssize(durations) / 4;
            std::ranges::nth_element(durations, quartile);
            KernelSum& sum = open.step->kernels[signature];
            sum.count = std::ssize(durations);
            sum.typicalNs = *quartile;
        }
        const Window whole = open.step->window;
        const Intervals busy = clipped(unionOf(std::move(open.busy)), whole);
        open.step->idleNs = whole.durationNs() - totalNs(busy);
    }

    void addFlights()
    {
        for (const auto& [instance, parts] : instances_) {
            if (parts.size() < 2)
                continue;
            addWaits(parts);
            Route route{ parts[0].part.op, parts[0].dimension, parts[0].part.bytes, {} };
            std::int64_t began = std::numeric_limits<std::int64_t>::min(), ended = began;
            const bool isMessage = isPointToPoint(route.op);
            const bool wasThere = std::ranges::any_of(parts, [](const Entered& entered) {
                return entered.part.op == CollectiveOp::Receive
                    && entered.part.endNs - entered.part.beginNs < kAtOnceNs;
            });
            if (wasThere)
                continue;
            for (const Entered& entered : parts) {
                const bool sends = entered.part.op == CollectiveOp::Send;
                if (!isMessage || sends)
                    began = std::max(began, entered.part.beginNs);
                if (!isMessage || !sends)
                    ended = std::max(ended, entered.part.endNs);
                route.ranks.insert(isMessage && sends ? route.ranks.begin() : route.ranks.end(), entered.rank);
            }
            if (isMessage)
                route.op = CollectiveOp::Send;
            else
                std::ranges::sort(route.ranks);
            addFlight(route, began, std::max<std::int64_t>(0, ended - began));
        }
    }

    void addWaits(const std::vector<Entered>& parts)
    {
        std::int64_t last = std::numeric_limits<std::int64_t>::min();
        for (const Entered& entered : parts)
            last = std::max(last, entered.part.beginNs);
        if (StepMeasures* step = stepAt(last)) {
            for (const Entered& entered : parts)
                step->waitNs[entered.dimension]
                    += std::max<std::int64_t>(0, std::min(last, entered.part.endNs) - entered.part.beginNs);
        }
    }

    StepMeasures* stepAt(std::int64_t time)
    {
        const auto next
            = std::ranges::upper_bound(steps_, time, {}, [](const StepMeasures& step) { return step.window.beginNs; });
        return next == steps_.begin() || time >= (next - 1)->window.endNs ? nullptr : &*(next - 1);
    }

    void addFlight(const Route& route, std::int64_t began, std::int64_t ns)
    {
        StepMeasures* step = stepAt(began);
        if (!step)
            return;
        Flight& flight = step->flights[route];
        flight.leastNs = flight.count == 0 ? ns : std::min(flight.leastNs, ns);
        flight.sumNs += ns;
        ++flight.count;
    }

    TraceReader& reader_;
    std::vector<StepMeasures>& steps_;
    Window window_;
    std::vector<Open> open_;
    std::unordered_map<InstanceId, std::vector<Entered>> instances_;
};

/// The same step of several ranks.
void add(StepMeasures& step, const Step& row)
{
    const Window own{ row.beginNs, row.endNs };
    step.step = row.step;
    step.attempt = row.attempt;
    step.window = step.ranks.empty()
        ? own
        : Window{ std::min(step.window.beginNs, own.beginNs), std::max(step.window.endNs, own.endNs) };
    RankStep rank;
    rank.rank = row.rank;
    rank.window = own;
    step.ranks.push_back(std::move(rank));
}

} // namespace

Result<std::vector<StepMeasures>> StepReader::endedSteps(TraceReader& reader, const Place& place)
{
    const auto ranks = reader.ranks();
    if (!ranks)
        return ranks.error();
    std::map<std::int64_t, StepMeasures> byNumber;
    std::int64_t latest = std::numeric_limits<std::int64_t>::min();
    std::size_t silent = 0;
    for (const RankInfo& rank : *ranks) {
        const auto rows = reader.steps(rank.rank, place.attempt, place.after, kStepsAtOnce);
        if (!rows)
            return rows.error();
        for (const Step& row : *rows) {
            add(byNumber[row.step], row);
            latest = std::max(latest, row.endNs);
        }
        silent += rows->empty();
    }
    std::vector<StepMeasures> steps;
    for (auto& [number, step] : byNumber) {
        // Fewer ranks may go on than have begun: who says nothing for so long has no part in the attempt.
        const bool isAlone = place.attempt > 0 && latest - step.window.endNs > kLongestDelayNs;
        if (step.ranks.size() + (isAlone ? silent : 0) == ranks->size())
            steps.push_back(std::move(step));
    }
    return steps;
}

Result<std::optional<StepReader::Place>> StepReader::nextAttempt(TraceReader& reader, const Place& place)
{
    const auto failures = reader.failures();
    if (!failures)
        return failures.error();
    const auto failure = std::ranges::find(*failures, place.attempt, &AttemptFailure::attempt);
    if (failure == failures->end() || !failure->reformedNs)
        return std::optional<Place>();
    return std::optional(Place{ place.attempt + 1, failure->restoredStep.value_or(Place().after) });
}

Result<std::vector<StepMeasures>> StepReader::next(TraceReader& reader)
{
    std::optional<Place> place = place_;
    while (place) {
        auto steps = endedSteps(reader, *place);
        if (!steps)
            return steps;
        if (!steps->empty()) {
            if (const Status read = StepsReader(reader, *steps).run(); !read)
                return read.error();
            place_ = { steps->back().attempt, steps->back().step };
            return steps;
        }
        const auto next = nextAttempt(reader, *place);
        if (!next)
            return next.error();
        place = *next;
    }
    return std::vector<StepMeasures>();
}

} // namespace rankscope::tracing::diagnosis
