#include "tracing/analysis/load.h"
#include "tracing/cli/commands.h"
#include "tracing/cli/open_run.h"
#include "tracing/cli/terminal.h"
#include "tracing/export/info.h"
#include "tracing/store/schema.h"

namespace rankscope::tracing {

namespace {

Result<FileInfo> loadInfo(TraceReader& reader)
{
    auto facts = loadFacts(reader);
    if (!facts)
        return facts.error();
    auto counts = reader.counts();
    if (!counts)
        return counts.error();
    auto rows = reader.rowsOfLanes();
    if (!rows)
        return rows.error();
    FileInfo info{ std::move(*facts), std::move(*counts), std::move(*rows) };
    for (const Lane& lane : info.facts.lanes) {
        if (lane.kind == LaneKind::Counter)
            info.spansOfLane.erase(lane.id);
    }
    return info;
}

} // namespace

int infoCommand(const InfoArguments& arguments)
{
    if (arguments.schema) {
        writeOut(schemaText());
        return kGood;
    }
    auto reader = openRun(arguments.file);
    if (!reader) {
        sayError(reader.error().message());
        return kUnreadableInput;
    }
    const auto info = loadInfo(*reader);
    if (!info) {
        sayError(info.error().in("read " + arguments.file).message());
        return kUnreadableInput;
    }
    writeOut(arguments.json ? infoJson(*info) : infoText(*info));
    return kGood;
}

} // namespace rankscope::tracing
