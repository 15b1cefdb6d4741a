#pragma once

#include "backend/model/gpt_config.h"
#include "backend/tensor/buffer.h"
#include "kernels/moe.h"

#include <cstdint>
#include <span>
#include <vector>

namespace rankscope::backend {

/// Which rows of a micro-batch went to which expert. S of the N x top_k choices were kept; they lie sorted by expert,
/// then by preference, then by row. R rows came to this rank's experts, sorted by expert, then by sender.
struct Routing {
    Buffer probabilities; ///< (N, E)
    std::vector<std::int32_t> chosen; ///< (N, top_k)
    std::vector<std::int32_t> rows; ///< (S), where each came from
    std::vector<float> gates; ///< (S), its probability
    std::vector<std::int32_t> kept; ///< (E), choices that went to each expert
    std::vector<std::int32_t> came; ///< (ranks, experts of this rank), rows from each rank
    Buffer input; ///< (R, C)
    Buffer output; ///< (S, C), of the experts, back here
    Buffer doutput, dlogits; ///< (R, C) and (N, E): gradients that those of deferred weights need

    std::int64_t arrivals() const; ///< R
};

/// Sends a share of the rows to one expert first, whatever their probabilities; the same rows every time.
void prefer(std::span<std::int32_t> chosen, const HotExpert& hot, const kernels::RouteShape& shape);

/// Sorts routing.chosen into rows, gates and kept. An expert takes `capacity` of a micro-batch at most: first choices
/// before second ones, then earlier rows before later ones; the rest are dropped.
void sortChoices(Routing& routing, const kernels::RouteShape& shape, std::int64_t capacity);

/// Copies rows of C numbers that lie by sender, as they come in, to where they lie by expert; or back.
enum class Arrange { ByExpert, BySender };
void arrange(float* to, const float* from, const Routing& routing, std::int64_t C, std::int64_t experts, Arrange how);

} // namespace rankscope::backend
