#include "backend/data/dataset.h"

#include <algorithm>

namespace rankscope::backend {

using tracing::Error;
using tracing::Result;

namespace {

/// splitmix64's output function (Steele et al. 2014): neighbouring inputs give unrelated outputs.
std::uint64_t mix(std::uint64_t x)
{
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

} // namespace

std::vector<std::int32_t> byteTokens(std::string_view text)
{
    std::vector<std::int32_t> tokens(text.size());
    std::ranges::transform(text, tokens.begin(), [](char byte) { return static_cast<unsigned char>(byte); });
    return tokens;
}

Result<Dataset> Dataset::create(std::string_view text, double holdout, int sequence, std::uint64_t seed)
{
    const std::size_t heldOut = static_cast<std::size_t>(static_cast<double>(text.size()) * holdout);
    const std::size_t needed = static_cast<std::size_t>(sequence) + 1; // the last token's target too
    const std::size_t shorter = holdout > 0 ? std::min(text.size() - heldOut, heldOut) : text.size();
    if (shorter < needed)
        return Error("the text is too short: " + std::to_string(shorter) + " bytes in "
            + (shorter == heldOut ? "the held-out part" : "the training part")
            + ", model.sequence = " + std::to_string(sequence) + " needs at least " + std::to_string(needed));
    return Dataset(byteTokens(text), text.size() - heldOut, static_cast<std::size_t>(sequence), seed);
}

void Dataset::append(Batch& batch, std::size_t begin) const
{
    const auto from = tokens_.begin() + static_cast<std::ptrdiff_t>(begin);
    const auto length = static_cast<std::ptrdiff_t>(sequence_);
    batch.tokens.insert(batch.tokens.end(), from, from + length);
    batch.targets.insert(batch.targets.end(), from + 1, from + length + 1);
}

Batch Dataset::train(std::int64_t step, int first, int count) const
{
    Batch batch;
    const std::size_t places = trainEnd_ - sequence_;
    for (int number = first; number < first + count; ++number) {
        const std::uint64_t drawn
            = mix(mix(mix(seed_) + static_cast<std::uint64_t>(step)) + static_cast<std::uint64_t>(number));
        append(batch, drawn % places);
    }
    return batch;
}

Batch Dataset::heldOut(int first, int count, int total) const
{
    Batch batch;
    const std::size_t places = heldOutTokens() - sequence_;
    for (int number = first; number < first + count; ++number)
        append(batch, trainEnd_ + places * static_cast<std::size_t>(number) / static_cast<std::size_t>(total));
    return batch;
}

} // namespace rankscope::backend
