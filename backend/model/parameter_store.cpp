#include "backend/model/parameter_store.h"

#include "tracing/model/check.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace rankscope::backend {

namespace {

// FNV-1a, so that equal names draw equal weights in every build.
std::uint64_t hashName(std::string_view name)
{
    std::uint64_t hash = 14695981039346656037U;
    for (const char letter : name)
        hash = (hash ^ static_cast<unsigned char>(letter)) * 1099511628211U;
    return hash;
}

// splitmix64 (Steele et al. 2014): any seed is good, also neighbouring ones.
class Random {
public:
    explicit Random(std::uint64_t seed)
        : state_(seed)
    {
    }
    /// In (0, 1].
    double uniform() { return (static_cast<double>(next() >> 11U) + 1) / 9007199254740992.0; }

private:
    std::uint64_t next()
    {
        state_ += 0x9e3779b97f4a7c15U;
        std::uint64_t z = state_;
        z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
        z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
        return z ^ (z >> 31U);
    }
    std::uint64_t state_;
};

// Box and Muller 1958, two at a time.
void drawNormal(std::span<float> values, float deviation, std::uint64_t seed)
{
    Random random(seed);
    for (std::size_t i = 0; i < values.size(); i += 2) {
        const double radius = static_cast<double>(deviation) * std::sqrt(-2 * std::log(random.uniform()));
        const double angle = 2 * std::numbers::pi * random.uniform();
        values[i] = static_cast<float>(radius * std::cos(angle));
        if (i + 1 < values.size())
            values[i + 1] = static_cast<float>(radius * std::sin(angle));
    }
}

void takePart(std::span<float> part, std::span<const float> whole, const TensorCut& cut)
{
    for (std::size_t outer = 0; outer < cut.outer; ++outer) {
        const auto from = whole.subspan((outer * cut.axis + cut.begin) * cut.inner, cut.length * cut.inner);
        std::ranges::copy(from, part.begin() + static_cast<std::ptrdiff_t>(outer * from.size()));
    }
}

} // namespace

ParameterStore::ParameterStore(std::size_t count, std::size_t expertCount, std::uint64_t seed)
    : values_(count + expertCount)
    , gradients_(count + expertCount)
    , expertsBegin_(count)
    , seed_(seed)
{
}

Weights ParameterStore::add(std::string name, const Tensor& tensor)
{
    const TensorCut& cut = tensor.cut;
    const std::size_t count = cut.count();
    std::size_t& used = tensor.isExpert ? expertsUsed_ : used_;
    RS_CHECK(used + count <= (tensor.isExpert ? values_.size() : expertsBegin_),
        "parameterCount() and the layers must agree");
    const std::span<float> value = values_.span().subspan(used, count);
    const std::span<float> gradient = gradients_.span().subspan(used, count);
    if (tensor.init == Init::One) {
        std::ranges::fill(value, 1.0F);
    } else if (tensor.init == Init::Normal) {
        std::vector<float> all(cut.wholeCount());
        drawNormal(all, tensor.deviation, seed_ * 0x9e3779b97f4a7c15U ^ hashName(name));
        takePart(value, all, cut);
    }
    parameters_.push_back({ .name = std::move(name),
        .value = value,
        .gradient = gradient,
        .offset = used,
        .weightDecay = tensor.decays,
        .cut = cut,
        .isExpert = tensor.isExpert,
        .isTensorSummand = tensor.isTensorSummand });
    used += count;
    return { value.data(), gradient.data() };
}

} // namespace rankscope::backend
