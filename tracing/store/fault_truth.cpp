#include "tracing/store/fault_truth.h"

#include "tracing/store/run_file.h"

namespace rankscope::tracing {

Result<std::vector<FaultInjection>> readFaultTruth(const std::string& runFile)
{
    auto database = openForReading(runFile);
    if (!database)
        return database.error().in("open " + runFile);
    auto query = database->prepare(
        "SELECT kind, rank, step, begin_ns, end_ns, detail FROM fault_injection ORDER BY begin_ns, id");
    if (!query)
        return query.error().in("read " + runFile);
    std::vector<FaultInjection> faults;
    for (;;) {
        auto row = query->step();
        if (!row)
            return row.error().in("read " + runFile);
        if (!*row)
            return faults;
        faults.push_back({ query->text(0), query->optionalInteger32(1), query->optionalInteger(2), query->integer(3),
            query->integer(4), query->text(5) });
    }
}

} // namespace rankscope::tracing
