#include "tracing/import/table/side_tables.h"

#include "tracing/import/json/decimal.h"
#include "tracing/import/table/csv_file.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>

namespace rankscope::tracing {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view kRunHeader = "key,value", kRanksHeader = "rank,node,device,stage,dp,tp,ep,clock_error_ns",
                           kCountersHeader = "rank,name,unit,time_ns,value";
constexpr std::int64_t kMostRanks = 1 << 16;

using Cells = std::vector<std::string_view>;

/// A table beside the spans, compressed or not; empty: there is none that begins like this.
std::string besides(const std::string& spansPath, const char* name, std::string_view header)
{
    const fs::path folder = fs::path(spansPath).parent_path();
    for (const char* suffix : { "", ".gz", ".zst" }) {
        const std::string path = (folder / (std::string(name) + suffix)).string();
        std::error_code error;
        const auto first = fs::is_regular_file(path, error) ? firstBytes(path, header.size()) : Error("none");
        if (first && *first == header)
            return path;
    }
    return {};
}

std::string_view cell(const Cells& cells, std::size_t column)
{
    return column < cells.size() ? cells[column] : std::string_view();
}

std::optional<double> decimalOf(std::string_view text)
{
    double value = 0;
    const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
    return code == std::errc() && end == text.data() + text.size() ? std::optional(value) : std::nullopt;
}

std::optional<std::int32_t> smallNumber(std::string_view text)
{
    const auto number = wholeNumber(text);
    return number && *number >= 0 && *number < kMostRanks ? std::optional(static_cast<std::int32_t>(*number))
                                                          : std::nullopt;
}

void addRank(const Cells& cells, std::map<std::int32_t, RankInfo>& ranks)
{
    const auto number = smallNumber(cell(cells, 0));
    if (!number)
        return;
    RankInfo& rank = ranks[*number];
    rank.node = cell(cells, 1);
    rank.device = cell(cells, 2);
    rank.stage = smallNumber(cell(cells, 3));
    rank.dp = smallNumber(cell(cells, 4));
    rank.tp = smallNumber(cell(cells, 5));
    rank.ep = smallNumber(cell(cells, 6));
    rank.clockErrorNs = std::max<std::int64_t>(0, wholeNumber(cell(cells, 7)).value_or(0));
    rank.peakFlops = decimalOf(cell(cells, 8));
}

} // namespace

bool isSideTableHeader(std::string_view firstBytes)
{
    const std::string_view line = firstBytes.substr(0, std::min(firstBytes.find_first_of("\r\n"), firstBytes.size()));
    return line == kRunHeader || line == kCountersHeader || line.starts_with(kRanksHeader);
}

Result<SideTables> readSideTables(const std::string& spansPath)
{
    SideTables tables;
    if (const std::string path = besides(spansPath, "run.csv", kRunHeader); !path.empty()) {
        const auto read
            = readCsvFile(path, [&](const Cells& cells) { tables.values.add(cell(cells, 0), cell(cells, 1)); });
        if (!read)
            return read.error();
    }
    if (const std::string path = besides(spansPath, "ranks.csv", kRanksHeader); !path.empty()) {
        const auto read = readCsvFile(path, [&](const Cells& cells) { addRank(cells, tables.ranks); });
        if (!read)
            return read.error();
    }
    return tables;
}

Result<std::int64_t> readSamples(const std::string& spansPath, const std::function<void(const SampleOfTable&)>& visitor)
{
    const std::string path = besides(spansPath, "counters.csv", kCountersHeader);
    if (path.empty())
        return std::int64_t{ 0 };
    std::int64_t rows = 0, understood = 0;
    const auto read = readCsvFile(path, [&](const Cells& cells) {
        if (rows++ == 0 || cells.size() <= 1)
            return void(++understood);
        const auto rank = smallNumber(cell(cells, 0));
        const auto timeNs = wholeNumber(cell(cells, 3));
        const auto value = decimalOf(cell(cells, 4));
        if (!rank || !timeNs || !value)
            return;
        ++understood;
        visitor({ *rank, cell(cells, 1), cell(cells, 2), *timeNs, *value });
    });
    if (!read)
        return read.error();
    return rows - understood;
}

} // namespace rankscope::tracing
