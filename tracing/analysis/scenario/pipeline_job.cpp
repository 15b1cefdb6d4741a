#include "tracing/analysis/scenario/pipeline_job.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <tuple>
#include <utility>

namespace rankscope::tracing::scenario {

namespace {

using ledger::Ns;

/// A transfer that is shorter than this is no clock error but a message that its sender did not wait for.
constexpr double kLeastTransfer = -0.01;

struct Span {
    Ns begin = 0;
    Ns end = 0;
};
using SpansByType = std::array<std::vector<Span>, kOpTypes>;

std::optional<OpType> typeOf(const ledger::Instance& instance, std::int32_t rank, std::int32_t stage,
    const std::map<std::int32_t, std::int32_t>& stageOf)
{
    if (instance.source && instance.destination) {
        const bool sends = *instance.source == rank;
        const auto peer = stageOf.find(sends ? *instance.destination : *instance.source);
        if (peer == stageOf.end() || peer->second == stage)
            return std::nullopt;
        const bool forward = sends == (peer->second > stage);
        return forward ? (sends ? OpType::ForwardSend : OpType::ForwardReceive)
                       : (sends ? OpType::BackwardSend : OpType::BackwardReceive);
    }
    switch (instance.dimension) {
    case Dimension::Data:
        return instance.op == CollectiveOp::AllGather ? OpType::ParamsAllGather : OpType::GradsReduceScatter;
    case Dimension::Embedding:
        return OpType::EmbeddingAllReduce;
    case Dimension::Clip:
        return OpType::ClipAllReduce;
    case Dimension::Tensor:
        return OpType::LayernormAllReduce;
    default:
        return std::nullopt;
    }
}

std::optional<OpType> typeOf(Pass pass)
{
    switch (pass) {
    case Pass::Forward:
        return OpType::ForwardCompute;
    case Pass::Backward:
        return OpType::BackwardCompute;
    case Pass::Optimizer:
        return OpType::Optimizer;
    default:
        return std::nullopt;
    }
}

class JobBuilder {
public:
    explicit JobBuilder(const ledger::LedgerInput& input)
        : input_(input)
    {
    }

    Result<PipelineJob> run()
    {
        if (const Status status = place(); !status)
            return status.error();
        for (std::int32_t stage = 0; stage < job_.stages; ++stage) {
            for (std::size_t replica = 0; replica < job_.replicas; ++replica)
                collect(stage, replica);
        }
        if (const Status status = nameOps(); !status)
            return status.error();
        for (std::int32_t stage = 0; stage < job_.stages; ++stage) {
            if (const Status status = linkStage(stage); !status)
                return status.error();
        }
        if (const Status status = groupOps(); !status)
            return status.error();
        measure();
        return std::move(job_);
    }

private:
    const std::vector<Span>& spansOf(std::int32_t stage, std::size_t replica, std::size_t step, OpType type) const
    {
        return spans_[(static_cast<std::size_t>(stage) * job_.replicas + replica) * job_.steps + step]
                     [static_cast<std::size_t>(type)];
    }

    /// Finds every rank's stage and replica, and the steps.
    Status place()
    {
        for (const ledger::RankInput& rank : input_.ranks) {
            if (!rank.stage || *rank.stage < 0)
                return Error("published rules: the run does not say which stage a rank is");
            stageOf_[rank.rank] = *rank.stage;
            job_.stages = std::max(job_.stages, *rank.stage + 1);
        }
        job_.ranks.resize(static_cast<std::size_t>(job_.stages));
        for (const auto& [rank, stage] : stageOf_)
            job_.ranks[static_cast<std::size_t>(stage)].push_back(rank);
        if (job_.ranks.empty() || job_.ranks[0].empty())
            return Error("published rules: the run has no ranks");
        job_.replicas = job_.ranks[0].size();
        for (const auto& ranks : job_.ranks) {
            if (ranks.size() != job_.replicas)
                return Error("published rules: stages have different numbers of ranks");
        }
        job_.steps = input_.ranks[0].stretches.size();
        for (const ledger::RankInput& rank : input_.ranks) {
            if (rank.stretches.size() != job_.steps || !rank.stretches[0].step)
                return Error("published rules: they are for timelines of whole steps, one operation a micro-batch and "
                             "pass, such as the published ones");
        }
        for (const ledger::Stretch& stretch : input_.ranks[0].stretches)
            job_.recordedSteps.push_back(static_cast<double>(stretch.end - stretch.begin) * 1e-9);
        spans_.resize(static_cast<std::size_t>(job_.stages) * job_.replicas * job_.steps);
        return Done{};
    }

