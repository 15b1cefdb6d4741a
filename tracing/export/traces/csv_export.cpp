#include "tracing/export/traces/csv_text.h"
#include "tracing/export/traces/output_file.h"
#include "tracing/export/traces/run_values.h"
#include "tracing/export/traces/span_source.h"
#include "tracing/export/traces/tally.h"
#include "tracing/export/traces/trace_export.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>
#include <iterator>
#include <map>

namespace rankscope::tracing {

namespace {

namespace fs = std::filesystem;

/// Builds one line; empty cells are what is absent.
class CsvLine {
public:
    explicit CsvLine(std::string& text)
        : text_(text)
    {
        text_.clear();
    }

    CsvLine& operator<<(std::string_view cell)
    {
        separate();
        appendCsvCell(text_, cell);
        return *this;
    }
    CsvLine& operator<<(std::int64_t number)
    {
        separate();
        fmt::format_to(std::back_inserter(text_), "{}", number);
        return *this;
    }
    CsvLine& operator<<(double number)
    {
        separate();
        fmt::format_to(std::back_inserter(text_), "{}", number); // shortest that reads back as the same
        return *this;
    }
    template <typename T> CsvLine& operator<<(const std::optional<T>& value)
    {
        if (value)
            return *this << static_cast<std::int64_t>(*value);
        return *this << std::string_view();
    }
    void end() { text_ += '\n'; }

private:
    void separate()
    {
        if (!isFirst_)
            text_ += ',';
        isFirst_ = false;
    }

    std::string& text_;
    bool isFirst_ = true;
};

/// What a span is called in column kind: ranges by their own kinds.
std::string_view kindWord(const ExportedSpan& span)
{
    return span.kind == ExportKind::Range ? toString(span.range) : toString(span.kind);
}

class CsvWriter {
public:
    CsvWriter(SpanSource& source, Tally& tally)
        : source_(source)
        , facts_(source.facts())
        , tally_(tally)
    {
        for (const Communicator& communicator : facts_.communicators)
            members_[communicator.id] = fmt::format("{}", fmt::join(communicator.members, " "));
    }

    Status writeSpans(OutputFile& file)
    {
        file.write(kSpanColumns);
        for (const Lane& lane : facts_.lanes) {
            for (std::size_t kind = 0; lane.kind != LaneKind::Counter && kind < kExportKindCount; ++kind) {
                const Status done = source_.visit(lane, static_cast<ExportKind>(kind), [&](const ExportedSpan& span) {
                    writeSpan(lane, span);
                    file.write(text_);
                    return tally_.addSpan(file);
                });
                if (!done || tally_.isCancelled() || !file.good())
                    return done;
            }
        }
        return Done{};
    }

    Status writeCounters(OutputFile& file)
    {
        file.write("rank,name,unit,time_ns,value\n");
        for (const Lane& lane : facts_.lanes) {
            if (lane.kind != LaneKind::Counter)
                continue;
            const Status done = source_.visitSamples(lane, [&](const CounterSample& sample) {
                CsvLine line(text_);
                line << std::int64_t{ lane.rank } << lane.name << lane.unit << sample.timeNs << sample.value;
                line.end();
                file.write(text_);
                return tally_.addSample(file);
            });
            if (!done || tally_.isCancelled() || !file.good())
                return done;
        }
        return Done{};
    }

    Status writeRanks(OutputFile& file)
    {
        file.write("rank,node,device,stage,dp,tp,ep,clock_error_ns,peak_flops\n");
        for (const RankInfo& rank : facts_.ranks) {
            CsvLine line(text_);
            line << std::int64_t{ rank.rank } << rank.node << rank.device << rank.stage << rank.dp << rank.tp << rank.ep
                 << rank.clockErrorNs;
            rank.peakFlops ? line << *rank.peakFlops : line << std::string_view();
            line.end();
            file.write(text_);
        }
        return Done{};
    }

    Status writeRun(OutputFile& file)
    {
        file.write("key,value\n");
        for (const auto& [key, value] : runValues(facts_)) {
            CsvLine line(text_);
            line << key << value;
            line.end();
            file.write(text_);
        }
        return Done{};
    }

private:
    void writeSpan(const Lane& lane, const ExportedSpan& span)
    {
        const bool isPart = span.kind == ExportKind::Collective;
        CsvLine line(text_);
        line << std::int64_t{ lane.rank } << lane.name << toString(lane.kind) << kindWord(span) << span.name
             << span.when.beginNs << span.when.endNs << (isPart ? toString(span.op) : std::string_view())
             << (lane.dimension == Dimension::None ? std::string_view() : toString(lane.dimension));
        line << (span.communicator ? std::string_view(span.communicator->name) : std::string_view())
             << (span.communicator ? std::string_view(members_[span.communicator->id]) : std::string_view())
             << span.sequence << (isPart ? std::optional(raw(span.instance)) : std::nullopt) << span.bytes << span.peer
             << (span.pass == Pass::None ? std::string_view() : toString(span.pass)) << span.microBatch << span.step
             << (span.kind == ExportKind::Range ? std::optional(span.depth) : std::nullopt) << span.stage
             << (span.kind == ExportKind::Bubble ? toString(span.phase) : std::string_view()) << span.flop << span.work
             << span.cpuNs << span.correlation
             << (span.kind == ExportKind::Kernel ? std::optional(span.threads) : std::nullopt)
             << (span.dtype == DataType::Unknown ? std::string_view() : toString(span.dtype)) << span.redundantFlop
             << span.launchGroup;
        line.end();
    }

    SpanSource& source_;
    const RunFacts& facts_;
    Tally& tally_;
    std::map<CommunicatorId, std::string> members_;
    std::string text_;
};

} // namespace

ExportOutcome exportCsv(
    TraceReader& reader, const RunFacts& facts, const std::string& folder, const ExportOptions& options)
{
    Tally tally(options);
    auto source = SpanSource::open(reader, facts);
    if (!source)
        return tally.failed(ExportOutcome::Fault::Run, source.error());
    std::error_code error;
    fs::create_directories(folder, error);
    if (error)
        return tally.failed(
            ExportOutcome::Fault::Output, Error(fmt::format("make the folder {}: {}", folder, error.message())));
    CsvWriter writer(*source, tally);
    using Part = Status (CsvWriter::*)(OutputFile&);
    const std::pair<const char*, Part> parts[]
        = { { "spans.csv", &CsvWriter::writeSpans }, { "counters.csv", &CsvWriter::writeCounters },
              { "ranks.csv", &CsvWriter::writeRanks }, { "run.csv", &CsvWriter::writeRun } };
    std::vector<OutputFile> files; // all of them or none
    for (const auto& [name, write] : parts) {
        auto file = OutputFile::create((fs::path(folder) / name).string());
        if (!file)
            return tally.failed(ExportOutcome::Fault::Output, file.error());
        files.push_back(std::move(*file));
        if (const Status written = (writer.*write)(files.back()); !written)
            return tally.failed(ExportOutcome::Fault::Run, written.error());
        if (tally.isCancelled())
            return tally.cancelled();
    }
    for (OutputFile& file : files) {
        if (const Status finished = file.finish(); !finished)
            return tally.failed(ExportOutcome::Fault::Output, finished.error());
    }
    return tally.done();
}

} // namespace rankscope::tracing
