#include "tracing/analysis/scenario/pipeline_plan.h"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

namespace rankscope::tracing::scenario {

namespace {

using ledger::Label;
using ledger::Ns;

struct Sum {
    double total = 0;
    std::int64_t count = 0;
    void add(double value)
    {
        total += value;
        ++count;
    }
    double mean() const { return count > 0 ? total / static_cast<double>(count) : 0; }
};

/// One pass of one micro-batch on one rank: kernels that follow each other.
struct PassSpan {
    bool forward = false;
    std::int32_t microBatch = 0;
    Ns begin = 0;
    Ns end = 0;
    Ns weight = 0;
};

struct StageSums {
    Sum before, forward, backward, weight, onwards, backwards;
};

class Measuring {
public:
    Measuring(const ledger::LedgerInput& input, const ledger::LedgerResult& result, std::span<const Window> steps,
        const IsWeightGradient& isWeightGradient)
        : input_(input)
        , result_(result)
        , steps_(steps)
        , isWeightGradient_(isWeightGradient)
        , stages_(static_cast<std::size_t>(input.pipeline->stages))
        , lastPass_(steps.size(), 0)
    {
    }

    Result<PipelineTimes> run()
    {
        for (std::size_t r = 0; r < input_.ranks.size(); ++r) {
            if (!input_.ranks[r].stage || *input_.ranks[r].stage < 0
                || *input_.ranks[r].stage >= input_.pipeline->stages)
                return Error("schedule, micro_batches: the run does not say which stage a rank is");
            measureRank(r);
        }
        for (const StageSums& stage : stages_) {
            if (stage.forward.count == 0 || stage.backward.count == 0)
                return Error("schedule, micro_batches: the run's kernels do not say of which micro-batch they are");
        }
        measureMessages();
        return times();
    }

private:
    /// The rank's passes that begin in the step.
    std::vector<PassSpan> passesIn(std::size_t r, const Window& step) const
    {
        std::vector<std::size_t> kernels;
        const auto& compute = input_.ranks[r].compute;
        for (std::size_t i = 0; i < compute.size(); ++i) {
            const Pass pass = compute[i].pass;
            if (compute[i].begin >= step.beginNs && compute[i].begin < step.endNs && compute[i].microBatch
                && pass != Pass::None && pass != Pass::Optimizer)
                kernels.push_back(i);
        }
        std::ranges::sort(kernels, {}, [&](std::size_t i) { return std::pair(compute[i].begin, i); });
        std::vector<PassSpan> passes;
        for (const std::size_t i : kernels) {
            const ledger::ComputeOp& op = compute[i];
            const bool forward = op.pass == Pass::Forward;
            if (passes.empty() || passes.back().forward != forward || passes.back().microBatch != *op.microBatch)
                passes.push_back({ forward, *op.microBatch, op.begin, op.end, 0 });
            passes.back().end = std::max(passes.back().end, op.end);
            passes.back().weight += isWeightGradient_(r, i) ? op.end - op.begin : 0;
        }
        return passes;
    }

    /// Time of the rank in [from, to) that no pipeline message explains.
    Ns ownTime(std::size_t r, Ns from, Ns to) const
    {
        const auto& segments = result_.ranks[r].segments;
        Ns own = 0;
        for (auto it = std::ranges::upper_bound(segments, from, {}, &ledger::Segment::end);
             it != segments.end() && it->begin < to; ++it) {
            if (!isMessage(r, *it))
                own += std::min(it->end, to) - std::max(it->begin, from);
        }
        return own;
    }

    bool isMessage(std::size_t r, const ledger::Segment& segment) const
    {
        if (segment.label >= Label::BubbleFill)
            return true;
        if ((segment.label != Label::Wait && segment.label != Label::Transfer) || segment.part < 0)
            return false;
        const auto part = static_cast<std::size_t>(segment.part);
        return input_.instances[input_.ranks[r].parts[part].instance].dimension == Dimension::Pipeline;
    }

    void measureRank(std::size_t r)
    {
        StageSums& stage = stages_[static_cast<std::size_t>(*input_.ranks[r].stage)];
        for (std::size_t k = 0; k < steps_.size(); ++k) {
            const std::vector<PassSpan> passes = passesIn(r, steps_[k]);
            if (passes.empty())
                continue;
            stage.before.add(static_cast<double>(ownTime(r, steps_[k].beginNs, passes.front().begin)));
            double forward = 0, backward = 0, weight = 0;
            for (std::size_t i = 0; i < passes.size(); ++i) {
                const Ns from = i > 0 ? passes[i - 1].end : passes[i].begin;
                (passes[i].forward ? forward : backward) += static_cast<double>(ownTime(r, from, passes[i].end));
                weight += static_cast<double>(passes[i].weight);
            }
            const double microBatches = input_.pipeline->microBatches;
            stage.forward.add(forward / microBatches);
            stage.backward.add(backward / microBatches);
            stage.weight.add(weight / microBatches);
            lastPass_[k] = std::max(lastPass_[k], passes.back().end);
        }
    }

