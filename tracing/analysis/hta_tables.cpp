#include "tracing/analysis/hta_tables.h"

#include "tracing/model/interval.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>
#include <tuple>
#include <unordered_map>

namespace rankscope::tracing {

namespace {

constexpr std::int64_t kKernelWaitNs = 30'000;

double microseconds(std::int64_t ns) { return static_cast<double>(ns) / 1000; }

/// Linear between neighbours, as numpy does it.
double quantile(const std::vector<double>& sorted, double share)
{
    const double place = share * static_cast<double>(sorted.size() - 1);
    const auto below = static_cast<std::size_t>(place);
    const std::size_t above = std::min(below + 1, sorted.size() - 1);
    return sorted[below] + (place - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

bool isOneOf(std::string_view name, std::initializer_list<std::string_view> names)
{
    return std::ranges::find(names, name) != names.end();
}

/// Calls whose kernels stand in a queue; launches of graphs do not count.
bool queues(std::string_view name)
{
    return isOneOf(name,
        { "cudaLaunchKernel", "cudaLaunchKernelExC", "cuLaunchKernel", "cuLaunchKernelEx", "cudaMemcpyAsync",
            "cudaMemsetAsync", "hipLaunchKernel", "hipExtModuleLaunchKernel", "hipModuleLaunchKernel", "hipMemcpyAsync",
            "hipMemcpyWithStream", "hipMemsetAsync" });
}

/// Calls in HTA's statistics of launches: fewer.
bool isCountedLaunch(std::string_view name)
{
    return isOneOf(name, { "cudaLaunchKernel", "cudaLaunchKernelExC", "cudaMemcpyAsync", "cudaMemsetAsync" });
}

using SpansByStream = std::map<std::int64_t, std::vector<const HtaSpan*>>;

/// Kernels and copies by begin.
SpansByStream operationsOf(const HtaTrace& trace)
{
    SpansByStream streams;
    for (const HtaSpan& span : trace.spans) {
        if (span.correlation)
            streams[span.stream].push_back(&span);
    }
    return streams;
}

} // namespace

HtaStatistics htaStatisticsOf(std::vector<double> numbers)
{
    HtaStatistics out;
    out.count = std::ssize(numbers);
    if (numbers.empty())
        return out;
    std::ranges::sort(numbers);
    out.sum = std::accumulate(numbers.begin(), numbers.end(), 0.0);
    out.mean = out.sum / static_cast<double>(out.count);
    out.min = numbers.front();
    out.q25 = quantile(numbers, 0.25);
    out.q50 = quantile(numbers, 0.5);
    out.q75 = quantile(numbers, 0.75);
    out.max = numbers.back();
    if (out.count > 1) {
        double squares = 0;
        for (const double number : numbers)
            squares += (number - out.mean) * (number - out.mean);
        out.deviation = std::sqrt(squares / static_cast<double>(out.count - 1));
    }
    return out;
}

std::string_view toString(HtaIdle idle)
{
    return idle == HtaIdle::HostWait ? "host_wait" : idle == HtaIdle::KernelWait ? "kernel_wait" : "other";
}

std::vector<HtaIdleRow> htaIdleOf(const HtaTrace& trace)
{
    std::unordered_map<std::int64_t, std::int64_t> launches;
    for (const HtaCall& call : trace.calls)
        launches.insert_or_assign(call.correlation, call.beginNs);
    std::vector<HtaIdleRow> rows;
    for (const auto& [stream, spans] : operationsOf(trace)) {
        std::array<std::vector<double>, 3> gaps;
        for (std::size_t i = 1; i < spans.size(); ++i) {
            const std::int64_t before = spans[i - 1]->endNs, gap = spans[i]->beginNs - before;
            const auto launch = launches.find(*spans[i]->correlation);
            const auto launchNs = launch != launches.end() ? std::optional(launch->second) : trace.firstEventNs;
            const HtaIdle why = launchNs && *launchNs > before ? HtaIdle::HostWait
                : gap < kKernelWaitNs                          ? HtaIdle::KernelWait
                                                               : HtaIdle::Other;
            gaps[static_cast<std::size_t>(why)].push_back(microseconds(gap));
        }
        double all = 0;
        const std::size_t first = rows.size();
        for (const HtaIdle why : { HtaIdle::HostWait, HtaIdle::KernelWait, HtaIdle::Other }) {
            HtaStatistics us = htaStatisticsOf(std::move(gaps[static_cast<std::size_t>(why)]));
            all += us.sum;
            if (us.count > 0 || why == HtaIdle::Other)
                rows.push_back({ stream, why, 0, us });
        }
        for (std::size_t r = first; r < rows.size() && all > 0; ++r)
            rows[r].share = std::round(100 * rows[r].us.sum / all) / 100;
    }
    return rows;
}

std::vector<HtaQueueRow> htaQueuesOf(const HtaTrace& trace)
{
    struct Change {
        std::int64_t atNs = 0;
        int by = 0;
    };
    std::unordered_map<std::int64_t, const HtaCall*> calls;
    for (const HtaCall& call : trace.calls) {
        if (queues(call.name))
            calls.insert_or_assign(call.correlation, &call);
    }
    std::vector<HtaQueueRow> rows;
    for (const auto& [stream, spans] : operationsOf(trace)) {
        std::vector<Change> changes;
        for (const HtaSpan* span : spans) {
            const auto call = calls.find(*span->correlation);
            if (call == calls.end())
                continue;
            changes.push_back({ call->second->beginNs, 1 });
            changes.push_back({ span->beginNs, -1 });
        }
        std::ranges::sort(changes, {}, [](const Change& change) { return std::pair(change.atNs, -change.by); });
        std::vector<double> lengths;
        std::int64_t length = 0, launches = 0, openToOrder = 0;
        for (std::size_t i = 0; i < changes.size(); ++i) {
            launches = i > 0 && changes[i].atNs == changes[i - 1].atNs ? launches : 0;
            launches += changes[i].by > 0 ? 1 : 0;
            openToOrder += changes[i].by < 0 ? 2 * launches : 0; // each exchange makes one length 2 less
            length += changes[i].by;
            lengths.push_back(static_cast<double>(length));
        }
        if (!lengths.empty())
            rows.push_back({ stream, htaStatisticsOf(std::move(lengths)), openToOrder });
    }
    return rows;
}

std::vector<HtaLaunch> htaLaunchesOf(const HtaTrace& trace)
{
    std::unordered_multimap<std::int64_t, const HtaSpan*> launched;
    for (const HtaSpan& span : trace.spans) {
        if (span.correlation)
            launched.emplace(*span.correlation, &span);
    }
    std::vector<HtaLaunch> rows;
    for (const HtaCall& call : trace.calls) {
        if (!isCountedLaunch(call.name))
            continue;
        const auto [begin, end] = launched.equal_range(call.correlation);
        for (auto it = begin; it != end; ++it)
            rows.push_back({ call.correlation, call.endNs - call.beginNs, it->second->durationNs(),
                std::max<std::int64_t>(0, it->second->beginNs - call.endNs) });
    }
    return rows;
}

std::vector<HtaSubsetRow> htaSubsetsOf(const std::vector<HtaTrace>& traces)
{
    constexpr std::array kTypes{ HtaClass::Computation, HtaClass::Communication, HtaClass::Memory };
    std::array<std::int64_t, 8> sums{};
    for (const HtaTrace& trace : traces) {
        std::vector<std::tuple<std::int64_t, int, unsigned>> edges; // time, begins or ends, class
        for (unsigned bit = 0; bit < kTypes.size(); ++bit) {
            for (const Window& group : htaMerged(trace.spans, kTypes[bit])) {
                edges.emplace_back(group.beginNs, 1, bit);
                edges.emplace_back(group.endNs, -1, bit);
            }
        }
        std::ranges::sort(edges);
        // HTA adds up the classes' numbers, so that a group that rounding turned around makes another class of the
        // one around it; and it counts whole microseconds of each piece.
        int running = 0;
        std::int64_t before = 0;
        for (const auto& [atNs, by, bit] : edges) {
            if (running > 0 && running < std::ssize(sums))
                sums[static_cast<std::size_t>(running)] += (atNs - before) / 1000 * 1000;
            running += by * (1 << bit);
            before = atNs;
        }
    }
    const std::int64_t all = std::accumulate(sums.begin(), sums.end(), std::int64_t{ 0 });
    std::vector<HtaSubsetRow> rows;
    for (unsigned running = 1; running < sums.size(); ++running) {
        if (sums[running] != 0)
            rows.push_back({ (running & 1) != 0, (running & 2) != 0, (running & 4) != 0, sums[running],
                std::round(1000 * static_cast<double>(sums[running]) / static_cast<double>(all)) / 10 });
    }
    std::ranges::stable_sort(rows, std::ranges::greater(), &HtaSubsetRow::ns);
    return rows;
}

std::vector<HtaKernelRow> htaKernelsOf(const HtaTrace& trace)
{
    std::map<std::string_view, std::pair<HtaClass, std::vector<double>>> names;
    for (const HtaSpan& span : trace.spans) {
        auto& [type, durations] = names[span.name];
        type = span.type;
        durations.push_back(microseconds(span.durationNs()));
    }
    std::vector<HtaKernelRow> rows;
    for (auto& [name, durations] : names)
        rows.push_back({ name, durations.first, htaStatisticsOf(std::move(durations.second)) });
    return rows;
}

} // namespace rankscope::tracing
