#include "tests/support/growing_run.h"

#include "tests/support/must.h"

#include <algorithm>
#include <string>

using namespace rankscope::tracing;

namespace rankscope::support {
namespace {

constexpr int kMicroBatches = 4;
constexpr std::int64_t kUs = 1'000;
constexpr std::int64_t kMs = 1'000'000;

} // namespace

GrowingRun::GrowingRun(const std::filesystem::path& file, const Traits& traits)
    : writer_(must(TraceWriter::open(file.string(), TraceWriter::Mode::CreateNew)))
    , traits_(traits)
    , random_(traits.seed)
{
    run_.name = "growing";
    run_.source = "rankscope";
    run_.worldSize = kRanks;
    must(writer_.setRun(run_));
    for (int rank = 0; rank < kRanks; ++rank) {
        RankInfo info;
        info.rank = rank;
        info.node = traits.clockErrorNs > 0 ? "node" + std::to_string(rank) : "node0";
        info.clockErrorNs = traits.clockErrorNs;
        info.stage = rank / 2;
        info.peakFlops = 1e9;
        must(writer_.putRank(info));
        now_[static_cast<std::size_t>(rank)] = 20 * kMs + between(0, 3 * kMs);
    }
    must(writer_.setProvenance("config.parallel.pp", "2"));
    must(writer_.setProvenance("config.parallel.schedule", "\"1f1b\""));
    must(writer_.setProvenance("config.batch.micro_batches", std::to_string(kMicroBatches)));
    for (const auto& members : { std::vector<std::int32_t>{ 0, 1 }, { 2, 3 } })
        replicas_.push_back(must(writer_.communicator({ {}, "dp", Dimension::Data, members })));
    world_ = must(writer_.communicator({ {}, "world", Dimension::World, { 0, 1, 2, 3 } }));
    pipeline_ = must(writer_.communicator({ {}, "pp", Dimension::Pipeline, { 0, 1, 2, 3 } }));
}

std::int64_t GrowingRun::between(std::int64_t least, std::int64_t most)
{
    return least + static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(most - least + 1));
}

LaneId GrowingRun::lane(int rank, LaneKind kind, Dimension dimension)
{
    const std::string name = std::string(toString(kind)) + std::string(toString(dimension));
    return must(writer_.lane({ {}, rank, kind, dimension, name, "" }));
}

void GrowingRun::queue(int rank, std::int64_t endNs, Put put)
{
    open_[static_cast<std::size_t>(rank)].push_back({ endNs, std::move(put) });
}

void GrowingRun::kernel(int rank, Pass pass, int microBatch, std::int64_t lengthNs)
{
    std::int64_t& now = now_[static_cast<std::size_t>(rank)];
    Kernel row;
    row.lane = lane(rank, LaneKind::Compute, Dimension::None);
    row.beginNs = now;
    row.endNs = now + lengthNs;
    KernelSignature signature;
    signature.name = must(writer_.name(toString(pass)));
    signature.pass = pass;
    if (pass == Pass::Forward)
        signature.flop = 300;
    row.signature = must(writer_.signature(signature));
    row.microBatch = microBatch;
    if (between(0, 2) == 0)
        row.cpuNs = lengthNs - between(0, lengthNs / 4);
    if (between(0, 1) == 0)
        row.work = between(10, 20);
    now = row.endNs;
    queue(rank, row.endNs, [row](TraceWriter& writer) { must(writer.append(row.lane, one(row))); });
}

void GrowingRun::range(int rank, RangeKind kind, std::int64_t beginNs, std::int64_t endNs, bool hasCpuTime)
{
    Range row;
    row.lane = lane(rank, LaneKind::Host, Dimension::None);
    row.beginNs = beginNs;
    row.endNs = endNs;
    row.name = must(writer_.name(toString(kind)));
    row.kind = kind;
    if (hasCpuTime)
        row.cpuNs = (endNs - beginNs) * between(70, 100) / 100;
    queue(rank, endNs, [row](TraceWriter& writer) { must(writer.append(row.lane, one(row))); });
}

/// Two or three kernels with gaps between, in a range that knows its CPU time.
void GrowingRun::compute(int rank, Pass pass, int microBatch)
{
    std::int64_t& now = now_[static_cast<std::size_t>(rank)];
    const std::int64_t begin = now;
    now += between(0, 40 * kUs);
    for (std::int64_t left = between(2, 3); left > 0; --left) {
        kernel(rank, pass, microBatch, between(300 * kUs, rank == 1 ? 900 * kUs : 700 * kUs));
        now += between(0, 60 * kUs);
    }
    range(rank, pass == Pass::Forward ? RangeKind::Forward : RangeKind::Backward, begin, now, between(0, 3) > 0);
}

