#include "tracing/import/rank_assignment.h"

#include "tracing/import/input_files.h"
#include "tracing/import/window_merge.h"

#include <algorithm>
#include <map>
#include <set>

namespace rankscope::tracing {

namespace {

constexpr std::size_t kMostJobsNamed = 8;

class Assignment {
public:
    Assignment(std::vector<AssignedTrace>& traces, std::vector<ImportedFile>& files)
        : traces_(traces)
        , files_(files)
    {
        std::map<std::string, int> tracesOfFile;
        for (const AssignedTrace& assigned : traces)
            ++tracesOfFile[assigned.trace.path];
        for (const AssignedTrace& assigned : traces) {
            NameFacts& names = names_.emplace_back(nameFacts(assigned.trace.path));
            if (tracesOfFile[assigned.trace.path] > 1)
                names.jobFolder = assigned.trace.path; // a file of many ranks is a job, or a node of one
        }
    }

    Status run()
    {
        layLocalRanks();
        takeNames();
        if (Status status = findConflicts(); !status)
            return status;
        numberTheRest();
        mergeCycles();
        std::ranges::sort(traces_, {}, [](const AssignedTrace& a) { return *a.trace.rank; });
        for (const AssignedTrace& assigned : traces_) {
            for (const std::size_t file : assigned.files)
                files_[file].rank = *assigned.trace.rank;
        }
        return Done{};
    }

private:
    SourceTrace& trace(std::size_t t) { return traces_[t].trace; }
    template <typename Member> void mark(std::size_t t, Member member, bool value = true)
    {
        for (const std::size_t file : traces_[t].files)
            files_[file].*member = value;
    }

    /// Reports that number their devices themselves lie one behind another, in order of their names.
    void layLocalRanks()
    {
        std::map<std::string, std::int32_t> ranksOfFile;
        for (const AssignedTrace& assigned : traces_) {
            if (assigned.trace.rankIsLocal) {
                std::int32_t& ranks = ranksOfFile[assigned.trace.path];
                ranks = std::max(ranks, assigned.trace.rank.value_or(0) + 1);
            }
        }
        std::map<std::string, std::int32_t> first;
        std::int32_t next = 0;
        for (const auto& [path, ranks] : ranksOfFile) {
            first[path] = next;
            next += ranks;
        }
        for (std::size_t t = 0; t < traces_.size(); ++t) {
            if (!trace(t).rankIsLocal)
                continue;
            trace(t).rank = first[trace(t).path] + trace(t).rank.value_or(0);
            mark(t, &ImportedFile::rankGuessed);
        }
    }

    void takeNames()
    {
        std::map<std::string, int> tracesOfFile;
        for (const AssignedTrace& assigned : traces_)
            ++tracesOfFile[assigned.trace.path];
        for (std::size_t t = 0; t < traces_.size(); ++t) {
            if (tracesOfFile[trace(t).path] > 1)
                continue; // a name cannot say two ranks
            const auto& named = names_[t].rank;
            if (!trace(t).rank && named) {
                takeName(t);
            } else if (named && trace(t).rank != named && !trace(t).rankIsLocal) {
                trace(t).losses.push_back({ "rank differs from the file's name", 1,
                    trace(t).path + ": the file says rank " + std::to_string(*trace(t).rank) + ", which is taken" });
            }
        }
    }

    void takeName(std::size_t t)
    {
        trace(t).rank = names_[t].rank;
        trace(t).rankFromName = true;
        mark(t, &ImportedFile::rankFromName);
    }

    bool overlap(std::size_t a, std::size_t b)
    {
        const auto first = extentOf(trace(a)), second = extentOf(trace(b));
        return first && second && first->beginNs <= second->endNs && second->beginNs <= first->endNs;
    }

    std::map<std::int32_t, std::vector<std::size_t>> byRank()
    {
        std::map<std::int32_t, std::vector<std::size_t>> ranks;
        for (std::size_t t = 0; t < traces_.size(); ++t) {
            if (trace(t).rank)
                ranks[*trace(t).rank].push_back(t);
        }
        return ranks;
    }

    /// Two traces of one rank that cannot be cycles of one recording.
    bool conflict(std::size_t a, std::size_t b)
    {
        return overlap(a, b) || names_[a].jobFolder != names_[b].jobFolder
            || (!names_[a].process.empty() && !names_[b].process.empty() && names_[a].process != names_[b].process);
    }

    std::optional<std::pair<std::size_t, std::size_t>> firstConflict()
    {
        for (const auto& [rank, members] : byRank()) {
            for (std::size_t i = 0; i < members.size(); ++i) {
                for (std::size_t j = i + 1; j < members.size(); ++j) {
                    if (conflict(members[i], members[j]))
                        return std::pair(members[i], members[j]);
                }
            }
        }
        return std::nullopt;
    }

