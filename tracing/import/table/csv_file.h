#pragma once

#include "tracing/import/byte_source.h"
#include "tracing/model/result.h"

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace rankscope::tracing {

using CsvRowVisitor = std::function<void(const std::vector<std::string_view>& cells)>;

/// Hands out the rows of a CSV file (also .gz, .zst), the first one, too; cells hold until the next row. `goesOn` is
/// asked now and then. Gives whether compressed data were cut off. An error: the file cannot be read, a row is longer
/// than any table's, or goesOn said no.
Result<bool> readCsvFile(
    const std::string& path, const CsvRowVisitor& row, const std::function<bool(const ByteSource&)>& goesOn = {});

} // namespace rankscope::tracing
