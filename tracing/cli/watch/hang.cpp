#include "tracing/cli/watch/hang.h"

#include "tracing/collector/ring_reader.h"
#include "tracing/record/facts_file.h"
#include "tracing/record/ring_layout.h"
#include "tracing/record/session.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <csignal>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <sstream>
#include <tuple>

namespace rankscope::tracing {

namespace {

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

/// What the ranks are in the middle of.
class OpenExchanges {
public:
    void add(const RingReader& ring, const std::map<std::uint32_t, CommunicatorFact>& groups)
    {
        for (const Record& record : ring.openSpans()) {
            if (!isExchange(record))
                continue;
            const bool isBubble = record.kind == static_cast<std::uint8_t>(RecordKind::Bubble);
            const bool isMessage = isBubble || isPointToPoint(static_cast<CollectiveOp>(record.detail));
            const auto group = isMessage ? groups.end() : groups.find(record.collective.communicator);
            if (isMessage && (record.flags & kHasPeer) != 0) {
                awaited_[ring.rank()] = isBubble ? record.bubble.awaitedRank : record.collective.peer;
            } else if (group != groups.end()) {
                const Exchange exchange{ group->second.name, record.detail, record.collective.sequence };
                members_[exchange].insert(group->second.members.begin(), group->second.members.end());
                inside_[exchange].insert(ring.rank());
            }
        }
    }

    std::string text() const
    {
        std::vector<std::string> absences, others;
        for (const auto& [exchange, members] : members_) {
            const auto& [group, op, number] = exchange;
            const std::string name = fmt::format("{} {} of {}", toString(static_cast<CollectiveOp>(op)), number, group);
            std::vector<std::int32_t> absent;
            std::ranges::set_difference(members, inside_.at(exchange), std::back_inserter(absent));
            if (absent.empty())
                others.push_back("all ranks are in " + name);
            else
                absences.push_back(
                    fmt::format("rank{} {} did not join {}", absent.size() == 1 ? "" : "s", fmt::join(absent, ", "), name));
        }
        // Who waits for one that waits as well says nothing new.
        for (const auto& [rank, awaited] : awaited_) {
            if (!awaited_.contains(awaited))
                others.push_back(fmt::format("rank {} waits for a message of rank {}", rank, awaited));
        }
        return fmt::format("{}", fmt::join(absences.empty() ? others : absences, ", "));
    }

private:
    using Exchange = std::tuple<std::string, std::uint8_t, std::uint32_t>; ///< group, operation, number

    std::map<Exchange, std::set<std::int32_t>> members_;
    std::map<Exchange, std::set<std::int32_t>> inside_;
    std::map<std::int32_t, std::int32_t> awaited_; ///< by rank: whose message it waits for
};

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

std::string whoDidNotJoin(const std::filesystem::path& sessionDir)
{
    OpenExchanges open;
    for (const RingReader& ring : livingRanks(sessionDir))
        open.add(ring, groupsOf(sessionDir, ring));
    return open.text();
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
