#include "tracing/import/pipeline/pipeline_reader.h"

#include "tracing/import/pipeline/pipeline_table.h"
#include "tracing/import/pipeline_facts.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

namespace rankscope::tracing {

namespace {

constexpr std::size_t kMemoryOfAllRanks = 96u << 20;
/// A step has far fewer operations of a kind than this; makes a number that counts through all steps.
constexpr std::int64_t kNumbersAStep = 10'000;

struct Extent {
    std::int64_t beginNs = 0, endNs = 0;
};

/// Lays the steps one behind another, in order of their numbers; returns where each then lies.
std::map<std::int64_t, Extent> laySteps(std::vector<PipelineRow>& rows)
{
    std::map<std::int64_t, Extent> steps;
    for (const PipelineRow& row : rows) {
        const auto [it, isNew] = steps.try_emplace(row.step, Extent{ row.beginNs, row.endNs });
        it->second = { std::min(it->second.beginNs, row.beginNs), std::max(it->second.endNs, row.endNs) };
    }
    std::map<std::int64_t, std::int64_t> shifts;
    std::int64_t at = 0;
    for (auto& [step, extent] : steps) {
        shifts[step] = at - extent.beginNs;
        extent = { at, at + extent.endNs - extent.beginNs };
        at = extent.endNs;
    }
    for (PipelineRow& row : rows) {
        row.beginNs += shifts[row.step];
        row.endNs += shifts[row.step];
    }
    return steps;
}

class PipelineReader {
public:
    PipelineReader(PipelineTable table, std::string path)
        : table_(std::move(table))
        , path_(std::move(path))
    {
    }

    Result<std::vector<SourceTrace>> read()
    {
        for (const PipelineRow& row : table_.rows) {
            placeOf_[row.rank] = { row.dp, row.stage };
            rankAt_[{ row.dp, row.stage }] = row.rank;
            stages_ = std::max(stages_, row.stage + 1);
            microBatches_ = std::max(microBatches_, row.microBatch + 1);
        }
        if (placeOf_.size() > 65536)
            return Error("read " + path_ + ": more than 65536 ranks");
        findTensorSize();
        const auto steps = laySteps(table_.rows);
        makeTraces(steps);
        for (const PipelineRow& row : table_.rows)
            add(row);
        finish();
        return std::move(traces_);
    }

private:
    /// Every tensor group has one recorded rank, so the distance of ranks is the group's size.
    void findTensorSize()
    {
        std::int32_t distance = 0;
        for (const auto& [rank, place] : placeOf_)
            distance = std::gcd(distance, rank);
        const std::int32_t greatest = placeOf_.rbegin()->first;
        if (distance > 1
            && static_cast<std::int64_t>(distance) * static_cast<std::int64_t>(placeOf_.size()) == greatest + distance)
            tensorSize_ = distance;
        worldSize_ = greatest + tensorSize_;
    }

    void makeTraces(const std::map<std::int64_t, Extent>& steps)
    {
        for (const auto& [rank, place] : placeOf_) {
            traceOf_[rank] = traces_.size();
            SourceTrace& trace = traces_.emplace_back();
            trace.path = path_;
            trace.format = "pipeline";
            trace.rank = rank;
            trace.clock = path_;
            trace.worldSize = worldSize_;
            trace.dp = place.first;
            trace.stage = place.second;
            if (tensorSize_ > 1)
                trace.tp = 0;
            trace.lanes = { { LaneKind::Compute, Dimension::None, "compute", "" },
                { LaneKind::Communication, Dimension::None, "communication", "" },
                { LaneKind::Host, Dimension::None, "marks", "" } };
            trace.groups.emplace_back();
            trace.events = std::make_unique<EventSpool>(kMemoryOfAllRanks / placeOf_.size());
            for (const auto& [step, extent] : steps)
                trace.steps.push_back({ step, extent.beginNs, extent.endNs });
            trace.runFacts = { { "config.parallel.pp", std::to_string(stages_) },
                { "config.batch.micro_batches", std::to_string(microBatches_) },
                { "config.parallel.schedule", schedule() } };
        }
    }

    std::string schedule() const
    {
        std::vector<SourceAction> actions;
        const PipelineRow& first = table_.rows.front();
        for (const PipelineRow& row : table_.rows) {
            if (row.step == first.step && row.stage == 0 && row.dp == first.dp)
                actions.push_back({ row.beginNs, row.endNs, passOf(row.op), false, row.microBatch, row.stage });
        }
        return scheduleOf(actions, stages_, microBatches_, 1);
    }

    static Pass passOf(PipelineOp op)
    {
        switch (op) {
        case PipelineOp::ForwardCompute:
            return Pass::Forward;
        case PipelineOp::BackwardCompute:
            return Pass::Backward;
        default:
            return op <= PipelineOp::Optimizer ? Pass::Optimizer : Pass::None;
        }
    }

    void add(const PipelineRow& row)
    {
        SourceTrace& trace = traces_[traceOf_.at(row.rank)];
        const std::uint32_t name = trace.strings.intern(table_.names[row.name]);
        const bool computes = row.op <= PipelineOp::Optimizer;
        if (computes || row.op == PipelineOp::Other) {
            SourceEvent event;
            event.beginNs = row.beginNs;
            event.endNs = row.endNs;
            event.name = name;
            event.kind = computes ? SourceKind::Kernel : SourceKind::Range;
            event.lane = computes ? 0 : 2;
            event.microBatch = computes ? row.microBatch : -1;
            event.pass = passOf(row.op);
            trace.events->append(event);
            return;
        }
        SourcePart part;
        part.beginNs = row.beginNs;
        part.endNs = row.endNs;
        part.lane = 1;
        part.name = name;
        part.sequence = numberOf(row);
        describe(row, trace, part);
        trace.parts.push_back(part);
    }

