#include "tracing/store/row_source.h"

#include <sqlite3.h>

#include <new>

namespace rankscope::tracing {

namespace {

constexpr int kColumns = 12;
static_assert(columnCount(EventTable<CollectivePart>::columns) <= kColumns, "the widest table fits into rs_rows");

struct RowsTable : sqlite3_vtab {
    const RowSource* source = nullptr;
};

struct RowsCursor : sqlite3_vtab_cursor {
    const RowSource* source = nullptr;
    std::size_t index = 0;
};

// SQLite's callbacks; sqlite.org/vtab.html names them.

int connectRows(sqlite3* database, void* source, int, const char* const*, sqlite3_vtab** table, char**)
{
    const int code = sqlite3_declare_vtab(database, "CREATE TABLE x(c0, c1, c2, c3, c4, c5, c6, c7, c8, c9, c10, c11)");
    if (code != SQLITE_OK)
        return code;
    auto* made = new (std::nothrow) RowsTable{};
    if (made == nullptr)
        return SQLITE_NOMEM;
    made->source = static_cast<const RowSource*>(source);
    *table = made;
    return SQLITE_OK;
}

int disconnectRows(sqlite3_vtab* table)
{
    delete static_cast<RowsTable*>(table);
    return SQLITE_OK;
}

int bestIndexOfRows(sqlite3_vtab*, sqlite3_index_info* info)
{
    info->estimatedCost = 1000;
    info->estimatedRows = 1000;
    return SQLITE_OK;
}

int openRows(sqlite3_vtab* table, sqlite3_vtab_cursor** cursor)
{
    auto* made = new (std::nothrow) RowsCursor{};
    if (made == nullptr)
        return SQLITE_NOMEM;
    made->source = static_cast<RowsTable*>(table)->source;
    *cursor = made;
    return SQLITE_OK;
}

int closeRows(sqlite3_vtab_cursor* cursor)
{
    delete static_cast<RowsCursor*>(cursor);
    return SQLITE_OK;
}

int filterRows(sqlite3_vtab_cursor* cursor, int, const char*, int, sqlite3_value**)
{
    static_cast<RowsCursor*>(cursor)->index = 0;
    return SQLITE_OK;
}

int nextRow(sqlite3_vtab_cursor* cursor)
{
    ++static_cast<RowsCursor*>(cursor)->index;
    return SQLITE_OK;
}

int atEnd(sqlite3_vtab_cursor* cursor)
{
    const auto* rows = static_cast<RowsCursor*>(cursor);
    return rows->index >= rows->source->count();
}

int columnOfRow(sqlite3_vtab_cursor* cursor, sqlite3_context* out, int column)
{
    const auto* rows = static_cast<RowsCursor*>(cursor);
    rows->source->give(rows->index, column, out);
    return SQLITE_OK;
}

int idOfRow(sqlite3_vtab_cursor* cursor, sqlite3_int64* id)
{
    *id = static_cast<sqlite3_int64>(static_cast<RowsCursor*>(cursor)->index);
    return SQLITE_OK;
}

sqlite3_module makeModule()
{
    sqlite3_module module{};
    // Without xCreate the table is there by itself, only by this name, and never in the file.
    module.xConnect = connectRows;
    module.xBestIndex = bestIndexOfRows;
    module.xDisconnect = disconnectRows;
    module.xOpen = openRows;
    module.xClose = closeRows;
    module.xFilter = filterRows;
    module.xNext = nextRow;
    module.xEof = atEnd;
    module.xColumn = columnOfRow;
    module.xRowid = idOfRow;
    return module;
}

const sqlite3_module kModule = makeModule();

} // namespace

Result<std::unique_ptr<RowSource>> RowSource::attach(const Database& database)
{
    std::unique_ptr<RowSource> source(new RowSource());
    if (sqlite3_create_module(database.handle(), "rs_rows", &kModule, source.get()) != SQLITE_OK)
        return database.lastError();
    return source;
}

std::string RowSource::insertText(std::string_view table, std::string_view columns, std::uint32_t absent)
{
    std::string text = "INSERT INTO ";
    text.append(table).append("(id, ").append(columns).append(") SELECT NULL, ?1");
    for (int i = 1; i < columnCount(columns); ++i)
        text += absent >> i & 1 ? std::string(", NULL") : ", c" + std::to_string(i);
    return text + " FROM rs_rows";
}

} // namespace rankscope::tracing
