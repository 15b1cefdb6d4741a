// How fast rows go into a run file and come out again, and what they cost in bytes.

#include "tracing/store/tile.h"
#include "tracing/store/trace_reader.h"
#include "tracing/store/trace_writer.h"

#include <benchmark/benchmark.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <random>
#include <span>
#include <string>
#include <unistd.h>
#include <vector>

namespace rankscope::tracing {

namespace {

constexpr int kLanes = 16;
constexpr std::int64_t kBatch = 512; ///< rows a lane and drain
constexpr std::int64_t kDrainsPerCommit = 8;
constexpr std::int64_t kSpacingNs = 20'000; ///< from begin to begin on a lane

template <typename T> T must(Result<T> result)
{
    if (!result) {
        std::fprintf(stderr, "store_bench: %s\n", result.error().message().c_str());
        std::abort();
    }
    return std::move(*result);
}

/// A file that goes away with its owner.
struct ScratchFile {
    explicit ScratchFile(const char* name)
        : path((std::filesystem::temp_directory_path() / (name + std::to_string(::getpid()) + ".rsdb")).string())
    {
    }
    ~ScratchFile()
    {
        for (const char* suffix : { "", "-wal", "-shm" })
            std::filesystem::remove(path + suffix);
    }
    std::string path;
};

std::vector<LaneId> makeLanes(TraceWriter& writer)
{
    std::vector<LaneId> lanes;
    for (int rank = 0; rank < kLanes; ++rank)
        lanes.push_back(must(writer.lane({ {}, rank, LaneKind::Compute, Dimension::None, "compute", "" })));
    return lanes;
}

/// Kernels as a small model on a CPU gives them: 20 us apart, long ones with CPU time, all with a micro-batch.
std::vector<Kernel> kernelBatch(std::int64_t firstNs)
{
    std::mt19937_64 random(static_cast<std::uint64_t>(firstNs));
    std::vector<Kernel> rows(kBatch);
    for (std::size_t i = 0; i < rows.size(); ++i) {
        rows[i].beginNs = firstNs + static_cast<std::int64_t>(i) * kSpacingNs;
        rows[i].endNs = rows[i].beginNs + 5'000 + static_cast<std::int64_t>(random() % 14'000);
        rows[i].signature = SignatureId{ static_cast<std::int32_t>(random() % 40) };
        rows[i].microBatch = static_cast<std::int32_t>(i / 64);
        if (i % 16 == 0)
            rows[i].cpuNs = rows[i].endNs - rows[i].beginNs;
    }
    return rows;
}

/// Tiles of a batch as the collector hands them over.
std::vector<Tile> tilesOf(LaneId lane, std::span<const Kernel> rows)
{
    std::map<std::pair<int, std::int64_t>, Tile> cells;
    for (int level = 0; level < kTileLevels; ++level) {
        for (const Kernel& row : rows) {
            const std::int64_t width = tileWidthNs(level);
            for (std::int64_t cell = row.beginNs / width; cell * width < row.endNs; ++cell) {
                Tile& tile = cells[{ level, cell }];
                tile.lane = lane;
                tile.level = level;
                tile.index = cell;
                const std::int64_t part = std::min(row.endNs, (cell + 1) * width) - std::max(row.beginNs, cell * width);
                tile.busyNs += part;
                tile.classNs[static_cast<std::size_t>(SpanClass::Compute)] += part;
                if (cell != row.beginNs / width)
                    continue;
                ++tile.count;
                if (row.endNs - row.beginNs > tile.longestEndNs - tile.longestBeginNs) {
                    tile.longestBeginNs = row.beginNs;
                    tile.longestEndNs = row.endNs;
                    tile.longestClass = SpanClass::Compute;
                }
            }
        }
    }
    std::vector<Tile> tiles;
    for (const auto& [key, tile] : cells)
        tiles.push_back(tile);
    return tiles;
}

struct Batches {
    std::vector<std::vector<Kernel>> rows; ///< by drain
    std::vector<std::vector<Tile>> tiles; ///< by drain, of lane 0
};

Batches makeBatches(std::int64_t drains, bool withTiles)
{
    Batches batches;
    for (std::int64_t drain = 0; drain < drains; ++drain) {
        batches.rows.push_back(kernelBatch(drain * kBatch * kSpacingNs));
        if (withTiles)
            batches.tiles.push_back(tilesOf(LaneId{}, batches.rows.back()));
    }
    return batches;
}

std::int64_t writeRun(const std::string& path, const Batches& batches)
{
    TraceWriter writer = must(TraceWriter::open(path, TraceWriter::Mode::Replace));
    const std::vector<LaneId> lanes = makeLanes(writer);
    std::vector<Tile> tiles;
    std::int64_t rows = 0;
    must(writer.begin());
    for (std::size_t drain = 0; drain < batches.rows.size(); ++drain) {
        for (const LaneId lane : lanes) {
            must(writer.append(lane, std::span<const Kernel>(batches.rows[drain])));
            rows += kBatch;
            if (batches.tiles.empty())
                continue;
            tiles = batches.tiles[drain];
            for (Tile& tile : tiles)
                tile.lane = lane;
            must(writer.putTiles(tiles));
        }
        if ((drain + 1) % kDrainsPerCommit == 0) {
            must(writer.commit());
            must(writer.begin());
        }
    }
    must(writer.commit());
    must(writer.finish());
    return rows;
}

void appendKernels(benchmark::State& state)
{
    const ScratchFile file("rs_append");
    const Batches batches = makeBatches(128, state.range(0) != 0);
    std::int64_t rows = 0;
    for (auto _ : state)
        rows += writeRun(file.path, batches);
    state.SetItemsProcessed(rows);
    const auto bytes = static_cast<double>(std::filesystem::file_size(file.path));
    state.counters["bytes_per_event"] = bytes / static_cast<double>(128 * kBatch * kLanes);
}
BENCHMARK(appendKernels)->ArgName("tiles")->Arg(0)->Arg(1)->Unit(benchmark::kMillisecond);

/// 3.1 million kernels on 16 lanes, written once.
const std::string& bigRun()
{
    static const ScratchFile file("rs_read");
    static const bool written = [] {
        writeRun(file.path, makeBatches(384, true));
        return true;
    }();
    benchmark::DoNotOptimize(written);
    return file.path;
}

void windowOf1000Rows(benchmark::State& state)
{
    TraceReader reader = must(TraceReader::open(bigRun()));
    std::int64_t begin = 0;
    std::size_t rows = 0;
    for (auto _ : state) {
        rows += must(reader.kernels(LaneId{ 7 }, { begin, begin + 1000 * kSpacingNs })).size();
        begin = (begin + 7'777 * kSpacingNs) % (190'000 * kSpacingNs);
    }
    state.counters["rows"] = benchmark::Counter(static_cast<double>(rows), benchmark::Counter::kAvgIterations);
}
BENCHMARK(windowOf1000Rows)->Unit(benchmark::kMicrosecond);

void tilesOf1600Pixels(benchmark::State& state)
{
    TraceReader reader = must(TraceReader::open(bigRun()));
    const int level = 4; // 16.8 ms a cell: 3.9 s are 234 cells
    std::size_t tiles = 0;
    for (auto _ : state)
        tiles += must(reader.tiles(LaneId{ 7 }, level, { 0, 200'000 * kSpacingNs })).size();
    state.counters["tiles"] = benchmark::Counter(static_cast<double>(tiles), benchmark::Counter::kAvgIterations);
}
BENCHMARK(tilesOf1600Pixels)->Unit(benchmark::kMicrosecond);

void visitAllRows(benchmark::State& state)
{
    TraceReader reader = must(TraceReader::open(bigRun()));
    std::int64_t rows = 0;
    std::int64_t busyNs = 0;
    for (auto _ : state) {
        for (int lane = 1; lane <= kLanes; ++lane) {
            must(reader.visit<Kernel>(LaneId{ lane }, { 0, INT64_MAX }, [&](std::span<const Kernel> chunk) {
                rows += static_cast<std::int64_t>(chunk.size());
                for (const Kernel& row : chunk)
                    busyNs += row.endNs - row.beginNs;
                return true;
            }));
        }
    }
    benchmark::DoNotOptimize(busyNs);
    state.SetItemsProcessed(rows);
}
BENCHMARK(visitAllRows)->Unit(benchmark::kMillisecond);

void dataVersion(benchmark::State& state)
{
    TraceReader reader = must(TraceReader::open(bigRun()));
    for (auto _ : state)
        benchmark::DoNotOptimize(must(reader.dataVersion()));
}
BENCHMARK(dataVersion)->Unit(benchmark::kMicrosecond);

void openAndReadLanes(benchmark::State& state)
{
    bigRun();
    for (auto _ : state) {
        TraceReader reader = must(TraceReader::open(bigRun()));
        benchmark::DoNotOptimize(must(reader.lanes()).size());
    }
}
BENCHMARK(openAndReadLanes)->Unit(benchmark::kMicrosecond);

} // namespace

} // namespace rankscope::tracing
