#include "app/timeline/draw/imgui_frame.h"

namespace rankscope::app::timeline {

ImguiFrame::ImguiFrame(std::unique_ptr<FontAtlas> fonts)
    : fonts_(std::move(fonts))
    , context_(ImGui::CreateContext(&fonts_->atlas()))
{
    ImGui::SetCurrentContext(context_);
    ImGuiIO& io = ImGui::GetIO();
    io.IniFilename = nullptr; // the app keeps its own settings
    io.LogFilename = nullptr;
    io.BackendFlags |= ImGuiBackendFlags_RendererHasVtxOffset; // more than 65,536 vertices with 16-bit indices
}

ImguiFrame::~ImguiFrame() { ImGui::DestroyContext(context_); }

ImDrawList& ImguiFrame::begin(float width, float height, float pixelRatio)
{
    ImGui::SetCurrentContext(context_);
    ImGuiIO& io = ImGui::GetIO();
    io.DisplaySize = ImVec2(width, height);
    io.DisplayFramebufferScale = ImVec2(pixelRatio, pixelRatio);
    io.DeltaTime = 1.0F / 60; // nothing here depends on it, but ImGui wants it positive
    ImGui::NewFrame();
    return *ImGui::GetBackgroundDrawList();
}

const ImDrawData& ImguiFrame::end()
{
    ImGui::Render();
    return *ImGui::GetDrawData();
}

} // namespace rankscope::app::timeline
