#include "tracing/export/pop_report.h"

#include "tracing/analysis/wording.h"

#include <fmt/format.h>

namespace rankscope::tracing {

void writePop(JsonWriter& json, const std::optional<PopTimes>& pop)
{
    json.key("pop");
    if (!pop) {
        json.null();
        return;
    }
    json.beginObject();
    json.member("parallel_efficiency", pop->parallel());
    json.member("load_balance", pop->loadBalance());
    json.member("communication_efficiency", pop->communication());
    json.member("serialisation_efficiency", pop->serialisation());
    json.member("transfer_efficiency", pop->transfer());
    json.member("compute_ns", pop->computeNs);
    json.member("most_compute_ns", pop->mostComputeNs);
    json.member("elapsed_ns", pop->elapsedNs);
    json.member("without_transfer_ns", pop->withoutTransferNs);
    json.endObject();
}

std::string popText(const std::optional<PopTimes>& pop)
{
    if (!pop)
        return {};
    return fmt::format("POP: parallel efficiency {} = load balance {} x communication {}\n"
                       "     communication = serialisation {} x transfer {}\n",
        shareText(pop->parallel()), shareText(pop->loadBalance()), shareText(pop->communication()),
        shareText(pop->serialisation()), shareText(pop->transfer()));
}

} // namespace rankscope::tracing
