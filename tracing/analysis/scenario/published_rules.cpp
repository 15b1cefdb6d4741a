#include "tracing/analysis/scenario/published_rules.h"

#include "tracing/analysis/scenario/pipeline_job.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>

namespace rankscope::tracing::scenario {

namespace {

constexpr std::size_t kWorstPercent = 3;

double mean(const std::vector<double>& values)
{
    return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

/// Of an even number the mean of the two in the middle.
double median(std::vector<double> values)
{
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::ranges::nth_element(values, middle);
    return values.size() % 2 == 1 ? *middle : (*middle + *std::max_element(values.begin(), middle)) / 2;
}

JobTimes idealTimes(const PipelineJob& job)
{
    std::map<OpType, std::vector<double>> all;
    for (std::size_t op = 0; op < job.ops.size(); ++op) {
        std::vector<double>& values = all[job.ops[op].type];
        values.insert(values.end(), job.times[op].begin(), job.times[op].end());
    }
    std::map<OpType, double> ideal;
    for (const auto& [type, values] : all)
        ideal[type] = isCompute(type) ? mean(values) : median(values);
    JobTimes times = job.times;
    for (std::size_t op = 0; op < job.ops.size(); ++op)
        std::ranges::fill(times[op], ideal.at(job.ops[op].type));
    return times;
}

class Rules {
public:
    explicit Rules(const PipelineJob& job)
        : job_(job)
        , ideal_(idealTimes(job))
    {
    }

    PublishedSlowdown run()
    {
        out_.steps = static_cast<std::int64_t>(job_.steps);
        out_.recordedSeconds = mean(job_.recordedSteps);
        out_.withoutDelaysSeconds = mean(playedSteps(job_, job_.times));
        out_.idealSeconds = mean(playedSteps(job_, ideal_));
        decompose();
        findWorst();
        const auto isLast = [&](const JobOp& op, std::size_t) { return op.stage == job_.stages - 1; };
        out_.lastStage = explained(isLast);
        return std::move(out_);
    }

private:
    /// Mean step with the chosen operations' times from `chosen`, the others' from `others`.
    template <typename Choice>
    double stepWith(const JobTimes& chosen, const JobTimes& others, const Choice& isChosen) const
    {
        JobTimes times = others;
        for (std::size_t op = 0; op < job_.ops.size(); ++op) {
            for (std::size_t i = 0; i < times[op].size(); ++i) {
                if (isChosen(job_.ops[op], i % job_.replicas))
                    times[op][i] = chosen[op][i];
            }
        }
        return mean(playedSteps(job_, times));
    }

    template <typename Choice> Explained explained(const Choice& isChosen) const
    {
        Explained result;
        const double slow = out_.withoutDelaysSeconds, ideal = out_.idealSeconds;
        result.removedSeconds = stepWith(ideal_, job_.times, isChosen);
        result.addedSeconds = stepWith(job_.times, ideal_, isChosen);
        result.removedShare = slow > ideal ? (slow - result.removedSeconds) / (slow - ideal) : 0;
        result.addedShare = slow > ideal ? (result.addedSeconds - ideal) / (slow - ideal) : 0;
        return result;
    }

    template <typename Choice> double keptBy(const Choice& isChosen) const
    {
        return stepWith(job_.times, ideal_, isChosen) / out_.idealSeconds;
    }

    void decompose()
    {
        for (std::size_t replica = 0; replica < job_.replicas; ++replica)
            out_.byReplica.emplace_back(
                std::to_string(replica), keptBy([&](const JobOp&, std::size_t r) { return r == replica; }));
        for (std::int32_t stage = 0; stage < job_.stages; ++stage)
            out_.byStage.emplace_back(
                std::to_string(stage), keptBy([&](const JobOp& op, std::size_t) { return op.stage == stage; }));
        std::map<std::string, std::vector<OpType>> names; // a message's two ends are one operation
        for (const JobOp& op : job_.ops) {
            const bool forward = op.type == OpType::ForwardSend || op.type == OpType::ForwardReceive;
            auto& types = names[!isMessage(op.type) ? std::string(toString(op.type))
                    : forward                       ? "forward-pp-comm"
                                                    : "backward-pp-comm"];
            if (std::ranges::find(types, op.type) == types.end())
                types.push_back(op.type);
        }
        for (const auto& [name, types] : names)
            out_.byOperation.emplace_back(name,
                keptBy([&](const JobOp& op, std::size_t) { return std::ranges::find(types, op.type) != types.end(); }));
    }

    /// A rank is as slow as its replica and its stage both are; of equal ones the lower rank goes first.
    void findWorst()
    {
        struct Score {
            double score = 0;
            std::int32_t rank = 0;
            std::int32_t stage = 0;
            std::size_t replica = 0;
        };
        std::vector<Score> scores;
        for (std::int32_t stage = 0; stage < job_.stages; ++stage) {
            for (std::size_t replica = 0; replica < job_.replicas; ++replica) {
                const auto s = static_cast<std::size_t>(stage);
                scores.push_back({ std::min(out_.byReplica[replica].second, out_.byStage[s].second),
                    job_.ranks[s][replica], stage, replica });
            }
        }
        std::ranges::sort(scores, {}, [](const Score& s) { return std::pair(-s.score, s.rank); });
        scores.resize((scores.size() * kWorstPercent + 99) / 100);
        for (const Score& score : scores)
            out_.worstRanks.push_back(score.rank);
        out_.worst = explained([&](const JobOp& op, std::size_t replica) {
            return std::ranges::any_of(
                scores, [&](const Score& s) { return s.stage == op.stage && s.replica == replica; });
        });
    }

    const PipelineJob& job_;
    const JobTimes ideal_;
    PublishedSlowdown out_;
};

} // namespace

Result<PublishedSlowdown> publishedSlowdown(const ledger::LedgerInput& input)
{
    const auto job = pipelineJobOf(input);
    return job ? Result<PublishedSlowdown>(Rules(*job).run()) : job.error();
}

} // namespace rankscope::tracing::scenario
