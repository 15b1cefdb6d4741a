#include "backend/fault/fault.h"

#include <fmt/format.h>

#include <array>

namespace rankscope::backend {

namespace {

constexpr std::array<std::string_view, 12> kKinds{ "slow_rank", "jitter", "imbalanced_stage", "hot_expert",
    "stalled_data", "host_pause", "slow_link", "lost_rank", "hung_rank", "corrupt_shard", "nan_gradient", "full_disk" };
constexpr std::array<std::string_view, 3> kMoments{ "forward", "all_reduce", "checkpoint" };

} // namespace

std::span<const std::string_view> faultKinds() { return kKinds; }
std::span<const std::string_view> faultMoments() { return kMoments; }

bool needsMs(const Fault& fault)
{
    return fault.kind == "stalled_data" || fault.kind == "host_pause" || fault.kind == "jitter";
}

std::string settingsOf(const Fault& fault)
{
    std::string text = fmt::format("until={}", fault.until);
    if (fault.kind == "slow_rank" || fault.kind == "imbalanced_stage" || fault.kind == "hot_expert")
        text += fmt::format(" factor={}", fault.factor);
    if (needsMs(fault) || fault.ms > 0)
        text += fmt::format(" ms={}", fault.ms);
    if (fault.kind == "host_pause")
        text += fmt::format(" every_ms={}", fault.everyMs);
    if (fault.kind == "slow_link")
        text += fmt::format(" to={} gbit_s={} delay_us={}", fault.to, fault.gbitPerSecond, fault.delayUs);
    if (fault.kind == "lost_rank" || fault.kind == "hung_rank")
        text += fmt::format(" moment={}", fault.moment);
    return text;
}

} // namespace rankscope::backend
