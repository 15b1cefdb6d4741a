#include "tracing/cli/commands.h"
#include "tracing/cli/open_run.h"
#include "tracing/cli/terminal.h"
#include "tracing/export/json_writer.h"
#include "tracing/export/text_table.h"
#include "tracing/export/traces/csv_text.h"

#include <fmt/format.h>

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include <unistd.h>

namespace rankscope::tracing {

namespace {

using Values = std::vector<std::string>;

std::string csvLine(const Values& values)
{
    std::string line;
    for (std::size_t i = 0; i < values.size(); ++i) {
        line += i ? "," : "";
        appendCsvCell(line, values[i]);
    }
    return line + "\n";
}

using Types = std::vector<TraceReader::SqlType>;
using Type = TraceReader::SqlType;

/// Rows go out as they come: a query may have millions, or no end.
TraceReader::SqlSink csvSink()
{
    return { [](const Values& columns) { writeOut(csvLine(columns)); },
        [](const Values& values, const Types&) { return writeOut(csvLine(values)); } };
}

/// Columns are as wide as the widest cell so far; few results are longer than a batch.
struct Table {
    static constexpr int kBatch = 1000;
    std::unique_ptr<TextTable> rows;
    int waiting = 0;

    bool flush()
    {
        waiting = 0;
        return !rows || writeOut(rows->take(80));
    }

    TraceReader::SqlSink sink()
    {
        return { [this](const Values& columns) {
                    std::vector<TextTable::Column> header;
                    for (const std::string& column : columns)
                        header.push_back({ column, TextTable::Align::Left });
                    rows = std::make_unique<TextTable>(std::move(header));
                    waiting = 1;
                },
            [this](const Values& values, const Types& types) {
                Values cells = values;
                for (std::size_t i = 0; i < cells.size(); ++i) {
                    if (types[i] == Type::Null)
                        cells[i].assign(1, '-'); // GCC 12 warns about assigning a text of one letter here
                }
                rows->add(std::move(cells));
                return ++waiting < kBatch || flush();
            } };
    }
};

struct JsonRows {
    static constexpr int kBatch = 1000;
    JsonWriter json;
    int waiting = 0;

    bool flush()
    {
        waiting = 0;
        return writeOut(json.take());
    }

    void add(const std::string& value, Type type)
    {
        if (type == Type::Null)
            json.null();
        else if (type == Type::Integer)
            json.value(static_cast<std::int64_t>(std::stoll(value)));
        else if (type == Type::Real)
            json.value(std::strtod(value.c_str(), nullptr));
        else
            json.value(value);
    }

    TraceReader::SqlSink sink()
    {
        return { [this](const Values& columns) {
                    json.beginObject().member("schema", 1);
                    json.list("columns", columns);
                    json.key("rows").beginArray();
                },
            [this](const Values& values, const Types& types) {
                json.beginArray();
                for (std::size_t i = 0; i < values.size(); ++i)
                    add(values[i], types[i]);
                json.endArray();
                return ++waiting < kBatch || flush();
            } };
    }
};

constexpr std::uint64_t kRowsOnATerminal = 1000;

/// The sink for so many rows, then the end; 0: no end.
TraceReader::SqlSink limited(TraceReader::SqlSink sink, std::uint64_t most, bool& isCut)
{
    if (most == 0)
        return sink;
    return { sink.header,
        [row = sink.row, most, &isCut, count = std::uint64_t{ 0 }](const Values& values, const Types& types) mutable {
            isCut = ++count > most;
            return !isCut && row(values, types);
        } };
}

} // namespace

int sqlCommand(const SqlArguments& arguments)
{
    auto reader = openRun(arguments.file);
    if (!reader) {
        sayError(reader.error().message());
        return kUnreadableInput;
    }
    Table table;
    JsonRows rows;
    const std::uint64_t most = arguments.rows.value_or(StatusLine(STDOUT_FILENO).isTerminal() ? kRowsOnATerminal : 0);
    bool isCut = false;
    const TraceReader::SqlSink sink = limited(arguments.csv ? csvSink()
            : arguments.json                                ? rows.sink()
                                                            : table.sink(),
        most, isCut);
    if (const Status done = reader->sql(arguments.text, sink); !done) {
        sayError(done.error().in("sql").message());
        return reader->sqlFailedOnFile() ? kUnreadableInput : kWrongUsage;
    }
    if (arguments.json) {
        rows.json.endArray().endObject();
        writeOut(rows.json.text());
    } else {
        table.flush();
    }
    if (isCut)
        sayNote(fmt::format("the first {} rows; --rows 0 gives all", most));
    return kGood;
}

} // namespace rankscope::tracing
