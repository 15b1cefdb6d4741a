#pragma once

#include <string>
#include <string_view>

namespace rankscope::tracing {

/// "rankscope: message" on standard error, one line.
void sayError(std::string_view message);
/// A line of news on standard error: not part of the result.
void sayNote(std::string_view message);
/// Writes the result; false where it cannot be written, also on every later call.
bool writeOut(std::string_view text);
/// Says it where a result could not be written: a full disk must not look like an empty answer.
bool sayWhetherOutputFailed();

/// One line of a terminal that is written again and again.
class StatusLine {
public:
    explicit StatusLine(int descriptor);

    bool isTerminal() const { return isTerminal_; }
    void show(std::string_view text); ///< nothing where there is no terminal
    void clear();

private:
    int descriptor_;
    bool isTerminal_;
    bool isShown_ = false;
};

} // namespace rankscope::tracing
