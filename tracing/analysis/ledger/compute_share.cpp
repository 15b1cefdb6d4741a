#include "tracing/analysis/ledger/compute_share.h"

#include "tracing/analysis/ledger/largest_remainder.h"
#include "tracing/model/sort_runs.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <tuple>

namespace rankscope::tracing::ledger {

namespace {

constexpr std::int64_t kNsPerSecond = 1'000'000'000;

Ns wallOf(const ComputeOp& op, Ns lastKnown) { return (op.end == kStillOpen ? lastKnown : op.end) - op.begin; }

/// Time off the CPU while the kernel was running: METRICS 5.3, Level 2.
Ns descheduledOf(const ComputeOp& op, Ns wall)
{
    if (!op.cpu || op.threads <= 0)
        return 0;
    return std::max<Ns>(0, wall - *op.cpu / op.threads);
}

} // namespace

ComputeShare::ComputeShare(const RankInput& rank)
    : rank_(rank)
    , tau_(rank.compute.size(), 0)
    , off_(rank.compute.size(), 0)
    , shared_(rank.compute.size(), false)
{
    pieces_.reserve(rank.compute.size());
    shares_.reserve(rank.compute.size());
    buildPieces(rank);
    splitKernels();
}

void ComputeShare::buildPieces(const RankInput& rank)
{
    std::vector<std::uint32_t> order(rank.compute.size());
    std::iota(order.begin(), order.end(), std::uint32_t{ 0 });
    sortRuns(order, [&](std::uint32_t a, std::uint32_t b) {
        const ComputeOp &x = rank.compute[a], &y = rank.compute[b];
        return std::tie(x.begin, x.lane, a) < std::tie(y.begin, y.lane, b);
    });
    std::vector<std::uint32_t> active;
    std::size_t next = 0;
    for (const Stretch& stretch : rank.stretches) {
        Ns at = stretch.begin;
        while (at < stretch.end) {
            while (next < order.size() && rank.compute[order[next]].begin <= at)
                active.push_back(order[next++]);
            std::erase_if(active, [&](std::uint32_t k) { return rank.compute[k].end <= at; });
            Ns until = stretch.end;
            if (next < order.size())
                until = std::min(until, rank.compute[order[next]].begin);
            for (const std::uint32_t k : active)
                until = std::min(until, rank.compute[k].end);
            if (!active.empty())
                closePiece(at, until, active);
            at = until;
        }
    }
}

void ComputeShare::closePiece(Ns begin, Ns end, const std::vector<std::uint32_t>& active)
{
    Piece piece{ begin, end, 0, shares_.size(), static_cast<std::uint32_t>(active.size()) };
    if (!pieces_.empty())
        piece.descheduledBefore = descheduledUpTo(pieces_.back().end);
    for (const std::uint32_t k : active) {
        shares_.push_back({ k, tau_[k] });
        shared_[k] = shared_[k] || active.size() > 1;
    }
    pieces_.push_back(piece);
    for (std::size_t i = 0; i < active.size(); ++i)
        tau_[active[i]] = tauAt(piece, i, end);
}

Ns ComputeShare::tauAt(const Piece& piece, std::size_t position, Ns t) const
{
    const auto n = static_cast<Ns>(piece.count);
    const auto i = static_cast<Ns>(position);
    return shares_[piece.first + position].tauBefore + (t - piece.begin + n - 1 - i) / n;
}

Ns ComputeShare::offAt(std::size_t kernel, Ns tau) const
{
    const ComputeOp& op = rank_.compute[kernel];
    const Ns wall = wallOf(op, rank_.stretches.back().end);
    return wall > 0 ? mulDiv(tau, descheduledOf(op, wall), wall) : 0;
}

Ns ComputeShare::descheduledUpTo(Ns t) const
{
    const auto after = std::ranges::upper_bound(pieces_, t, {}, &Piece::begin);
    if (after == pieces_.begin())
        return 0;
    const Piece& piece = *std::prev(after);
    const Ns at = std::min(t, piece.end);
    Ns sum = piece.descheduledBefore;
    for (std::uint32_t i = 0; i < piece.count; ++i) {
        const Share& share = shares_[piece.first + i];
        sum += offAt(share.kernel, tauAt(piece, i, at)) - offAt(share.kernel, share.tauBefore);
    }
    return sum;
}

Ns ComputeShare::computeWithin(Ns from, Ns to, const std::function<bool(const ComputeOp&)>& filter) const
{
    Ns sum = 0;
    auto it = std::ranges::upper_bound(pieces_, from, {}, &Piece::end);
    for (; it != pieces_.end() && it->begin < to; ++it) {
        const Ns a = std::max(from, it->begin), b = std::min(to, it->end);
        for (std::size_t i = 0; i < it->count; ++i) {
            const std::size_t k = shares_[it->first + i].kernel;
            if (!filter(rank_.compute[k]))
                continue;
            const Ns tauA = tauAt(*it, i, a), tauB = tauAt(*it, i, b);
            sum += (tauB - offAt(k, tauB)) - (tauA - offAt(k, tauA));
        }
    }
    return sum;
}

void ComputeShare::splitKernels()
{
    if (std::ranges::any_of(rank_.compute, [&](const ComputeOp& op) { return isSplit(op); }))
        splits_.resize(rank_.compute.size());
    for (std::size_t k = 0; k < rank_.compute.size(); ++k) {
        off_[k] = offAt(k, tau_[k]);
        if (isSplit(rank_.compute[k]))
            splits_[k] = splitKernel(rank_.compute[k], k);
    }
}

bool ComputeShare::isSplit(const ComputeOp& op) const
{
    return op.flop && rank_.peak.flopPerSecond && op.pass != Pass::Optimizer;
}

ComputeShare::Split ComputeShare::splitKernel(const ComputeOp& op, std::size_t kernel)
{
    Split split;
    const Peak& peak = rank_.peak;
    const Ns tau = computeOf(kernel);
    const auto perDtype = peak.dtypeFlopPerSecond.find(op.dtype);
    const std::int64_t dtypePeak = perDtype == peak.dtypeFlopPerSecond.end() ? *peak.flopPerSecond : perDtype->second;
    const Ns exact = mulDivHalfUp(*op.flop, kNsPerSecond, *peak.flopPerSecond);
    if (exact > tau && !shared_[kernel])
        flopViolations_.push_back(op.begin);
    split.arithmetic = std::min(exact, tau);
    split.precision = std::clamp(mulDivHalfUp(*op.flop, kNsPerSecond, dtypePeak), split.arithmetic, tau);
    const Ns memory = op.bytes && peak.bytesPerSecond ? mulDivHalfUp(*op.bytes, kNsPerSecond, *peak.bytesPerSecond) : 0;
    split.memory = std::clamp(std::max(split.precision, memory), split.precision, tau);
    const std::int64_t redundant = std::clamp<std::int64_t>(op.redundantFlop, 0, *op.flop);
    const std::array<std::int64_t, 2> weights{ *op.flop - redundant, redundant };
    const auto parts = largestRemainder(split.arithmetic, weights);
    (op.pass == Pass::Recompute ? split.recompute : split.useful) = parts[0];
    split.redundant = parts[1];
    return split;
}

void ComputeShare::handOut(std::size_t kernel, Ns tauFrom, Ns tauTo, std::int32_t step,
    const std::function<void(std::int32_t, Leaf, Ns)>& sink) const
{
    const Ns offFrom = offAt(kernel, tauFrom), offTo = offAt(kernel, tauTo);
    const auto give = [&](Leaf leaf, Ns ns) {
        if (ns > 0)
            sink(step, leaf, ns);
    };
    give(Leaf::Descheduled, offTo - offFrom);
    const Ns from = tauFrom - offFrom, to = tauTo - offTo;
    const ComputeOp& op = rank_.compute[kernel];
    if (!isSplit(op))
        return give(op.pass == Pass::Optimizer ? Leaf::Optimizer : Leaf::Compute, to - from);

    const Split& split = splits_[kernel];
    // Floors of running sums over time and over the leaves in their order, so that every piece sums exactly.
    const Ns all = computeOf(kernel);
    const std::array<std::pair<Leaf, Ns>, 6> levels{ { { Leaf::Useful, split.useful },
        { Leaf::Recompute, split.useful + split.recompute }, { Leaf::Redundant, split.arithmetic },
        { Leaf::PrecisionDeficit, split.precision }, { Leaf::MemoryBound, split.memory },
        { Leaf::BelowRoofline, all } } };
    Ns below = 0;
    for (const auto& [leaf, level] : levels) {
        // Floors in two directions may step back by one: never below what is given already.
        const Ns running = all > 0 ? mulDiv(level, to, all) - mulDiv(level, from, all) : 0;
        give(leaf, running - below);
        below = std::max(below, running);
    }
}

void ComputeShare::distribute(
    const std::vector<Segment>& segments, const std::function<void(std::int32_t step, Leaf leaf, Ns ns)>& sink) const
{
    // What a kernel has had in one step is handed out in one go: pieces come in bits of a few ns where kernels share.
    struct Pending {
        Ns from = 0, to = 0;
        std::int32_t step = -1;
    };
    std::vector<Pending> pending(rank_.compute.size());
    const auto flush = [&](std::size_t kernel) {
        const Pending& p = pending[kernel];
        if (p.to > p.from)
            handOut(kernel, p.from, p.to, p.step, sink);
    };
    std::size_t piece = 0;
    for (const Segment& segment : segments) {
        if (segment.label != Label::Compute)
            continue;
        while (piece < pieces_.size() && pieces_[piece].end <= segment.begin)
            ++piece;
        for (std::size_t p = piece; p < pieces_.size() && pieces_[p].begin < segment.end; ++p) {
            const Ns a = std::max(segment.begin, pieces_[p].begin), b = std::min(segment.end, pieces_[p].end);
            for (std::size_t i = 0; i < pieces_[p].count; ++i) {
                const std::size_t kernel = shares_[pieces_[p].first + i].kernel;
                const Ns from = tauAt(pieces_[p], i, a), to = tauAt(pieces_[p], i, b);
                Pending& waiting = pending[kernel];
                if (waiting.step != segment.step || waiting.to != from) {
                    flush(kernel);
                    waiting = { from, from, segment.step };
                }
                waiting.to = to;
            }
        }
    }
    for (std::size_t kernel = 0; kernel < pending.size(); ++kernel)
        flush(kernel);
}

} // namespace rankscope::tracing::ledger
