#include "app/models/ledger_model.h"

#include "tracing/model/kinds.h"

#include <QStringList>

namespace rankscope::app {

using LedgerLeaf = tracing::ledger::Leaf;

Leaf leafOf(LedgerLeaf leaf)
{
    switch (leaf) {
    case LedgerLeaf::Useful:
    case LedgerLeaf::Compute:
    case LedgerLeaf::Optimizer:
        return Leaf::Compute;
    case LedgerLeaf::PrecisionDeficit:
    case LedgerLeaf::MemoryBound:
    case LedgerLeaf::BelowRoofline:
        return Leaf::BelowRoofline;
    case LedgerLeaf::Recompute:
    case LedgerLeaf::Redundant:
        return Leaf::Recompute;
    case LedgerLeaf::Descheduled:
        return Leaf::Descheduled;
    case LedgerLeaf::Transfer:
    case LedgerLeaf::TransferIdeal:
        return Leaf::Transfer;
    case LedgerLeaf::TransferExcess:
        return Leaf::TransferExcess;
    case LedgerLeaf::Unsplit:
        return Leaf::Communication;
    case LedgerLeaf::Wait:
        return Leaf::Wait;
    case LedgerLeaf::BubbleFill:
    case LedgerLeaf::BubbleSteady:
    case LedgerLeaf::BubbleDrain:
        return Leaf::Bubble;
    case LedgerLeaf::BubbleImbalance:
        return Leaf::Imbalance;
    case LedgerLeaf::Copy:
        return Leaf::Copy;
    case LedgerLeaf::Host:
        return Leaf::Host;
    case LedgerLeaf::Launch:
    case LedgerLeaf::KernelGap:
        return Leaf::Launch;
    case LedgerLeaf::Data:
        return Leaf::Data;
    case LedgerLeaf::Checkpoint:
        return Leaf::Checkpoint;
    case LedgerLeaf::Lost:
    case LedgerLeaf::DownDetect:
    case LedgerLeaf::DownRestart:
    case LedgerLeaf::DownRestore:
        return Leaf::Lost;
    case LedgerLeaf::Start:
    case LedgerLeaf::Planned:
    case LedgerLeaf::Shutdown:
        return Leaf::Start;
    case LedgerLeaf::Tail:
    case LedgerLeaf::Unattributed:
        return Leaf::Unattributed;
    }
    return Leaf::Unattributed;
}

namespace {

QString plainTitle(LedgerLeaf leaf)
{
    switch (leaf) {
    case LedgerLeaf::Useful:
        return QStringLiteral("useful compute");
    case LedgerLeaf::Recompute:
        return QStringLiteral("recompute");
    case LedgerLeaf::Redundant:
        return QStringLiteral("redundant");
    case LedgerLeaf::PrecisionDeficit:
        return QStringLiteral("slower precision");
    case LedgerLeaf::MemoryBound:
        return QStringLiteral("memory bound");
    case LedgerLeaf::BelowRoofline:
        return QStringLiteral("below roofline");
    case LedgerLeaf::Compute:
        return QStringLiteral("compute");
    case LedgerLeaf::Optimizer:
        return QStringLiteral("optimizer");
    case LedgerLeaf::Descheduled:
        return QStringLiteral("descheduled");
    case LedgerLeaf::Transfer:
        return QStringLiteral("transfer");
    case LedgerLeaf::TransferIdeal:
        return QStringLiteral("transfer, ideal");
    case LedgerLeaf::TransferExcess:
        return QStringLiteral("transfer, excess");
    case LedgerLeaf::Unsplit:
        return QStringLiteral("communication");
    case LedgerLeaf::Wait:
        return QStringLiteral("wait");
    case LedgerLeaf::BubbleFill:
        return QStringLiteral("bubble, fill");
    case LedgerLeaf::BubbleSteady:
        return QStringLiteral("bubble, steady");
    case LedgerLeaf::BubbleDrain:
        return QStringLiteral("bubble, drain");
    case LedgerLeaf::BubbleImbalance:
        return QStringLiteral("bubble, imbalance");
    case LedgerLeaf::Copy:
        return QStringLiteral("copy");
    case LedgerLeaf::Host:
        return QStringLiteral("host late");
    case LedgerLeaf::Launch:
        return QStringLiteral("launch");
    case LedgerLeaf::KernelGap:
        return QStringLiteral("kernel gap");
    case LedgerLeaf::Data:
        return QStringLiteral("data stall");
    case LedgerLeaf::Checkpoint:
        return QStringLiteral("checkpoint");
    case LedgerLeaf::Tail:
        return QStringLiteral("tail of the step");
    case LedgerLeaf::Lost:
        return QStringLiteral("lost work");
    case LedgerLeaf::DownDetect:
        return QStringLiteral("down, detecting");
    case LedgerLeaf::DownRestart:
        return QStringLiteral("down, restarting");
    case LedgerLeaf::DownRestore:
        return QStringLiteral("down, restoring");
    case LedgerLeaf::Start:
        return QStringLiteral("start");
    case LedgerLeaf::Planned:
        return QStringLiteral("planned");
    case LedgerLeaf::Shutdown:
        return QStringLiteral("shutdown");
    case LedgerLeaf::Unattributed:
        break;
    }
    return QStringLiteral("unattributed");
}

} // namespace

QString leafTitle(const tracing::ledger::LeafKey& key)
{
    const QString title = plainTitle(key.leaf);
    if (key.dimension == tracing::Dimension::None)
        return title;
    const std::string_view dimension = tracing::toString(key.dimension);
    return title + QLatin1Char(' ') + QString::fromUtf8(dimension.data(), static_cast<qsizetype>(dimension.size()));
}

QString causeTitle(const std::string& cause)
{
    if (cause == "compute_amount")
        return QStringLiteral("more to compute");
    if (cause == "compute_speed")
        return QStringLiteral("computes slower");
    return QString::fromStdString(cause);
}

std::optional<tracing::StepRange> parseStepRange(const QString& text)
{
    const QStringList parts = text.trimmed().split(QLatin1Char(':'));
    bool firstOk = false;
    bool lastOk = false;
    const std::int64_t first = parts.first().toLongLong(&firstOk);
    const std::int64_t last = parts.last().toLongLong(&lastOk);
    if (parts.size() > 2 || !firstOk || !lastOk || first > last)
        return std::nullopt;
    return tracing::StepRange{ first, last };
}

} // namespace rankscope::app
