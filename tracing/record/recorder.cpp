#include "tracing/record/recorder.h"

#include "tracing/record/command_file.h"
#include "tracing/record/facts_file.h"
#include "tracing/record/thread_ring.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <mutex>
#include <pthread.h>
#include <sched.h>
#include <unistd.h>
#include <unordered_map>
#include <utility>

namespace rankscope::tracing {

namespace {

std::atomic<std::uint64_t> lastRecorderId{ 0 };

/// The calling thread's ring of the recorder it used last: what the path of a span looks at.
struct RingCache {
    std::uint64_t recorderId = 0;
    ThreadRing* ring = nullptr;
};
// Initial-exec: an access is one instruction instead of a call; the library is loaded with the program.
[[gnu::tls_model("initial-exec")]] constinit thread_local RingCache ringCache;

/// Marks a thread's rings closed when the thread ends, if their recorder still lives.
struct ThreadRings {
    struct Entry {
        std::uint64_t recorderId;
        std::weak_ptr<ThreadRing> ring;
    };
    std::vector<Entry> entries;

    ~ThreadRings()
    {
        for (const Entry& entry : entries) {
            if (const auto ring = entry.ring.lock())
                ring->close();
        }
    }
    std::shared_ptr<ThreadRing> find(std::uint64_t recorderId) const
    {
        for (const Entry& entry : entries) {
            if (entry.recorderId == recorderId)
                return entry.ring.lock();
        }
        return nullptr;
    }
};
thread_local ThreadRings threadRings;

std::string hostName()
{
    char name[256] = {};
    return gethostname(name, sizeof name - 1) == 0 ? name : "localhost";
}

/// Cores of the node that its ranks share. A launcher that binds each rank to some of them says how many there are.
int usableCores()
{
    if (const char* cores = std::getenv("RANKSCOPE_CORES"); cores && std::atoi(cores) > 0)
        return std::atoi(cores);
    cpu_set_t set;
    return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
}

} // namespace

class Recorder::Impl {
public:
    explicit Impl(Options options)
        : options_(std::move(options))
        , commands_(options_.sessionDir)
    {
        enlist(this);
    }
    ~Impl()
    {
        delist(this);
        for (const auto& ring : rings_)
            ring->close();
        if (factsFile_ >= 0)
            ::close(factsFile_);
    }
    Impl(const Impl&) = delete;
    Impl& operator=(const Impl&) = delete;

    Status openFacts();
    ThreadRing* ring() noexcept
    {
        if (ringCache.recorderId == id_) [[likely]]
            return ringCache.ring;
        return findRing();
    }
    template <typename Info> OpenSpan begin(const Info& info, Detail least) noexcept
    {
        ThreadRing* own = ring();
        if (!own || own->detail() < least)
            return {};
        const std::uint32_t slot = own->begin(wordsOf(info));
        return slot == ThreadRing::kNoSlot ? OpenSpan() : OpenSpan(own, slot);
    }

    LocalName name(std::string_view text);
    LocalCommunicator communicator(CommunicatorFact fact);
    void say(const Fact& fact);
    std::uint64_t now() const noexcept { return readTicks(clock_.kind); }
    std::uint64_t ticksOf(std::chrono::nanoseconds duration) const noexcept
    {
        return static_cast<std::uint64_t>(static_cast<double>(duration.count()) / clock_.nsPerTick);
    }
    std::optional<std::string> pollCommand();

private:
    ThreadRing* findRing() noexcept;
    std::shared_ptr<ThreadRing> makeRing();
    void append(const std::string& entry);
    void setDetail(std::string_view level);

    // Every recorder of the process, for fork.
    static void enlist(Impl* impl);
    static void delist(Impl* impl);
    static void beforeFork();
    static void afterForkInParent();
    static void afterForkInChild();
    void leaveParent();

    Options options_;
    std::uint64_t id_ = ++lastRecorderId;
    CommandReader commands_;

