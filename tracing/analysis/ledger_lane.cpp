#include "tracing/analysis/ledger_lane.h"

#include "tracing/analysis/ledger/compute_share.h"
#include "tracing/model/interval.h"

#include <algorithm>

namespace rankscope::tracing {

namespace {

using ledger::Label;
using ledger::Segment;

BubblePhase phaseOf(Label label)
{
    return label == Label::BubbleDrain ? BubblePhase::Drain
        : label == Label::BubbleFill   ? BubblePhase::Fill
                                       : BubblePhase::Steady;
}

/// Tells for ever later instants whether they are in a set, and how long that holds.
class Coverage {
public:
    explicit Coverage(Intervals set)
        : set_(std::move(set))
    {
    }

    /// Whether `at` is in the set; `untilNs` is lowered to where that changes.
    bool at(std::int64_t at, std::int64_t& untilNs)
    {
        while (next_ < set_.size() && set_[next_].endNs <= at)
            ++next_;
        if (next_ == set_.size())
            return false;
        const bool inside = set_[next_].beginNs <= at;
        untilNs = std::min(untilNs, inside ? set_[next_].endNs : set_[next_].beginNs);
        return inside;
    }

private:
    Intervals set_;
    std::size_t next_ = 0;
};

template <typename Row, typename Filter> Intervals setOf(const std::vector<Row>& rows, Filter filter)
{
    std::vector<Window> all;
    for (const Row& row : rows) {
        if (filter(row))
            all.push_back({ row.begin, row.end });
    }
    return unionOf(std::move(all));
}

class LaneBuilder {
public:
    LaneBuilder(const LedgerRun& run, std::size_t rank)
        : run_(run)
        , input_(run.source.input.ranks[rank])
        , result_(run.result.ranks[rank])
        , share_(input_)
        , communication_(setOf(input_.parts, [](const ledger::PartOp&) { return true; }))
        , recompute_(setOf(input_.compute, [](const ledger::ComputeOp& op) { return op.pass == Pass::Recompute; }))
        , optimizer_(setOf(input_.compute, [](const ledger::ComputeOp& op) { return op.pass == Pass::Optimizer; }))
    {
    }

    std::vector<LabelledInterval> lane()
    {
        for (const Segment& segment : result_.segments) {
            if (segment.label == Label::Compute)
                addCompute(segment);
            else
                append(intervalOf(segment), 0);
        }
        close();
        return std::move(lane_);
    }

private:
    LabelledInterval intervalOf(const Segment& segment) const
    {
        LabelledInterval interval;
        interval.beginNs = segment.begin;
        interval.endNs = segment.end;
        interval.label = spanClassOf(segment.label);
        interval.phase = phaseOf(segment.label);
        if (segment.part < 0 || interval.label == SpanClass::Transfer)
            return interval;
        const std::int32_t late = result_.parts[static_cast<std::size_t>(segment.part)].late;
        if (late >= 0)
            interval.awaitedRank = run_.source.input.ranks[static_cast<std::size_t>(late)].rank;
        return interval;
    }

    /// Cut where a recomputing kernel, or a collective under it, begins or ends.
    void addCompute(const Segment& segment)
    {
        for (std::int64_t at = segment.begin; at < segment.end;) {
            LabelledInterval piece;
            piece.beginNs = at;
            piece.endNs = segment.end;
            piece.label = recompute_.at(at, piece.endNs) ? SpanClass::Recompute
                : optimizer_.at(at, piece.endNs)         ? SpanClass::Optimizer
                                                         : SpanClass::Compute;
            piece.communicationHidden = communication_.at(at, piece.endNs);
            append(piece, share_.descheduledUpTo(piece.endNs) - share_.descheduledUpTo(at));
            at = piece.endNs;
        }
    }

    /// Neighbours that look the same become one.
    void append(const LabelledInterval& piece, std::int64_t descheduledNs)
    {
        if (open_ && open_->endNs == piece.beginNs) {
            LabelledInterval longer = *open_;
            longer.endNs = piece.endNs;
            LabelledInterval same = piece;
            same.beginNs = open_->beginNs;
            if (longer == same) {
                open_ = longer;
                descheduledNs_ += descheduledNs;
                return;
            }
        }
        close();
        open_ = piece;
        descheduledNs_ = descheduledNs;
    }

    void close()
    {
        if (!open_)
            return;
        LabelledInterval own = *open_;
        LabelledInterval lost = *open_;
        own.endNs = lost.beginNs = own.endNs - std::clamp<std::int64_t>(descheduledNs_, 0, own.durationNs());
        lost.label = SpanClass::Descheduled;
        for (const LabelledInterval& part : { own, lost }) {
            if (part.durationNs() > 0)
                lane_.push_back(part);
        }
        open_.reset();
    }

    const LedgerRun& run_;
    const ledger::RankInput& input_;
    const ledger::RankLedger& result_;
    ledger::ComputeShare share_;
    Coverage communication_, recompute_, optimizer_;
    std::vector<LabelledInterval> lane_;
    std::optional<LabelledInterval> open_; ///< the last one, which may still grow
    std::int64_t descheduledNs_ = 0; ///< of it
};

} // namespace

SpanClass spanClassOf(Label label)
{
    switch (label) {
    case Label::Compute:
        return SpanClass::Compute;
    case Label::Descheduled:
        return SpanClass::Descheduled;
    case Label::Transfer:
        return SpanClass::Transfer;
    case Label::Wait:
        return SpanClass::Wait;
    case Label::Unsplit:
        return SpanClass::Communication;
    case Label::Copy:
        return SpanClass::Copy;
    case Label::Checkpoint:
        return SpanClass::Checkpoint;
    case Label::Data:
        return SpanClass::Data;
    case Label::Host:
        return SpanClass::Host;
    case Label::Launch:
    case Label::KernelGap:
        return SpanClass::Launch;
    case Label::BubbleFill:
    case Label::BubbleSteady:
    case Label::BubbleDrain:
        return SpanClass::Bubble;
    case Label::BubbleImbalance:
        return SpanClass::Imbalance;
    case Label::Lost:
    case Label::DownDetect:
    case Label::DownRestart:
    case Label::DownRestore:
        return SpanClass::Lost;
    case Label::Start:
    case Label::Planned:
    case Label::Shutdown:
        return SpanClass::Start;
    case Label::Tail:
    case Label::Unattributed:
    case Label::NotRecorded:
        return SpanClass::Unattributed;
    }
    return SpanClass::Unattributed;
}

LedgerLanes ledgerLanes(const LedgerRun& run, Window covers)
{
    LedgerLanes lanes;
    lanes.covers = covers;
    for (std::size_t r = 0; r < run.result.ranks.size(); ++r)
        lanes.ranks[run.result.ranks[r].rank] = LaneBuilder(run, r).lane();
    return lanes;
}

} // namespace rankscope::tracing
