#pragma once

#include "backend/model/gpt_stage.h"

#include <vector>

namespace rankscope::backend::test {

/// Odd sizes, so that nothing fits a vector by luck.
inline constexpr GptConfig kTiny{ .layers = 2, .width = 12, .heads = 3, .vocab = 11, .sequence = 7 };
inline constexpr int kSequences = 3;
inline constexpr int kRows = kSequences * 7;

/// Tokens that follow a rule a model can learn: each is the one before times 3 plus 1, modulo 11.
inline std::vector<std::int32_t> countingTokens(int rows, int start)
{
    std::vector<std::int32_t> tokens{ start % 11 };
    for (int i = 1; i < rows; ++i)
        tokens.push_back((tokens.back() * 3 + 1) % 11);
    return tokens;
}

/// A recorder that is off: every call costs a branch and leaves nothing.
inline std::unique_ptr<tracing::Recorder> silentRecorder() { return tracing::Recorder::open({}); }

inline GptStage::Options options(const StageSlice& slice, int slots = 1)
{
    return { .config = kTiny, .chunks = { { slice, slots } }, .sequences = kSequences, .seed = 5 };
}

inline std::vector<float> copyOf(std::span<const float> values) { return { values.begin(), values.end() }; }

} // namespace rankscope::backend::test
