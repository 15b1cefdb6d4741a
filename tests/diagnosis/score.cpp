#include "tests/diagnosis/score.h"

#include "tests/support/child_process.h"
#include "tracing/analysis/run_analysis.h"
#include "tracing/store/fault_truth.h"
#include "tracing/store/trace_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <set>

namespace rankscope::diagnosis_score {

namespace {

using tracing::Error;
using tracing::FaultInjection;
using tracing::Finding;
using tracing::Result;

/// The cause that names each kind of fault.
const std::map<std::string, std::string>& causes()
{
    static const std::map<std::string, std::string> kCauses{ { "slow_rank", "compute_speed" }, { "jitter", "stall" },
        { "imbalanced_stage", "compute_amount" }, { "stalled_data", "data" }, { "host_pause", "host" },
        { "slow_link", "network" }, { "lost_rank", "rank_lost" }, { "hung_rank", "rank_hung" },
        { "nan_gradient", "not_a_number" }, { "corrupt_shard", "checkpoint_damaged" },
        { "full_disk", "checkpoint_failed" } };
    return kCauses;
}

std::string settingOf(const FaultInjection& fault, const std::string& key)
{
    const std::string text = " " + fault.detail + " ";
    const std::size_t at = text.find(" " + key + "=");
    if (at == std::string::npos)
        return {};
    const std::size_t begin = at + key.size() + 2;
    return text.substr(begin, text.find(' ', begin) - begin);
}

/// Who may be named: the rank itself; both ends of a link; nobody in particular where the fault leaves no trace of where
/// it struck (a number that is none is summed into all ranks' gradients, a shard is read by any rank).
bool namesCulprit(const Finding& finding, const FaultInjection& fault)
{
    if (fault.kind == "nan_gradient" || fault.kind == "corrupt_shard")
        return true;
    std::set<std::int32_t> culprits{ fault.rank.value_or(-1) };
    if (fault.kind == "slow_link")
        culprits.insert(std::stoi(settingOf(fault, "to")));
    return std::set<std::int32_t>(finding.ranks.begin(), finding.ranks.end()) == culprits;
}

Answer compare(const std::vector<FaultInjection>& truth, const std::vector<Finding>& findings)
{
    std::vector<const Finding*> left;
    for (const Finding& finding : findings) {
        if (!finding.cause.empty())
            left.push_back(&finding);
    }
    Answer answer;
    answer.isRight = true;
    std::vector<const FaultInjection*> missed;
    for (const FaultInjection& fault : truth) {
        const auto match = std::ranges::find_if(left, [&](const Finding* finding) {
            return finding->cause == causes().at(fault.kind) && namesCulprit(*finding, fault);
        });
        if (match == left.end()) {
            missed.push_back(&fault);
            continue;
        }
        answer.expected.push_back({ fault.kind, (*match)->cause, true });
        left.erase(match);
    }
    for (const FaultInjection* fault : missed) {
        answer.isRight = false;
        std::string found = "nothing";
        if (!left.empty()) {
            found = left.front()->cause == causes().at(fault->kind) ? left.front()->cause + " (other culprit)"
                                                                   : left.front()->cause;
            left.erase(left.begin());
        }
        answer.expected.push_back({ fault->kind, found, false });
    }
    for (const Finding* finding : left)
        answer.alarms.push_back(finding->title);
    answer.isRight = answer.isRight && answer.alarms.empty();
    if (truth.empty())
        answer.expected.push_back({ "none", left.empty() ? "nothing" : left.front()->cause, left.empty() });
    return answer;
}

} // namespace

Result<Answer> answerTo(const Case& drawn, const std::filesystem::path& folder)
{
    const auto configuration = folder / "case.toml", file = folder / "run.rsdb";
    std::ofstream(configuration) << baseConfiguration();
    std::error_code ignored;
    const auto programs = std::filesystem::read_symlink("/proc/self/exe", ignored).parent_path();
    support::Command command{ { (programs / "rankscope").string(), "train", "--config", configuration.string(), "--out",
                                  file.string() },
        {}, folder.string() };
    command.words.insert(command.words.end(), drawn.settings.begin(), drawn.settings.end());
    const auto outcome = support::run(command, std::chrono::seconds(120));
    if (outcome.timedOut || !std::filesystem::exists(file))
        return Error(fmt::format("{}: no run came of it: {}", drawn.name, outcome.error));
    auto reader = tracing::TraceReader::open(file.string());
    if (!reader)
        return reader.error();
    const auto run = tracing::analyse(*reader);
    if (!run)
        return run.error();
    auto truth = tracing::readFaultTruth(file.string());
    if (!truth)
        return truth.error();
    // Every rank of a stage tells of a stage's fault; each counts once.
    std::vector<FaultInjection> once;
    for (const FaultInjection& fault : *truth) {
        const bool isKnown = std::ranges::any_of(once,
            [&](const FaultInjection& other) { return other.kind == fault.kind && other.rank == fault.rank; });
        if (!isKnown)
            once.push_back(fault);
    }
    return compare(once, run->findings);
}

void ConfusionMatrix::add(const Answer& answer)
{
    for (const Answer::Expected& expected : answer.expected)
        ++cells_[expected.kind][expected.found];
}

std::string ConfusionMatrix::text() const
{
    std::set<std::string> columns;
    for (const auto& [kind, row] : cells_) {
        for (const auto& [found, count] : row)
            columns.insert(found);
    }
    std::string text = fmt::format("{:18}", "injected \\ named");
    for (const std::string& column : columns)
        text += "  " + column;
    for (const auto& [kind, row] : cells_) {
        text += fmt::format("\n{:18}", kind);
        for (const std::string& column : columns) {
            const auto cell = row.find(column);
            text += fmt::format("  {:>{}}", cell == row.end() ? std::string(".") : std::to_string(cell->second), column.size());
        }
    }
    return text + "\n";
}

} // namespace rankscope::diagnosis_score
