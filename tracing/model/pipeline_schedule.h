#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace rankscope::tracing {

/// What a stage does next. Receiving its input and sending its output belong to the action.
enum class ActionKind : std::uint8_t {
    Forward,
    Backward, ///< gradients of inputs and of weights
    BackwardInput, ///< gradients of inputs, which the stage before waits for
    BackwardWeight, ///< gradients of weights, which nobody waits for; after the action's BackwardInput
};

struct Action {
    ActionKind kind = ActionKind::Forward;
    int microBatch = 0;
    int chunk = 0; ///< model chunk of the stage, 0 unless stages are interleaved

    bool operator==(const Action&) const = default;
};

/// One step of a pipeline: what each stage does, in order. The engine plays these lists, and the ledger asks them what
/// a balanced pipeline must idle. Chunk c of stage s is the (c * stages + s)-th part of the model.
struct Schedule {
    std::string name;
    int stages = 0;
    int microBatches = 0;
    int chunks = 1;
    std::vector<std::vector<Action>> actions; ///< by stage
};

/// All forwards, then all backwards: keeps every micro-batch. Huang et al. 2019 (GPipe).
Schedule gpipe(int stages, int microBatches);

/// One forward, one backward: stage s runs p - 1 - s forwards ahead, then alternates, so that it never keeps more than
/// p - s micro-batches. Narayanan et al. 2019 (PipeDream-Flush in Narayanan et al. 2021). stages and microBatches are
/// at least 1.
Schedule oneForwardOneBackward(int stages, int microBatches);

/// 1F1B over `chunks` model chunks a stage, p micro-batches of a chunk at a time: the bubble shrinks to 1 / chunks of
/// 1F1B's, for chunks times as many messages. Narayanan et al. 2021, section 2.2; microBatches is a multiple of stages.
Schedule interleaved(int stages, int microBatches, int chunks);

/// 1F1B whose weight gradients wait: stage s does those of micro-batch i after the input gradients of i + s, so that
/// they fill the drain and no stage keeps more than p micro-batches. Qi et al. 2023 (ZB-H1).
Schedule zeroBubbleH1(int stages, int microBatches);

/// "1f1b", "gpipe", "interleaved", "zb-h1".
std::span<const std::string_view> scheduleNames();
/// None for another name, and for sizes that the schedule cannot have. `chunks` counts for interleaved only.
std::optional<Schedule> scheduleByName(std::string_view name, int stages, int microBatches, int chunks);

/// Whether weight gradients are actions of their own.
bool splitsBackward(const Schedule& schedule);

/// Most micro-batches that a chunk of stage `stage` keeps between their forward pass and the last use of what it left.
int peakActivations(const Schedule& schedule, int stage, int chunk);
/// The same over all chunks of the stage together.
int peakActivations(const Schedule& schedule, int stage);

} // namespace rankscope::tracing
