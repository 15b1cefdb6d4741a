#include "backend/comm/mesh.h"

#include <gtest/gtest.h>

namespace rankscope::backend {

TEST(Mesh, PartsOfATensorAreNeighbours)
{
    // rank = (pp * 2 + dp) * 2 + tp: replica 1 of stage 0 are ranks 2 and 3.
    const auto mesh = Mesh::create({ .dp = 2, .tp = 2, .pp = 2, .ep = 1 });
    const Group group = mesh->tensorGroup(3);
    EXPECT_EQ(group.name, "tp of stage 0, replica 1");
    EXPECT_EQ(group.members, (std::vector{ 2, 3 }));
    EXPECT_EQ(group.index, 1);
}

TEST(Mesh, NeighbouringReplicasDivideTheExpertsAndEverySecondHasTheSame)
{
    // rank = (pp * 4 + dp) * 2 + tp; rank 5 is replica 2, tensor part 1: it has the first half of the experts.
    const auto mesh = Mesh::create({ .dp = 4, .tp = 2, .ep = 2 });
    const Group experts = mesh->expertGroup(5);
    EXPECT_EQ(experts.name, "ep of stage 0, replicas 2 to 3, tp 1");
    EXPECT_EQ(experts.members, (std::vector{ 5, 7 }));
    EXPECT_EQ(experts.index, 0);
    const Group same = mesh->expertDataGroup(5);
    EXPECT_EQ(same.name, "dp of stage 0, tp 1, experts 0");
    EXPECT_EQ(same.members, (std::vector{ 1, 5 }));
    EXPECT_EQ(same.index, 1);
    const Group clip = mesh->clipGroup(5);
    EXPECT_EQ(clip.name, "clip of replicas 2 to 3");
    EXPECT_EQ(clip.members, (std::vector{ 4, 5, 6, 7 }));
    EXPECT_EQ(clip.index, 1);
}

TEST(Mesh, LaysTensorSlicesNextToEachOtherThenReplicasThenStages)
{
    // dp 2 x tp 2 x pp 2: rank 5 = (pp 1 * 2 + dp 0) * 2 + tp 1.
    const auto mesh = Mesh::create({ .dp = 2, .tp = 2, .pp = 2, .ep = 1 });
    ASSERT_TRUE(mesh);
    EXPECT_EQ(mesh->placeOf(5), (MeshPlace{ .dp = 0, .tp = 1, .pp = 1, .ep = 0 }));
    EXPECT_EQ(mesh->rankOf({ .dp = 0, .tp = 1, .pp = 1, .ep = 0 }), 5);
}

TEST(Mesh, PlaceAndRankAreEachOthersInverse)
{
    const auto mesh = Mesh::create({ .dp = 4, .tp = 3, .pp = 2, .ep = 2 });
    ASSERT_TRUE(mesh);
    for (int rank = 0; rank < 24; ++rank) {
        const MeshPlace place = mesh->placeOf(rank);
        EXPECT_EQ(mesh->rankOf(place), rank);
        EXPECT_EQ(place.ep, place.dp % 2);
    }
}

TEST(Mesh, GroupsJoinRanksAlongOneAxis)
{
    const auto mesh = Mesh::create({ .dp = 2, .tp = 1, .pp = 3, .ep = 1 });
    ASSERT_TRUE(mesh);
    // Rank 3 is stage 1, replica 1.
    const Group data = mesh->dataGroup(3);
    EXPECT_EQ(data.members, (std::vector{ 2, 3 }));
    EXPECT_EQ(data.index, 1);
    EXPECT_EQ(data.name, "dp of stage 1");
    const Group pipeline = mesh->pipelineGroup(3);
    EXPECT_EQ(pipeline.members, (std::vector{ 1, 3, 5 }));
    EXPECT_EQ(pipeline.index, 1);
    EXPECT_EQ(mesh->clipGroup(3).members, (std::vector{ 1, 3, 5 }));
    EXPECT_EQ(mesh->worldGroup(3).members.size(), 6u);
}

TEST(Mesh, RefusesSizesThatCannotBe)
{
    EXPECT_EQ(Mesh::create({ .dp = 0 }).error().message(), "parallel.dp = 0: must be at least 1");
    EXPECT_EQ(Mesh::create({ .dp = 4, .ep = 3 }).error().message(),
        "parallel.ep = 3: must divide parallel.dp = 4; allowed is 1, 2, 4");
}

} // namespace rankscope::backend
