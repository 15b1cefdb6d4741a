#pragma once

#include "tracing/model/result.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace rankscope::backend {

/// A byte is a token. Any text can be written with it and none is unknown.
inline constexpr int kByteVocab = 256;
std::vector<std::int32_t> byteTokens(std::string_view text);

/// B sequences of T tokens and, for each, the token that follows it. Both (B, T).
struct Batch {
    std::vector<std::int32_t> tokens;
    std::vector<std::int32_t> targets;
};

/// Where in the text a step's sequences begin. A sequence of the global batch is numbered 0 .. G - 1, so that the same
/// step sees the same sequences however they are spread over replicas and micro-batches.
class Dataset {
public:
    /// The last `holdout` (0 to 0.5) of the text is never trained on. An error if either part is shorter than a
    /// sequence.
    static tracing::Result<Dataset> create(std::string_view text, double holdout, int sequence, std::uint64_t seed);

    std::size_t trainTokens() const { return trainEnd_; }
    std::size_t heldOutTokens() const { return tokens_.size() - trainEnd_; }

    /// Sequences [first, first + count) of a step's global batch, from the training part, drawn by (seed, step,
    /// number).
    Batch train(std::int64_t step, int first, int count) const;
    /// The same sequences every time, spread evenly over the held-out part: number `first` to `first + count` of
    /// `total`.
    Batch heldOut(int first, int count, int total) const;

private:
    Dataset(std::vector<std::int32_t> tokens, std::size_t trainEnd, std::size_t sequence, std::uint64_t seed)
        : tokens_(std::move(tokens))
        , trainEnd_(trainEnd)
        , sequence_(sequence)
        , seed_(seed)
    {
    }
    void append(Batch& batch, std::size_t begin) const;

    std::vector<std::int32_t> tokens_;
    std::size_t trainEnd_;
    std::size_t sequence_;
    std::uint64_t seed_;
};

} // namespace rankscope::backend