CollectiveMatch GrowingRun::newMatch(CollectiveOp op, CommunicatorId group, std::int32_t expected, int source)
{
    CollectiveMatch match;
    match.id = InstanceId{ ++instances_ };
    match.communicator = group;
    match.op = op;
    match.partsExpected = expected;
    match.sequence = sequences_[{ raw(group), source }]++;
    return match;
}

void GrowingRun::part(const CollectiveMatch& match, Dimension dimension, const Entry& entry, std::optional<int> peer)
{
    CollectivePart row;
    row.lane = lane(entry.rank, LaneKind::Communication, dimension);
    row.beginNs = entry.beginNs;
    row.endNs = entry.endNs;
    row.op = entry.receives ? CollectiveOp::Receive : match.op;
    row.name = must(writer_.name(toString(row.op)));
    row.instance = match.id;
    row.bytes = 4096;
    row.peer = peer;
    queue(entry.rank, row.endNs, [this, row, match, rank = entry.rank](TraceWriter& writer) {
        must(writer.append(row.lane, one(row)));
        CollectiveMatch& known = matches_.try_emplace(raw(match.id), match).first->second;
        const bool isFirst = known.partsPresent++ == 0;
        if (isFirst || row.beginNs > known.lastEntryNs)
            known.lateRank = rank;
        known.firstEntryNs = isFirst ? row.beginNs : std::min(known.firstEntryNs, row.beginNs);
        known.lastEntryNs = isFirst ? row.beginNs : std::max(known.lastEntryNs, row.beginNs);
        known.lastExitNs = isFirst ? row.endNs : std::max(known.lastExitNs, row.endNs);
        must(writer.putMatch(known));
    });
}

/// The sender goes on at once, or when the receiver is there.
void GrowingRun::message(int from, int to)
{
    std::int64_t& sends = now_[static_cast<std::size_t>(from)];
    std::int64_t& receives = now_[static_cast<std::size_t>(to)];
    const CollectiveMatch match = newMatch(CollectiveOp::Send, pipeline_, 2, from);
    ++messages_;
    const bool isEager = between(0, 2) == 0;
    const std::int64_t sent
        = isEager ? sends + between(5 * kUs, 20 * kUs) : std::max(sends, receives) + between(20 * kUs, 80 * kUs);
    part(match, Dimension::Pipeline, { from, sends, sent }, to);
    sends = sent;
    if (traits_.lateEvery > 0 && messages_ % traits_.lateEvery == 0) {
        later_.emplace_back(next_ + 4, [this, match, from, to] {
            std::int64_t& now = now_[static_cast<std::size_t>(to)];
            part(match, Dimension::Pipeline, { to, now, now + 10 * kUs, true }, from);
            now += 10 * kUs;
        });
        return;
    }
    const std::int64_t end = std::max(receives, sent) + between(0, 30 * kUs);
    if (traits_.losesEvery == 0 || messages_ % traits_.losesEvery != 0)
        part(match, Dimension::Pipeline, { to, receives, end, true }, from);
    receives = end;
}

void GrowingRun::collective(CommunicatorId group, Dimension dimension, const std::vector<int>& ranks)
{
    std::int64_t last = 0;
    for (const int rank : ranks)
        last = std::max(last, now_[static_cast<std::size_t>(rank)]);
    const std::int64_t wire = between(50 * kUs, 200 * kUs);
    const auto expected = static_cast<std::int32_t>(ranks.size());
    const CollectiveMatch match = newMatch(CollectiveOp::AllReduce, group, expected, -1);
    for (const int rank : ranks) {
        std::int64_t& now = now_[static_cast<std::size_t>(rank)];
        const std::int64_t end = last + wire + between(0, 10 * kUs);
        part(match, dimension, { rank, now, end }, {});
        now = end;
    }
}

/// Of the stage's replicas; goes on for several steps beside what they compute.
void GrowingRun::average()
{
    for (int stage = 0; stage < 2; ++stage) {
        const CollectiveMatch match
            = newMatch(CollectiveOp::AllGather, replicas_[static_cast<std::size_t>(stage)], 2, -1);
        for (const int rank : { 2 * stage, 2 * stage + 1 }) {
            const std::int64_t now = now_[static_cast<std::size_t>(rank)];
            part(match, Dimension::Data, { rank, now, now + between(100 * kMs, 140 * kMs) }, {});
        }
    }
}