    struct Ends {
        const ledger::SplitPart* send = nullptr;
        const ledger::SplitPart* receive = nullptr;
        bool isCounted = false;
    };

    /// A message that its sender keeps until the receiver asks for it flies from the later of both; one that is sent
    /// ahead, from its sending until it is there or has left the sender.
    void measureMessages()
    {
        std::map<std::size_t, Ends> messages;
        bool ahead = false;
        for (std::size_t r = 0; r < input_.ranks.size(); ++r) {
            for (std::size_t p = 0; p < input_.ranks[r].parts.size(); ++p) {
                const ledger::PartOp& part = input_.ranks[r].parts[p];
                const ledger::Instance& instance = input_.instances[part.instance];
                if (instance.dimension != Dimension::Pipeline || !instance.source || !instance.destination)
                    continue;
                const ledger::SplitPart& split = result_.ranks[r].parts[p];
                Ends& ends = messages[part.instance];
                (*instance.source == input_.ranks[r].rank ? ends.send : ends.receive) = &split;
                ahead = ahead || split.eager;
                ends.isCounted = std::ranges::any_of(steps_,
                    [&](const Window& step) { return step.beginNs <= split.entry && split.entry < step.endNs; });
            }
        }
        for (const auto& [instance, ends] : messages) {
            if (ends.send && ends.receive && ends.isCounted)
                addFlight(input_.instances[instance], ends, ahead);
        }
    }

    void addFlight(const ledger::Instance& instance, const Ends& ends, bool ahead)
    {
        const Ns from = ahead ? ends.send->entry : std::max(ends.send->entry, ends.receive->entry);
        const Ns to = ahead ? std::min(ends.send->exit, ends.receive->exit) : ends.receive->exit;
        const auto sender = std::ranges::find(input_.ranks, *instance.source, &ledger::RankInput::rank);
        const auto receiver = std::ranges::find(input_.ranks, *instance.destination, &ledger::RankInput::rank);
        if (sender == input_.ranks.end() || receiver == input_.ranks.end())
            return;
        StageSums& stage = stages_[static_cast<std::size_t>(*sender->stage)];
        // From the last stage on to the first one: interleaved chunks go round.
        const bool onwards = *receiver->stage == (*sender->stage + 1) % input_.pipeline->stages
            && !(input_.pipeline->stages == 2 && *sender->stage == 1);
        (onwards ? stage.onwards : stage.backwards).add(static_cast<double>(std::max<Ns>(0, to - from)));
        flights_[{ *instance.source, *instance.destination, onwards }].push_back({ from, std::max(from, to) });
    }

    /// How long a message keeps the next one from a link: the distance at which those arrive that fly at once, in most
    /// cases where the later one took longer than one that has the link to itself. 0: most do not.
    double occupiedNs(std::int32_t stage, bool onwards) const
    {
        std::vector<double> distances;
        std::ptrdiff_t together = 0;
        for (const auto& [way, flights] : flights_) {
            const auto sender = std::ranges::find(input_.ranks, std::get<0>(way), &ledger::RankInput::rank);
            if (*sender->stage != stage || std::get<2>(way) != onwards)
                continue;
            std::vector<Window> bySending = flights;
            std::ranges::sort(bySending, {}, &Window::beginNs);
            const Ns alone = std::ranges::min(bySending, {}, &Window::durationNs).durationNs();
            for (std::size_t i = 1; i < bySending.size(); ++i) {
                if (bySending[i].beginNs >= bySending[i - 1].endNs)
                    continue;
                ++together;
                if (10 * bySending[i].durationNs() > 11 * alone)
                    distances.push_back(
                        static_cast<double>(std::max<Ns>(0, bySending[i].endNs - bySending[i - 1].endNs)));
            }
        }
        if (distances.empty() || 2 * std::ssize(distances) < together)
            return 0;
        std::ranges::nth_element(distances, distances.begin() + std::ssize(distances) / 2);
        return distances[distances.size() / 2];
    }

    Flight flightOf(std::int32_t stage, bool onwards, const Sum& sum) const
    {
        return { sum.mean(), std::min(sum.mean(), occupiedNs(stage, onwards)) };
    }

    PipelineTimes times() const
    {
        PipelineTimes times;
        for (std::size_t s = 0; s < stages_.size(); ++s) {
            const StageSums& sums = stages_[s];
            const auto stage = static_cast<std::int32_t>(s);
            times.stages.push_back({ sums.before.mean(), sums.forward.mean(), sums.backward.mean(),
                std::min(sums.weight.mean(), sums.backward.mean()), flightOf(stage, true, sums.onwards),
                flightOf(stage, false, sums.backwards) });
        }
        Sum after, step;
        for (std::size_t k = 0; k < steps_.size(); ++k) {
            step.add(static_cast<double>(steps_[k].durationNs()));
            if (lastPass_[k] > 0)
                after.add(static_cast<double>(std::max<Ns>(0, steps_[k].endNs - lastPass_[k])));
        }
        times.afterNs = after.mean();
        times.recordedNs = step.mean();
        return times;
    }

