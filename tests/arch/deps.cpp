#include "tests/arch/rules.h"

#include <algorithm>
#include <map>
#include <set>

namespace rankscope::arch {
namespace {

struct Floor {
    std::string_view folder;
    std::vector<std::string_view> mayUse;
};

/// STYLE 5.1 and the picture in 6. A name stands for the folder and those inside it.
const std::vector<Floor>& floors()
{
    static const std::vector<Floor> kFloors{
        { "kernels", {} },
        { "tracing/model", {} },
        { "tracing/record", { "tracing/model" } },
        { "tracing/collect", { "tracing/record", "tracing/model" } },
        { "tracing/store", { "tracing/model" } },
        { "tracing/collector", { "tracing/store", "tracing/record", "tracing/model" } },
        { "tracing/import", { "tracing/store", "tracing/model" } },
        { "tracing/analysis", { "tracing/store", "tracing/model" } },
        { "tracing/export", { "tracing/store", "tracing/analysis", "tracing/model" } },
        { "tracing/cli", { "tracing" } },
        { "backend/tensor", { "kernels", "tracing/record", "tracing/model" } },
        { "backend/schedule", { "tracing/model" } },
        { "backend/comm", { "kernels", "tracing/record", "tracing/model", "backend/tensor" } },
        { "backend/data", { "kernels", "tracing/record", "tracing/model", "backend/tensor" } },
        { "backend/model", { "kernels", "tracing/record", "tracing/model", "backend/tensor" } },
        { "backend/parallel",
            { "kernels", "tracing/record", "tracing/model", "backend/tensor", "backend/schedule", "backend/comm",
                "backend/data", "backend/model" } },
        { "backend/checkpoint",
            { "kernels", "tracing/record", "tracing/model", "backend/tensor", "backend/comm", "backend/model" } },
        { "backend/fault", { "kernels", "tracing/record", "tracing/model", "backend/tensor", "backend/comm" } },
        { "backend/train", { "kernels", "tracing/record", "tracing/model", "backend" } },
        { "app/session", { "tracing/model", "tracing/store", "tracing/analysis", "tracing/export", "tracing/import" } },
        { "app/models", { "tracing/model", "tracing/store", "tracing/analysis", "tracing/export", "app/session" } },
        { "app/timeline", { "tracing/model", "tracing/store", "tracing/analysis", "tracing/export", "app/session" } },
        { "app/panels",
            { "tracing/model", "tracing/store", "tracing/analysis", "tracing/export", "app/session", "app/models",
                "app/timeline" } },
        { "app/launch",
            { "tracing/model", "tracing/store", "tracing/analysis", "tracing/export", "app/session", "app/models" } },
        { "app/shell", { "tracing/model", "tracing/store", "tracing/analysis", "tracing/export", "app" } },
    };
    return kFloors;
}

bool isInside(std::string_view folder, std::string_view outer)
{
    return folder.starts_with(outer) && (folder.size() == outer.size() || folder[outer.size()] == '/');
}

const Floor* floorOf(std::string_view folder)
{
    const auto& all = floors();
    const auto found
        = std::find_if(all.begin(), all.end(), [&](const Floor& floor) { return isInside(folder, floor.folder); });
    return found == all.end() ? nullptr : &*found;
}

using TargetsByName = std::map<std::string, const Target*>;

TargetsByName byName(const Tree& tree)
{
    TargetsByName targets;
    for (const auto& target : tree.targets)
        targets[target.name] = &target;
    return targets;
}

std::map<std::string, std::vector<const Target*>> ownersOfFiles(const Tree& tree)
{
    std::map<std::string, std::vector<const Target*>> owners;
    for (const auto& target : tree.targets) {
        for (const auto& source : target.sources)
            owners[source].push_back(&target);
    }
    return owners;
}

bool mayInclude(const Target& from, const std::vector<const Target*>& owners)
{
    return std::any_of(owners.begin(), owners.end(), [&](const Target* owner) {
        return owner == &from || std::find(from.deps.begin(), from.deps.end(), owner->name) != from.deps.end();
    });
}

bool isMadeByMoc(std::string_view path) { return path.ends_with(".moc") || path.starts_with("moc_"); }

/// Walks the DEPS from `target`; reports the way back to it where there is one.
class CircleSearch {
public:
    explicit CircleSearch(const TargetsByName& targets)
        : targets_(targets)
    {
    }

    void visit(const Target& target, Faults& faults)
    {
        if (done_.contains(target.name))
            return;
        way_.push_back(target.name);
        for (const auto& dep : target.deps) {
            const auto start = std::find(way_.begin(), way_.end(), dep);
            if (start != way_.end())
                report(start, faults);
            else if (const auto next = targets_.find(dep); next != targets_.end())
                visit(*next->second, faults);
            else
                faults.push_back({ target.name, "DEPS name " + dep + ", which is no target" });
        }
        way_.pop_back();
        done_.insert(target.name);
    }

private:
    void report(std::vector<std::string>::const_iterator start, Faults& faults) const
    {
        std::string circle;
        for (auto name = start; name != way_.end(); ++name)
            circle += *name + " -> ";
        faults.push_back({ *start, "circle: " + circle + *start });
    }

    const TargetsByName& targets_;
    std::vector<std::string> way_;
    std::set<std::string> done_;
};

} // namespace

Faults includesOutsideDeps(const Tree& tree)
{
    Faults faults;
    const auto owners = ownersOfFiles(tree);
    std::set<std::string> paths;
    for (const auto& file : tree.files)
        paths.insert(file.path);

    for (const auto& file : tree.files) {
        const auto from = owners.find(file.path);
        for (const auto& include : file.includes) {
            const auto where = file.path + ":" + std::to_string(include.line);
            const auto to = owners.find(include.path);
            if (to == owners.end()) {
                if (include.quoted && !paths.contains(include.path) && !isMadeByMoc(include.path))
                    faults.push_back(
                        { where, "\"" + include.path + "\" is no path from the root; libraries are included with <>" });
                continue;
            }
            if (from == owners.end())
                continue;
            for (const auto* target : from->second) {
                if (!mayInclude(*target, to->second))
                    faults.push_back({ where,
                        "includes " + include.path + ", but the DEPS of " + target->name + " do not name "
                            + to->second.front()->name });
            }
        }
    }
    return faults;
}

Faults edgesAgainstTheFloors(const Tree& tree)
{
    Faults faults;
    const auto targets = byName(tree);
    for (const auto& target : tree.targets) {
        if (isInside(target.folder, "tests"))
            continue;
        const auto* floor = floorOf(target.folder);
        if (!floor) {
            faults.push_back({ target.folder, "has no floor; enter it into the table of tests/arch/deps.cpp" });
            continue;
        }
        for (const auto& dep : target.deps) {
            const auto to = targets.find(dep);
            if (to == targets.end() || isInside(to->second->folder, floor->folder))
                continue;
            const bool allowed = std::any_of(floor->mayUse.begin(), floor->mayUse.end(),
                [&](std::string_view below) { return isInside(to->second->folder, below); });
            if (!allowed)
                faults.push_back({ target.name, target.folder + " must not use " + to->second->folder });
        }
    }
    return faults;
}

Faults circles(const Tree& tree)
{
    Faults faults;
    const auto targets = byName(tree);
    CircleSearch search(targets);
    for (const auto& target : tree.targets)
        search.visit(target, faults);
    return faults;
}

} // namespace rankscope::arch
