#include "tests/tracing/analysis/ledger/pipeline_job.h"

#include <zlib.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <sstream>
#include <tuple>

namespace rankscope::tracing::ledger {

namespace {

struct Op {
    std::int32_t dp = 0, stage = 0, rank = 0;
    std::int64_t step = 0, sequence = 0;
    std::int32_t microBatch = -1;
    std::string type;
    Ns begin = 0, end = 0;
};

std::string readGzip(const std::string& path)
{
    std::string text;
    gzFile file = gzopen(path.c_str(), "rb");
    if (!file)
        return text;
    char buffer[1 << 16];
    for (int n = 0; (n = gzread(file, buffer, sizeof buffer)) > 0;)
        text.append(buffer, static_cast<std::size_t>(n));
    gzclose(file);
    return text;
}

std::vector<Op> readOps(const std::string& path)
{
    std::vector<Op> ops;
    std::istringstream text(readGzip(path));
    std::string line;
    std::getline(text, line); // dp_rank,stage,rank,step,optype,start_ts,duration,seq_id,mc,mb_id,gmc
    while (std::getline(text, line)) {
        std::istringstream row(line);
        std::vector<std::string> cells;
        for (std::string cell; std::getline(row, cell, ',');)
            cells.push_back(cell);
        const double start = std::strtod(cells[5].c_str(), nullptr), duration = std::strtod(cells[6].c_str(), nullptr);
        ops.push_back({ std::atoi(cells[0].c_str()), std::atoi(cells[1].c_str()), std::atoi(cells[2].c_str()),
            std::atoll(cells[3].c_str()), std::atoll(cells[7].c_str()), std::atoi(cells[9].c_str()), cells[4],
            std::llround(1e9 * start), std::llround(1e9 * (start + duration)) });
    }
    return ops;
}

/// Lays the steps one behind another and makes each a stretch of every rank.
void placeSteps(std::vector<Op>& ops, LedgerInput& input)
{
    std::map<std::int64_t, std::pair<Ns, Ns>> extent;
    for (const Op& op : ops) {
        const auto [it, isNew] = extent.try_emplace(op.step, op.begin, op.end);
        it->second = { std::min(it->second.first, op.begin), std::max(it->second.second, op.end) };
    }
    Ns at = 0;
    std::map<std::int64_t, Ns> shift;
    for (const auto& [step, range] : extent) {
        shift[step] = at - range.first;
        for (RankInput& rank : input.ranks)
            rank.stretches.push_back({ at, at + range.second - range.first, step });
        at += range.second - range.first;
    }
    for (Op& op : ops) {
        op.begin += shift[op.step];
        op.end += shift[op.step];
    }
}

class JobBuilder {
public:
    JobBuilder(LedgerInput& input, const std::map<std::pair<std::int32_t, std::int32_t>, std::int32_t>& rankAt)
        : input_(input)
        , rankAt_(rankAt)
    {
        for (const auto& [place, rank] : rankAt) {
            stages_ = std::max(stages_, place.second + 1);
            replicas_ = std::max(replicas_, place.first + 1);
        }
    }