void GrowingRun::forward(int microBatch)
{
    for (int replica = 0; replica < 2; ++replica) {
        compute(replica, Pass::Forward, microBatch);
        message(replica, 2 + replica);
        compute(2 + replica, Pass::Forward, microBatch);
    }
}

void GrowingRun::backward(int microBatch)
{
    for (int replica = 0; replica < 2; ++replica) {
        compute(2 + replica, Pass::Backward, microBatch);
        message(2 + replica, replica);
        compute(replica, Pass::Backward, microBatch);
    }
}

void GrowingRun::playStep(std::int64_t step)
{
    const auto begins = now_;
    for (auto& [when, what] : later_) {
        if (when == step)
            what();
    }
    std::erase_if(later_, [step](const auto& waiting) { return waiting.first == step; });
    for (int rank = 0; rank < kRanks; ++rank) {
        std::int64_t& now = now_[static_cast<std::size_t>(rank)];
        if (between(0, 2) == 0) {
            range(rank, RangeKind::Data, now, now + 200 * kUs, false);
            now += 200 * kUs;
        }
    }
    for (int i = 0; i < kMicroBatches; ++i) {
        forward(i);
        backward(i);
    }
    if (traits_.outerEvery > 0 && step % traits_.outerEvery == 0)
        average();
    for (int stage = 0; stage < 2; ++stage)
        collective(replicas_[static_cast<std::size_t>(stage)], Dimension::Data, { 2 * stage, 2 * stage + 1 });
    if (traits_.clipEvery > 0 && step % traits_.clipEvery == 0)
        collective(world_, Dimension::World, { 0, 1, 2, 3 });
    for (int rank = 0; rank < kRanks; ++rank) {
        kernel(rank, Pass::Optimizer, 0, between(100 * kUs, 200 * kUs));
        now_[static_cast<std::size_t>(rank)] += between(0, 50 * kUs);
        endStep(rank, step, begins[static_cast<std::size_t>(rank)]);
    }
}

/// What has ended by now arrives in the order of its end, each rank's a little behind.
void GrowingRun::endStep(int rank, std::int64_t step, std::int64_t beginNs)
{
    const auto r = static_cast<std::size_t>(rank);
    const std::int64_t endNs = now_[r];
    const Step row{ rank, step, attempt_, beginNs, endNs };
    queue(rank, endNs, [row](TraceWriter& writer) { must(writer.putStep(row)); });
    std::ranges::stable_sort(open_[r], {}, &Record::atNs);
    const std::int64_t delay = between(0, 5 * kMs);
    auto next = open_[r].begin();
    for (; next != open_[r].end() && next->atNs <= endNs; ++next) {
        arrived_[r] = std::max(arrived_[r], next->atNs + delay);
        records_.push_back({ arrived_[r], std::move(next->put) });
    }
    open_[r].erase(open_[r].begin(), next);
}

void GrowingRun::play(std::int64_t steps)
{
    for (std::int64_t i = 0; i < steps; ++i)
        playStep(next_++);
    std::ranges::stable_sort(records_, {}, &Record::atNs);
}

void GrowingRun::fail(std::int64_t restored)
{
    write(records_.size());
    for (auto& open : open_)
        open.clear();
    later_.clear();
    const std::int64_t last = *std::ranges::max_element(now_);
    AttemptFailure failure;
    failure.attempt = attempt_++;
    failure.detectedNs = last + 30 * kMs;
    failure.ranks = { 2 };
    failure.reformedNs = last + 50 * kMs;
    failure.restoredStep = restored;
    must(writer_.putFailure(failure));
    next_ = restored + 1;
    for (std::int64_t& now : now_)
        now = last + 70 * kMs + between(0, 2 * kMs);
}

void GrowingRun::publishCheckpoint()
{
    for (int rank = 0; rank < kRanks; ++rank) {
        const std::int64_t now = now_[static_cast<std::size_t>(rank)];
        must(writer_.putCheckpoint({ rank, next_ - 1, now, now + kMs, 0, 100, "checkpoint" }));
    }
}

void GrowingRun::write(std::size_t records)
{
    must(writer_.begin());
    for (std::size_t left = std::min(records, records_.size()); left > 0; --left) {
        records_.front().put(writer_);
        records_.pop_front();
    }
    must(writer_.commit());
}

void GrowingRun::finish()
{
    write(records_.size());
    run_.finished = true;
    must(writer_.finish());
}

} // namespace rankscope::support