    std::mutex mutex_; ///< all below; never taken on the path of a span
    ProcessIdentity process_ = thisProcess();
    Calibration clock_ = calibrateClock();
    int factsFile_ = -1;
    bool factsLost_ = false;
    bool ringsFail_ = false;
    Detail detail_ = Detail::All;
    std::vector<std::shared_ptr<ThreadRing>> rings_;
    std::vector<std::shared_ptr<ThreadRing>> inherited_; ///< the parent's, detached; spans may still point to them
    std::uint32_t ringsMade_ = 0;
    std::unordered_map<std::string, std::uint32_t> names_{ { "", 0 } }; ///< 0: no name; everybody knows it
    std::vector<CommunicatorFact> communicators_;

    struct Registry {
        std::mutex mutex;
        std::vector<Impl*> recorders;
    };
    static Registry& registry();
};

// --- fork

Recorder::Impl::Registry& Recorder::Impl::registry()
{
    static Registry all;
    return all;
}

void Recorder::Impl::enlist(Impl* impl)
{
    static const int handlers = pthread_atfork(beforeFork, afterForkInParent, afterForkInChild);
    static_cast<void>(handlers);
    const std::lock_guard lock(registry().mutex);
    registry().recorders.push_back(impl);
}

void Recorder::Impl::delist(Impl* impl)
{
    const std::lock_guard lock(registry().mutex);
    std::erase(registry().recorders, impl);
}

void Recorder::Impl::beforeFork()
{
    registry().mutex.lock();
    for (Impl* impl : registry().recorders)
        impl->mutex_.lock();
}

void Recorder::Impl::afterForkInParent()
{
    for (Impl* impl : registry().recorders)
        impl->mutex_.unlock();
    registry().mutex.unlock();
}

void Recorder::Impl::afterForkInChild()
{
    for (Impl* impl : registry().recorders) {
        impl->leaveParent();
        impl->mutex_.unlock();
    }
    registry().mutex.unlock();
}

void Recorder::Impl::leaveParent()
{
    id_ = ++lastRecorderId;
    for (auto& ring : rings_) {
        ring->detach();
        inherited_.push_back(std::move(ring));
    }
    rings_.clear();
    ringsMade_ = 0;
    if (factsFile_ >= 0)
        ::close(factsFile_);
    factsFile_ = -1;
    process_ = thisProcess();
}

// --- facts

/// Also says again what was said before a fork, under the child's own name.
Status Recorder::Impl::openFacts()
{
    const std::string path = options_.sessionDir + "/" + processKey(process_);
    // Two recorders of one process (ranks as threads) are told apart by their number.
    const std::string file = path + "-" + std::to_string(id_) + kFactsSuffix;
    const std::string draft = file + ".new";
    factsFile_ = ::open(draft.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0600);
    if (factsFile_ < 0)
        return Error("record to " + options_.sessionDir + ": " + std::strerror(errno));
    append(encodeFact(ProcessFact{
        options_.rank, options_.worldSize, process_.processId, usableCores(), process_.start, hostName() }));
    if (options_.attempt > 0)
        append(encodeFact(AttemptFact{ options_.attempt, now() }));
    for (const auto& [text, id] : names_) {
        if (id != 0)
            append(encodeFact(NameFact{ id, text }));
    }
    for (const CommunicatorFact& fact : communicators_)
        append(encodeFact(fact));
    if (::rename(draft.c_str(), file.c_str()) != 0)
        return Error("record to " + options_.sessionDir + ": " + std::strerror(errno));
    return Done{};
}

void Recorder::Impl::append(const std::string& entry)
{
    if (factsFile_ < 0 || factsLost_)
        return;
    // A torn entry hides all that would follow it: after a failure nothing more is written.
    if (::write(factsFile_, entry.data(), entry.size()) == static_cast<ssize_t>(entry.size()))
        return;
    factsLost_ = true;
    std::fprintf(stderr, "rankscope: %s is full: names of rank %d are missing from the recording\n",
        options_.sessionDir.c_str(), options_.rank);
}

LocalName Recorder::Impl::name(std::string_view text)
{
    const std::lock_guard lock(mutex_);
    const auto [entry, isNew] = names_.emplace(text, static_cast<std::uint32_t>(names_.size()));
    if (isNew)
        append(encodeFact(NameFact{ entry->second, entry->first }));
    return LocalName{ entry->second };
}

LocalCommunicator Recorder::Impl::communicator(CommunicatorFact fact)
{
    const std::lock_guard lock(mutex_);
    for (const CommunicatorFact& known : communicators_) {
        if (known.name == fact.name && known.dimension == fact.dimension && known.members == fact.members)
            return LocalCommunicator{ known.id };
    }
    fact.id = static_cast<std::uint32_t>(communicators_.size());
    append(encodeFact(fact));
    communicators_.push_back(std::move(fact));
    return LocalCommunicator{ communicators_.back().id };
}

void Recorder::Impl::say(const Fact& fact)
{
    const std::lock_guard lock(mutex_);
    append(encodeFact(fact));
}

// --- rings

/// A thread's first span, or one of a recorder that it did not use last. The only place where a span may take long.
ThreadRing* Recorder::Impl::findRing() noexcept
{
    auto ring = threadRings.find(id_);
    if (!ring) {
        const std::lock_guard lock(mutex_);
        if (!ringsFail_)
            ring = makeRing();
        if (ring)
            threadRings.entries.push_back({ id_, ring });
    }
    // Also a failure is remembered: the next span must not try again.
    ringCache = { id_, ring.get() };
    return ring.get();
}

std::shared_ptr<ThreadRing> Recorder::Impl::makeRing()
{
    if (factsFile_ < 0) {
        // After a fork; a failure costs the child its names, not its spans.
        if (const Status facts = openFacts(); !facts)
            std::fprintf(stderr, "rankscope: %s\n", facts.error().message().c_str());
    }
    RingRequest request;
    request.sessionDir = options_.sessionDir;
    request.fileName
        = processKey(process_) + "-" + std::to_string(id_) + "-" + std::to_string(ringsMade_++) + kRingSuffix;
    request.ringBytes = options_.ringBytes;
    request.rank = options_.rank;
    request.worldSize = options_.worldSize;
    request.threadId = static_cast<std::int32_t>(gettid());
    request.process = process_;
    request.clock = clock_;
    auto mapping = createRing(request);
    if (!mapping) {
        ringsFail_ = true;
        std::fprintf(stderr, "rankscope: rank %d records no further threads: %s\n", options_.rank,
            mapping.error().message().c_str());
        return nullptr;
    }
    auto ring = std::make_shared<ThreadRing>(std::move(*mapping), clock_);
    ring->setDetail(detail_);
    std::erase_if(rings_, [](const auto& old) { return old.use_count() == 0; });
    rings_.push_back(ring);
    return ring;
}

std::optional<std::string> Recorder::Impl::pollCommand()
{
    const std::lock_guard lock(mutex_);
    auto command = commands_.next();
    constexpr std::string_view kDetail = "detail ";
    if (command && command->starts_with(kDetail))
        setDetail(std::string_view(*command).substr(kDetail.size()));
    return command;
}

void Recorder::Impl::setDetail(std::string_view level)
{
    if (level.size() != 1 || level[0] < '0' || level[0] > '2')
        return;
    detail_ = static_cast<Detail>(level[0] - '0');
    for (const auto& ring : rings_)
        ring->setDetail(detail_);
}

// --- OpenSpan

void OpenSpan::finish(ThreadRing* ring, std::uint32_t slot) noexcept { ring->end(slot); }

void OpenSpan::cancel() noexcept
{
    if (ring_)
        std::exchange(ring_, nullptr)->cancel(slot_);
}

void OpenSpan::endAt(std::uint64_t ticks, const KernelAmount& done) noexcept
{
    if (ring_)
        std::exchange(ring_, nullptr)->endKernelAt(slot_, ticks, done);
}

// --- Recorder

Recorder::Options Recorder::optionsFromEnvironment(std::int32_t rank, std::int32_t worldSize)
{
    Options options;
    const char* dir = std::getenv("RANKSCOPE_SESSION");
    options.sessionDir = dir ? dir : "";
    options.rank = rank;
    options.worldSize = worldSize;
    if (const char* attempt = std::getenv("RANKSCOPE_ATTEMPT"))
        options.attempt = std::max(0, std::atoi(attempt));
    return options;
}

std::unique_ptr<Recorder> Recorder::open(const Options& options)
{
    if (options.sessionDir.empty())
        return std::unique_ptr<Recorder>(new Recorder(nullptr));
    auto impl = std::make_unique<Impl>(options);
    if (const Status facts = impl->openFacts(); !facts) {
        std::fprintf(stderr, "rankscope: rank %d is not recorded: %s\n", options.rank, facts.error().message().c_str());
        impl.reset();
    }
    return std::unique_ptr<Recorder>(new Recorder(std::move(impl)));
}

Recorder::Recorder(std::unique_ptr<Impl> impl)
    : impl_(std::move(impl))
{
}

Recorder::~Recorder() = default;

bool Recorder::isOn() const noexcept { return impl_ != nullptr; }

LocalName Recorder::name(std::string_view text) { return impl_ ? impl_->name(text) : LocalName{}; }

LocalCommunicator Recorder::communicator(
    std::string_view name, Dimension dimension, const std::vector<std::int32_t>& members)
{
    return impl_ ? impl_->communicator({ 0, std::string(name), dimension, members }) : LocalCommunicator{};
}

void Recorder::provenance(std::string_view key, std::string_view value)
{
    if (impl_)
        impl_->say(ProvenanceFact{ std::string(key), std::string(value) });
}

void Recorder::describeRank(const RankFacts& facts)
{
    if (impl_)
        impl_->say(RankFact{ facts.dp, facts.tp, facts.pp, facts.ep, facts.peakFlops, facts.device, facts.threads });
}

std::uint64_t Recorder::now() const noexcept { return impl_ ? impl_->now() : 0; }

std::uint64_t Recorder::ticksOf(std::chrono::nanoseconds duration) const noexcept
{
    return impl_ ? impl_->ticksOf(duration) : 0;
}

void Recorder::checkpoint(const CheckpointInfo& info)
{
    if (impl_)
        impl_->say(CheckpointFact{ info.step, info.beginTicks, impl_->now(), info.blockedNs, info.bytes, info.path });
}

void Recorder::restored(std::int64_t step)
{
    if (impl_)
        impl_->say(RestoredFact{ step });
}

void Recorder::link(std::int32_t to, std::int64_t latencyNs, std::int64_t bytesPerSecond)
{
    if (impl_)
        impl_->say(LinkFact{ to, latencyNs, bytesPerSecond });
}

void Recorder::fault(const FaultInfo& info)
{
    if (impl_)
        impl_->say(FaultFact{ info.kind, info.rank, info.step, info.beginTicks, info.endTicks, info.detail });
}

OpenSpan Recorder::kernel(const KernelInfo& info) noexcept
{
    return impl_ ? impl_->begin(info, Detail::All) : OpenSpan();
}

OpenSpan Recorder::collective(const CollectiveInfo& info) noexcept
{
    return impl_ ? impl_->begin(info, Detail::Coarse) : OpenSpan();
}

OpenSpan Recorder::range(const RangeInfo& info) noexcept
{
    return impl_ ? impl_->begin(info, Detail::Coarse) : OpenSpan();
}

OpenSpan Recorder::bubble(const BubbleInfo& info) noexcept
{
    return impl_ ? impl_->begin(info, Detail::Coarse) : OpenSpan();
}

void Recorder::counter(LocalName name, double value) noexcept
{
    if (!impl_)
        return;
    ThreadRing* own = impl_->ring();
    if (own && own->detail() >= Detail::Coarse)
        own->instant(wordsOfCounter(name, value));
}

std::optional<std::string> Recorder::pollCommand() { return impl_ ? impl_->pollCommand() : std::nullopt; }

} // namespace rankscope::tracing
