#pragma once

#include <functional>
#include <string>

namespace rankscope::tracing {

/// Runs work in a forked child, in a mount namespace of its own where `mounts`, and gives back what it returned; "skip:
/// ..." where this machine does not let a test mount.
std::string inChild(const std::function<std::string()>& work, bool mounts);

/// Runs work, which calls its argument when it is ready to be killed and must not return then, and kills it.
void killedWhenReady(const std::function<void(const std::function<void()>& ready)>& work);

/// For a child of inChild(): a file system of its own of so many bytes, or the same folder without the right to write.
/// "" or the system's reason.
std::string mountSmall(const std::string& folder, const std::string& size);
std::string mountReadOnly(const std::string& folder);

} // namespace rankscope::tracing
