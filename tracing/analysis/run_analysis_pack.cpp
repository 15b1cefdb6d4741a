#include "tracing/analysis/run_analysis_pack.h"

#include "tracing/analysis/pack.h"

namespace rankscope::tracing {

namespace {

constexpr auto kNumber = [](auto& pack, auto& number) { put(pack, number); };
constexpr auto kNumbers = [](auto& pack, auto& numbers) { putNumbers(pack, numbers); };

constexpr auto kRankFigures = [](auto& pack, auto& rank) {
    putNumbers(pack, rank.split);
    putNumbers(pack, rank.overlap);
    putNumbers(pack, rank.longest);
    putAll(pack, rank.bySteps, kNumbers);
    putAll(pack, rank.waitForRankNs, kNumber);
    putAll(pack, rank.bubbleForRankNs, kNumber);
};

constexpr auto kCause = [](auto& pack, auto& cause) {
    pack.sentence(cause.cause);
    put(pack, cause.ns);
};

constexpr auto kLate = [](auto& pack, auto& late) {
    for (auto* number : { &late.waitNs, &late.waitLowNs, &late.causeNs, &late.peersCauseNs, &late.ownNs,
             &late.lateCount, &late.count, &late.delayNs, &late.hostRangeNs })
        put(pack, *number);
    put(pack, late.rank);
    put(pack, late.firstRank);
    put(pack, late.op);
    put(pack, late.dimension);
    putNumbers(pack, late.evidence);
    putAll(pack, late.causes, kCause);
    putAll(pack, late.waiting, kNumber);
    putAll(pack, late.mistakable, kNumber);
    pack.sentence(late.hostRange);
};

constexpr auto kPathShare = [](auto& pack, auto& share) {
    put(pack, share.rank);
    put(pack, share.label);
    put(pack, share.dimension);
    put(pack, share.ns);
};

constexpr auto kCollective = [](auto& pack, auto& row) {
    for (auto* number : { &row.count, &row.bytes, &row.waitNs, &row.transferNs, &row.unsplitNs, &row.wireNs,
             &row.lateCount, &row.waitForLateNs })
        put(pack, *number);
    put(pack, row.op);
    put(pack, row.dimension);
    putReal(pack, row.algbwGBps);
    putReal(pack, row.busbwGBps);
    putOptional(pack, row.lateRank);
};

constexpr auto kKernel = [](auto& pack, auto& row) {
    pack.sentence(row.name);
    pack.sentence(row.shortName);
    put(pack, row.family);
    put(pack, row.count);
    put(pack, row.totalNs);
    putReal(pack, row.share);
    putOptionalReal(pack, row.flops);
    putOptionalReal(pack, row.bytesPerSecond);
};

template <typename Pack, typename Run> void putFigures(Pack& pack, Run& run)
{
    putAll(pack, run.ranks, kRankFigures);
    putNumbers(pack, run.total);
    putAll(pack, run.late, kLate);
    putAll(pack, run.savings, kSaving);
    putPop(pack, run.pop);
    putAll(pack, run.path, kPathShare);
    put(pack, run.savingSteps);
    putAll(pack, run.collectives, kCollective);
    putAll(pack, run.kernels, kKernel);
    put(pack, run.gpuTime);
    putOptionalReal(pack, run.usefulFlops);
    putOptionalReal(pack, run.capacityFlops);
}

} // namespace

std::string packedFigures(const RunAnalysis& run)
{
    Packer pack;
    putFigures(pack, run);
    return std::move(pack.text);
}

bool unpackFigures(std::string_view text, RunAnalysis& run)
{
    Unpacker pack(text);
    RunAnalysis read;
    putFigures(pack, read);
    const auto worldSize = static_cast<std::size_t>(std::max(0, run.facts.run.worldSize));
    bool fits = pack.good() && pack.left() == 0 && read.ranks.size() == run.facts.ranks.size();
    for (const RankAnalysis& rank : read.ranks)
        fits = fits && rank.bySteps.size() == run.steps.size() && rank.waitForRankNs.size() == worldSize
            && rank.bubbleForRankNs.size() == worldSize;
    if (!fits)
        return false;
    for (std::size_t r = 0; r < read.ranks.size(); ++r)
        read.ranks[r].info = run.facts.ranks[r];
    run.ranks = std::move(read.ranks);
    run.total = read.total;
    run.late = std::move(read.late);
    run.savings = std::move(read.savings);
    run.pop = read.pop;
    run.path = std::move(read.path);
    run.savingSteps = read.savingSteps;
    run.collectives = std::move(read.collectives);
    run.kernels = std::move(read.kernels);
    run.gpuTime = read.gpuTime;
    run.usefulFlops = read.usefulFlops;
    run.capacityFlops = read.capacityFlops;
    return true;
}

} // namespace rankscope::tracing
