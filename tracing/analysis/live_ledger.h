#pragma once

#include "tracing/analysis/live_steps.h"
#include "tracing/analysis/run_ledger.h"
#include "tracing/analysis/trace_ledger.h"
#include "tracing/model/result.h"
#include "tracing/store/trace_reader.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

namespace rankscope::tracing {

/// The waste ledger of a run that we record, kept up to date while it grows: a look costs time in proportion to the
/// steps that came in since the last one. Steps that every rank has left behind are settled: of them only rows are kept
/// (and shared with what was handed out). The others are counted anew with as many steps before them as their waits,
/// causes and gaps reach back to; the last settled step is counted again, too, and where it came out differently than
/// before (something came in late) so are those before it. What comes out is what computeRunLedger() gives for the same
/// file, without savings; rows come step by step.
class LiveLedger {
public:
    /// `facts`: all but the steps; of a run that we recorded.
    Result<RunLedger> refresh(TraceReader& reader, const RunFacts& facts);

    /// What the last look did.
    struct Work {
        std::size_t stepsCounted = 0; ///< anew, those that were only looked back to included
        std::size_t readings = 0; ///< one, or more where it had to look further back
    };
    const Work& lastWork() const { return work_; }

private:
    struct Counts {
        std::int64_t early = 0, beyondError = 0, eager = 0, flop = 0;
        bool operator==(const Counts&) const = default;
        void add(const Counts& other, std::int64_t sign);
    };
    /// What lies outside every step between a step's begin and the next one's.
    struct Outside {
        std::int32_t rank = 0;
        ledger::LeafKey leaf;
        std::int64_t ns = 0;
        bool operator==(const Outside&) const = default;
    };
    /// What is kept of a step.
    struct Slice {
        ledger::StepInfo info;
        SharedRows::Piece rows;
        std::vector<ledger::StepLeaf> leaves;
        std::vector<Outside> outside;
        Counts counts;
        std::int64_t workNs = 0; ///< neither lost, down nor planned
        bool sameAs(const Slice& other) const;
    };
    struct Sum {
        std::int64_t ns = 0, low = 0, high = 0, rows = 0;
    };
    struct Sums {
        using RowKey = std::tuple<ledger::LeafKey, std::int32_t, std::optional<std::int32_t>, std::string>;
        std::map<RowKey, Sum> rows; ///< by leaf, rank, culprit and cause
        std::map<ledger::LeafKey, std::pair<std::array<std::int64_t, 3>, std::int64_t>> leaves; ///< and how many
        std::map<std::pair<std::int32_t, ledger::LeafKey>, std::int64_t> outside;
        Counts counts;
        void add(const Slice& slice, std::int64_t sign);
    };
    /// A part of the run, counted.
    struct Fresh {
        LedgerSource source;
        ledger::LedgerResult result;
        Slice before; ///< of the first step
        std::vector<Slice> slices; ///< of the steps from `first` on
    };

    void keepOnly(std::size_t steps);
    std::size_t firstChanged(const RunFacts& facts, std::size_t changed) const;
    Result<Fresh> count(TraceReader& reader, const RunFacts& facts, std::size_t from, std::size_t first) const;
    std::vector<std::size_t> shownSteps(std::size_t from) const;
    void slice(Fresh& fresh, const std::vector<std::size_t>& shown, std::size_t first) const;
    void sliceRank(Fresh& fresh, std::size_t index, std::size_t first) const;
    std::size_t slotOf(std::int64_t ns) const;
    std::size_t firstReopened(const Fresh& fresh) const;
    void noteOpen(const Fresh& fresh);
    Result<Fresh> countNew(TraceReader& reader, const RunFacts& facts, std::size_t& first);
    RunLedger handOut(const RunFacts& facts, Fresh& fresh);
    void setStates(const ledger::Lifecycle& lifecycle, std::vector<Slice>& tail);

    LiveSteps steps_;
    std::vector<Slice> kept_; ///< of the settled steps
    Slice before_; ///< what comes before the first step
    Sums sums_; ///< of both
    bool launches_ = false; ///< a host launches on devices: calls reach back however far
    std::map<std::int64_t, std::pair<std::int32_t, std::int64_t>>
        open_; ///< collectives that began in settled steps and lack parts: how many were there, first entry
    std::vector<std::string> ground_; ///< what all steps' figures rest on
    std::vector<AttemptFailure> failures_; ///< as they were at the last look
    Work work_;
};

} // namespace rankscope::tracing
