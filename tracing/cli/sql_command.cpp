#include "tracing/cli/commands.h"
#include "tracing/cli/open_run.h"
#include "tracing/cli/terminal.h"
#include "tracing/export/json_writer.h"
#include "tracing/export/text_table.h"

#include <fmt/format.h>

#include <memory>

namespace rankscope::tracing {

namespace {

using Values = std::vector<std::string>;

/// RFC 4180: quoted where it holds a comma, a quote or a line break.
std::string csvCell(const std::string& value)
{
    if (value.find_first_of(",\"\r\n") == std::string::npos)
        return value;
    std::string quoted = "\"";
    for (const char letter : value)
        quoted += letter == '"' ? std::string("\"\"") : std::string(1, letter);
    return quoted + "\"";
}

std::string csvLine(const Values& values)
{
    std::string line;
    for (std::size_t i = 0; i < values.size(); ++i)
        line += (i ? "," : "") + csvCell(values[i]);
    return line + "\n";
}

/// Rows go out as they come: a query may have millions.
TraceReader::SqlSink csvSink()
{
    return { [](const Values& columns) { writeOut(csvLine(columns)); },
        [](const Values& values, const std::vector<bool>&) { return writeOut(csvLine(values)); } };
}

/// Columns as wide as their widest cell need all rows first.
struct Table {
    std::unique_ptr<TextTable> rows;

    TraceReader::SqlSink sink()
    {
        return { [this](const Values& columns) {
                    std::vector<TextTable::Column> header;
                    for (const std::string& column : columns)
                        header.push_back({ column, TextTable::Align::Left });
                    rows = std::make_unique<TextTable>(std::move(header));
                },
            [this](const Values& values, const std::vector<bool>& isNull) {
                Values cells = values;
                for (std::size_t i = 0; i < cells.size(); ++i) {
                    if (isNull[i])
                        cells[i] = "-";
                }
                rows->add(std::move(cells));
                return true;
            } };
    }
};

struct JsonRows {
    JsonWriter json;

    TraceReader::SqlSink sink()
    {
        return { [this](const Values& columns) {
                    json.beginObject().member("schema", 1);
                    json.key("columns").beginArray();
                    for (const std::string& column : columns)
                        json.value(column);
                    json.endArray();
                    json.key("rows").beginArray();
                },
            [this](const Values& values, const std::vector<bool>& isNull) {
                json.beginArray();
                for (std::size_t i = 0; i < values.size(); ++i)
                    isNull[i] ? json.null() : json.value(values[i]);
                json.endArray();
                return true;
            } };
    }
};

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
    const TraceReader::SqlSink sink = arguments.csv ? csvSink() : arguments.json ? rows.sink() : table.sink();
    if (const Status done = reader->sql(arguments.text, sink); !done) {
        sayError(done.error().in("sql").message());
        return kWrongUsage;
    }
    if (arguments.json) {
        rows.json.endArray().endObject();
        writeOut(rows.json.text());
    } else if (table.rows) {
        writeOut(table.rows->text(80));
    }
    return kGood;
}

} // namespace rankscope::tracing
