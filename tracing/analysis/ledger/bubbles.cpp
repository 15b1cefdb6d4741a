#include "tracing/analysis/ledger/bubbles.h"

#include "tracing/analysis/ledger/causes.h"

#include <algorithm>
#include <set>
#include <span>
#include <tuple>

namespace rankscope::tracing::ledger {

namespace {

bool isForward(const ComputeOp& op) { return op.pass == Pass::Forward; }
bool isBackward(const ComputeOp& op)
{
    return op.pass == Pass::Backward || op.pass == Pass::Recompute || op.pass == Pass::Weight;
}

/// What a step's forwards and backwards took over all ranks.
struct StepMeans {
    PassSums sums;
    bool chunksKnown = false;
    std::set<std::tuple<std::size_t, std::int64_t, std::int32_t>> forwards, backwards; ///< rank, micro-batch, chunk
};

/// One rank's phases in one step, edges clipped to it.
struct Phases {
    bool runsBoth = false;
    std::array<Ns, 6> edges{}; ///< fill, warm, body, cool, drain begin and end
};

class Relabeller {
public:
    Relabeller(const LedgerInput& input, const std::vector<std::unique_ptr<ComputeShare>>& shares, LedgerResult& result)
        : input_(input)
        , shares_(shares)
        , result_(result)
        , means_(result.steps.size())
    {
        collectMeans();
        crossesStages_.resize(input.instances.size());
        for (std::size_t i = 0; i < input.instances.size(); ++i)
            crossesStages_[i] = crossesStages(input.instances[i]);
    }

    void run()
    {
        for (std::size_t r = 0; r < input_.ranks.size(); ++r) {
            if (!input_.ranks[r].stage)
                continue;
            const auto kernels = kernelsByStep(r);
            auto& segments = result_.ranks[r].segments;
            std::vector<Segment> out;
            out.reserve(segments.size());
            for (std::size_t first = 0; first < segments.size();) {
                std::size_t last = first;
                while (last < segments.size() && segments[last].step == segments[first].step)
                    ++last;
                relabelStep(r, kernels, std::span(segments).subspan(first, last - first), out);
                first = last;
            }
            segments = std::move(out);
        }
    }

private:
    std::optional<std::int32_t> stageOf(std::int32_t worldRank) const
    {
        for (const RankInput& rank : input_.ranks) {
            if (rank.rank == worldRank)
                return rank.stage;
        }
        return std::nullopt;
    }

    bool crossesStages(const Instance& instance) const
    {
        std::set<std::int32_t> stages;
        for (const std::int32_t member : instance.members) {
            if (const auto stage = stageOf(member))
                stages.insert(*stage);
        }
        return stages.size() > 1;
    }

    /// The step in which the kernel begins, committed time only.
    std::int32_t stepOfKernel(std::size_t r, Ns begin) const
    {
        const auto& segments = result_.ranks[r].segments;
        const auto it = std::ranges::upper_bound(segments, begin, {}, &Segment::end);
        return it != segments.end() && it->begin <= begin && it->label == Label::Compute ? it->step : -1;
    }

    std::vector<std::vector<std::size_t>> kernelsByStep(std::size_t r) const
    {
        std::vector<std::vector<std::size_t>> out(result_.steps.size());
        for (std::size_t k = 0; k < input_.ranks[r].compute.size(); ++k) {
            const ComputeOp& op = input_.ranks[r].compute[k];
            const std::int32_t step = op.end > op.begin ? stepOfKernel(r, op.begin) : -1;
            if (step >= 0)
                out[static_cast<std::size_t>(step)].push_back(k);
        }
        return out;
    }

    void collectMeans()
    {
        for (std::size_t r = 0; r < input_.ranks.size(); ++r) {
            const auto kernels = kernelsByStep(r);
            for (std::size_t step = 0; step < kernels.size(); ++step) {
                for (const std::size_t k : kernels[step])
                    addToMeans(r, k, means_[step]);
            }
        }
    }

