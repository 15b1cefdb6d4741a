#pragma once

#include "tracing/store/event_tables.h"
#include "tracing/store/sqlite.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace rankscope::tracing {

/// Lets INSERT ... SELECT read C++ rows: a virtual table rs_rows(c1, c2, ...) over a span. Half as expensive as binding
/// each row: SQLite stays in one statement for the whole span.
class RowSource {
public:
    /// Registers rs_rows with the connection, which must not outlive the source.
    static Result<std::unique_ptr<RowSource>> attach(const Database& database);

    /// "INSERT INTO table(id, columns) SELECT NULL, ?1, c1, ... FROM rs_rows": parameter 1 is column 0. Columns with
    /// their bit in `absent` are NULL and not asked for. In the table's own order, SQLite copies no column twice.
    static std::string insertText(std::string_view table, std::string_view columns, std::uint32_t absent);

    /// What the next statement over rs_rows reads; the span must outlive that statement.
    template <typename Row> void set(std::span<const Row> rows)
    {
        rows_ = rows.data();
        count_ = rows.size();
        emit_ = [](const void* data, std::size_t index, int column, sqlite3_context* out) {
            EventTable<Row>::emit(static_cast<const Row*>(data)[index], column, out);
        };
    }

    std::size_t count() const { return count_; }
    void give(std::size_t index, int column, sqlite3_context* out) const { emit_(rows_, index, column, out); }

private:
    RowSource() = default;
    using Emit = void (*)(const void* rows, std::size_t index, int column, sqlite3_context* out);

    const void* rows_ = nullptr;
    std::size_t count_ = 0;
    Emit emit_ = nullptr;
};

} // namespace rankscope::tracing