    const ledger::LedgerInput& input_;
    const ledger::LedgerResult& result_;
    const std::span<const Window> steps_;
    const IsWeightGradient& isWeightGradient_;
    std::vector<StageSums> stages_;
    std::vector<Ns> lastPass_; ///< by step
    std::map<std::tuple<std::int32_t, std::int32_t, bool>, std::vector<Window>> flights_; ///< by sender, receiver, way
};

class Playing {
public:
    Playing(const PipelineTimes& times, const Schedule& schedule)
        : times_(times)
        , schedule_(schedule)
        , done_(static_cast<std::size_t>(schedule.stages), 0)
        , ended_(done_.size())
    {
        for (std::size_t s = 0; s < ended_.size(); ++s)
            ended_[s] = times.stages[s].beforeNs;
    }

    double run()
    {
        bool moves = true;
        while (moves) {
            moves = false;
            for (std::size_t s = 0; s < done_.size(); ++s) {
                while (done_[s] < schedule_.actions[s].size() && play(s, schedule_.actions[s][done_[s]]))
                    moves = true;
            }
        }
        return std::ranges::max(ended_) + times_.afterNs;
    }

private:
    /// A pass of a part of the model: chunk * stages + stage.
    struct Place {
        bool forward;
        int part;
        int microBatch;
        auto operator<=>(const Place&) const = default;
    };
    int parts() const { return schedule_.stages * schedule_.chunks; }

    double lengthOf(std::size_t s, ActionKind kind) const
    {
        const StageTimes& stage = times_.stages[s];
        const double chunks = schedule_.chunks;
        switch (kind) {
        case ActionKind::Forward:
            return stage.forwardNs / chunks;
        case ActionKind::Backward:
            return stage.backwardNs / chunks;
        case ActionKind::BackwardInput:
            return (stage.backwardNs - stage.weightNs) / chunks;
        case ActionKind::BackwardWeight:
            return stage.weightNs / chunks;
        }
        return 0;
    }

    std::optional<double> arrivalOf(const Place& place) const
    {
        const int before = place.forward ? place.part - 1 : place.part + 1;
        if (before < 0 || before >= parts())
            return 0;
        const auto it = arrivals_.find(place);
        return it == arrivals_.end() ? std::nullopt : std::optional(it->second);
    }

    bool play(std::size_t s, const Action& action)
    {
        const bool forward = action.kind == ActionKind::Forward;
        const Place place{ forward, action.chunk * schedule_.stages + static_cast<int>(s), action.microBatch };
        const auto arrival = action.kind == ActionKind::BackwardWeight ? std::optional<double>(0) : arrivalOf(place);
        if (!arrival)
            return false;
        ended_[s] = std::max(ended_[s], *arrival) + lengthOf(s, action.kind);
        ++done_[s];
        if (action.kind != ActionKind::BackwardWeight)
            send(s, place);
        return true;
    }

    void send(std::size_t s, Place place)
    {
        place.part += place.forward ? 1 : -1;
        if (place.part < 0 || place.part >= parts())
            return;
        const auto to = static_cast<std::size_t>(place.part % schedule_.stages);
        const Flight flight = flightFrom(s, to, place.forward);
        double& free = free_[{ s, to }];
        const double leaves = std::max(ended_[s], free);
        free = leaves + flight.occupiedNs;
        arrivals_[place] = leaves + flight.ns;
    }

    /// A way round from the last stage to the first, and back, is not in the recording of other schedules: it is taken
    /// to be like the other ways of the same stage.
    Flight flightFrom(std::size_t s, std::size_t to, bool forward) const
    {
        if (s == to)
            return {};
        const bool onwards = to == s + 1 || (to != s - 1 && forward);
        const Flight& own = onwards ? times_.stages[s].onwards : times_.stages[s].backwards;
        const Flight& other = onwards ? times_.stages[s].backwards : times_.stages[s].onwards;
        return own.ns > 0 ? own : other;
    }

    const PipelineTimes& times_;
    const Schedule& schedule_;
    std::vector<std::size_t> done_; ///< actions, by stage
    std::vector<double> ended_; ///< the last one, by stage
    std::map<Place, double> arrivals_;
    std::map<std::pair<std::size_t, std::size_t>, double> free_; ///< links
};

} // namespace

Result<PipelineTimes> pipelineTimes(const ledger::LedgerInput& input, const ledger::LedgerResult& result,
    std::span<const Window> steps, const IsWeightGradient& isWeightGradient)
{
    if (!input.pipeline || input.pipeline->stages < 1)
        return Error("schedule, micro_batches: the run declares no pipeline");
    if (steps.empty())
        return Error("schedule, micro_batches: the run has no steps");
    return Measuring(input, result, steps, isWeightGradient).run();
}

double playedStepNs(const PipelineTimes& times, const Schedule& schedule) { return Playing(times, schedule).run(); }

} // namespace rankscope::tracing::scenario