    void addToMeans(std::size_t r, std::size_t k, StepMeans& means)
    {
        const ComputeOp& op = input_.ranks[r].compute[k];
        // Without a micro-batch each kernel counts as one of its own.
        const std::int64_t microBatch = op.microBatch ? *op.microBatch : -1 - static_cast<std::int64_t>(k);
        means.chunksKnown = means.chunksKnown || op.chunk;
        const std::tuple key{ r, microBatch, op.chunk.value_or(0) };
        if (isForward(op)) {
            means.sums.forward += shares_[r]->computeOf(k);
            means.forwards.insert(key);
        } else if (isBackward(op)) {
            means.sums.backward += shares_[r]->computeOf(k);
            if (op.pass == Pass::Weight)
                means.sums.weight += shares_[r]->computeOf(k);
            means.backwards.insert(key);
        }
    }

    PassSums sumsOf(const StepMeans& means) const
    {
        // Kernels that name no chunk count as one pass over all chunks of the stage.
        const std::int64_t chunks = means.chunksKnown ? 1 : input_.pipeline->chunks;
        PassSums sums = means.sums;
        sums.forwards = chunks * static_cast<std::int64_t>(means.forwards.size());
        sums.backwards = chunks * static_cast<std::int64_t>(means.backwards.size());
        return sums;
    }

    Phases phasesOf(std::size_t r, const std::vector<std::size_t>& kernels, Ns begin, Ns end) const
    {
        Ns firstForward = kStillOpen, firstBackward = kStillOpen, lastForward = begin, lastBackward = begin;
        for (const std::size_t k : kernels) {
            const ComputeOp& op = input_.ranks[r].compute[k];
            if (isForward(op)) {
                firstForward = std::min(firstForward, op.begin);
                lastForward = std::max(lastForward, op.end);
            } else if (isBackward(op)) {
                firstBackward = std::min(firstBackward, op.begin);
                lastBackward = std::max(lastBackward, op.end);
            }
        }
        Phases phases;
        phases.runsBoth = firstForward != kStillOpen && firstBackward != kStillOpen;
        phases.edges = { begin, firstForward, firstBackward, std::max(firstBackward, lastForward), lastBackward, end };
        for (std::size_t i = 1; i < phases.edges.size(); ++i)
            phases.edges[i] = std::clamp(phases.edges[i], phases.edges[i - 1], end);
        return phases;
    }

    static Label structural(std::size_t phase)
    {
        return phase == 0 ? Label::BubbleFill : phase == 4 ? Label::BubbleDrain : Label::BubbleSteady;
    }

    enum class Class : std::uint8_t { None, CrossStage, Pipeline, Unattributed };
    Class classOf(std::size_t r, const Segment& segment) const
    {
        if (segment.label == Label::Unattributed)
            return Class::Unattributed;
        if (segment.label != Label::Wait)
            return Class::None;
        const std::size_t instance = input_.ranks[r].parts[static_cast<std::size_t>(segment.part)].instance;
        if (input_.instances[instance].dimension == Dimension::Pipeline)
            return Class::Pipeline;
        return crossesStages_[instance] ? Class::CrossStage : Class::None;
    }

    void relabelStep(std::size_t r, const std::vector<std::vector<std::size_t>>& kernels,
        std::span<const Segment> segments, std::vector<Segment>& out)
    {
        const std::int32_t step = segments.front().step;
        const bool known = step >= 0 && result_.steps[static_cast<std::size_t>(step)].state != StepState::Lost;
        if (!known)
            return void(out.insert(out.end(), segments.begin(), segments.end()));
        const auto s = static_cast<std::size_t>(step);
        const Phases phases = phasesOf(r, kernels[s], segments.front().begin, segments.back().end);
        if (!phases.runsBoth)
            return void(out.insert(out.end(), segments.begin(), segments.end()));
        const PhaseQuota quota = phaseQuota(*input_.pipeline, *input_.ranks[r].stage, sumsOf(means_[s]));
        for (std::size_t phase = 0; phase < quota.size(); ++phase) {
            result_.ranks[r].quota[phase] += quota[phase];
            relabelPhase(r, phase, quota[phase], phases.edges[phase], phases.edges[phase + 1], segments, out);
        }
    }

