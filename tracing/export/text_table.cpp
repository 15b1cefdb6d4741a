#include "tracing/export/text_table.h"

#include "tracing/model/check.h"

#include <algorithm>
#include <utility>

namespace rankscope::tracing {

namespace {

bool beginsCodePoint(char byte) { return (static_cast<unsigned char>(byte) & 0xC0U) != 0x80U; }

void appendPadded(std::string& line, const std::string& cell, std::size_t width, TextTable::Align align)
{
    const std::string padding(width - std::min(width, textWidth(cell)), ' ');
    line += align == TextTable::Align::Right ? padding + cell : cell + padding;
}

} // namespace

std::size_t textWidth(std::string_view utf8)
{
    return static_cast<std::size_t>(std::count_if(utf8.begin(), utf8.end(), beginsCodePoint));
}

std::string cutToWidth(std::string_view utf8, std::size_t columns)
{
    if (textWidth(utf8) <= columns)
        return std::string(utf8);
    if (columns == 0)
        return {};
    std::size_t end = 0;
    for (std::size_t seen = 0; end < utf8.size(); ++end) {
        if (beginsCodePoint(utf8[end]) && seen++ == columns - 1)
            break;
    }
    return std::string(utf8.substr(0, end)) + "…";
}

std::vector<std::string> wrapped(std::string_view utf8, std::size_t columns)
{
    std::vector<std::string> lines;
    std::string line;
    while (!utf8.empty()) {
        const std::size_t space = std::min(utf8.find(' '), utf8.size());
        const std::string_view word = utf8.substr(0, space);
        if (!line.empty() && textWidth(line) + 1 + textWidth(word) > columns)
            lines.push_back(std::exchange(line, {}));
        if (!line.empty())
            line += ' ';
        line += word;
        utf8.remove_prefix(std::min(space + 1, utf8.size()));
    }
    if (!line.empty())
        lines.push_back(line);
    return lines;
}

TextTable::TextTable(std::vector<Column> columns)
    : columns_(std::move(columns))
{
}

void TextTable::add(std::vector<std::string> cells)
{
    RS_CHECK(cells.size() == columns_.size(), "a row has a cell for each column");
    rows_.push_back(std::move(cells));
}

std::string TextTable::text(std::size_t widest) const
{
    TextTable copy = *this;
    return copy.take(widest);
}

std::string TextTable::take(std::size_t widest)
{
    std::vector<std::vector<std::string>> lines = std::exchange(rows_, {});
    if (widths_.empty()) {
        widths_.resize(columns_.size(), 0);
        std::vector<std::string> header;
        for (const Column& column : columns_)
            header.push_back(column.title);
        lines.insert(lines.begin(), std::move(header));
    }
    for (auto& cells : lines) {
        for (std::size_t i = 0; i < cells.size(); ++i) {
            cells[i] = cutToWidth(cells[i], widest);
            widths_[i] = std::max(widths_[i], textWidth(cells[i]));
        }
    }
    std::string text;
    for (const auto& cells : lines) {
        std::string line;
        for (std::size_t i = 0; i < cells.size(); ++i) {
            line += i ? "  " : "";
            appendPadded(line, cells[i], widths_[i], columns_[i].align);
        }
        line.erase(line.find_last_not_of(' ') + 1);
        text += line + '\n';
    }
    return text;
}

} // namespace rankscope::tracing
