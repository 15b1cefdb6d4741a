#pragma once

namespace rankscope::app::timeline {

/// Measures of the timeline in logical pixels (LOOK, section 6).
inline constexpr float kTitleWidth = 168;
inline constexpr float kTitlePadding = 8;
inline constexpr float kTitleIndent = 10;
inline constexpr float kMinimapHeight = 36;
inline constexpr float kRulerHeight = 24;
inline constexpr float kBandHeight = 20;
inline constexpr float kRankTitleHeight = 24; ///< also holds the late marks
inline constexpr float kLedgerHeight = 22;
inline constexpr float kFoldedPitch = 28;
inline constexpr float kComputeHeight = 20;
inline constexpr float kCommunicationHeight = 20;
inline constexpr float kCopyHeight = 10;
inline constexpr float kHostRowHeight = 16;
inline constexpr float kCounterHeight = 36;
inline constexpr float kSubRowHeight = 10; ///< spans of a lane that overlap
inline constexpr float kLaneGap = 4;
inline constexpr float kRankGap = 6;
inline constexpr float kRightMargin = 10; ///< room for the scroll bar
inline constexpr float kLabelFromPx = 40;
inline constexpr float kLabelInset = 4;
inline constexpr float kFoldLeast = 4; ///< height of an almost empty fold
inline constexpr float kPatternFromPx = 6; ///< below that a hatched leaf is a plain fill

} // namespace rankscope::app::timeline
