#pragma once

#include "app/models/leaf_bar.h"
#include "tracing/analysis/leaf_stretches.h"
#include "tracing/analysis/run_ledger.h"

#include <QString>

#include <cstdint>
#include <optional>
#include <vector>

namespace rankscope::app {

enum class LedgerBy { Rank, Step, Dimension, Cause };
enum class LedgerUnit { Share, RankTime, GpuHours };

/// What a person chose to see.
struct LedgerChoice {
    LedgerBy by = LedgerBy::Rank; ///< one bar each
    LedgerUnit unit = LedgerUnit::Share; ///< of the column of amounts
    bool avoidableOnly = false; ///< without compute, ideal transfers, start and planned time
    std::optional<tracing::StepRange> steps{};

    bool operator==(const LedgerChoice&) const = default;
};

/// One line of the table: a leaf, or under it who or what is to blame for a part of it.
struct LedgerLine {
    int depth = 0;
    Leaf look = Leaf::Unattributed;
    QString name;
    double share = 0; ///< of the capacity
    QString amount; ///< in the chosen unit
    QString own; ///< time
    QString who; ///< culprit, cause
    QString fixed; ///< what the replay says
    tracing::LeafChoice choice; ///< to find it on the timeline

    bool operator==(const LedgerLine&) const = default;
};

struct LedgerGroup {
    QString name;
    QString amount;
    std::vector<BarSegment> bar;
    std::optional<std::int32_t> rank; ///< of a group by rank
    std::optional<std::int64_t> step; ///< of a group by step
};

struct LedgerModel {
    std::vector<LedgerLine> lines; ///< unattributed first, then in the order of LOOK section 3
    QString denominator; ///< "GPU time", "rank time"
    QString sumAmount, sumOwn, residual; ///< the last line
    QString notes; ///< clock error, what is not recorded, absent ranks; empty: nothing to say
    std::vector<LedgerGroup> groups; ///< the total first
    QString groupsHint;
    QString problem; ///< the chosen steps do not exist; nothing else is set then
};

LedgerModel ledgerModel(const tracing::RunLedger& run, const LedgerChoice& choice);

/// How a leaf of the ledger is drawn, and called: "wait dp", "bubble, fill".
Leaf leafOf(tracing::ledger::Leaf leaf);
QString leafTitle(const tracing::ledger::LeafKey& key);
/// A cause of METRICS 5.3 in plain words: "more to compute".
QString causeTitle(const std::string& cause);

/// "4:6" or "5"; none: it is neither.
std::optional<tracing::StepRange> parseStepRange(const QString& text);

} // namespace rankscope::app
