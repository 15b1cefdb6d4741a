#pragma once

#include "tracing/analysis/ledger/ledger_input.h"
#include "tracing/model/result.h"

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace rankscope::tracing::scenario {

/// What StragglerAnalysis (ByteDance, OSDI'25) knows of a training job: one operation each for a micro-batch's forward
/// and backward, messages between stages, and what follows the last backward.
enum class OpType : std::uint8_t {
    ForwardCompute,
    BackwardCompute,
    Optimizer,
    ForwardSend,
    ForwardReceive,
    BackwardSend,
    BackwardReceive,
    ParamsAllGather,
    GradsReduceScatter,
    LayernormAllReduce,
    EmbeddingAllReduce,
    ClipAllReduce,
};
inline constexpr std::size_t kOpTypes = 12;
std::string_view toString(OpType type);
constexpr bool isMessage(OpType type) { return type >= OpType::ForwardSend && type <= OpType::BackwardReceive; }
constexpr bool isCompute(OpType type) { return type <= OpType::Optimizer; }

/// An operation of every replica and every step: all of them share one graph.
struct JobOp {
    OpType type = OpType::ForwardCompute;
    std::int32_t stage = 0;
    std::int32_t number = 0; ///< among those of its type and stage in a step
};

/// Operations that end together, after the last of them has begun; computing ones are alone.
struct JobGroup {
    std::vector<std::size_t> ops;
    bool acrossReplicas = false;
};

/// Seconds by operation, and there by step * replicas + replica.
using JobTimes = std::vector<std::vector<double>>;

struct PipelineJob {
    std::size_t steps = 0;
    std::size_t replicas = 0;
    std::int32_t stages = 0;
    std::vector<std::vector<std::int32_t>> ranks; ///< by stage and replica
    std::vector<JobOp> ops;
    std::vector<std::vector<std::size_t>> dependsOn; ///< by operation: those that end before it begins
    std::vector<JobGroup> groups; ///< in an order in which they can be played
    JobTimes times; ///< length of what computes, transfer of what communicates: its end less the group's last begin
    std::vector<double> recordedSteps; ///< seconds a step
};

/// The graph as the published rules build it from the first replica's first step. An error where ranks or steps do not
/// hold the same operations, or where a stage's messages do not pair with its micro-batches.
Result<PipelineJob> pipelineJobOf(const ledger::LedgerInput& input);

/// Seconds that each step takes with these times: an operation begins when all it depends on has ended.
std::vector<double> playedSteps(const PipelineJob& job, const JobTimes& times);

} // namespace rankscope::tracing::scenario
