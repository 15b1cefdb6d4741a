#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rankscope::tracing {

/// Tells a rank's own words on standard error from Open MPI's banners, which stand between lines of dashes and repeat
/// in twenty lines that a process has failed.
class MpiNoiseFilter {
public:
    /// The line, if it is worth showing at once.
    std::optional<std::string> take(std::string_view line);

    /// What Open MPI said in banners: worth showing where no rank said anything.
    const std::vector<std::string>& banners() const { return banners_; }
    bool heardARank() const { return heardARank_; }

private:
    bool insideBanner_ = false;
    bool heardARank_ = false;
    std::vector<std::string> banners_;
};

} // namespace rankscope::tracing
