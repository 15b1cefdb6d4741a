#pragma once

#include "tracing/model/kinds.h"
#include "tracing/model/result.h"

#include <string>
#include <vector>

namespace rankscope::backend {

/// How many ranks stand along each axis. World size = dp * tp * pp; ep divides dp (experts are spread over replicas).
struct MeshSizes {
    int dp = 1, tp = 1, pp = 1, ep = 1;

    int worldSize() const { return dp * tp * pp; }
    bool operator==(const MeshSizes&) const = default;
};

/// A rank's place: which replica, which slice of its tensors, which stage, which experts.
struct MeshPlace {
    int dp = 0, tp = 0, pp = 0, ep = 0;

    bool operator==(const MeshPlace&) const = default;
};

/// Ranks that act together. `members` are world ranks in group order; `index` is this rank's place among them.
struct Group {
    std::string name; ///< the same on all members, unique in the run: "dp of stage 1"
    tracing::Dimension dimension = tracing::Dimension::None;
    std::vector<int> members{};
    int index = 0;
    int family = 0; ///< tells groups of one dimension that share ranks apart
};

/// World ranks laid out with tp fastest, then dp, then pp: rank = (pp * DP + dp) * TP + tp. Neighbours on the fastest
/// axis talk most and so share a node; stages talk least and may be far apart.
class Mesh {
public:
    /// An error names the size that is impossible.
    static tracing::Result<Mesh> create(const MeshSizes& sizes);

    const MeshSizes& sizes() const { return sizes_; }
    MeshPlace placeOf(int rank) const;
    int rankOf(const MeshPlace& place) const; ///< place.ep follows from dp and is ignored

    Group dataGroup(int rank) const; ///< same stage, one rank a replica
    Group pipelineGroup(int rank) const; ///< one replica, one rank a stage, in stage order
    Group tensorGroup(int rank) const; ///< same stage and replica, one rank a part of the tensors
    Group expertGroup(int rank) const; ///< neighbouring replicas that divide the experts, by ep
    Group expertDataGroup(int rank) const; ///< of the data group, those that have the same experts
    Group clipGroup(int rank) const; ///< the ranks whose gradients make up the norm, of one replica or of ep together
    Group worldGroup(int rank) const;

private:
    explicit Mesh(const MeshSizes& sizes)
        : sizes_(sizes)
    {
    }

    MeshSizes sizes_;
};

} // namespace rankscope::backend