    static std::int64_t numberOf(const PipelineRow& row)
    {
        std::int64_t number = 0;
        if (__builtin_mul_overflow(row.step, kNumbersAStep, &number)
            || __builtin_add_overflow(number, row.sequence, &number))
            return row.sequence;
        return number;
    }

    void describe(const PipelineRow& row, SourceTrace& trace, SourcePart& part)
    {
        SourceGroup group;
        group.name = table_.names[row.name];
        switch (row.op) {
        case PipelineOp::ForwardSend:
        case PipelineOp::ForwardReceive:
        case PipelineOp::BackwardSend:
        case PipelineOp::BackwardReceive:
            return describeMessage(row, trace, part);
        case PipelineOp::ParamsAllGather:
        case PipelineOp::GradsReduceScatter:
            part.op = row.op == PipelineOp::ParamsAllGather ? CollectiveOp::AllGather : CollectiveOp::ReduceScatter;
            group.dimension = Dimension::Data;
            for (const auto& [place, rank] : rankAt_) {
                if (place.second == row.stage)
                    group.ranks.push_back(rank);
            }
            break;
        case PipelineOp::EmbeddingAllReduce:
            part.op = CollectiveOp::AllReduce;
            group.dimension = Dimension::Embedding;
            for (const std::int32_t stage : { 0, stages_ - 1 }) {
                const auto it = rankAt_.find({ row.dp, stage });
                if (it != rankAt_.end() && (group.ranks.empty() || group.ranks.back() != it->second))
                    group.ranks.push_back(it->second);
            }
            break;
        case PipelineOp::ClipAllReduce:
            part.op = CollectiveOp::AllReduce;
            group.dimension = Dimension::Clip;
            for (const auto& [rank, place] : placeOf_)
                group.ranks.push_back(rank);
            break;
        default:
            part.op = CollectiveOp::AllReduce;
            group.dimension = Dimension::Tensor;
            group.name += " of rank " + std::to_string(row.rank);
            for (std::int32_t r = 0; r < tensorSize_ && tensorSize_ > 1; ++r)
                group.ranks.push_back(row.rank + r);
            if (group.ranks.empty())
                group.size = 2; // others take part, the file does not say how many
        }
        part.group = groupIn(trace, std::move(group));
    }

    void describeMessage(const PipelineRow& row, SourceTrace& trace, SourcePart& part)
    {
        const bool forward = row.op == PipelineOp::ForwardSend || row.op == PipelineOp::ForwardReceive;
        const bool sends = row.op == PipelineOp::ForwardSend || row.op == PipelineOp::BackwardSend;
        part.op = sends ? CollectiveOp::Send : CollectiveOp::Receive;
        const auto peer = rankAt_.find({ row.dp, row.stage + (sends == forward ? 1 : -1) });
        if (peer == rankAt_.end()) {
            ++withoutPeer_;
            return;
        }
        SourceGroup group;
        group.dimension = Dimension::Pipeline;
        group.name = forward ? "activations" : "gradients";
        group.ranks = sends ? std::vector{ row.rank, peer->second } : std::vector{ peer->second, row.rank };
        part.peer = sends ? 1 : 0; // place in the group
        part.group = groupIn(trace, std::move(group));
        // Messages of one rank that begin and end together were launched together.
        const auto [it, isNew] = launchGroups_.try_emplace(
            { row.rank, { row.beginNs, row.endNs } }, static_cast<std::int64_t>(launchGroups_.size()) + 1);
        part.launchGroup = it->second;
    }

    static std::uint32_t groupIn(SourceTrace& trace, SourceGroup group)
    {
        const auto known = std::ranges::find_if(trace.groups,
            [&](const SourceGroup& other) { return other.name == group.name && other.ranks == group.ranks; });
        if (known != trace.groups.end())
            return static_cast<std::uint32_t>(known - trace.groups.begin());
        trace.groups.push_back(std::move(group));
        return static_cast<std::uint32_t>(trace.groups.size() - 1);
    }

    void finish()
    {
        const auto lose = [&](const char* kind, std::int64_t count) {
            if (count > 0)
                traces_.front().losses.push_back({ kind, count, path_ });
        };
        lose("row that is not understood", table_.broken);
        lose("compressed data cut off", table_.truncated ? 1 : 0);
        lose("message without a peer", withoutPeer_);
        for (SourceTrace& trace : traces_)
            trace.events->close();
    }

    PipelineTable table_;
    std::string path_;
    std::map<std::int32_t, std::pair<std::int32_t, std::int32_t>> placeOf_; ///< dp and stage of a rank
    std::map<std::pair<std::int32_t, std::int32_t>, std::int32_t> rankAt_;
    std::int32_t stages_ = 0, microBatches_ = 0, tensorSize_ = 1, worldSize_ = 0;
    std::map<std::int32_t, std::size_t> traceOf_;
    std::vector<SourceTrace> traces_;
    std::map<std::pair<std::int32_t, std::pair<std::int64_t, std::int64_t>>, std::int64_t> launchGroups_;
    std::int64_t withoutPeer_ = 0;
};

} // namespace

Result<std::vector<SourceTrace>> readPipelineTimeline(const std::string& path, const ReadProgressCallback& progress)
{
    auto table = readPipelineTable(path, progress);
    if (!table)
        return table.error();
    return PipelineReader(std::move(*table), path).read();
}

} // namespace rankscope::tracing
