#include "tracing/cli/launch/mpi_noise.h"

#include <algorithm>

namespace rankscope::tracing {

namespace {

bool isRuler(std::string_view line)
{
    constexpr std::size_t kShortest = 40;
    return line.size() >= kShortest && std::all_of(line.begin(), line.end(), [](char c) { return c == '-'; });
}

/// Lines of its own that Open MPI writes outside of banners: "[host:123] 1 more process has sent help message ...".
bool isMpiNote(std::string_view line)
{
    return line.starts_with("[")
        && (line.find("more process") != std::string_view::npos
            || line.find("orte_base_help_aggregate") != std::string_view::npos);
}

} // namespace

std::optional<std::string> MpiNoiseFilter::take(std::string_view line)
{
    if (isRuler(line)) {
        insideBanner_ = !insideBanner_;
        return std::nullopt;
    }
    if (insideBanner_ || isMpiNote(line)) {
        if (!line.empty())
            banners_.emplace_back(line);
        return std::nullopt;
    }
    heardARank_ = heardARank_ || !line.empty();
    return std::string(line);
}

} // namespace rankscope::tracing