    void collect(std::int32_t stage, std::size_t replica)
    {
        const std::int32_t number = job_.ranks[static_cast<std::size_t>(stage)][replica];
        const ledger::RankInput& rank = *std::ranges::find(input_.ranks, number, &ledger::RankInput::rank);
        const std::size_t row = (static_cast<std::size_t>(stage) * job_.replicas + replica) * job_.steps;
        const auto add = [&](std::optional<OpType> type, Ns begin, Ns end) {
            const auto after = std::ranges::upper_bound(rank.stretches, begin, {}, &ledger::Stretch::begin);
            if (type && after != rank.stretches.begin())
                spans_[row + static_cast<std::size_t>(after - rank.stretches.begin()) - 1]
                      [static_cast<std::size_t>(*type)]
                          .push_back({ begin, end });
        };
        for (const ledger::ComputeOp& op : rank.compute)
            add(typeOf(op.pass), op.begin, op.end);
        for (const ledger::PartOp& part : rank.parts)
            add(typeOf(input_.instances[part.instance], number, stage, stageOf_), part.begin, part.end);
        for (std::size_t step = 0; step < job_.steps; ++step) {
            for (std::vector<Span>& spans : spans_[row + step])
                std::ranges::stable_sort(spans, {}, &Span::begin);
        }
    }

    Status nameOps()
    {
        for (std::int32_t stage = 0; stage < job_.stages; ++stage) {
            for (std::size_t t = 0; t < kOpTypes; ++t) {
                const auto type = static_cast<OpType>(t);
                const std::size_t count = spansOf(stage, 0, 0, type).size();
                for (std::size_t i = 0; i < job_.replicas * job_.steps; ++i) {
                    const std::size_t other = spansOf(stage, i % job_.replicas, i / job_.replicas, type).size();
                    if (other != count)
                        return Error(fmt::format("published rules: stage {} has {} {} in one step and {} in another",
                            stage, count, toString(type), other));
                }
                for (std::size_t i = 0; i < count; ++i) {
                    opOf_[{ stage, type, i }] = job_.ops.size();
                    job_.ops.push_back({ type, stage, static_cast<std::int32_t>(i) });
                }
            }
        }
        job_.dependsOn.resize(job_.ops.size());
        return Done{};
    }

    std::optional<std::size_t> opOf(std::int32_t stage, OpType type, std::size_t number) const
    {
        const auto it = opOf_.find({ stage, type, number });
        return it == opOf_.end() ? std::nullopt : std::optional(it->second);
    }

    Span spanOf(std::size_t op) const
    {
        const JobOp& what = job_.ops[op];
        return spansOf(what.stage, 0, 0, what.type)[static_cast<std::size_t>(what.number)];
    }

    /// Of these types on one stage, in the order in which the first replica began them.
    std::vector<std::size_t> inOrder(std::int32_t stage, std::initializer_list<OpType> types) const
    {
        std::vector<std::size_t> ops;
        for (const OpType type : types) {
            for (std::size_t i = 0; i < spansOf(stage, 0, 0, type).size(); ++i)
                ops.push_back(*opOf(stage, type, i));
        }
        std::ranges::stable_sort(ops, {}, [&](std::size_t op) { return spanOf(op).begin; });
        return ops;
    }

    void chain(const std::vector<std::size_t>& ops)
    {
        for (std::size_t i = 1; i < ops.size(); ++i)
            job_.dependsOn[ops[i]].push_back(ops[i - 1]);
    }

    Status linkStage(std::int32_t stage)
    {
        const auto compute = inOrder(stage, { OpType::BackwardCompute, OpType::ForwardCompute });
        if (compute.empty())
            return Error(fmt::format("published rules: stage {} has no forward or backward", stage));
        chain(compute);
        for (const OpType type :
            { OpType::ForwardSend, OpType::ForwardReceive, OpType::BackwardSend, OpType::BackwardReceive }) {
            if (const Status status = linkMessages(stage, type); !status)
                return status;
        }
        linkFirstBackward(stage, compute);
        chain(inOrder(stage, { OpType::ParamsAllGather, OpType::GradsReduceScatter }));
        const std::size_t gathers = spansOf(stage, 0, 0, OpType::ParamsAllGather).size();
        const auto firstForward = opOf(stage, OpType::ForwardCompute, 0);
        if (gathers > 0 && firstForward)
            job_.dependsOn[*firstForward].push_back(*opOf(stage, OpType::ParamsAllGather, gathers - 1));
        linkAfterCompute(stage, compute);
        return Done{};
    }