    void relabelPhase(std::size_t r, std::size_t phase, Ns quota, Ns begin, Ns end, std::span<const Segment> segments,
        std::vector<Segment>& out)
    {
        std::vector<Segment> pieces;
        auto it = std::ranges::upper_bound(segments, begin, {}, &Segment::end);
        for (; it != segments.end() && it->begin < end; ++it) {
            Segment piece = *it;
            piece.begin = std::max(piece.begin, begin);
            piece.end = std::min(piece.end, end);
            pieces.push_back(piece);
        }
        std::vector<Ns> covered(pieces.size(), 0); // first ns of each piece that the quota covers
        const std::array order{ Class::CrossStage, Class::Pipeline, Class::Unattributed };
        for (const Class wanted : order) {
            if (wanted == Class::CrossStage && phase != 4)
                continue;
            for (std::size_t i = 0; i < pieces.size() && quota > 0; ++i) {
                if (classOf(r, pieces[i]) != wanted)
                    continue;
                covered[i] = std::min(quota, pieces[i].end - pieces[i].begin);
                quota -= covered[i];
            }
        }
        for (std::size_t i = 0; i < pieces.size(); ++i) {
            Segment rest = pieces[i];
            if (covered[i] > 0) {
                Segment bubble = pieces[i];
                bubble.label = structural(phase);
                bubble.end = rest.begin = bubble.begin + covered[i];
                out.push_back(bubble);
            }
            if (rest.begin == rest.end)
                continue;
            if (classOf(r, rest) == Class::Pipeline)
                rest.label = Label::BubbleImbalance;
            out.push_back(rest);
        }
    }

    const LedgerInput& input_;
    const std::vector<std::unique_ptr<ComputeShare>>& shares_;
    LedgerResult& result_;
    std::vector<StepMeans> means_;
    std::vector<bool> crossesStages_;
};

bool isStructural(Label label)
{
    return label == Label::BubbleFill || label == Label::BubbleSteady || label == Label::BubbleDrain;
}

} // namespace

void relabelBubbles(
    const LedgerInput& input, const std::vector<std::unique_ptr<ComputeShare>>& shares, LedgerResult& result)
{
    if (input.pipeline)
        Relabeller(input, shares, result).run();
}

void settleCauses(const LedgerInput& input, LedgerResult& result)
{
    std::vector<std::vector<Ns>> structural(input.ranks.size());
    std::map<std::int32_t, std::size_t> rankIndex;
    for (std::size_t r = 0; r < input.ranks.size(); ++r) {
        rankIndex[input.ranks[r].rank] = r;
        structural[r].resize(input.ranks[r].parts.size(), 0);
        for (const Segment& segment : result.ranks[r].segments) {
            if (isStructural(segment.label) && segment.part >= 0)
                structural[r][static_cast<std::size_t>(segment.part)] += segment.end - segment.begin;
        }
    }
    for (WaitRecord& wait : result.waits) {
        wait.remaining = wait.rows;
        Ns toPay = structural[rankIndex.at(wait.rank)][wait.part];
        for (const bool computeFirst : { true, false }) {
            std::vector<CauseRow> payers;
            for (const CauseRow& row : wait.remaining) {
                const bool isCompute = row.cause.starts_with("compute");
                payers.push_back({ row.culprit, row.cause, isCompute == computeFirst ? row.ns : 0 });
            }
            Ns available = 0;
            for (const CauseRow& payer : payers)
                available += payer.ns;
            const Ns pays = std::min(toPay, available);
            const auto taken = takeShare(payers, pays);
            for (std::size_t i = 0; i < taken.size(); ++i)
                wait.remaining[i].ns -= taken[i].ns;
            toPay -= pays;
        }
    }
}

} // namespace rankscope::tracing::ledger
