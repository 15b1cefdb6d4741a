#include "tracing/import/json/collective_linker.h"

#include "tracing/import/json/decimal.h"
#include "tracing/import/part_rules.h"

#include <algorithm>
#include <cctype>
#include <tuple>

namespace rankscope::tracing {

namespace {

/// Numbers of a text such as "[0, 1, 2]" or of a list that the parser flattened.
std::vector<std::int64_t> numbersIn(std::string_view text)
{
    std::vector<std::int64_t> numbers;
    for (std::size_t i = 0; i < text.size();) {
        std::size_t end = i;
        while (end < text.size() && (std::isdigit(static_cast<unsigned char>(text[end])) != 0 || text[end] == '-'))
            ++end;
        if (end > i) {
            if (const auto number = wholeNumber(text.substr(i, end - i)))
                numbers.push_back(*number);
            i = end;
        } else {
            ++i;
        }
    }
    return numbers;
}

/// METRICS 4.1, column S: the buffer that spans all ranks for gather and scatter, what one rank sends for all-to-all.
std::int64_t elementsOf(CollectiveOp op, std::int64_t in, std::int64_t out)
{
    switch (op) {
    case CollectiveOp::AllGather:
    case CollectiveOp::Gather:
    case CollectiveOp::Broadcast:
        return std::max(in, out);
    default:
        return in > 0 ? in : out;
    }
}

/// 0: beyond 64 bits, so not known.
std::int64_t product(std::int64_t elements, std::int64_t bytesOfOne)
{
    std::int64_t bytes = 0;
    return __builtin_mul_overflow(elements, bytesOfOne, &bytes) ? 0 : bytes;
}

/// Empty where a rank would be none.
std::vector<std::int32_t> ranksFrom(std::int64_t start, std::int64_t stride, std::int32_t size)
{
    std::vector<std::int32_t> ranks;
    std::int64_t rank = start;
    for (std::int32_t i = 0; i < size; ++i) {
        if (rank < 0 || rank > INT32_MAX)
            return {};
        ranks.push_back(static_cast<std::int32_t>(rank));
        if (__builtin_add_overflow(rank, stride, &rank))
            rank = -1;
    }
    return ranks;
}

} // namespace

CollectiveLinker::CollectiveLinker(const ImportRules& rules, SourceTrace& trace)
    : rules_(rules)
    , trace_(trace)
{
    if (trace_.groups.empty())
        trace_.groups.emplace_back();
}

std::uint32_t CollectiveLinker::groupOf(const JsonEvent& event)
{
    SourceGroup group;
    group.name = event.argument("Process Group Name");
    if (const auto commId = event.argument("Comms Id"); group.name.empty() && !commId.empty())
        group.name = commId;
    group.description = event.argument("Process Group Description");
    group.size = static_cast<std::int32_t>(event.number("Group size").value_or(0));
    const std::string_view list = event.argument("Process Group Ranks");
    if (list.find("...") == std::string_view::npos) {
        for (const std::int64_t rank : numbersIn(list))
            group.ranks.push_back(static_cast<std::int32_t>(rank));
    }
    const auto start = event.number("Global rank start"), stride = event.number("Global rank stride");
    if (static_cast<std::int32_t>(group.ranks.size()) != group.size && start && stride && group.size > 0
        && group.size < 1 << 20) {
        group.ranks = ranksFrom(*start, *stride, group.size); // the list is cut off in large groups
    }
    if (group.name.empty() && group.description.empty() && group.ranks.empty())
        return 0;
    const auto same = std::ranges::find_if(trace_.groups, [&](const SourceGroup& other) {
        return other.name == group.name && other.description == group.description && other.ranks == group.ranks;
    });
    if (same != trace_.groups.end())
        return static_cast<std::uint32_t>(same - trace_.groups.begin());
    group.dimension
        = rules_.dimensionOf(group.description).value_or(rules_.dimensionOf(group.name).value_or(Dimension::None));
    trace_.groups.push_back(std::move(group));
    return static_cast<std::uint32_t>(trace_.groups.size() - 1);
}

CollectiveLinker::Description CollectiveLinker::describe(const JsonEvent& event)
{
    Description out;
    const std::string_view collective = event.argument("Collective name");
    out.op = rules_.operationOf(collective.empty() ? event.name : collective);
    const std::int64_t in = event.number("In msg nelems").value_or(0),
                       outElements = event.number("Out msg nelems").value_or(0);
    if (const int size = bytesOfType(event.argument("dtype")); size > 0 && (in > 0 || outElements > 0))
        out.bytes = product(elementsOf(out.op, in, outElements), size);
    else if (event.name.starts_with("nccl:")) {
        std::int64_t elements = 0;
        if (const auto dims = numbersIn(event.argument("Input Dims")); !dims.empty()) {
            elements = 1;
            for (const std::int64_t dim : dims) {
                if (dim < 0 || __builtin_mul_overflow(elements, dim, &elements))
                    return out;
            }
        }
        out.bytes = product(elements, bytesOfType(event.argument("Input type")));
    }
    out.group = groupOf(event);
    out.sequence = event.number("Seq");
    const bool sends = out.op == CollectiveOp::Send, receives = out.op == CollectiveOp::Receive;
    if (const auto peer = event.number(sends ? "Dst Rank" : "Src Rank"); peer && *peer >= 0 && (sends || receives))
        out.peer = static_cast<std::int32_t>(*peer);
    return out;
}

void CollectiveLinker::addDescription(
    std::uint64_t thread, std::int64_t beginNs, std::int64_t endNs, const JsonEvent& event)
{
    Description description = describe(event);
    if (description.op == CollectiveOp::Unknown && description.bytes == 0 && description.group == 0)
        return;
    description.thread = thread;
    description.beginNs = beginNs;
    description.endNs = endNs;
    descriptions_.push_back(description);
}

void CollectiveLinker::addKernel(std::uint32_t lane, std::int64_t beginNs, std::int64_t endNs, const JsonEvent& event)
{
    SourcePart part;
    part.beginNs = beginNs;
    part.endNs = endNs;
    part.lane = lane;
    part.name = trace_.strings.intern(event.name);
    part.correlation = event.number("correlation");
    if (!event.argument("Collective name").empty())
        merge(part, describe(event));
    trace_.parts.push_back(part);
}

void CollectiveLinker::merge(SourcePart& part, const Description& description)
{
    if (part.op == CollectiveOp::Unknown)
        part.op = description.op;
    if (part.bytes == 0)
        part.bytes = description.bytes;
    if (part.group == 0)
        part.group = description.group;
    if (!part.sequence)
        part.sequence = description.sequence;
    if (!part.peer)
        part.peer = description.peer;
}

/// The innermost description around an instant is the one that began last before it and has not ended.
const CollectiveLinker::Description* CollectiveLinker::enclosing(std::uint64_t thread, std::int64_t at) const
{
    const auto key = [](const Description& d) { return std::pair(d.thread, d.beginNs); };
    auto it = std::ranges::upper_bound(descriptions_, std::pair(thread, at), {}, key);
    for (int looked = 0; it != descriptions_.begin() && looked < 4; ++looked) {
        --it;
        if (it->thread != thread)
            break;
        if (it->endNs >= at)
            return &*it;
    }
    return nullptr;
}

/// The calls that launched the parts: few of all calls, which therefore stay where the events are.
Result<std::vector<CollectiveLinker::Launch>> CollectiveLinker::launchesOfParts(
    std::span<const std::uint64_t> threads) const
{
    std::vector<Launch> launches;
    std::vector<std::int64_t> wanted;
    for (const SourcePart& part : trace_.parts) {
        if (part.correlation && !descriptions_.empty())
            wanted.push_back(*part.correlation);
    }
    if (wanted.empty())
        return launches;
    std::ranges::sort(wanted);
    constexpr std::size_t kMarks = 1u << 18;
    std::vector<bool> marks(kMarks); // says no to nearly all that is not wanted
    for (const std::int64_t correlation : wanted)
        marks[static_cast<std::size_t>(correlation) % kMarks] = true;
    for (std::uint32_t lane = 0; lane < trace_.lanes.size(); ++lane) {
        if (trace_.lanes[lane].kind != LaneKind::Host)
            continue;
        const Status visited = trace_.events->visit(lane, [&](std::span<const SourceEvent> events) -> Status {
            for (const SourceEvent& event : events) {
                if (event.kind == SourceKind::HostCall && marks[static_cast<std::size_t>(event.correlation) % kMarks]
                    && std::ranges::binary_search(wanted, event.correlation))
                    launches.push_back({ event.correlation, event.beginNs, threads[lane] });
            }
            return Done{};
        });
        if (!visited)
            return visited.error();
    }
    std::ranges::sort(launches, {}, [](const Launch& l) { return std::pair(l.correlation, l.beginNs); });
    return launches;
}

/// Several calls may share a correlation id: the one that lies in a description tells.
void CollectiveLinker::describeByLaunches(SourcePart& part, std::span<const Launch> launches) const
{
    auto launch = std::ranges::lower_bound(launches, *part.correlation, {}, &Launch::correlation);
    for (; launch != launches.end() && launch->correlation == *part.correlation; ++launch) {
        if (const Description* inner = enclosing(launch->thread, launch->beginNs)) {
            merge(part, *inner);
            // nccl:* lies inside record_param_comms; each may know what the other does not.
            const Description* around = enclosing(launch->thread, inner->beginNs - 1);
            if (around && around->endNs >= inner->endNs)
                merge(part, *around);
        }
    }
}

Status CollectiveLinker::link(std::span<const std::uint64_t> threads)
{
    std::ranges::sort(
        descriptions_, {}, [](const Description& d) { return std::tuple(d.thread, d.beginNs, -d.endNs); });
    const auto launches = launchesOfParts(threads);
    if (!launches)
        return launches.error();
    for (SourcePart& part : trace_.parts) {
        if (part.correlation)
            describeByLaunches(part, *launches);
        completeByRules(rules_, trace_, part);
    }
    descriptions_ = {};
    return Done{};
}

} // namespace rankscope::tracing