    /// A send follows its micro-batch's pass; a receive is before it, and after the one before.
    Status linkMessages(std::int32_t stage, OpType type)
    {
        const bool forward = type == OpType::ForwardSend || type == OpType::ForwardReceive;
        const bool sends = type == OpType::ForwardSend || type == OpType::BackwardSend;
        const OpType pass = forward ? OpType::ForwardCompute : OpType::BackwardCompute;
        const auto messages = inOrder(stage, { type });
        const std::size_t passes = spansOf(stage, 0, 0, pass).size();
        if (!messages.empty() && messages.size() != passes)
            return Error(fmt::format("published rules: stage {} has {} {} for {} {}; several chunks a stage are not "
                                     "known here",
                stage, messages.size(), toString(type), passes, toString(pass)));
        chain(messages);
        for (std::size_t i = 0; i < messages.size(); ++i) {
            if (sends) {
                job_.dependsOn[messages[i]].push_back(*opOf(stage, pass, i));
                continue;
            }
            job_.dependsOn[*opOf(stage, pass, i)].push_back(messages[i]);
            if (i > 0)
                job_.dependsOn[messages[i]].push_back(*opOf(stage, pass, i - 1));
        }
        return Done{};
    }

    /// The first backward messages are launched after the forward before the last one of the warm-up.
    void linkFirstBackward(std::int32_t stage, const std::vector<std::size_t>& compute)
    {
        const auto first
            = std::ranges::find(compute, OpType::BackwardCompute, [&](std::size_t op) { return job_.ops[op].type; });
        if (first == compute.end() || first - compute.begin() < 2)
            return;
        for (const OpType type : { OpType::BackwardReceive, OpType::BackwardSend }) {
            if (const auto message = opOf(stage, type, 0))
                job_.dependsOn[*message].push_back(*(first - 2));
        }
    }

    void linkAfterCompute(std::int32_t stage, const std::vector<std::size_t>& compute)
    {
        std::vector<std::size_t> ops{ *std::ranges::max_element(
            compute, {}, [&](std::size_t op) { return spanOf(op).end; }) };
        for (const OpType type : { OpType::LayernormAllReduce, OpType::EmbeddingAllReduce, OpType::GradsReduceScatter,
                 OpType::ClipAllReduce, OpType::Optimizer }) {
            const auto next = inOrder(stage, { type });
            ops.insert(ops.end(), next.begin(), next.end());
        }
        chain(ops);
    }

    /// Which operations end together.
    std::vector<JobGroup> grouped() const
    {
        std::vector<JobGroup> groups;
        std::map<std::pair<OpType, std::int32_t>, std::size_t> shared; // embedding and clip, by number
        for (std::size_t op = 0; op < job_.ops.size(); ++op) {
            const JobOp& what = job_.ops[op];
            switch (what.type) {
            case OpType::ForwardReceive:
            case OpType::BackwardReceive:
                continue; // with its send
            case OpType::ForwardSend:
            case OpType::BackwardSend: {
                const bool forward = what.type == OpType::ForwardSend;
                JobGroup group{ { op }, false };
                if (const auto peer
                    = opOf(what.stage + (forward ? 1 : -1), forward ? OpType::ForwardReceive : OpType::BackwardReceive,
                        static_cast<std::size_t>(what.number)))
                    group.ops.push_back(*peer);
                groups.push_back(std::move(group));
                continue;
            }
            case OpType::EmbeddingAllReduce:
            case OpType::ClipAllReduce: {
                const auto [it, isNew] = shared.try_emplace({ what.type, what.number }, groups.size());
                if (isNew)
                    groups.push_back({ {}, what.type == OpType::ClipAllReduce });
                groups[it->second].ops.push_back(op);
                continue;
            }
            default:
                groups.push_back(
                    { { op }, what.type == OpType::ParamsAllGather || what.type == OpType::GradsReduceScatter });
            }
        }
        return groups;
    }

