#include "tests/app/timeline/big_run.h"

#include "tracing/model/check.h"
#include "tracing/store/tile_builder.h"
#include "tracing/store/trace_writer.h"

#include <array>
#include <vector>

namespace rankscope::app::timeline {
namespace {

using namespace tracing;

constexpr int kRanks = 4;
constexpr std::int64_t kPitchNs = 24'000;
constexpr std::int64_t kStepNs = 100'000'000;
constexpr std::int64_t kReduceNs = 12'000'000; ///< at the end of each step
constexpr std::int64_t kLateNs = 8'000'000;

template <typename T> T need(Result<T> result)
{
    RS_CHECK(result.has_value(), "the file can be written");
    return std::move(*result);
}

class BigRun {
public:
    explicit BigRun(const std::filesystem::path& file)
        : writer_(need(TraceWriter::open(file.string(), TraceWriter::Mode::Replace)))
        , tiles_([](LaneId, int, Window) -> Result<std::vector<Tile>> { return std::vector<Tile>{}; })
    {
        need(writer_.begin());
        need(writer_.setRun({ "big", "rankscope", 0, kRanks, 2, false }));
        communicator_ = need(writer_.communicator({ {}, "data parallel", Dimension::Data, { 0, 1, 2, 3 } }));
        for (int i = 0; i < 16; ++i) {
            KernelSignature signature;
            signature.name = need(writer_.name("kernel number " + std::to_string(i)));
            signature.flop = 1'000'000 * (i + 1);
            signatures_[static_cast<std::size_t>(i)] = need(writer_.signature(signature));
        }
        reduceName_ = need(writer_.name("all-reduce ring"));
        for (int rank = 0; rank < kRanks; ++rank) {
            RankInfo info;
            info.rank = rank;
            need(writer_.putRank(info));
            compute_.push_back(need(writer_.lane({ {}, rank, LaneKind::Compute, Dimension::None, "compute", "" })));
            reduce_.push_back(
                need(writer_.lane({ {}, rank, LaneKind::Communication, Dimension::Data, "all-reduce dp", "" })));
        }
        need(writer_.commit());
    }

    void addStep(std::int64_t step)
    {
        need(writer_.begin());
        const std::int64_t begin = step * kStepNs;
        const std::int64_t entry = begin + kStepNs - kReduceNs;
        for (int rank = 0; rank < kRanks; ++rank) {
            const bool late = rank == kRanks - 1;
            addKernels(rank, begin, late ? entry + kLateNs : entry);
            addReduce(rank, step, late ? entry + kLateNs : entry, begin + kStepNs);
            need(writer_.putStep({ rank, step, 0, begin, begin + kStepNs }));
        }
        need(writer_.putMatch({ InstanceId{ step + 1 }, communicator_, CollectiveOp::AllReduce, step, kRanks, kRanks,
            entry, entry + kLateNs, begin + kStepNs, kRanks - 1 }));
        need(tiles_.flush([&](std::span<const Tile> tiles) { return writer_.putTiles(tiles); }));
        need(writer_.commit());
        tiles_.trim();
    }

    void finish() { need(writer_.finish()); }

private:
    void addKernels(int rank, std::int64_t begin, std::int64_t end)
    {
        const LaneId lane = compute_[static_cast<std::size_t>(rank)];
        std::vector<Kernel> rows;
        for (std::int64_t at = begin; at + kPitchNs <= end; at += kPitchNs) {
            Kernel row;
            row.beginNs = at;
            row.endNs = at + kPitchNs / 3 + (at / kPitchNs * 7919) % (kPitchNs / 2);
            row.signature = signatures_[static_cast<std::size_t>(at / kPitchNs % 16)];
            rows.push_back(row);
            tiles_.add(lane, { row.beginNs, row.endNs }, SpanClass::Compute);
        }
        need(writer_.append(lane, std::span<const Kernel>(rows)));
    }

    void addReduce(int rank, std::int64_t step, std::int64_t entry, std::int64_t end)
    {
        const LaneId lane = reduce_[static_cast<std::size_t>(rank)];
        CollectivePart part;
        part.beginNs = entry;
        part.endNs = end;
        part.name = reduceName_;
        part.op = CollectiveOp::AllReduce;
        part.instance = InstanceId{ step + 1 };
        part.bytes = 64'000'000;
        const std::int64_t split = end - kReduceNs + kLateNs;
        const std::array<TileBuilder::Part, 2> parts{ TileBuilder::Part{ { entry, split }, SpanClass::Wait },
            TileBuilder::Part{ { split, end }, SpanClass::Transfer } };
        tiles_.add(lane, { entry, end }, SpanClass::Transfer, std::span(parts).subspan(entry < split ? 0 : 1));
        need(writer_.append(lane, std::span<const CollectivePart>(&part, 1)));
    }

    TraceWriter writer_;
    TileBuilder tiles_;
    CommunicatorId communicator_{};
    NameId reduceName_{};
    std::array<SignatureId, 16> signatures_{};
    std::vector<LaneId> compute_;
    std::vector<LaneId> reduce_;
};

} // namespace

void writeBigRun(const std::filesystem::path& file, std::int64_t kernels)
{
    BigRun run(file);
    const std::int64_t perStep = kRanks * (kStepNs - kReduceNs) / kPitchNs;
    for (std::int64_t step = 0; step * perStep < kernels; ++step)
        run.addStep(step);
    run.finish();
}

} // namespace rankscope::app::timeline
