#pragma once

#include "backend/model/gpt_stage.h"
#include "kernels/bf16.h"
#include "kernels/cost.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace rankscope::backend {

/// An input of a matrix product, in one of two kinds of numbers.
struct Operand {
    const float* full = nullptr;
    const kernels::Bf16* rounded = nullptr; ///< instead, if set

    Operand from(std::int64_t element) const
    {
        return rounded ? Operand{ nullptr, rounded + element } : Operand{ full + element, nullptr };
    }
    int bytes() const { return rounded ? 2 : 4; }
    tracing::DataType type() const { return rounded ? tracing::DataType::BFloat16 : tracing::DataType::Float32; }
};

/// What the recording says of a kernel's work besides its cost.
struct KernelWork {
    KernelWork(std::int64_t ofTokens, int ofCopies = 1, tracing::DataType ofType = tracing::DataType::Float32)
        : tokens(ofTokens)
        , copies(ofCopies)
        , dtype(ofType)
    {
    }
    std::int64_t tokens;
    int copies; ///< ranks that do the very same
    tracing::DataType dtype;
};

/// Runs kernels one after the other: each is recorded as a span with its cost, after each an exchange may move on.
class KernelRunner {
public:
    KernelRunner(tracing::Recorder& recorder, Numbers numbers);

    /// Interns a kernel's name; at construction, not between kernels.
    tracing::LocalName name(std::string_view text) { return recorder_.name(text); }

    void setHooks(StageHooks hooks) { hooks_ = std::move(hooks); }
    void begin(tracing::Pass pass, std::optional<std::uint16_t> microBatch);

    template <typename Body>
    void run(tracing::LocalName name, const kernels::KernelCost& cost, const KernelWork& work, const Body& body)
    {
        runInPieces(name, cost, work, 1, 1, [&](std::int64_t, std::int64_t) { body(); });
    }

    /// A kernel that may be stopped after each `atOnce` of its `count` rows, so that an exchange moves on; body(first,
    /// n) computes n of them. Cost and work are those of all. What is recorded is one kernel, as long as what comes in
    /// between is short (kLongestPause); a longer pause divides it, so that no span holds the work of others.
    template <typename Body>
    void runInPieces(tracing::LocalName name, const kernels::KernelCost& cost, const KernelWork& work,
        std::int64_t count, std::int64_t atOnce, const Body& body)
    {
        std::int64_t begun = 0;
        tracing::OpenSpan span = begin(name, cost, work);
        for (std::int64_t first = 0; first < count; first += atOnce) {
            const std::int64_t end = std::min(first + atOnce, count);
            compute([&] { body(first, end - first); });
            if (end == count || !hooks_.betweenKernels)
                continue;
            const std::uint64_t pause = recorder_.now();
            hooks_.betweenKernels();
            if (recorder_.now() - pause <= longestPause_)
                continue;
            span.endAt(pause, amountOf(cost, work, begun, end, count));
            begun = end;
            span = begin(name, cost, work);
        }
        if (begun > 0)
            span.endAt(recorder_.now(), amountOf(cost, work, begun, count, count));
        span.end();
        if (hooks_.betweenKernels)
            hooks_.betweenKernels();
    }

    Numbers numbers() const { return numbers_; }
    /// A matrix as products take it: as it is, or rounded to bf16 in `rounded`, which then must live until they are
    /// done.
    Operand operand(std::vector<kernels::Bf16>& rounded, const float* x, std::int64_t n);
    /// Room for the two inputs of one product.
    std::vector<kernels::Bf16>& room(std::size_t input) { return room_[input]; }

    /// Counts changes of the weights: a rounded copy of them that is older is stale.
    std::uint64_t weightsVersion() const { return weightsVersion_; }
    void weightsChanged() { ++weightsVersion_; }

    /// Rows of a product's result to compute in one go: all, unless somebody wants to be called every 100 us or so.
    std::int64_t rowsAtOnce(std::int64_t rows, double flop) const;
    /// The same for attention, whose work divides into heads: a piece is whole sequences with a head for each thread.
    std::int64_t sequencesAtOnce(std::int64_t sequences, std::int64_t heads, double flop) const;

    void gradientsReady(std::size_t begin, std::size_t end) const
    {
        if (hooks_.gradientsReady)
            hooks_.gradientsReady(begin, end);
    }

    void weightsNeeded(std::size_t begin, std::size_t end) const
    {
        if (hooks_.weightsNeeded)
            hooks_.weightsNeeded(begin, end);
    }

    /// See StageHooks::overTensorParts; nothing where there is one part.
    ExchangeWait overTensorParts(TensorOp op, std::span<float> data, const TensorPart& part, const char* name) const
    {
        return part.parts > 1 ? hooks_.overTensorParts(op, data, name) : [] {};
    }

    /// See StageHooks::betweenExperts.
    ExchangeWait betweenExperts(std::span<const std::span<const std::byte>> toEach,
        std::span<const std::span<std::byte>> fromEach, const char* name) const
    {
        return hooks_.betweenExperts(toEach, fromEach, name);
    }
    std::optional<HotExpert> hotExpert() const { return hooks_.hotExpert ? hooks_.hotExpert() : std::nullopt; }

    /// Notes what this rank's experts did for one micro-batch: rows by rank and expert.
    void countExperts(const ExpertPart& part, std::span<const std::int32_t> came, std::int64_t dropped, double balance);
    ExpertLoad takeExpertLoad() { return std::exchange(load_, {}); }

private:
    static std::chrono::nanoseconds threadCpuTime();
    tracing::OpenSpan begin(tracing::LocalName name, const kernels::KernelCost& cost, const KernelWork& work);
    /// Of rows `first` to before `end` of `count`; the parts of a kernel sum to the whole.
    static tracing::KernelAmount amountOf(const kernels::KernelCost& cost, const KernelWork& work, std::int64_t first,
        std::int64_t end, std::int64_t count);

    template <typename Body> void compute(const Body& body)
    {
        const auto begin = hooks_.insideKernel ? threadCpuTime() : std::chrono::nanoseconds();
        body();
        if (hooks_.insideKernel)
            hooks_.insideKernel(threadCpuTime() - begin);
    }

    std::int64_t atOnce(std::int64_t count, double flop, std::int64_t unit) const;

    tracing::Recorder& recorder_;
    Numbers numbers_;
    tracing::LocalName roundName_;
    std::array<std::vector<kernels::Bf16>, 2> room_;
    std::uint64_t weightsVersion_ = 1;
    StageHooks hooks_;
    tracing::Pass pass_ = tracing::Pass::None;
    std::optional<std::uint16_t> microBatch_;
    std::uint16_t threads_ = 1;
    std::uint64_t longestPause_; ///< in ticks
    ExpertLoad load_;
};

} // namespace rankscope::backend
