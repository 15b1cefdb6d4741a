#include "tracing/store/sqlite.h"

#include <sqlite3.h>

#include <utility>

namespace rankscope::tracing {

namespace {

/// SQLite's reason on one line; the system's own where it has one.
Error errorOf(sqlite3* database)
{
    std::string text = sqlite3_errmsg(database);
    for (char& c : text) {
        if (c == '\n')
            c = ' ';
    }
    return Error(text);
}

std::int32_t narrowed(std::int64_t value)
{
    return std::in_range<std::int32_t>(value) ? static_cast<std::int32_t>(value) : 0;
}

} // namespace

Statement::Statement(sqlite3_stmt* statement)
    : statement_(statement)
{
}

void Statement::Finalize::operator()(sqlite3_stmt* statement) const noexcept { sqlite3_finalize(statement); }

Statement& Statement::reset()
{
    sqlite3_reset(handle());
    return *this;
}

Statement& Statement::bind(int index, std::int64_t value)
{
    sqlite3_bind_int64(handle(), index, value);
    return *this;
}

Statement& Statement::bind(int index, double value)
{
    sqlite3_bind_double(handle(), index, value);
    return *this;
}

Statement& Statement::bind(int index, std::string_view text)
{
    sqlite3_bind_text64(handle(), index, text.data() ? text.data() : "", text.size(), SQLITE_TRANSIENT, SQLITE_UTF8);
    return *this;
}

Statement& Statement::bindBlob(int index, std::string_view bytes)
{
    sqlite3_bind_blob64(handle(), index, bytes.data() ? bytes.data() : "", bytes.size(), SQLITE_STATIC);
    return *this;
}

Statement& Statement::bindNull(int index)
{
    sqlite3_bind_null(handle(), index);
    return *this;
}

Result<bool> Statement::step()
{
    const int code = sqlite3_step(handle());
    if (code == SQLITE_ROW)
        return true;
    if (code == SQLITE_DONE)
        return false;
    Error error = errorOf(sqlite3_db_handle(handle()));
    sqlite3_reset(handle());
    return error;
}

Status Statement::run()
{
    for (;;) {
        auto row = step();
        if (!row)
            return row.error();
        if (!*row)
            break;
    }
    sqlite3_reset(handle());
    return Done{};
}

bool Statement::isNull(int column) const { return sqlite3_column_type(handle(), column) == SQLITE_NULL; }

std::int64_t Statement::integer(int column) const { return sqlite3_column_int64(handle(), column); }

std::int32_t Statement::integer32(int column) const { return narrowed(integer(column)); }

double Statement::real(int column) const { return sqlite3_column_double(handle(), column); }

std::string Statement::text(int column) const
{
    const void* bytes = sqlite3_column_blob(handle(), column);
    const int size = sqlite3_column_bytes(handle(), column);
    return bytes ? std::string(static_cast<const char*>(bytes), static_cast<std::size_t>(size)) : std::string();
}

std::optional<std::int64_t> Statement::optionalInteger(int column) const
{
    // Asked for once: to find a column costs more than to read its type and its value.
    sqlite3_value* value = sqlite3_column_value(handle(), column);
    if (sqlite3_value_type(value) == SQLITE_NULL)
        return std::nullopt;
    return sqlite3_value_int64(value);
}

std::optional<std::int32_t> Statement::optionalInteger32(int column) const
{
    const auto value = optionalInteger(column);
    return value ? std::optional(narrowed(*value)) : std::nullopt;
}

Result<Database> Database::open(const std::string& uri, Access access)
{
    int flags = SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;
    flags |= access == Access::ReadOnly ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE;
    if (access == Access::Create)
        flags |= SQLITE_OPEN_CREATE;
    sqlite3* handle = nullptr;
    const int code = sqlite3_open_v2(uri.c_str(), &handle, flags, nullptr);
    Database database;
    database.database_.reset(handle);
    if (code != SQLITE_OK)
        return handle ? errorOf(handle) : Error("out of memory");
    sqlite3_busy_timeout(handle, 2000);
    return database;
}

void Database::Close::operator()(sqlite3* database) const noexcept { sqlite3_close_v2(database); }

Result<Statement> Database::prepare(std::string_view sql) const
{
    sqlite3_stmt* statement = nullptr;
    const int code = sqlite3_prepare_v3(
        handle(), sql.data(), static_cast<int>(sql.size()), SQLITE_PREPARE_PERSISTENT, &statement, nullptr);
    if (code != SQLITE_OK)
        return lastError();
    return Statement(statement);
}

Status Database::execute(const std::string& sql) const
{
    if (sqlite3_exec(handle(), sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK)
        return lastError();
    return Done{};
}

Result<std::int64_t> Database::integer(const std::string& sql) const
{
    auto statement = prepare(sql);
    if (!statement)
        return statement.error();
    auto row = statement->step();
    if (!row)
        return row.error();
    return *row ? statement->integer(0) : 0;
}

Result<std::string> Database::text(const std::string& sql) const
{
    auto statement = prepare(sql);
    if (!statement)
        return statement.error();
    auto row = statement->step();
    if (!row)
        return row.error();
    return *row ? statement->text(0) : std::string();
}

std::int64_t Database::lastRow() const { return sqlite3_last_insert_rowid(handle()); }

void Database::forgetLastRow() const { sqlite3_set_last_insert_rowid(handle(), 0); }

Error Database::lastError() const { return errorOf(handle()); }

int Database::lastCode() const { return sqlite3_extended_errcode(handle()); }

bool Database::inTransaction() const { return sqlite3_get_autocommit(handle()) == 0; }

Result<Statement*> prepareOnce(const Database& database, StatementCache& cache, std::string_view sql)
{
    Statement& cached = cache[sql];
    if (!cached) {
        auto prepared = database.prepare(sql);
        if (!prepared)
            return prepared.error();
        cached = std::move(*prepared);
    }
    return &cached;
}

} // namespace rankscope::tracing
