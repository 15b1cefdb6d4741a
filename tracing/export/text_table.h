#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace rankscope::tracing {

/// Columns that a text takes on a terminal: code points, not bytes.
std::size_t textWidth(std::string_view utf8);
/// Cut to that many columns, with "…" at its end where something is missing.
std::string cutToWidth(std::string_view utf8, std::size_t columns);
/// Broken at spaces into lines of at most that many columns.
std::vector<std::string> wrapped(std::string_view utf8, std::size_t columns);

/// Rows under a header, columns as wide as their widest cell, two spaces between them.
class TextTable {
public:
    enum class Align { Left, Right };
    struct Column {
        std::string title;
        Align align = Align::Right;
    };
    explicit TextTable(std::vector<Column> columns);

    void add(std::vector<std::string> cells); ///< as many as columns
    bool empty() const { return rows_.empty(); }
    /// Lines end in a newline; cells that do not fit in `widest` columns are cut.
    std::string text(std::size_t widest = 40) const;
    /// The same for what was added since the last call, without the header from the second call on; columns only grow.
    /// For tables that do not fit in memory.
    std::string take(std::size_t widest = 40);

private:
    std::vector<Column> columns_;
    std::vector<std::size_t> widths_; ///< of what was taken; empty: nothing yet
    std::vector<std::vector<std::string>> rows_;
};

} // namespace rankscope::tracing
