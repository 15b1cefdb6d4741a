#include "tracing/import/pipeline/pipeline_table.h"

#include "tracing/import/byte_source.h"

#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <unordered_map>
#include <utility>

namespace rankscope::tracing {

namespace {

constexpr std::size_t kBufferBytes = 1u << 18;
constexpr std::size_t kLongestLine = 1u << 16;
constexpr double kLongestSeconds = 9e8; ///< nanoseconds of more leave no room in 64 bits

enum Column : std::size_t { Dp, Stage, Rank, StepNumber, Type, Start, Duration, Sequence, MicroBatch, kColumns };
constexpr std::array<std::string_view, kColumns> kColumnNames{ "dp_rank", "stage", "rank", "step", "optype", "start_ts",
    "duration", "seq_id", "mb_id" };

PipelineOp operationOf(std::string_view name)
{
    static constexpr std::array<std::pair<std::string_view, PipelineOp>, 12> kOperations{ {
        { "forward-compute", PipelineOp::ForwardCompute },
        { "backward-compute", PipelineOp::BackwardCompute },
        { "optimizer", PipelineOp::Optimizer },
        { "forward-send", PipelineOp::ForwardSend },
        { "forward-recv", PipelineOp::ForwardReceive },
        { "backward-send", PipelineOp::BackwardSend },
        { "backward-recv", PipelineOp::BackwardReceive },
        { "params-all-gather", PipelineOp::ParamsAllGather },
        { "grads-reduce-scatter", PipelineOp::GradsReduceScatter },
        { "embedding-grads-all-reduce", PipelineOp::EmbeddingAllReduce },
        { "optimizer-clip-main-grad", PipelineOp::ClipAllReduce },
        { "layernorm-grads-all-reduce", PipelineOp::LayernormAllReduce },
    } };
    for (const auto& [word, op] : kOperations) {
        if (name == word)
            return op;
    }
    return PipelineOp::Other;
}

std::string_view trimmed(std::string_view text)
{
    while (!text.empty() && (text.back() == '\r' || text.back() == ' ' || text.back() == '"'))
        text.remove_suffix(1);
    while (!text.empty() && (text.front() == ' ' || text.front() == '"'))
        text.remove_prefix(1);
    return text;
}

/// The place of each of our columns in the header; none: not all are there.
std::optional<std::array<std::size_t, kColumns>> placesOf(std::string_view header)
{
    std::array<std::size_t, kColumns> places;
    places.fill(SIZE_MAX);
    for (std::size_t i = 0; i < 64 && !header.empty(); ++i) {
        const std::size_t comma = std::min(header.find(','), header.size());
        const std::string_view name = trimmed(header.substr(0, comma));
        for (std::size_t c = 0; c < kColumns; ++c) {
            if (name == kColumnNames[c])
                places[c] = i;
        }
        header.remove_prefix(std::min(comma + 1, header.size()));
    }
    for (const std::size_t place : places) {
        if (place == SIZE_MAX)
            return std::nullopt;
    }
    return places;
}

template <typename Number> std::optional<Number> numberOf(std::string_view text)
{
    Number value{};
    const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (code != std::errc() || end != text.data() + text.size())
        return std::nullopt;
    return value;
}

class TableReader {
public:
    Status addLine(std::string_view line)
    {
        if (!places_) {
            places_ = placesOf(line);
            return places_ ? Status(Done{})
                           : Status(Error("the first line does not name the columns of a pipeline timeline"));
        }
        if (trimmed(line).empty())
            return Done{};
        std::array<std::string_view, kColumns> cells;
        for (std::size_t i = 0; !line.empty(); ++i) {
            const std::size_t comma = std::min(line.find(','), line.size());
            for (std::size_t c = 0; c < kColumns; ++c) {
                if ((*places_)[c] == i)
                    cells[c] = trimmed(line.substr(0, comma));
            }
            line.remove_prefix(std::min(comma + 1, line.size()));
        }
        if (!addRow(cells))
            ++table.broken;
        return Done{};
    }

    PipelineTable table;

private:
    bool addRow(const std::array<std::string_view, kColumns>& cells)
    {
        PipelineRow row;
        const auto dp = numberOf<std::int32_t>(cells[Dp]), stage = numberOf<std::int32_t>(cells[Stage]),
                   rank = numberOf<std::int32_t>(cells[Rank]);
        const auto step = numberOf<std::int64_t>(cells[StepNumber]);
        const auto start = numberOf<double>(cells[Start]), duration = numberOf<double>(cells[Duration]);
        const bool inRange = dp && stage && rank && step && *dp >= 0 && *stage >= 0 && *rank >= 0 && *dp < (1 << 20)
            && *stage < (1 << 20) && *rank < (1 << 24);
        if (!inRange || !start || !duration || !(std::abs(*start) < kLongestSeconds)
            || !(std::abs(*duration) < kLongestSeconds) || cells[Type].empty())
            return false;
        row.dp = *dp;
        row.stage = *stage;
        row.rank = *rank;
        row.step = *step;
        row.sequence = numberOf<std::int64_t>(cells[Sequence]).value_or(0);
        row.microBatch = std::max(-1, numberOf<std::int32_t>(cells[MicroBatch]).value_or(-1));
        row.beginNs = std::llround(1e9 * *start);
        row.endNs = std::max(row.beginNs, std::int64_t{ std::llround(1e9 * (*start + *duration)) });
        row.op = operationOf(cells[Type]);
        const auto [it, isNew]
            = names_.try_emplace(std::string(cells[Type]), static_cast<std::uint32_t>(names_.size()));
        if (isNew)
            table.names.emplace_back(cells[Type]);
        row.name = it->second;
        table.rows.push_back(row);
        return true;
    }

    std::optional<std::array<std::size_t, kColumns>> places_;
    std::unordered_map<std::string, std::uint32_t> names_;
};

} // namespace

bool isPipelineHeader(std::string_view firstBytes)
{
    return placesOf(firstBytes.substr(0, firstBytes.find('\n'))).has_value();
}

Result<PipelineTable> readPipelineTable(const std::string& path, const ReadProgressCallback& progress)
{
    auto source = ByteSource::open(path);
    if (!source)
        return source.error();
    TableReader reader;
    std::string pending, buffer(kBufferBytes, '\0');
    for (;;) {
        const auto n = (*source)->read(buffer);
        if (!n)
            return n.error().in("read " + path);
        pending.append(buffer, 0, *n);
        if (*n == 0 && !pending.empty())
            pending += '\n';
        std::size_t begin = 0;
        for (std::size_t end; (end = pending.find('\n', begin)) != std::string::npos; begin = end + 1) {
            if (Status status = reader.addLine(std::string_view(pending).substr(begin, end - begin)); !status)
                return status.error().in("read " + path);
        }
        pending.erase(0, begin);
        if (*n == 0)
            break;
        if (pending.size() > kLongestLine)
            return Error("read " + path + ": a line of more than " + std::to_string(kLongestLine)
                + " bytes is no row of a table");
        if (progress
            && !progress({ (*source)->fileBytesRead(), (*source)->fileBytes(),
                static_cast<std::int64_t>(reader.table.rows.size()) }))
            return Error("read " + path + ": cancelled");
    }
    reader.table.truncated = (*source)->truncated();
    if (reader.table.rows.empty())
        return Error("read " + path + ": no row of the table is understood");
    return std::move(reader.table);
}

} // namespace rankscope::tracing
