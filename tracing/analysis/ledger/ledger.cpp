#include "tracing/analysis/ledger/ledger.h"

#include "tracing/analysis/ledger/bubbles.h"
#include "tracing/analysis/ledger/causes.h"
#include "tracing/analysis/ledger/label_clock.h"
#include "tracing/analysis/ledger/labeller.h"
#include "tracing/analysis/ledger/largest_remainder.h"
#include "tracing/analysis/ledger/ledger_rows.h"
#include "tracing/analysis/ledger/lifecycle.h"

#include <algorithm>

namespace rankscope::tracing::ledger {

namespace {

class LedgerRun {
public:
    explicit LedgerRun(const LedgerInput& input)
        : input_(input)
        , index_(input)
        , lifecycle_(input)
    {
        result_.steps = lifecycle_.steps();
        for (std::size_t r = 0; r < input.ranks.size(); ++r) {
            RankLedger rank;
            rank.rank = input.ranks[r].rank;
            for (const Stretch& stretch : input.ranks[r].stretches)
                rank.window += stretch.end - stretch.begin;
            result_.capacity += rank.window;
            result_.ranks.push_back(std::move(rank));
            levels_.push_back(lifecycle_.spansOf(r));
            if (!input.ranks[r].stretches.empty())
                shares_.push_back(std::make_unique<ComputeShare>(input.ranks[r]));
            else
                shares_.push_back(std::make_unique<ComputeShare>(kNobody));
            result_.ranks.back().flopViolations = shares_.back()->flopViolations();
            result_.flopViolations += std::ssize(shares_.back()->flopViolations());
        }
        countNegativeDurations();
    }

    LedgerResult run()
    {
        splitCollectives(input_, index_, result_);
        label(ClockView::Measured);
        for (std::size_t r = 0; r < input_.ranks.size(); ++r)
            result_.ranks[r].overlap = overlapOf(input_.ranks[r], result_.ranks[r].parts);
        std::vector<std::unique_ptr<LabelClock>> clocks;
        for (std::size_t r = 0; r < input_.ranks.size(); ++r)
            clocks.push_back(std::make_unique<LabelClock>(result_.ranks[r].segments, *shares_[r]));
        findCauses(input_, index_, clocks, shares_, result_);
        relabelBubbles(input_, shares_, result_);
        settleCauses(input_, result_);

        const LeafTable measured = leavesOf(input_, result_, shares_);
        if (hasClockError())
            writeRows(input_, result_, measured, view(ClockView::Low), view(ClockView::High));
        else
            writeRows(input_, result_, measured, measured, measured);
        result_.goodput = goodputOf();
        return std::move(result_);
    }

private:
    void countNegativeDurations()
    {
        for (const RankInput& rank : input_.ranks) {
            for (const ComputeOp& op : rank.compute)
                result_.negativeDurations += op.end < op.begin ? 1 : 0;
            for (const CopyOp& op : rank.copies)
                result_.negativeDurations += op.end < op.begin ? 1 : 0;
        }
    }

    void label(ClockView clockView)
    {
        for (std::size_t r = 0; r < input_.ranks.size(); ++r)
            result_.ranks[r].segments = labelRank(input_, r, result_.ranks[r].parts, levels_[r], clockView);
    }

    bool hasClockError() const
    {
        for (const RankLedger& rank : result_.ranks) {
            for (const SplitPart& part : rank.parts) {
                if (part.waitLow != part.wait || part.waitHigh != part.wait)
                    return true;
            }
        }
        return false;
    }

    /// The whole ledger once more with every wait at one end of the clock's error: leaves only, causes stay as
    /// measured.
    LeafTable view(ClockView clockView)
    {
        LedgerResult other;
        other.steps = result_.steps;
        for (std::size_t r = 0; r < input_.ranks.size(); ++r) {
            RankLedger rank;
            rank.rank = input_.ranks[r].rank;
            rank.parts = result_.ranks[r].parts;
            rank.segments = labelRank(input_, r, result_.ranks[r].parts, levels_[r], clockView);
            other.ranks.push_back(std::move(rank));
        }
        relabelBubbles(input_, shares_, other);
        return leavesOf(input_, other, shares_);
    }

    Goodput goodputOf() const
    {
        Goodput goodput;
        for (const RankLedger& rank : result_.ranks) {
            for (const Segment& segment : rank.segments) {
                const Ns ns = segment.end - segment.begin;
                goodput.total += ns;
                switch (segment.label) {
                case Label::Start:
                    goodput.start += ns;
                    break;
                case Label::Lost:
                    goodput.lost += ns;
                    break;
                case Label::DownDetect:
                case Label::DownRestart:
                case Label::DownRestore:
                    goodput.down += ns;
                    break;
                case Label::Planned:
                case Label::Shutdown:
                    break;
                default:
                    if (segment.step >= 0) {
                        const StepState state = result_.steps[static_cast<std::size_t>(segment.step)].state;
                        (state == StepState::Provisional ? goodput.provisional : goodput.committed) += ns;
                    }
                }
            }
        }
        setShares(goodput);
        return goodput;
    }

    inline static const RankInput kNobody{};
    const LedgerInput& input_;
    InstanceIndex index_;
    LifecycleMap lifecycle_;
    std::vector<std::vector<LifecycleSpan>> levels_;
    std::vector<std::unique_ptr<ComputeShare>> shares_;
    LedgerResult result_;
};

} // namespace

void setShares(Goodput& goodput)
{
    if (goodput.total <= 0)
        return;
    goodput.ettrPpm = mulDiv(goodput.committed + goodput.provisional, 1'000'000, goodput.total);
    goodput.ettrFirmPpm = mulDiv(goodput.committed, 1'000'000, goodput.total);
}

LedgerResult computeLedger(const LedgerInput& input) { return LedgerRun(input).run(); }

} // namespace rankscope::tracing::ledger