    /// A writer that calls every rank 0: where names tell the files apart, they are right.
    void believeNamesWhereFilesAgree()
    {
        for (const auto& [rank, members] : byRank()) {
            std::set<std::int32_t> named;
            for (const std::size_t t : members) {
                if (names_[t].rank)
                    named.insert(*names_[t].rank);
            }
            if (members.size() < 2 || named.size() != members.size())
                continue;
            for (const std::size_t t : members) {
                if (trace(t).rank == names_[t].rank)
                    continue;
                std::erase_if(
                    trace(t).losses, [](const Loss& loss) { return loss.kind == "rank differs from the file's name"; });
                trace(t).losses.push_back({ "wrong rank in the file", 1,
                    trace(t).path + ": says rank " + std::to_string(rank)
                        + " like another file; its name's is taken" });
                takeName(t);
            }
        }
    }

    Status findConflicts()
    {
        if (!firstConflict())
            return Done{};
        believeNamesWhereFilesAgree();
        const auto both = firstConflict();
        if (!both)
            return Done{};
        const auto& [a, b] = *both;
        std::map<std::string, std::set<std::int32_t>> jobs;
        for (std::size_t t = 0; t < traces_.size(); ++t)
            jobs[names_[t].jobFolder].insert(trace(t).rank.value_or(-1));
        std::string text;
        if (jobs.size() > 1) {
            text = std::to_string(jobs.size()) + " jobs:";
            std::size_t named = 0;
            for (const auto& [folder, ranks] : jobs) {
                if (++named > kMostJobsNamed) {
                    text += " ...";
                    break;
                }
                text += " " + folder + " (" + std::to_string(ranks.size()) + (ranks.size() == 1 ? " rank)" : " ranks)")
                    + (named < jobs.size() ? "," : "");
            }
            text += "; name one of them: ";
        }
        return Error("import: " + text + trace(a).path + " and " + trace(b).path + " are both rank "
            + std::to_string(*trace(a).rank) + (overlap(a, b) ? " at the same time" : "")
            + (jobs.size() > 1 ? "" : "; import them apart, or leave one out"));
    }

    /// Files that say nothing about their rank; those of one process are its cycles.
    void numberTheRest()
    {
        std::set<std::int32_t> taken;
        for (const AssignedTrace& assigned : traces_) {
            if (assigned.trace.rank)
                taken.insert(*assigned.trace.rank);
        }
        std::map<std::string, std::int32_t> processes;
        std::int32_t free = 0;
        for (std::size_t t = 0; t < traces_.size(); ++t) {
            if (trace(t).rank)
                continue;
            const std::string process = names_[t].process.empty() ? "" : names_[t].jobFolder + "\n" + names_[t].process;
            const auto known = processes.find(process);
            if (!process.empty() && known != processes.end()) {
                trace(t).rank = known->second;
            } else {
                while (taken.contains(free))
                    ++free;
                taken.insert(free);
                trace(t).rank = free;
                processes[process] = free;
                trace(t).losses.push_back(
                    { "rank not in the file", 1, trace(t).path + ": taken as rank " + std::to_string(free) });
            }
            mark(t, &ImportedFile::rankGuessed);
        }
    }

    void mergeCycles()
    {
        std::vector<AssignedTrace> merged;
        for (const auto& [rank, members] : byRank()) {
            AssignedTrace one;
            std::vector<SourceTrace> windows;
            for (const std::size_t t : members) {
                one.files.insert(one.files.end(), traces_[t].files.begin(), traces_[t].files.end());
                windows.push_back(std::move(traces_[t].trace));
            }
            one.trace = windows.size() == 1 ? std::move(windows.front()) : mergeWindows(std::move(windows));
            merged.push_back(std::move(one));
        }
        traces_ = std::move(merged);
    }

    std::vector<AssignedTrace>& traces_;
    std::vector<ImportedFile>& files_;
    std::vector<NameFacts> names_;
};

} // namespace

Status assignRanks(std::vector<AssignedTrace>& traces, std::vector<ImportedFile>& files)
{
    return Assignment(traces, files).run();
}

std::vector<Loss> rankLosses(const std::vector<SourceTrace>& traces)
{
    std::vector<Loss> losses;
    std::int32_t world = 0;
    for (const SourceTrace& trace : traces)
        world = std::max(world, trace.worldSize.value_or(0));
    if (world == 0)
        return losses;
    std::set<std::int32_t> present;
    for (const SourceTrace& trace : traces) {
        present.insert(trace.rank.value_or(0));
        if (trace.rank.value_or(0) >= world)
            losses.push_back({ "rank beyond the world size", 1,
                trace.path + ": rank " + std::to_string(*trace.rank) + " of " + std::to_string(world) });
    }
    std::vector<std::int32_t> absent;
    for (std::int32_t r = 0; r < std::min(world, 1 << 20); ++r) {
        if (!present.contains(r))
            absent.push_back(r);
    }
    if (!absent.empty())
        losses.push_back({ "rank absent", static_cast<std::int64_t>(absent.size()),
            "of " + std::to_string(world) + " ranks these have no file: " + asStretches(absent) });
    return losses;
}

} // namespace rankscope::tracing
