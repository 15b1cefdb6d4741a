#include "backend/comm/mesh.h"

namespace rankscope::backend {

using tracing::Dimension;
using tracing::Error;
using tracing::Result;

Result<Mesh> Mesh::create(const MeshSizes& sizes)
{
    const auto refuse = [](const char* key, int value, const std::string& allowed) {
        return Error(std::string("parallel.") + key + " = " + std::to_string(value) + ": " + allowed);
    };
    if (sizes.dp < 1)
        return refuse("dp", sizes.dp, "must be at least 1");
    if (sizes.tp < 1)
        return refuse("tp", sizes.tp, "must be at least 1");
    if (sizes.pp < 1)
        return refuse("pp", sizes.pp, "must be at least 1");
    if (sizes.ep < 1 || sizes.dp % sizes.ep != 0) {
        std::string divisors;
        for (int divisor = 1; divisor <= sizes.dp; ++divisor) {
            if (sizes.dp % divisor == 0)
                divisors += (divisor == 1 ? "" : ", ") + std::to_string(divisor);
        }
        return refuse(
            "ep", sizes.ep, "must divide parallel.dp = " + std::to_string(sizes.dp) + "; allowed is " + divisors);
    }
    return Mesh(sizes);
}

MeshPlace Mesh::placeOf(int rank) const
{
    RS_CHECK(rank >= 0 && rank < sizes_.worldSize(), "a rank lies in the mesh");
    const int dp = rank / sizes_.tp % sizes_.dp;
    return { .dp = dp, .tp = rank % sizes_.tp, .pp = rank / (sizes_.tp * sizes_.dp), .ep = dp % sizes_.ep };
}

int Mesh::rankOf(const MeshPlace& place) const { return (place.pp * sizes_.dp + place.dp) * sizes_.tp + place.tp; }

Group Mesh::dataGroup(int rank) const
{
    MeshPlace place = placeOf(rank);
    Group group{ .name = "dp of stage " + std::to_string(place.pp), .dimension = Dimension::Data, .index = place.dp };
    if (sizes_.tp > 1)
        group.name += ", tp " + std::to_string(place.tp);
    for (place.dp = 0; place.dp < sizes_.dp; ++place.dp)
        group.members.push_back(rankOf(place));
    return group;
}

Group Mesh::pipelineGroup(int rank) const
{
    MeshPlace place = placeOf(rank);
    Group group{
        .name = "pp of replica " + std::to_string(place.dp), .dimension = Dimension::Pipeline, .index = place.pp
    };
    if (sizes_.tp > 1)
        group.name += ", tp " + std::to_string(place.tp);
    for (place.pp = 0; place.pp < sizes_.pp; ++place.pp)
        group.members.push_back(rankOf(place));
    return group;
}

Group Mesh::tensorGroup(int rank) const
{
    MeshPlace place = placeOf(rank);
    Group group{ .name = "tp of stage " + std::to_string(place.pp) + ", replica " + std::to_string(place.dp),
        .dimension = Dimension::Tensor,
        .index = place.tp };
    for (place.tp = 0; place.tp < sizes_.tp; ++place.tp)
        group.members.push_back(rankOf(place));
    return group;
}

Group Mesh::expertGroup(int rank) const
{
    MeshPlace place = placeOf(rank);
    const int first = place.dp - place.ep;
    Group group{ .name = "ep of stage " + std::to_string(place.pp) + ", replicas " + std::to_string(first) + " to "
            + std::to_string(first + sizes_.ep - 1),
        .dimension = Dimension::Expert,
        .index = place.ep };
    if (sizes_.tp > 1)
        group.name += ", tp " + std::to_string(place.tp);
    for (place.dp = first; place.dp < first + sizes_.ep; ++place.dp)
        group.members.push_back(rankOf(place));
    return group;
}

Group Mesh::expertDataGroup(int rank) const
{
    Group group = dataGroup(rank);
    if (sizes_.ep == 1)
        return group;
    const MeshPlace mine = placeOf(rank);
    group.name += ", experts " + std::to_string(mine.ep);
    group.family = 1;
    std::erase_if(group.members, [&](int member) { return placeOf(member).ep != mine.ep; });
    group.index = mine.dp / sizes_.ep;
    return group;
}

Group Mesh::clipGroup(int rank) const
{
    const MeshPlace mine = placeOf(rank);
    const int first = mine.dp - mine.ep;
    Group group{ .name = "clip of replica " + std::to_string(mine.dp), .dimension = Dimension::Clip };
    if (sizes_.ep > 1)
        group.name = "clip of replicas " + std::to_string(first) + " to " + std::to_string(first + sizes_.ep - 1);
    for (int pp = 0; pp < sizes_.pp; ++pp) {
        for (int dp = first; dp < first + sizes_.ep; ++dp) {
            for (int tp = 0; tp < sizes_.tp; ++tp) {
                const int member = rankOf({ .dp = dp, .tp = tp, .pp = pp });
                if (member == rank)
                    group.index = static_cast<int>(group.members.size());
                group.members.push_back(member);
            }
        }
    }
    return group;
}

Group Mesh::worldGroup(int rank) const
{
    Group group{ .name = "world", .dimension = Dimension::World, .index = rank };
    for (int member = 0; member < sizes_.worldSize(); ++member)
        group.members.push_back(member);
    return group;
}

} // namespace rankscope::backend
