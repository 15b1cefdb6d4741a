#pragma once

#include "tracing/analysis/ledger/ledger_result.h"

#include <functional>

namespace rankscope::tracing::ledger {

/// Level 2 of METRICS 5.3 for one rank: which kernel each compute ns belongs to, how much of it was descheduled, and
/// how it splits into leaves.
class ComputeShare {
public:
    explicit ComputeShare(const RankInput& rank);

    /// Descheduled ns of all kernels up to t (whatever Level 0 says there).
    Ns descheduledUpTo(Ns t) const;
    /// COMPUTE ns of a kernel in all, less descheduled.
    Ns computeOf(std::size_t kernel) const { return tau_[kernel] - off_[kernel]; }
    /// COMPUTE ns, less descheduled, within [from, to) of the kernels that pass the filter.
    Ns computeWithin(Ns from, Ns to, const std::function<bool(const ComputeOp&)>& filter) const;

    /// Hands out the leaves of every compute segment: (step index, leaf, ns); per segment they sum to its length.
    void distribute(const std::vector<Segment>& segments,
        const std::function<void(std::int32_t step, Leaf leaf, Ns ns)>& sink) const;
    /// Begins of the kernels whose FLOPs need more time than they took, though they shared with none.
    const std::vector<Ns>& flopViolations() const { return flopViolations_; }

private:
    struct Piece { ///< the set of active kernels is constant
        Ns begin = 0;
        Ns end = 0;
        Ns descheduledBefore = 0;
        std::size_t first = 0; ///< into shares_
        std::uint32_t count = 0;
    };
    struct Share {
        std::size_t kernel = 0;
        Ns tauBefore = 0; ///< its ns before the piece
    };
    struct Split { ///< running levels of one kernel: arithmetic, precision, memory, all
        Ns arithmetic = 0, useful = 0, recompute = 0, redundant = 0, precision = 0, memory = 0;
    };

    void buildPieces(const RankInput& rank);
    void closePiece(Ns begin, Ns end, const std::vector<std::uint32_t>& active);
    void splitKernels();
    bool isSplit(const ComputeOp& op) const;
    Split splitKernel(const ComputeOp& op, std::size_t kernel);
    Ns tauAt(const Piece& piece, std::size_t position, Ns t) const;
    Ns offAt(std::size_t kernel, Ns tau) const;
    void handOut(std::size_t kernel, Ns tauFrom, Ns tauTo, std::int32_t step,
        const std::function<void(std::int32_t, Leaf, Ns)>& sink) const;

    const RankInput& rank_;
    std::vector<Piece> pieces_;
    std::vector<Share> shares_;
    std::vector<Ns> tau_; ///< ns of each kernel inside the stretches
    std::vector<Ns> off_; ///< descheduled ns of each kernel in all
    std::vector<bool> shared_; ///< ran at the same time as another
    std::vector<Split> splits_; ///< empty: no kernel is split
    std::vector<Ns> flopViolations_;
};

} // namespace rankscope::tracing::ledger
