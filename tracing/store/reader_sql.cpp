#include "tracing/store/reader_impl.h"
#include "tracing/store/run_file.h"

#include <sqlite3.h>

#include <algorithm>
#include <array>

namespace rankscope::tracing {

namespace {

constexpr std::string_view kHiddenTable = "fault_injection";

/// PRAGMAs that only tell something. Those of the second list set something when they get a value.
constexpr std::array<std::string_view, 11> kTellingPragmas{ "table_info", "table_xinfo", "table_list", "index_list",
    "index_info", "integrity_check", "quick_check", "database_list", "function_list", "compile_options",
    "data_version" };
constexpr std::array<std::string_view, 7> kPragmasWithoutValue{ "user_version", "application_id", "page_count",
    "page_size", "freelist_count", "journal_mode", "encoding" };

template <typename List> bool contains(const List& list, std::string_view word)
{
    return std::find(list.begin(), list.end(), word) != list.end();
}

int allowToPerson(int action, std::string_view first, bool hasValue)
{
    switch (action) {
    case SQLITE_SELECT:
    case SQLITE_READ:
    case SQLITE_RECURSIVE:
    case SQLITE_FUNCTION:
        return SQLITE_OK;
    case SQLITE_PRAGMA:
        return contains(kTellingPragmas, first) || (contains(kPragmasWithoutValue, first) && !hasValue) ? SQLITE_OK
                                                                                                        : SQLITE_DENY;
    default:
        return SQLITE_DENY;
    }
}

int authorize(void* permission, int action, const char* first, const char* second, const char*, const char*)
{
    const std::string_view name = first ? first : "";
    if (action == SQLITE_READ && name == kHiddenTable)
        return SQLITE_DENY;
    if (action == SQLITE_FUNCTION && second && std::string_view(second) == "load_extension")
        return SQLITE_DENY;
    if (*static_cast<const Permission*>(permission) == Permission::Analysis)
        return SQLITE_OK;
    return allowToPerson(action, name, second != nullptr);
}

TraceReader::SqlType typeOf(sqlite3_stmt* query, int column)
{
    switch (sqlite3_column_type(query, column)) {
    case SQLITE_INTEGER:
        return TraceReader::SqlType::Integer;
    case SQLITE_FLOAT:
        return TraceReader::SqlType::Real;
    case SQLITE_BLOB:
        return TraceReader::SqlType::Blob;
    case SQLITE_NULL:
        return TraceReader::SqlType::Null;
    default:
        return TraceReader::SqlType::Text;
    }
}

std::string literalOf(std::string_view blob)
{
    constexpr std::string_view kDigits = "0123456789ABCDEF";
    std::string literal = "X'";
    for (const char letter : blob) {
        const auto byte = static_cast<unsigned char>(letter);
        literal += { kDigits[byte >> 4U], kDigits[byte & 15U] };
    }
    return literal + "'";
}

std::string textOf(sqlite3_stmt* query, int column, TraceReader::SqlType type)
{
    const auto* bytes = type == TraceReader::SqlType::Blob
        ? static_cast<const char*>(sqlite3_column_blob(query, column))
        : reinterpret_cast<const char*>(sqlite3_column_text(query, column));
    const auto count = static_cast<std::size_t>(sqlite3_column_bytes(query, column));
    const std::string_view value = bytes ? std::string_view(bytes, count) : std::string_view();
    return type == TraceReader::SqlType::Blob ? literalOf(value) : std::string(value);
}

Status handOut(Statement& query, const TraceReader::SqlSink& sink)
{
    const int columns = sqlite3_column_count(query.handle());
    std::vector<std::string> names;
    for (int i = 0; i < columns; ++i)
        names.emplace_back(sqlite3_column_name(query.handle(), i));
    if (sink.header)
        sink.header(names);
    std::vector<std::string> values(names.size());
    std::vector<TraceReader::SqlType> types(names.size());
    for (;;) {
        auto row = query.step();
        if (!row)
            return row.error();
        if (!*row)
            return Done{};
        for (std::size_t i = 0; i < names.size(); ++i) {
            types[i] = typeOf(query.handle(), static_cast<int>(i));
            values[i] = textOf(query.handle(), static_cast<int>(i), types[i]);
        }
        if (sink.row && !sink.row(values, types))
            return Done{};
    }
}

/// White space and comments after the statement are fine; anything else is a second one.
bool isRest(std::string_view text, const Database& database)
{
    sqlite3_stmt* next = nullptr;
    const int code = sqlite3_prepare_v2(database.handle(), text.data(), static_cast<int>(text.size()), &next, nullptr);
    const bool empty = code == SQLITE_OK && next == nullptr;
    sqlite3_finalize(next);
    return empty;
}

Result<Statement> prepareOne(const Database& database, const std::string& text)
{
    sqlite3_stmt* prepared = nullptr;
    const char* rest = nullptr;
    const int code
        = sqlite3_prepare_v2(database.handle(), text.c_str(), static_cast<int>(text.size()), &prepared, &rest);
    Statement query(prepared);
    if (code == SQLITE_AUTH && text.find(kHiddenTable) != std::string::npos)
        return Error("access to " + std::string(kHiddenTable) + " is prohibited");
    if (code == SQLITE_AUTH)
        return Error(database.lastError().message() == "not authorized" ? "only reading is allowed here: write a SELECT"
                                                                        : database.lastError().message());
    if (code != SQLITE_OK)
        return database.lastError();
    if (!query)
        return Error("no statement");
    if (!sqlite3_stmt_readonly(query.handle()))
        return Error("only reading is allowed here: write a SELECT");
    if (!isRest(std::string_view(text).substr(static_cast<std::size_t>(rest - text.c_str())), database))
        return Error("more than one statement; give one at a time");
    return query;
}

/// What no other query would make better.
bool isAboutTheFile(int code)
{
    switch (code & 0xff) { // the rest of an extended code says more closely what happened
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
    case SQLITE_IOERR:
    case SQLITE_CANTOPEN:
    case SQLITE_FORMAT:
    case SQLITE_PROTOCOL:
    case SQLITE_BUSY:
        return true;
    default:
        return false;
    }
}

} // namespace

void guard(const Database& database, const Permission& permission)
{
    sqlite3_set_authorizer(database.handle(), authorize, const_cast<Permission*>(&permission));
}

Status TraceReader::sql(const std::string& text, const SqlSink& sink)
{
    bool asked = false;
    auto done = impl_->inSnapshot<Done>([&]() -> Status {
        asked = true;
        // Not during the call's own BEGIN and COMMIT.
        impl_->permission = Permission::Person;
        auto query = prepareOne(impl_->database, text);
        auto handed = query ? handOut(*query, sink) : Status(query.error());
        impl_->sqlFailedOnFile = !handed && isAboutTheFile(impl_->database.lastCode());
        impl_->permission = Permission::Analysis;
        return handed;
    });
    if (!done && !asked)
        impl_->sqlFailedOnFile = true; // not even its snapshot could be had
    return done;
}

bool TraceReader::sqlFailedOnFile() const { return impl_->sqlFailedOnFile; }

std::optional<std::string> TraceReader::kept(std::string_view analysis, int version, std::string_view key)
{
    auto result = impl_->inSnapshot<std::optional<std::string>>([&]() -> Result<std::optional<std::string>> {
        auto query = impl_->statement("SELECT result FROM ledger WHERE analysis = ? AND key = ? AND version = ?");
        if (!query)
            return query.error();
        auto row = (*query)->reset().bind(1, analysis).bind(2, key).bind(3, version).step();
        if (!row)
            return row.error();
        return *row ? std::optional((*query)->text(0)) : std::nullopt;
    });
    return result ? *result : std::nullopt;
}

void TraceReader::keep(std::string_view analysis, int version, std::string_view key, std::string_view result)
{
    if (!lookAt(impl_->path).folderWritable)
        return;
    auto database = Database::open(uriOf(impl_->path), Database::Access::ReadWrite);
    if (!database)
        return;
    auto insert
        = database->prepare("INSERT OR REPLACE INTO ledger(analysis, key, version, result) VALUES (?, ?, ?, ?)");
    if (insert)
        static_cast<void>(insert->bind(1, analysis).bind(2, key).bind(3, version).bindBlob(4, result).run());
}

} // namespace rankscope::tracing
