#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace rankscope::backend {

/// Waste on purpose: something that goes wrong for real, on one rank or stage, from a step on.
struct Fault {
    std::string kind; ///< one of faultKinds()
    int rank = 0;
    int to = 0; ///< slow_link: the rank that receives
    int step = 1; ///< the first one concerned
    int until = 0; ///< the last one; 0: to the end. A fault of a moment happens once, at `step`
    int attempt = 0; ///< of the run, counted from 0: a restart does not run into the same fault again
    double factor = 2; ///< slow_rank, imbalanced_stage: how much longer computing takes; hot_expert: times its share
    double ms = 0; ///< how long, or, for a rank that is lost or hangs, how long after the step's begin
    double everyMs = 100; ///< host_pause: from one pause to the next
    double gbitPerSecond = 0; ///< slow_link; 0: no limit
    double delayUs = 0; ///< slow_link
    std::string moment = "forward"; ///< lost_rank, hung_rank: one of faultMoments()

    bool isAt(std::int64_t now) const { return now >= step && (until == 0 || now <= until); }
};

std::span<const std::string_view> faultKinds();
std::span<const std::string_view> faultMoments();
/// Kinds that make no sense without a time.
bool needsMs(const Fault& fault);
/// "factor=2 until=20": the settings that its kind looks at.
std::string settingsOf(const Fault& fault);

} // namespace rankscope::backend
