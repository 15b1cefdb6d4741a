#include "backend/train/training_state.h"

#include <algorithm>

namespace rankscope::backend {

namespace {

/// Slices of tensors that all tensor-parallel ranks hold whole, and of those that each holds a part of.
struct Slices {
    std::vector<StateSlice> whole, cut;
};

/// Floats [begin, begin + data.size()) of what this rank holds of a tensor. A part lies in the whole as one stretch for
/// each place of the outer axes.
void append(Slices& slices, const std::string& name, const TensorCut& cut, std::size_t begin, std::span<float> data)
{
    if (cut.isWhole()) {
        slices.whole.push_back({ name, begin, data });
        return;
    }
    const std::size_t stretch = cut.length * cut.inner;
    while (!data.empty()) {
        const std::size_t outer = begin / stretch, within = begin % stretch;
        const std::span<float> piece = data.first(std::min(stretch - within, data.size()));
        slices.cut.push_back({ name, (outer * cut.axis + cut.begin) * cut.inner + within, piece });
        data = data.subspan(piece.size());
        begin += piece.size();
    }
}

void append(Slices& slices, const Parameter& parameter, Optimizer& optimizer)
{
    const std::size_t end = parameter.offset + parameter.value.size();
    std::size_t moments = 0; // where the shard's begin
    for (const Segment& shard : optimizer.shards()) {
        const std::size_t first = std::max(shard.begin, parameter.offset);
        const std::size_t last = std::min(shard.begin + shard.count, end);
        if (first < last) {
            const std::size_t at = moments + first - shard.begin, count = last - first;
            append(slices, "moment1/" + parameter.name, parameter.cut, first - parameter.offset,
                optimizer.moment1().subspan(at, count));
            append(slices, "moment2/" + parameter.name, parameter.cut, first - parameter.offset,
                optimizer.moment2().subspan(at, count));
        }
        moments += shard.count;
    }
}

void append(std::vector<StateSlice>& slices, const std::vector<StateSlice>& more)
{
    slices.insert(slices.end(), more.begin(), more.end());
}

} // namespace

Checkpointer::State trainingState(
    std::span<const Parameter> parameters, Optimizer& optimizer, const MeshPlace& place, const MeshSizes& sizes)
{
    struct Kind {
        Slices values{}, moments{};
        std::size_t replica, replicas; ///< that hold the same
    };
    const auto dp = static_cast<std::size_t>(sizes.dp), ep = static_cast<std::size_t>(sizes.ep);
    const auto tp = static_cast<std::size_t>(sizes.tp), part = static_cast<std::size_t>(place.tp);
    const auto replica = static_cast<std::size_t>(place.dp);
    Kind shared{ .replica = replica, .replicas = dp }, experts{ .replica = replica / ep, .replicas = dp / ep };
    std::size_t floats = 0;
    for (const Parameter& parameter : parameters) {
        Kind& kind = parameter.isExpert ? experts : shared;
        append(kind.values, "value/" + parameter.name, parameter.cut, 0, parameter.value);
        append(kind.moments, parameter, optimizer);
        floats += parameter.value.size();
    }
    Checkpointer::State state;
    const auto add = [&](const Slices& slices, std::size_t holder, std::size_t holders) {
        append(state.held, slices.whole);
        append(state.held, slices.cut);
        append(state.written, shareOf(slices.whole, holder * tp + part, holders * tp));
        append(state.written, shareOf(slices.cut, holder, holders));
    };
    // Shards of the moments differ from replica to replica; whole ones are the same on each.
    const bool isSharded = optimizer.moment1().size() < floats;
    for (const Kind* kind : { &shared, &experts }) {
        add(kind->values, kind->replica, kind->replicas);
        add(kind->moments, isSharded ? 0 : kind->replica, isSharded ? 1 : kind->replicas);
    }
    return state;
}

} // namespace rankscope::backend
