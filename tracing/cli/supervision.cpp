#include "tracing/cli/supervision.h"

#include "tracing/cli/commands.h"
#include "tracing/collector/ring_reader.h"
#include "tracing/record/facts_file.h"
#include "tracing/record/ring_layout.h"
#include "tracing/record/session.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <tuple>
#include <utility>

namespace rankscope::tracing {

namespace {

constexpr int kNotANumber = 5; ///< of rankscope-train

/// 'T' for a stopped process (proc(5)).
char stateOf(std::int32_t processId)
{
    std::ifstream file(fmt::format("/proc/{}/stat", processId));
    std::string line;
    std::getline(file, line);
    const std::size_t nameEnd = line.rfind(')');
    return nameEnd == std::string::npos || nameEnd + 2 >= line.size() ? 'X' : line[nameEnd + 2];
}

bool isExchange(const Record& record)
{
    return record.kind == static_cast<std::uint8_t>(RecordKind::Collective)
        || record.kind == static_cast<std::uint8_t>(RecordKind::Bubble);
}

/// The first ring of each process that lives.
std::vector<RingReader> livingRanks(const std::filesystem::path& sessionDir)
{
    std::vector<RingReader> rings;
    std::error_code error;
    for (std::filesystem::directory_iterator at(sessionDir, error), end; !error && at != end; at.increment(error)) {
        if (!at->path().string().ends_with(kRingSuffix))
            continue;
        auto ring = RingReader::open(at->path().string());
        if (ring && ring->number() == 0 && isAlive(ring->process()))
            rings.push_back(std::move(*ring));
    }
    return rings;
}

/// The process groups that a rank has told of, by its own number for them.
std::map<std::uint32_t, CommunicatorFact> groupsOf(const std::filesystem::path& sessionDir, const RingReader& ring)
{
    std::ifstream file(sessionDir / (ring.recorderKey() + kFactsSuffix), std::ios::binary);
    std::stringstream bytes;
    bytes << file.rdbuf();
    std::map<std::uint32_t, CommunicatorFact> groups;
    for (const Fact& fact : decodeFacts(bytes.str()).facts) {
        if (const auto* group = std::get_if<CommunicatorFact>(&fact))
            groups[group->id] = *group;
    }
    return groups;
}

AttemptEnd described(const char* what, std::vector<int> ranks)
{
    std::ranges::sort(ranks);
    return { fmt::format("rank{} {} {}", ranks.size() == 1 ? "" : "s", fmt::join(ranks, ", "), what), ranks };
}

} // namespace

void killRanks(const std::filesystem::path& sessionDir)
{
    for (const RingReader& ring : livingRanks(sessionDir))
        kill(ring.process().processId, SIGKILL);
}

bool mayGoOn(int exitCode) { return exitCode != 0 && exitCode != kWrongUsage && exitCode != kUnreadableInput; }

AttemptEnd endOfRanks(int exitCode, const std::vector<std::string>& banners)
{
    if (exitCode == kNotANumber)
        return { "the loss or a gradient is not a number", {} };
    for (const std::string& line : banners) {
        int rank = 0, signal = 0;
        const std::size_t at = line.find("process rank "), exited = line.find("exited on signal ");
        if (at != std::string::npos && exited != std::string::npos
            && std::sscanf(line.c_str() + at, "process rank %d", &rank) == 1
            && std::sscanf(line.c_str() + exited, "exited on signal %d", &signal) == 1)
            return { fmt::format("rank {} died (signal {})", rank, signal), { rank } };
    }
    return { fmt::format("the ranks ended with code {}", exitCode), {} };
}

std::string whoDidNotJoin(const std::filesystem::path& sessionDir)
{
    using Exchange = std::tuple<std::string, std::uint8_t, std::uint32_t>; // group, operation, number
    std::map<Exchange, std::set<std::int32_t>> absent;
    std::map<std::int32_t, std::set<Exchange>> inside;
    for (const RingReader& ring : livingRanks(sessionDir)) {
        const auto groups = groupsOf(sessionDir, ring);
        for (const Record& record : ring.openSpans()) {
            const bool isCollective = record.kind == static_cast<std::uint8_t>(RecordKind::Collective)
                && !isPointToPoint(static_cast<CollectiveOp>(record.detail));
            const auto group = isCollective ? groups.find(record.collective.communicator) : groups.end();
            if (group == groups.end())
                continue;
            const Exchange exchange{ group->second.name, record.detail, record.collective.sequence };
            absent[exchange].insert(group->second.members.begin(), group->second.members.end());
            inside[ring.rank()].insert(exchange);
        }
    }
    std::string text;
    for (auto& [exchange, ranks] : absent) {
        std::erase_if(ranks, [&](std::int32_t rank) { return inside[rank].contains(exchange); });
        if (ranks.empty())
            continue;
        text += fmt::format("{}rank{} {} did not join {} {} of {}", text.empty() ? "" : ", ",
            ranks.size() == 1 ? "" : "s", fmt::join(ranks, ", "),
            toString(static_cast<CollectiveOp>(std::get<1>(exchange))), std::get<2>(exchange), std::get<0>(exchange));
    }
    return text;
}

AttemptEnd endByHang(const std::filesystem::path& sessionDir, double seconds)
{
    std::vector<int> stopped;
    std::map<int, bool> waits; // by rank: in an exchange
    for (const RingReader& ring : livingRanks(sessionDir)) {
        if (stateOf(ring.process().processId) == 'T')
            stopped.push_back(ring.rank());
        waits[ring.rank()] = std::ranges::any_of(ring.openSpans(), isExchange);
    }
    const std::string for_ = fmt::format("; no progress for {:.3g} s", seconds);
    AttemptEnd result{ fmt::format("the ranks hang{}", for_), {} };
    std::vector<int> busy;
    for (const auto& [rank, isWaiting] : waits) {
        if (!isWaiting)
            busy.push_back(rank);
    }
    if (!stopped.empty())
        result = described(stopped.size() == 1 ? "is stopped" : "are stopped", stopped);
    else if (!busy.empty() && busy.size() < waits.size())
        result = described(busy.size() == 1 ? "keeps the others waiting" : "keep the others waiting", busy);
    else
        return result;
    result.reason += for_;
    return result;
}

} // namespace rankscope::tracing
