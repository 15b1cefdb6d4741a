#include "tracing/import/nsight/counter_tables.h"

#include <map>
#include <tuple>
#include <utility>

namespace rankscope::tracing {

namespace {

struct Metric {
    std::string name, unit;
};

std::map<std::pair<std::int64_t, std::int64_t>, Metric> metricsOf(ExportTables& tables)
{
    std::map<std::pair<std::int64_t, std::int64_t>, Metric> metrics;
    static_cast<void>(tables.each("TARGET_INFO_NETWORK_METRICS", { "metricsListId", "metricsIdx", "name", "unit" },
        [&](const Statement& row) -> Status {
            metrics[{ row.integer(0), row.integer(1) }] = { row.text(2), row.text(3) };
            return Done{};
        }));
    return metrics;
}

/// Names of the cards by the id that samples carry.
std::map<std::int64_t, std::string> cardsOf(ExportTables& tables)
{
    std::map<std::int64_t, std::string> byNumber, byGlobalId;
    static_cast<void>(tables.each("TARGET_INFO_NIC_INFO", { "nicId", "name" }, [&](const Statement& row) -> Status {
        byNumber[row.integer(0)] = row.text(1);
        return Done{};
    }));
    static_cast<void>(tables.each("NIC_ID_MAP", { "globalId", "nicId" }, [&](const Statement& row) -> Status {
        byGlobalId[row.integer(0)] = byNumber[row.integer(1)];
        return Done{};
    }));
    return byGlobalId;
}

} // namespace

Status eachDeviceCounter(ExportTables& tables, const CounterVisitor& visitor, std::int64_t& unnamed)
{
    std::map<std::pair<std::int64_t, std::int64_t>, std::string> names;
    static_cast<void>(tables.each(
        "TARGET_INFO_GPU_METRICS", { "typeId", "metricId", "metricName" }, [&](const Statement& row) -> Status {
            names[{ row.integer(0), row.integer(1) }] = row.text(2);
            return Done{};
        }));
    return tables.each(
        "GPU_METRICS", { "timestamp", "typeId", "metricId", "value" }, [&](const Statement& row) -> Status {
            const auto name = names.find({ row.integer(1), row.integer(2) });
            if (row.isNull(0) || name == names.end()) {
                ++unnamed;
                return Done{};
            }
            const bool isShare = name->second.find('%') != std::string::npos;
            return visitor({ row.integer(1) & 0xFF, row.integer(2), name->second, isShare ? "%" : "", row.integer(0),
                row.real(3) });
        });
}

Status eachNetworkCounter(ExportTables& tables, const CounterVisitor& visitor, std::int64_t& unnamed)
{
    const auto metrics = metricsOf(tables);
    const auto cards = cardsOf(tables);
    std::map<std::tuple<std::int64_t, std::int64_t, std::int64_t, std::int64_t>, std::int64_t> lanes;
    return tables.each("NET_NIC_METRIC",
        { "start", "end", "globalId", "portId", "metricsListId", "metricsIdx", "value" },
        [&](const Statement& row) -> Status {
            const auto metric = metrics.find({ row.integer(4), row.integer(5) });
            if (metric == metrics.end() || row.isNull(0)) {
                ++unnamed;
                return Done{};
            }
            const auto card = cards.find(row.integer(2));
            CounterOfExport sample;
            sample.owner = machineOf(row.integer(2));
            sample.lane = lanes
                              .try_emplace({ row.integer(2), row.integer(3), row.integer(4), row.integer(5) },
                                  static_cast<std::int64_t>(lanes.size()))
                              .first->second;
            sample.name = metric->second.name + " · "
                + (card == cards.end() || card->second.empty() ? "card " + std::to_string(row.integer(2))
                                                               : card->second)
                + " port " + std::to_string(row.integer(3));
            sample.unit = metric->second.unit;
            sample.timeNs = row.isNull(1) ? row.integer(0) : row.integer(1);
            sample.value = row.real(6);
            return visitor(sample);
        });
}

} // namespace rankscope::tracing
