#include "tracing/import/table/csv_file.h"

#include "tracing/import/table/csv_rows.h"

namespace rankscope::tracing {

namespace {

constexpr std::size_t kChunkBytes = 1u << 18;

} // namespace

Result<bool> readCsvFile(
    const std::string& path, const CsvRowVisitor& row, const std::function<bool(const ByteSource&)>& goesOn)
{
    auto source = ByteSource::open(path);
    if (!source)
        return source.error();
    CsvRows rows;
    std::string buffer(kChunkBytes, '\0');
    for (;;) {
        const auto count = (*source)->read(buffer);
        if (!count)
            return count.error().in("read " + path);
        if (*count == 0)
            break;
        if (!rows.add(std::string_view(buffer).substr(0, *count), row))
            return Error("read " + path + ": a row of more than " + std::to_string(CsvRows::kLongestRow)
                + " bytes is no row of a table");
        if (goesOn && !goesOn(**source))
            return Error("read " + path + ": cancelled");
    }
    rows.finish(row);
    return (*source)->truncated();
}

} // namespace rankscope::tracing