    void add(const Op& op)
    {
        RankInput& rank = *std::ranges::find(input_.ranks, op.rank, &RankInput::rank);
        if (op.type == "forward-compute" || op.type == "backward-compute" || op.type == "optimizer") {
            ComputeOp compute;
            compute.begin = op.begin;
            compute.end = op.end;
            compute.pass = op.type[0] == 'f' ? Pass::Forward : op.type[0] == 'b' ? Pass::Backward : Pass::Optimizer;
            compute.microBatch = op.microBatch;
            rank.compute.push_back(compute);
            return;
        }
        if (op.end <= op.begin)
            return; // gc marks
        PartOp part;
        part.begin = op.begin;
        part.end = op.end;
        part.instance = instanceOf(op);
        if (input_.instances[part.instance].dimension == Dimension::Pipeline)
            part.launchGroup = std::hash<std::string>()(std::to_string(op.begin) + "/" + std::to_string(op.end)) >> 1;
        rank.parts.push_back(part);
    }

private:
    std::size_t instanceOf(const Op& op)
    {
        Instance instance;
        instance.sequence = op.step * 10'000 + op.sequence;
        std::tuple<std::string, std::int64_t, std::int64_t, std::int32_t, std::int32_t> key{ op.type, op.step,
            op.sequence, -1, -1 };
        if (op.type.ends_with("-send") || op.type.ends_with("-recv")) {
            const bool forward = op.type.starts_with("forward");
            const std::int32_t peer = op.stage + (op.type.ends_with("-send") == forward ? 1 : -1);
            const std::int32_t from = op.type.ends_with("-send") ? op.stage : peer;
            const std::int32_t to = op.type.ends_with("-send") ? peer : op.stage;
            instance.op = CollectiveOp::Send;
            instance.dimension = Dimension::Pipeline;
            instance.source = at(op.dp, from);
            instance.destination = at(op.dp, to);
            instance.members = { *instance.source, *instance.destination };
            key = { forward ? "f" : "b", op.step, op.sequence, op.dp, from };
        } else if (op.type == "params-all-gather" || op.type == "grads-reduce-scatter") {
            instance.op = op.type[0] == 'p' ? CollectiveOp::AllGather : CollectiveOp::ReduceScatter;
            instance.dimension = Dimension::Data;
            for (std::int32_t dp = 0; dp < replicas_; ++dp)
                instance.members.push_back(at(dp, op.stage));
            key = { op.type, op.step, op.sequence, -1, op.stage };
        } else if (op.type == "embedding-grads-all-reduce") {
            instance.op = CollectiveOp::AllReduce;
            instance.dimension = Dimension::Embedding;
            instance.members = { at(op.dp, 0), at(op.dp, stages_ - 1) };
            key = { op.type, op.step, op.sequence, op.dp, -1 };
        } else if (op.type == "optimizer-clip-main-grad") {
            instance.op = CollectiveOp::AllReduce;
            instance.dimension = Dimension::Clip;
            for (const RankInput& rank : input_.ranks)
                instance.members.push_back(rank.rank);
        } else { // layernorm-grads-all-reduce: the other members of the tensor group were not traced
            instance.op = CollectiveOp::AllReduce;
            instance.dimension = Dimension::Tensor;
            instance.members = { op.rank, op.rank + 1'000'000 };
            key = { op.type, op.step, op.sequence, op.rank, -1 };
        }
        const auto [it, isNew] = known_.try_emplace(key, input_.instances.size());
        if (isNew) {
            const auto group = std::tuple(std::get<0>(key), std::get<3>(key), std::get<4>(key));
            instance.communicator
                = static_cast<std::int64_t>(communicators_.try_emplace(group, communicators_.size()).first->second);
            input_.instances.push_back(std::move(instance));
        }
        return it->second;
    }

    std::int32_t at(std::int32_t dp, std::int32_t stage) const { return rankAt_.at({ dp, stage }); }

    LedgerInput& input_;
    const std::map<std::pair<std::int32_t, std::int32_t>, std::int32_t>& rankAt_;
    std::int32_t stages_ = 0, replicas_ = 0;
    std::map<std::tuple<std::string, std::int64_t, std::int64_t, std::int32_t, std::int32_t>, std::size_t> known_;
    std::map<std::tuple<std::string, std::int32_t, std::int32_t>, std::size_t> communicators_;
};

} // namespace

LedgerInput readPipelineJob(const std::string& path)
{
    LedgerInput input;
    std::vector<Op> ops = readOps(path);
    if (ops.empty())
        return input;
    std::map<std::pair<std::int32_t, std::int32_t>, std::int32_t> rankAt;
    std::int32_t microBatches = 0, stages = 0;
    for (const Op& op : ops) {
        rankAt[{ op.dp, op.stage }] = op.rank;
        microBatches = std::max(microBatches, op.microBatch + 1);
        stages = std::max(stages, op.stage + 1);
    }
    for (const auto& [place, rank] : rankAt) {
        input.ranks.emplace_back();
        input.ranks.back().rank = rank; // world ranks: the other members of the tensor groups were not traced
        input.ranks.back().stage = place.second;
    }
    std::ranges::sort(input.ranks, {}, &RankInput::rank);
    placeSteps(ops, input);
    JobBuilder builder(input, rankAt);
    for (const Op& op : ops)
        builder.add(op);
    input.pipeline = PipelineSchedule{ PipelineSchedule::Kind::OneForwardOneBackward, stages, microBatches };
    return input;
}

} // namespace rankscope::tracing::ledger
