#include "tracing/import/nsight/export_tables.h"

#include "tracing/store/run_file.h"

namespace rankscope::tracing {

Result<ExportTables> ExportTables::open(const std::string& path)
{
    ExportTables tables;
    auto database = Database::open(uriOf(path, "immutable=1"), Database::Access::ReadOnly);
    if (!database)
        return database.error();
    tables.database_ = std::move(*database);
    // Somebody else's file: no function or virtual table that its schema may name is run, no page is believed. Nothing
    // is written: "writable" is what lets SQLite read a file that is shorter than its header says.
    for (const char* setting : { "PRAGMA writable_schema = ON", "PRAGMA trusted_schema = OFF",
             "PRAGMA cell_size_check = ON", "PRAGMA mmap_size = 0" }) {
        if (Status status = tables.database_.execute(setting); !status)
            return status.error();
    }
    auto names = tables.database_.prepare("SELECT m.name, c.name FROM sqlite_master m, pragma_table_info(m.name) c"
                                          " WHERE m.type = 'table' AND m.sql LIKE 'CREATE TABLE%'");
    if (!names)
        return names.error();
    for (;;) {
        const auto more = names->step();
        if (!more)
            return more.error();
        if (!*more)
            break;
        tables.columns_[names->text(0)].insert(names->text(1));
    }
    if (tables.has("StringIds", "id") && tables.has("StringIds", "value")) {
        auto find = tables.database_.prepare("SELECT value FROM StringIds WHERE id = ?");
        if (!find)
            return find.error();
        tables.findString_ = std::move(*find);
    }
    return tables;
}

bool ExportTables::has(std::string_view table, std::string_view column) const
{
    const auto it = columns_.find(std::string(table));
    return it != columns_.end() && it->second.contains(std::string(column));
}

Status ExportTables::each(
    const std::string& table, std::initializer_list<std::string_view> columns, const RowVisitor& visitor)
{
    if (!has(table))
        return Done{};
    std::string sql = "SELECT ";
    for (const std::string_view column : columns) {
        sql += sql.size() > 7 ? ", " : "";
        sql += has(table, column) ? "\"" + std::string(column) + "\"" : "NULL";
    }
    auto rows = database_.prepare(sql + " FROM \"" + table + "\"");
    if (!rows) {
        damaged_[table] = rows.error().message();
        return Done{};
    }
    for (;;) {
        const auto more = rows->step();
        if (!more) {
            damaged_[table] = more.error().message();
            return Done{};
        }
        if (!*more)
            return Done{};
        if (Status status = visitor(*rows); !status)
            return status;
    }
}

const std::string& ExportTables::string(std::int64_t id)
{
    const auto [it, isNew] = strings_.try_emplace(id);
    if (isNew && findString_) {
        findString_.reset().bind(1, id);
        if (const auto found = findString_.step(); found && *found)
            it->second = findString_.text(0);
    }
    return it->second;
}

std::string ExportTables::textOf(const Statement& row, int textColumn, int idColumn)
{
    if (!row.isNull(textColumn))
        return row.text(textColumn);
    return row.isNull(idColumn) ? std::string() : string(row.integer(idColumn));
}

std::map<std::int64_t, std::string> ExportTables::labels(const std::string& table)
{
    std::map<std::int64_t, std::string> labels;
    static_cast<void>(each(table, { "id", "label" }, [&](const Statement& row) -> Status {
        labels.insert_or_assign(row.integer(0), row.text(1));
        return Done{};
    }));
    return labels;
}

std::int64_t ExportTables::rowsOf(const std::string& table) const
{
    const auto count
        = has(table) ? database_.integer("SELECT count(*) FROM \"" + table + "\"") : Result<std::int64_t>(0);
    return count ? *count : 0;
}

} // namespace rankscope::tracing
