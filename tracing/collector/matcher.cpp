#include "tracing/collector/matcher.h"

#include <algorithm>
#include <utility>

namespace rankscope::tracing {

namespace {

bool isRooted(CollectiveOp op)
{
    return op == CollectiveOp::Broadcast || op == CollectiveOp::Scatter || op == CollectiveOp::Reduce
        || op == CollectiveOp::Gather;
}

/// Whether `part` cannot end before `other` has entered.
bool dependsOn(const MatchPart& part, const MatchPart& other)
{
    if (!isRooted(part.op) || !part.peer)
        return true;
    const bool isFromRoot = part.op == CollectiveOp::Broadcast || part.op == CollectiveOp::Scatter;
    return isFromRoot ? other.rank == *part.peer : part.rank == *part.peer;
}

std::uint64_t mix(std::uint64_t value)
{
    value ^= value >> 32;
    value *= 0x9e3779b97f4a7c15u;
    return value ^ value >> 29;
}

} // namespace

PartSplit splitOf(const MatchPart& part, const std::vector<MatchPart>& all)
{
    if (all.size() < 2)
        return {};
    std::int64_t lastEntryNs = part.window.beginNs;
    for (const MatchPart& other : all) {
        if (dependsOn(part, other))
            lastEntryNs = std::max(lastEntryNs, other.window.beginNs);
    }
    // Eager: the message was on its way before anybody asked for it.
    if (part.op == CollectiveOp::Send && part.window.endNs < lastEntryNs)
        return { true, part.window.beginNs };
    return { true, std::min(lastEntryNs, part.window.endNs) };
}

std::size_t Matcher::KeyHash::operator()(const Key& key) const
{
    const auto group = static_cast<std::uint32_t>(key.group);
    const auto other = static_cast<std::uint32_t>(key.other);
    return mix(mix(group | std::uint64_t{ other } << 32) + static_cast<std::uint64_t>(key.sequence)
        + (static_cast<std::uint64_t>(key.attempt) << 48));
}

Matcher::Key Matcher::keyOf(CommunicatorId communicator, std::int64_t sequence, const MatchPart& part)
{
    if (!isPointToPoint(part.op) || !part.peer)
        return { raw(communicator), static_cast<std::int32_t>(part.op), sequence, part.attempt };
    const bool sends = part.op == CollectiveOp::Send;
    return { sends ? part.rank : *part.peer, ~(sends ? *part.peer : part.rank), sequence, part.attempt };
}

void Matcher::addPart(Instance& instance, const MatchPart& part)
{
    CollectiveMatch& match = instance.match;
    const bool isFirst = instance.parts.empty();
    instance.parts.push_back(part);
    match.partsPresent = static_cast<std::int32_t>(instance.parts.size());
    match.firstEntryNs = isFirst ? part.window.beginNs : std::min(match.firstEntryNs, part.window.beginNs);
    match.lastEntryNs = isFirst ? part.window.beginNs : std::max(match.lastEntryNs, part.window.beginNs);
    match.lastExitNs = isFirst ? part.window.endNs : std::max(match.lastExitNs, part.window.endNs);
    if (instance.parts.size() < 2)
        return;
    const auto late
        = std::min_element(instance.parts.begin(), instance.parts.end(), [](const MatchPart& a, const MatchPart& b) {
              return std::pair(-a.window.beginNs, a.rank) < std::pair(-b.window.beginNs, b.rank);
          });
    match.lateRank = late->rank;
}

void Matcher::restore(const CollectiveMatch& match, std::vector<MatchPart> parts)
{
    if (parts.empty())
        return;
    const Key key = keyOf(match.communicator, match.sequence, parts.front());
    // Two of one key: the earlier was closed when the later began.
    if (const auto earlier = open_.find(key); earlier != open_.end())
        keyOf_.erase(raw(earlier->second.match.id));
    keyOf_[raw(match.id)] = key;
    open_.insert_or_assign(key, Instance{ match, std::move(parts), false });
}

InstanceId Matcher::add(
    CommunicatorId communicator, std::int64_t sequence, std::int32_t expected, const MatchPart& part)
{
    const Key key = keyOf(communicator, sequence, part);
    auto at = open_.find(key);
    if (at != open_.end()) {
        const auto isSame = [&part](const MatchPart& known) { return known.rank == part.rank && known.op == part.op; };
        if (std::any_of(at->second.parts.begin(), at->second.parts.end(), isSame)) {
            close(at);
            at = open_.end();
        }
    }
    if (at == open_.end()) {
        if (open_.size() >= most_)
            giveUpOldest();
        at = open_.emplace(key, Instance{}).first;
        CollectiveMatch& match = at->second.match;
        match.id = InstanceId{ next_++ };
        match.communicator = communicator;
        match.op = isPointToPoint(part.op) ? CollectiveOp::Send : part.op;
        match.sequence = sequence;
        match.partsExpected = expected;
        keyOf_[raw(match.id)] = key;
        touched_.push_back(raw(match.id));
    }
    Instance& instance = at->second;
    addPart(instance, part);
    const InstanceId id = instance.match.id;
    if (!std::exchange(instance.changed, true))
        touched_.push_back(raw(id));
    if (instance.match.partsPresent >= instance.match.partsExpected)
        close(at);
    return id;
}

void Matcher::close(Open::iterator at)
{
    finished_(at->second);
    closed_.push_back(at->second.match);
    keyOf_.erase(raw(at->second.match.id));
    open_.erase(at);
}

/// Given up in order of their ids, so that after a restart one number tells which they were.
void Matcher::giveUpOldest()
{
    while (!open_.empty()) {
        const auto oldest = keyOf_.find(givenUpBelow_++);
        if (oldest != keyOf_.end()) {
            close(open_.find(oldest->second));
            return;
        }
    }
}

const std::vector<CollectiveMatch>& Matcher::changes()
{
    changes_ = std::exchange(closed_, {});
    for (const std::int64_t id : touched_) {
        const auto key = keyOf_.find(id);
        if (key == keyOf_.end())
            continue;
        Instance& instance = open_.find(key->second)->second;
        instance.changed = false;
        changes_.push_back(instance.match);
    }
    touched_.clear();
    return changes_;
}

void Matcher::finish()
{
    while (!open_.empty())
        giveUpOldest();
    givenUpBelow_ = next_;
}

} // namespace rankscope::tracing