    Status groupOps()
    {
        const std::vector<JobGroup> groups = grouped();
        std::vector<std::size_t> groupOf(job_.ops.size(), SIZE_MAX);
        for (std::size_t g = 0; g < groups.size(); ++g) {
            for (const std::size_t op : groups[g].ops)
                groupOf[op] = g;
        }
        if (std::ranges::find(groupOf, SIZE_MAX) != groupOf.end())
            return Error("published rules: a message that was received has no sender");
        std::vector<std::vector<std::size_t>> followers(groups.size());
        std::vector<std::size_t> pending(groups.size(), 0), ready;
        for (std::size_t op = 0; op < job_.ops.size(); ++op) {
            for (const std::size_t before : job_.dependsOn[op]) {
                followers[groupOf[before]].push_back(groupOf[op]);
                ++pending[groupOf[op]];
            }
        }
        for (std::size_t g = 0; g < groups.size(); ++g) {
            if (pending[g] == 0)
                ready.push_back(g);
        }
        while (!ready.empty()) {
            const std::size_t g = ready.back();
            ready.pop_back();
            job_.groups.push_back(groups[g]);
            for (const std::size_t next : followers[g]) {
                if (--pending[next] == 0)
                    ready.push_back(next);
            }
        }
        return job_.groups.size() == groups.size()
            ? Status(Done{})
            : Status(Error("published rules: operations wait for one another in a circle"));
    }

    /// Begin of the group's last operation, of all replicas where they meet.
    Ns lastBegin(const JobGroup& group, std::size_t step, std::size_t replica) const
    {
        Ns last = std::numeric_limits<Ns>::min();
        for (const std::size_t op : group.ops) {
            const JobOp& what = job_.ops[op];
            for (std::size_t r = 0; r < job_.replicas; ++r) {
                if (r == replica || group.acrossReplicas)
                    last = std::max(
                        last, spansOf(what.stage, r, step, what.type)[static_cast<std::size_t>(what.number)].begin);
            }
        }
        return last;
    }

    void measure()
    {
        job_.times.assign(job_.ops.size(), std::vector<double>(job_.steps * job_.replicas));
        for (const JobGroup& group : job_.groups) {
            for (std::size_t i = 0; i < job_.steps * job_.replicas; ++i) {
                const std::size_t step = i / job_.replicas, replica = i % job_.replicas;
                const Ns last = lastBegin(group, step, replica);
                for (const std::size_t op : group.ops) {
                    const JobOp& what = job_.ops[op];
                    const Span span
                        = spansOf(what.stage, replica, step, what.type)[static_cast<std::size_t>(what.number)];
                    const double seconds = static_cast<double>(span.end - last) * 1e-9;
                    job_.times[op][i] = seconds <= kLeastTransfer ? 0 : seconds;
                }
            }
        }
    }

    const ledger::LedgerInput& input_;
    PipelineJob job_;
    std::map<std::int32_t, std::int32_t> stageOf_;
    std::vector<SpansByType> spans_; ///< by stage, replica and step
    std::map<std::tuple<std::int32_t, OpType, std::size_t>, std::size_t> opOf_;
};

} // namespace

std::string_view toString(OpType type)
{
    static constexpr std::array<std::string_view, kOpTypes> kNames{ "forward-compute", "backward-compute", "optimizer",
        "forward-send", "forward-recv", "backward-send", "backward-recv", "params-all-gather", "grads-reduce-scatter",
        "layernorm-grads-all-reduce", "embedding-grads-all-reduce", "optimizer-clip-main-grad" };
    return kNames[static_cast<std::size_t>(type)];
}

Result<PipelineJob> pipelineJobOf(const ledger::LedgerInput& input) { return JobBuilder(input).run(); }

std::vector<double> playedSteps(const PipelineJob& job, const JobTimes& times)
{
    const std::size_t lanes = job.steps * job.replicas;
    std::vector<std::vector<double>> ends(job.ops.size(), std::vector<double>(lanes));
    std::vector<double> steps(job.steps), begins(lanes);
    for (const JobGroup& group : job.groups) {
        std::ranges::fill(begins, 0.0);
        for (const std::size_t op : group.ops) {
            for (const std::size_t before : job.dependsOn[op]) {
                for (std::size_t i = 0; i < lanes; ++i)
                    begins[i] = std::max(begins[i], ends[before][i]);
            }
        }
        for (std::size_t step = 0; step < job.steps && group.acrossReplicas; ++step) {
            const auto replicas = std::span(begins).subspan(step * job.replicas, job.replicas);
            std::ranges::fill(replicas, std::ranges::max(replicas));
        }
        for (const std::size_t op : group.ops) {
            for (std::size_t i = 0; i < lanes; ++i) {
                ends[op][i] = begins[i] + times[op][i];
                steps[i / job.replicas] = std::max(steps[i / job.replicas], ends[op][i]);
            }
        }
    }
    return steps;
}

} // namespace rankscope::tracing::scenario
