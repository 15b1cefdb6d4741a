#pragma once

#include "tracing/import/json/json_trace_reader.h"
#include "tracing/model/result.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace rankscope::tracing {

enum class PipelineOp : std::uint8_t {
    ForwardCompute,
    BackwardCompute,
    Optimizer,
    ForwardSend,
    ForwardReceive,
    BackwardSend,
    BackwardReceive,
    ParamsAllGather,
    GradsReduceScatter,
    EmbeddingAllReduce,
    ClipAllReduce,
    LayernormAllReduce,
    Other,
};

/// One row of a pipeline timeline: an operation of one rank.
struct PipelineRow {
    std::int32_t dp = 0;
    std::int32_t stage = 0;
    std::int32_t rank = 0;
    std::int32_t microBatch = -1; ///< -1: none
    std::int64_t step = 0;
    std::int64_t sequence = 0; ///< of the operation's kind, within the step
    std::int64_t beginNs = 0; ///< in the file: from the step's begin; after laySteps(): from the first step's
    std::int64_t endNs = 0;
    PipelineOp op = PipelineOp::Other;
    std::uint32_t name = 0; ///< into PipelineTable::names
};

struct PipelineTable {
    std::vector<PipelineRow> rows;
    std::vector<std::string> names; ///< operations, as the file calls them
    std::int64_t broken = 0; ///< rows that are not understood
    bool truncated = false; ///< the compressed data ends too early
};

/// Whether a file that begins like this is a pipeline timeline: its first line names the columns.
bool isPipelineHeader(std::string_view firstBytes);

/// Reads a CSV (also .gz, .zst) with the columns dp_rank, stage, rank, step, optype, start_ts, duration, seq_id and
/// mb_id in any order; times are seconds. Begin and end are rounded from doubles, as the data was published
/// (METRICS 5.5).
Result<PipelineTable> readPipelineTable(const std::string& path, const ReadProgressCallback& progress);

} // namespace rankscope::tracing
