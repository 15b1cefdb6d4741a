#include "backend/checkpoint/checkpointer.h"

#include "tracing/model/check.h"

#include <chrono>
#include <utility>

namespace rankscope::backend {

using tracing::Done;
using tracing::Error;
using tracing::OpenSpan;
using tracing::RangeKind;
using tracing::Result;
using tracing::Status;

namespace {

using Clock = std::chrono::steady_clock;

double msSince(Clock::time_point begin)
{
    return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
}

} // namespace

Checkpointer::Checkpointer(const Settings& settings, const State& state, Communicator& communicator, GroupId world,
    tracing::Recorder& recorder)
    : settings_(settings)
    , folder_(settings.dir, settings.run)
    , state_(state)
    , communicator_(communicator)
    , world_(world)
    , recorder_(recorder)
    , names_{ .save = recorder.name("checkpoint"), .restore = recorder.name("restore") }
{
}

Checkpointer::~Checkpointer()
{
    if (thread_.joinable())
        thread_.join();
}

void Checkpointer::tell(const CheckpointEvent& event) const
{
    if (event.kind == CheckpointEvent::Kind::Failed || event.kind == CheckpointEvent::Kind::Skipped) {
        // On this rank's timeline too, where an analysis finds it.
        const bool failed = event.kind == CheckpointEvent::Kind::Failed;
        const OpenSpan span = recorder_.range({
            .name = recorder_.name((failed ? "checkpoint failed: " : "checkpoint skipped: ") + event.message),
            .kind = RangeKind::Annotation,
            .step = static_cast<std::uint32_t>(event.step),
        });
    }
    if (listener_)
        listener_(event);
}

// --- saving

void Checkpointer::write(Writing& writing, const std::vector<StateSlice>& slices)
{
    if (const Status made = folder_.makeShardFolder(writing.step, settings_.attempt); !made)
        writing.sum = made.error();
    else
        writing.sum = writeShard(
            folder_.pathOf(folder_.shardFile(writing.step, settings_.attempt, communicator_.rank())), slices, hooks_);
    isWritten_ = true;
}

void Checkpointer::save(std::int64_t step)
{
    const auto begin = Clock::now();
    const std::uint64_t beginTicks = recorder_.now();
    const OpenSpan span = recorder_.range(
        { .name = names_.save, .kind = RangeKind::Checkpoint, .step = static_cast<std::uint32_t>(step) });
    finish(); // the one before may still be on its way
    isWritten_ = false;
    writing_.emplace(Writing{ .step = step, .beginTicks = beginTicks, .copies = {}, .sum = {} });
    if (!settings_.async) {
        write(*writing_, state_.written);
        writing_->blockedMs = msSince(begin);
        publish();
        return;
    }
    std::vector<StateSlice> copied = state_.written;
    for (StateSlice& slice : copied) {
        writing_->copies.emplace_back(slice.data.begin(), slice.data.end());
        slice.data = writing_->copies.back();
    }
    writing_->blockedMs = msSince(begin);
    // Without a span of its own: each thread that records takes a ring.
    thread_ = std::thread([this, copied = std::move(copied)] { write(*writing_, copied); });
}

double Checkpointer::doneVote() const { return writing_ && isWritten_ ? 1 : 0; }

void Checkpointer::publishIfDone(double votes)
{
    if (votes == communicator_.worldSize())
        publish();
}

void Checkpointer::finish()
{
    if (writing_)
        publish();
}

void Checkpointer::publish()
{
    if (thread_.joinable())
        thread_.join();
    const Writing writing = std::move(*writing_);
    writing_.reset();
    RS_CHECK(writing.sum.has_value(), "the shard was written or has failed");
    const auto rank = static_cast<std::size_t>(communicator_.rank());
    const auto worldSize = static_cast<std::size_t>(communicator_.worldSize());
    const Result<FileSum>& mine = *writing.sum;
    const std::string path = folder_.manifestPath(writing.step, settings_.attempt);
    if (!mine)
        tell({ CheckpointEvent::Kind::Failed, writing.step, path, mine.error().message() });
    // Sizes and checksums of all, each exact in a double; a shard is never empty, so no size means failure.
    std::vector<double> sums(2 * worldSize);
    if (mine) {
        sums[2 * rank] = static_cast<double>(mine->bytes);
        sums[2 * rank + 1] = mine->checksum;
    }
    communicator_.wait(communicator_.allReduce(std::span(sums), world_, "checkpoint sums"));
    Manifest manifest{ writing.step, settings_.attempt, settings_.identity, settings_.layout, {} };
    std::uint64_t bytes = 0;
    for (std::size_t of = 0; of < worldSize; ++of) {
        const FileSum sum{ static_cast<std::uint64_t>(sums[2 * of]), static_cast<std::uint32_t>(sums[2 * of + 1]) };
        if (sum.bytes == 0)
            return; // that rank has said why; the last checkpoint stays the newest
        bytes += sum.bytes;
        manifest.shards.push_back({ folder_.shardFile(writing.step, settings_.attempt, static_cast<int>(of)), sum });
    }
    Status published = Done{};
    if (rank == 0)
        published = folder_.publish(manifest, settings_.keep);
    // Nobody goes on before it is certain: else a later failure could be told from a checkpoint that is not there.
    if (!allAgree(published, { CheckpointEvent::Kind::Failed, writing.step, path, {} }))
        return;
    recorder_.checkpoint({ .step = writing.step,
        .beginTicks = writing.beginTicks,
        .blockedNs = static_cast<std::int64_t>(writing.blockedMs * 1e6),
        .bytes = static_cast<std::int64_t>(mine->bytes),
        .path = path });
    if (rank == 0)
        tell({ CheckpointEvent::Kind::Published, writing.step, path, {}, bytes, writing.blockedMs });
}

// --- restoring

bool Checkpointer::allAgree(const Status& mine, CheckpointEvent event)
{
    const auto refuses = firstRefusal(communicator_, world_, mine.has_value());
    if (refuses == communicator_.rank()) {
        event.message = mine.error().message();
        tell(event);
    }
    return !refuses;
}

std::string Checkpointer::fromRankZero(const std::string& text)
{
    std::uint64_t length = text.size();
    communicator_.wait(communicator_.broadcast(std::as_writable_bytes(std::span(&length, 1)), 0, world_, "checkpoint"));
    std::string all = text;
    all.resize(length);
    if (length > 0)
        communicator_.wait(communicator_.broadcast(std::as_writable_bytes(std::span(all)), 0, world_, "checkpoint"));
    return all;
}

Checkpointer::Found Checkpointer::tryRestore(const std::string& path, std::int64_t& step)
{
    const auto manifest = readManifest(path);
    CheckpointEvent skipped{ CheckpointEvent::Kind::Skipped, manifest ? manifest->step : 0, path, {} };
    if (!allAgree(manifest ? Status(Done{}) : Status(manifest.error()), skipped))
        return Found::Damaged;
    if (manifest->identity != settings_.identity) {
        skipped.message = "of another model: " + manifest->identity + ", not " + settings_.identity;
        if (communicator_.rank() == 0)
            tell(skipped);
        return Found::Foreign;
    }
    Status whole = Done{};
    const auto worldSize = static_cast<std::size_t>(communicator_.worldSize());
    for (auto shard = static_cast<std::size_t>(communicator_.rank()); whole && shard < manifest->shards.size();
         shard += worldSize)
        whole = checkShard(path, *manifest, shard);
    if (!allAgree(whole, skipped))
        return Found::Damaged;
    // Looked up by all before anybody's state is touched.
    const auto source = StateSource::locate(path, *manifest, state_.held);
    if (!allAgree(source ? Status(Done{}) : Status(source.error()), skipped))
        return Found::Foreign;
    if (!allAgree(source->read(), skipped))
        return Found::TornWhileRead;
    step = manifest->step;
    return Found::Good;
}

Result<std::int64_t> Checkpointer::restore()
{
    const OpenSpan span = recorder_.range({ .name = names_.restore, .kind = RangeKind::Recovery });
    const bool isRankZero = communicator_.rank() == 0;
    std::vector<std::string> candidates;
    if (isRankZero) {
        folder_.removeUnfinished(settings_.attempt);
        candidates = folder_.candidates(settings_.otherRuns);
    }
    bool isTorn = false;
    for (std::size_t i = 0;; ++i) {
        const std::string path = fromRankZero(i < candidates.size() ? candidates[i] : "");
        if (path.empty())
            break;
        std::int64_t step = 0;
        const Found found = tryRestore(path, step);
        if (found == Found::Good) {
            if (isRankZero)
                tell({ CheckpointEvent::Kind::Restored, step, path, {} });
            return step;
        }
        isTorn = isTorn || found == Found::TornWhileRead;
        if (found != Found::Foreign && isRankZero)
            CheckpointFolder::setAside(path);
    }
    if (isTorn)
        return Error("no checkpoint in " + settings_.dir + " could be read to its end");
    if (isRankZero)
        tell({ CheckpointEvent::Kind::Restored, 0, {}, "no complete checkpoint in " + settings_.dir });
    return 0;
}

} // namespace rankscope::backend
