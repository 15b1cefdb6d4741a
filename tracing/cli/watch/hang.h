#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace rankscope::tracing {

/// Why an attempt of a run ended before its time.
struct AttemptEnd {
    std::string reason; ///< "rank 1 died (signal 9)"
    std::vector<int> ranks; ///< that failed; empty: unknown
};

/// Which ranks keep the others waiting, by the recording: those that are stopped, else those that are in no exchange
/// while others are.
AttemptEnd endByHang(const std::filesystem::path& sessionDir, double seconds);

/// Which ranks did not join an exchange that others are in, by the numbers that each communicator counts:
/// "rank 1 did not join all-reduce 118 of dp". Where nobody is missing, what they are in or wait for: "all ranks are in
/// all-reduce 118 of dp", "rank 0 waits for a message of rank 1". Empty where no rank is in an exchange.
std::string whoDidNotJoin(const std::filesystem::path& sessionDir);

/// Kills the ranks of this node that record into the session: one that hangs would not heed a milder signal, and a
/// stopped one would go on where it was.
void killRanks(const std::filesystem::path& sessionDir);

} // namespace rankscope::tracing
