#pragma once

#include <imgui/imgui.h>

#include <cstdint>
#include <vector>

namespace rankscope::app::timeline {

/// What an ImTextureID of ours points to: coverage, tinted by the vertex colour. A presenter may keep a copy of its
/// own.
struct Texture {
    int width = 0;
    int height = 0;
    bool repeats = false; ///< texture coordinates wrap around: patterns
    std::vector<std::uint8_t> coverage; ///< width * height, rows from the top
};

inline ImTextureID textureId(const Texture& texture) { return const_cast<Texture*>(&texture); }
inline const Texture* textureOf(ImTextureID id) { return static_cast<const Texture*>(id); }

} // namespace rankscope::app::timeline
