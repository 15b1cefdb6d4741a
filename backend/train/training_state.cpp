#include "backend/train/training_state.h"

namespace rankscope::backend {

namespace {

/// A tensor that is held in part lies in the whole as one stretch for each place of the outer axes.
void append(std::vector<StateSlice>& slices, const std::string& name, const TensorCut& cut, std::span<float> data)
{
    if (cut.isWhole()) {
        slices.push_back({ name, 0, data });
        return;
    }
    const std::size_t stretch = cut.length * cut.inner;
    for (std::size_t outer = 0; outer < cut.outer; ++outer)
        slices.push_back({ name, (outer * cut.axis + cut.begin) * cut.inner, data.subspan(outer * stretch, stretch) });
}

void append(std::vector<StateSlice>& slices, const std::vector<StateSlice>& more)
{
    slices.insert(slices.end(), more.begin(), more.end());
}

} // namespace

Checkpointer::State trainingState(std::span<const Parameter> parameters, std::span<float> moment1,
    std::span<float> moment2, const MeshPlace& place, const MeshSizes& sizes)
{
    std::vector<StateSlice> whole, cut;
    for (const Parameter& parameter : parameters) {
        std::vector<StateSlice>& slices = parameter.cut.isWhole() ? whole : cut;
        const std::size_t floats = parameter.value.size();
        append(slices, "value/" + parameter.name, parameter.cut, parameter.value);
        append(slices, "moment1/" + parameter.name, parameter.cut, moment1.subspan(parameter.offset, floats));
        append(slices, "moment2/" + parameter.name, parameter.cut, moment2.subspan(parameter.offset, floats));
    }
    const auto dp = static_cast<std::size_t>(sizes.dp), tp = static_cast<std::size_t>(sizes.tp);
    const auto replica = static_cast<std::size_t>(place.dp);
    Checkpointer::State state{ .held = whole,
        .written = shareOf(whole, replica * tp + static_cast<std::size_t>(place.tp), dp * tp) };
    append(state.held, cut);
    append(state.written, shareOf(cut, replica, dp));
    return state;
}

} // namespace rankscope::backend
