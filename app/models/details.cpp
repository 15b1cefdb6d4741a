#include "app/models/details.h"

#include "app/models/leaf_bar.h"
#include "tracing/analysis/collectives.h"
#include "tracing/analysis/run_analysis.h"
#include "tracing/analysis/run_rows.h"
#include "tracing/analysis/wording.h"

#include <algorithm>
#include <map>
#include <string>

namespace rankscope::app {
namespace {

using tracing::Result;

QString text(std::string_view utf8) { return QString::fromUtf8(utf8.data(), static_cast<qsizetype>(utf8.size())); }
QString duration(std::int64_t ns) { return text(tracing::timeText(ns)); }
QString moment(std::int64_t ns) { return QStringLiteral("%1 s").arg(static_cast<double>(ns) / 1e9, 0, 'f', 6); }
QString clockError(std::int64_t ns) { return QStringLiteral("±%1").arg(duration(ns)); }

/// Builds the details of one row step by step.
class Builder {
public:
    Builder(tracing::TraceReader& reader, const RunSnapshot& run, const Selection& selection)
        : reader_(reader)
        , run_(run)
        , selection_(selection)
    {
    }

    Result<Details> kernel();
    Result<Details> copy();
    Result<Details> hostCall();
    Result<Details> collective();
    Result<Details> bubble();
    Result<Details> range();
    Result<Details> fold();
    Result<Details> area();

private:
    /// The row with exactly the selected stretch.
    template <typename Row> Result<Row> find(Result<std::vector<Row>> rows) const
    {
        if (!rows)
            return rows.error();
        const auto found = std::find_if(rows->begin(), rows->end(), [this](const Row& row) {
            return row.beginNs == selection_.window.beginNs && row.endNs == selection_.window.endNs;
        });
        if (found == rows->end())
            return tracing::Error("the selected span is no longer in the file; select it again");
        return *found;
    }

    template <typename T> void field(const char* name, const std::optional<T>& value)
    {
        if (value)
            add(name, QString::number(*value));
    }
    void add(const char* name, const QString& value)
    {
        if (!value.isEmpty())
            details_.fields.emplace_back(QLatin1String(name), value);
    }
    Result<QString> name(tracing::NameId id);
    void where();
    void cpu(std::optional<std::int64_t> cpuNs);
    void partRows(const std::vector<tracing::SplitPart>& split);

