#include "tracing/store/run_file.h"

#include "tracing/store/migration.h"
#include "tracing/store/schema.h"

#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>

namespace rankscope::tracing {

namespace {

namespace fs = std::filesystem;

/// Pages of 8 KiB: a third less overhead than 4, and a window query does not read too much.
/// Until the first row there is nothing to lose, so nothing waits for the disk.
constexpr std::string_view kCreateSettings = "PRAGMA page_size = 8192; PRAGMA synchronous = OFF;";

/// Nothing is lost when a process dies; when the power fails at most the last moments are, and the file stays whole.
/// Debian's SQLite overwrites deleted content by default, which a trace does not need.
constexpr std::string_view kWriteSettings = "PRAGMA synchronous = NORMAL; PRAGMA secure_delete = OFF;"
                                            "PRAGMA cache_size = -16384; PRAGMA journal_size_limit = 33554432;";

std::string hex(std::int64_t value)
{
    std::array<char, 24> text{};
    std::snprintf(text.data(), text.size(), "0x%08llx", static_cast<unsigned long long>(value) & 0xffffffffULL);
    return text.data();
}

/// Plain words where SQLite's are vague.
Error explained(const Error& error, int code)
{
    switch (code & 0xff) {
    case SQLITE_NOTADB:
        return Error("not a run file (no SQLite database)");
    case SQLITE_CORRUPT:
        return Error("damaged or cut off (" + error.message() + ")");
    default:
        return error;
    }
}

Status migrateWhereOlder(const std::string& path, int version)
{
    if (version == kSchemaVersion)
        return Done{};
    auto database = Database::open(uriOf(path), Database::Access::ReadWrite);
    if (!database)
        return database.error();
    return migrate(*database, migrations());
}

} // namespace

FilePlace lookAt(const std::string& path)
{
    std::error_code ignored;
    const fs::path folder = fs::path(path).has_parent_path() ? fs::path(path).parent_path() : fs::path(".");
    FilePlace place;
    place.folderWritable = ::access(folder.c_str(), W_OK) == 0;
    place.walHasContent = fs::exists(path + "-wal", ignored) && fs::file_size(path + "-wal", ignored) > 0;
    place.walIndexExists = fs::exists(path + "-shm", ignored);
    return place;
}

Result<std::string> readingUri(const std::string& path, const FilePlace& place)
{
    if (place.folderWritable || (place.walHasContent && place.walIndexExists))
        return uriOf(path);
    if (place.walHasContent)
        return Error("the run was not finished and its folder is read only; copy " + path + " and " + path
            + "-wal to a folder that can be written");
    return uriOf(path, "immutable=1");
}

std::string uriOf(const std::string& path, const std::string& parameters)
{
    std::string uri = "file:";
    for (const char c : path) {
        if (c == '%' || c == '?' || c == '#') {
            std::array<char, 4> escaped{};
            std::snprintf(escaped.data(), escaped.size(), "%%%02x", static_cast<unsigned>(c));
            uri += escaped.data();
        } else {
            uri += c;
        }
    }
    return parameters.empty() ? uri : uri + "?" + parameters;
}

Status checkFile(const std::string& path)
{
    struct stat status { };
    if (::stat(path.c_str(), &status) != 0)
        return Error(errno == ENOENT ? "no such file" : std::generic_category().message(errno));
    if (S_ISDIR(status.st_mode))
        return Error("a folder, not a run file");
    if (!S_ISREG(status.st_mode))
        return Error("not a regular file");
    if (status.st_size == 0)
        return Error("an empty file, not a run file");
    // SQLite takes what is shorter than its smallest page for a new database.
    if (status.st_size < 512)
        return Error("not a run file (" + std::to_string(status.st_size) + " bytes)");
    return Done{};
}

Result<int> checkSchema(const Database& database)
{
    auto application = database.integer("PRAGMA application_id");
    if (!application)
        return explained(application.error(), database.lastCode());
    auto version = database.integer("PRAGMA user_version");
    if (!version)
        return explained(version.error(), database.lastCode());
    if (*application != kApplicationId)
        return Error("a database of another program (application_id " + hex(*application) + ", a run file has "
            + hex(kApplicationId) + ")");
    if (*version > kSchemaVersion)
        return Error("schema " + std::to_string(*version) + " is newer than this program's "
            + std::to_string(kSchemaVersion) + "; update Rankscope");
    if (*version < 1)
        return Error("schema " + std::to_string(*version) + " never existed; the file is damaged");
    return static_cast<int>(*version);
}

Result<Database> openForReading(const std::string& path)
{
    if (auto file = checkFile(path); !file)
        return file.error();
    const FilePlace place = lookAt(path);
    auto uri = readingUri(path, place);
    if (!uri)
        return uri.error();
    auto database = Database::open(*uri, Database::Access::ReadOnly);
    if (!database)
        return database.error();
    auto version = checkSchema(*database);
    if (!version && (database->lastCode() & 0xff) == SQLITE_READONLY && place.folderWritable) {
        // A crash in the switch to a single file left a journal, which only a connection that may write can undo.
        auto recovering = Database::open(uriOf(path), Database::Access::ReadWrite);
        if (recovering)
            static_cast<void>(checkSchema(*recovering));
        version = checkSchema(*database);
    }
    if (!version)
        return version.error();
    if (auto migrated = migrateWhereOlder(path, *version); !migrated)
        return migrated.error();
    if (auto set = database->execute("PRAGMA query_only = ON; PRAGMA cache_size = -16384"); !set)
        return set.error();
    return database;
}

Result<Database> createRunFile(const std::string& path)
{
    auto database = Database::open(uriOf(path), Database::Access::Create);
    if (!database)
        return database.error();
    std::string sql(kCreateSettings);
    sql.append("BEGIN IMMEDIATE;").append(schemaText()).append(firstRowsText());
    sql.append("PRAGMA application_id = " + std::to_string(kApplicationId));
    sql.append("; PRAGMA user_version = " + std::to_string(kSchemaVersion) + "; COMMIT;");
    // Only now: so the file itself, and not its WAL, says from the first moment what it is.
    sql.append("PRAGMA journal_mode = WAL;").append(kWriteSettings);
    if (auto made = database->execute(sql); !made)
        return made.error();
    return database;
}

Result<Database> openForWriting(const std::string& path)
{
    if (auto file = checkFile(path); !file)
        return file.error();
    auto database = Database::open(uriOf(path), Database::Access::ReadWrite);
    if (!database)
        return database.error();
    auto version = checkSchema(*database);
    if (!version)
        return version.error();
    if (*version < kSchemaVersion) {
        if (auto migrated = migrate(*database, migrations()); !migrated)
            return migrated.error();
    }
    if (auto set = database->execute("PRAGMA journal_mode = WAL;" + std::string(kWriteSettings)); !set)
        return set.error();
    return database;
}

Status removeRunFile(const std::string& path)
{
    std::error_code unknown;
    if (!fs::is_regular_file(path, unknown))
        return Error("exists and is no file; choose another name");
    // Offset 68 of an SQLite file: the application id, big endian (sqlite.org/fileformat2.html, section 1.3).
    std::array<char, 72> head{};
    std::ifstream(path, std::ios::binary).read(head.data(), head.size());
    const bool isRun
        = std::string_view(head.data(), 15) == "SQLite format 3" && std::string_view(head.data() + 68, 4) == "RSDB";
    if (!isRun && fs::file_size(path, unknown) != 0)
        return Error("exists and is no run file; remove it or choose another name");
    for (const char* suffix : { "", "-wal", "-shm", "-journal" }) {
        std::error_code error;
        fs::remove(path + suffix, error);
        if (error)
            return Error(error.message());
    }
    return Done{};
}

} // namespace rankscope::tracing
