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
    Slices values, moments;
    for (const Parameter& parameter : parameters) {
        append(values, "value/" + parameter.name, parameter.cut, 0, parameter.value);
        append(moments, parameter, optimizer);
    }
    const auto dp = static_cast<std::size_t>(sizes.dp), tp = static_cast<std::size_t>(sizes.tp);
    const auto replica = static_cast<std::size_t>(place.dp), part = static_cast<std::size_t>(place.tp);
    Checkpointer::State state;
    const auto add = [&](const Slices& slices, std::size_t holder, std::size_t holders) {
        append(state.held, slices.whole);
        append(state.held, slices.cut);
        append(state.written, shareOf(slices.whole, holder * tp + part, holders * tp));
        append(state.written, shareOf(slices.cut, holder, holders));
    };
    add(values, replica, dp);
    // Shards of the moments differ from replica to replica; whole ones are the same on each.
    const bool isSharded = optimizer.moment1().size() < floatsOf(values.whole) + floatsOf(values.cut);
    add(moments, isSharded ? 0 : replica, isSharded ? 1 : dp);
    return state;
}

} // namespace rankscope::backend