    tracing::TraceReader& reader_;
    const RunSnapshot& run_;
    const Selection& selection_;
    Details details_;
};

Result<QString> Builder::name(tracing::NameId id)
{
    auto names = reader_.names();
    if (!names)
        return names.error();
    const auto index = static_cast<std::size_t>(raw(id));
    return index < names->size() ? text((*names)[index]) : QStringLiteral("?");
}

/// What every row has: place and time.
void Builder::where()
{
    const tracing::Lane* lane = run_.lane(selection_.lane);
    add("rank", QString::number(selection_.rank));
    for (const auto& rank : run_.ranks) {
        if (rank.rank != selection_.rank)
            continue;
        field("pipeline stage", rank.stage);
        add("node, device", text(rank.node + (rank.device.empty() ? "" : ", " + rank.device)));
    }
    if (lane)
        add("lane", text(lane->name));
    add("begin", moment(selection_.window.beginNs));
    add("duration", duration(selection_.window.durationNs()));
}

void Builder::cpu(std::optional<std::int64_t> cpuNs)
{
    if (!cpuNs)
        return;
    const double all = static_cast<double>(std::max<std::int64_t>(1, selection_.window.durationNs()));
    add("CPU time",
        duration(*cpuNs)
            + QStringLiteral(" (%1 of its duration)").arg(text(tracing::shareText(static_cast<double>(*cpuNs) / all))));
}

Result<Details> Builder::kernel()
{
    const auto row = find(reader_.kernels(selection_.lane, selection_.window));
    if (!row)
        return row.error();
    const auto signatures = reader_.signatures();
    if (!signatures)
        return signatures.error();
    const auto index = static_cast<std::size_t>(raw(row->signature));
    if (index >= signatures->size())
        return tracing::Error("kernel has signature " + std::to_string(index) + ", which the file does not hold");
    const tracing::KernelSignature& signature = (*signatures)[index];
    const auto title = name(signature.name);
    if (!title)
        return title.error();
    details_.title = *title;
    details_.subtitle = QStringLiteral("kernel");
    where();
    if (signature.pass != tracing::Pass::None)
        add("pass", text(toString(signature.pass)));
    field("micro-batch", row->microBatch);
    if (signature.dtype != tracing::DataType::Unknown)
        add("type", text(toString(signature.dtype)));
    add("threads", QString::number(signature.threads));
    const double seconds = static_cast<double>(std::max<std::int64_t>(1, selection_.window.durationNs())) / 1e9;
    if (signature.flop)
        add("arithmetic",
            text(tracing::countText(*signature.flop)) + " FLOP, "
                + text(tracing::rateText(static_cast<double>(*signature.flop) / seconds, "FLOP")));
    if (signature.bytes)
        add("memory traffic",
            text(tracing::bytesText(*signature.bytes)) + ", at least "
                + text(tracing::rateText(static_cast<double>(*signature.bytes) / seconds, "B")));
    cpu(row->cpuNs);
    field("tokens", row->work);
    field("correlation", row->correlation);
    return details_;
}

Result<Details> Builder::copy()
{
    const auto row = find(reader_.copies(selection_.lane, selection_.window));
    if (!row)
        return row.error();
    const auto title = name(row->name);
    if (!title)
        return title.error();
    details_.title = *title;
    details_.subtitle = QStringLiteral("copy");
    where();
    if (row->bytes)
        add("size", text(tracing::bytesText(*row->bytes)));
    field("correlation", row->correlation);
    return details_;
}

Result<Details> Builder::hostCall()
{
    const auto row = find(reader_.hostCalls(selection_.lane, selection_.window));
    if (!row)
        return row.error();
    const auto title = name(row->name);
    if (!title)
        return title.error();
    details_.title = *title;
    details_.subtitle = QStringLiteral("host call");
    where();
    field("correlation", row->correlation);
    return details_;
}

Result<Details> Builder::bubble()
{
    const auto row = find(reader_.bubbles(selection_.lane, selection_.window));
    if (!row)
        return row.error();
    details_.title = QStringLiteral("Pipeline bubble, %1").arg(text(toString(row->phase)));
    details_.subtitle = QStringLiteral("the rank has nothing to run because the schedule makes it wait for a peer");
    where();
    add("stage", QString::number(row->stage));
    field("waits for rank", row->awaitedRank);
    field("micro-batch awaited", row->microBatch);
    if (row->pass != tracing::Pass::None)
        add("would run next", text(toString(row->pass)));
    return details_;
}

Result<Details> Builder::range()
{
    const auto row = find(reader_.ranges(selection_.lane, selection_.window));
    if (!row)
        return row.error();
    const auto title = name(row->name);
    if (!title)
        return title.error();
    details_.title = *title;
    details_.subtitle = text(toString(row->kind));
    where();
    field("step", row->step);
    field("micro-batch", row->microBatch);
    cpu(row->cpuNs);
    return details_;
}

Result<Details> Builder::fold()
{
    details_.title = QStringLiteral("Spans too narrow to draw");
    details_.subtitle = QStringLiteral("zoom in (W, or Ctrl and wheel) to see them one by one");
    where();
    return details_;
}

/// Where the time of the marked stretch went, over all ranks.
Result<Details> Builder::area()
{
    tracing::AnalysisOptions options;
    options.window = selection_.window;
    const auto counted = tracing::analyse(reader_, options);
    if (!counted)
        return counted.error();
    details_.title = QStringLiteral("%1 marked").arg(duration(selection_.window.durationNs()));
    details_.subtitle
        = QStringLiteral("%1 to %2, all ranks; shares of %3")
              .arg(moment(selection_.window.beginNs), moment(selection_.window.endNs), text(counted->capacityWord()));
    for (const LeafTime& time : leafTimes(counted->total)) {
        const bool isOutside = time.leaf == Leaf::Descheduled && counted->sharedCores();
        const QString share
            = isOutside ? QStringLiteral("outside") : text(tracing::shareText(counted->shareOf(time.ns)));
        details_.fields.emplace_back(leafWord(time.leaf), share + ", " + duration(time.ns));
    }
    if (counted->capacityNs() > 0)
        details_.fields.emplace_back("sum", "100.0 %, " + duration(counted->capacityNs()));
    return details_;
}

void Builder::partRows(const std::vector<tracing::SplitPart>& split)
{
    std::int64_t firstEntry = split.front().beginNs;
    const tracing::SplitPart* late = &split.front();
    for (const auto& part : split) {
        firstEntry = std::min(firstEntry, part.beginNs);
        if (part.beginNs > late->beginNs)
            late = &part;
    }
    std::map<std::int32_t, std::int64_t> errors;
    for (const auto& rank : run_.ranks)
        errors[rank.rank] = rank.clockErrorNs;
    const bool known = split.size() > 1;
    for (const auto& part : split) {
        CollectivePartRow row{ part.rank, part.beginNs, part.splitNs, part.endNs, part.isSplit, known && &part == late,
            errors[part.rank], {} };
        row.figures = part.isSplit
            ? QStringLiteral("wait %1   transfer %2").arg(duration(part.waitNs()), duration(part.transferNs()))
            : QStringLiteral("%1, not split: no partner in the file").arg(duration(part.endNs - part.beginNs));
        if (row.clockErrorNs > 0)
            row.figures += "   " + clockError(row.clockErrorNs);
        details_.parts.push_back(row);
    }
    if (known && late->beginNs > firstEntry)
        details_.conclusion = QStringLiteral("Rank %1 entered last, %2 after the first.")
                                  .arg(late->rank)
                                  .arg(duration(late->beginNs - firstEntry));
}

Result<Details> Builder::collective()
{
    if (!selection_.instance)
        return tracing::Error("this collective has no instance number; its ranks cannot be found");
    const auto parts = reader_.partsOf(*selection_.instance);
    if (!parts)
        return parts.error();
    if (parts->empty())
        return tracing::Error("the selected collective is no longer in the file; select it again");
    std::vector<tracing::RankPart> ranked;
    tracing::Window all{ parts->front().beginNs, parts->front().endNs };
    for (const auto& part : *parts) {
        const tracing::Lane* lane = run_.lane(part.lane);
        ranked.push_back({ lane ? lane->rank : 0, lane ? lane->dimension : tracing::Dimension::None, part });
        all.beginNs = std::min(all.beginNs, part.beginNs);
        all.endNs = std::max(all.endNs, part.endNs);
    }
    std::sort(ranked.begin(), ranked.end(), [](const auto& a, const auto& b) { return a.rank < b.rank; });
    auto matches = reader_.matches(all);
    if (!matches)
        return matches.error();
    std::erase_if(*matches, [&](const auto& match) { return match.id != *selection_.instance; });

    const tracing::RankPart& first = ranked.front();
    details_.title = text(toString(first.part.op)) + " "
        + text(first.dimension == tracing::Dimension::None ? "" : toString(first.dimension));
    if (!matches->empty()) {
        const auto& match = matches->front();
        details_.title += QStringLiteral(" #%1").arg(match.sequence);
        details_.subtitle
            = QStringLiteral("%1 of %2 parts in the file").arg(match.partsPresent).arg(match.partsExpected);
        const bool sizeKnown = first.part.bytes > 0;
        if (sizeKnown && match.partsPresent > 1 && match.lastExitNs > match.lastEntryNs && !isPointToPoint(match.op)) {
            add("bus bandwidth",
                text(tracing::rateText(1e9
                        * tracing::busBandwidthGBps(
                            match.op, first.part.bytes, match.lastExitNs - match.lastEntryNs, match.partsExpected),
                    "B")));
        }
    }
    const auto called = name(first.part.name);
    if (called && !called->isEmpty())
        add("name", *called);
    if (first.part.bytes > 0)
        add("size", text(tracing::bytesText(first.part.bytes)));
    add("begin", moment(all.beginNs));
    add("duration", duration(all.durationNs()));
    field("micro-batch", first.part.microBatch);
    partRows(tracing::splitParts(ranked, *matches));
    return details_;
}

} // namespace

Result<Details> readDetails(tracing::TraceReader& reader, const RunSnapshot& run, const Selection& selection)
{
    Builder builder(reader, run, selection);
    switch (selection.kind) {
    case Selection::Kind::Kernel:
        return builder.kernel();
    case Selection::Kind::Copy:
        return builder.copy();
    case Selection::Kind::HostCall:
        return builder.hostCall();
    case Selection::Kind::Collective:
        return builder.collective();
    case Selection::Kind::Bubble:
        return builder.bubble();
    case Selection::Kind::Range:
        return builder.range();
    case Selection::Kind::Fold:
        return builder.fold();
    case Selection::Kind::Area:
        return builder.area();
    case Selection::Kind::None:
        break;
    }
    return Details{};
}

} // namespace rankscope::app
