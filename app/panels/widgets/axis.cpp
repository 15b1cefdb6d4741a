#include "app/panels/widgets/axis.h"

#include <algorithm>
#include <cmath>

namespace rankscope::app {
namespace {

double roundPitch(double range, int most)
{
    const double rough = range / std::max(1, most);
    const double power = std::pow(10.0, std::floor(std::log10(rough)));
    for (const double factor : { 1.0, 2.0, 5.0 }) {
        if (factor * power >= rough)
            return factor * power;
    }
    return 10.0 * power;
}

std::vector<double> ticks(double low, double high, double pitch)
{
    std::vector<double> values;
    for (double k = std::ceil(low / pitch - 1e-9); k * pitch <= high + pitch * 1e-9; ++k)
        values.push_back(k * pitch);
    return values;
}

} // namespace

std::vector<double> roundTicks(double low, double high, int most)
{
    return high > low ? ticks(low, high, roundPitch(high - low, most)) : std::vector<double>{ low };
}

std::vector<double> wholeTicks(double low, double high, int most)
{
    return high > low ? ticks(low, high, std::max(1.0, roundPitch(high - low, most))) : std::vector<double>{ low };
}

} // namespace rankscope::app
