#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace rankscope::tracing {

/// Takes a CSV apart (RFC 4180: cells in double quotes may hold commas, doubled quotes and line breaks) as its bytes
/// come.
class CsvRows {
public:
    static constexpr std::size_t kLongestRow = 1u << 20;

    /// Calls row(cells) for each whole row; cells hold until the next one. False: a row is longer than kLongestRow.
    template <typename Row> bool add(std::string_view bytes, Row row)
    {
        for (const char letter : bytes) {
            if (!take(letter))
                continue;
            row(cells());
            startRow();
        }
        return text_.size() <= kLongestRow;
    }
    /// The last row, if it has no line break.
    template <typename Row> void finish(Row row)
    {
        if (text_.empty() && ends_.empty())
            return;
        ends_.push_back(text_.size());
        row(cells());
        startRow();
    }

private:
    /// True: the row ended.
    bool take(char letter)
    {
        if (isQuoted_) {
            isQuoted_ = letter != '"';
            wasQuote_ = letter == '"';
            if (isQuoted_)
                text_ += letter;
            return false;
        }
        const bool isDoubled = std::exchange(wasQuote_, false) && letter == '"';
        if (letter == '"') {
            isQuoted_ = true;
            if (isDoubled)
                text_ += letter;
        } else if (letter == ',' || letter == '\n') {
            ends_.push_back(text_.size());
        } else if (letter != '\r') {
            text_ += letter;
        }
        return letter == '\n';
    }

    const std::vector<std::string_view>& cells()
    {
        cells_.clear();
        std::size_t begin = 0;
        for (const std::size_t end : ends_) {
            cells_.push_back(std::string_view(text_).substr(begin, end - begin));
            begin = end;
        }
        return cells_;
    }

    void startRow()
    {
        text_.clear();
        ends_.clear();
    }

    std::string text_; ///< cells of the row, one behind another
    std::vector<std::size_t> ends_;
    std::vector<std::string_view> cells_;
    bool isQuoted_ = false;
    bool wasQuote_ = false; ///< the quote that ended a quoted cell, or the first of two inside it
};

} // namespace rankscope::tracing
