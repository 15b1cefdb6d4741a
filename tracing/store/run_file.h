#pragma once

#include "tracing/model/result.h"
#include "tracing/store/sqlite.h"

#include <string>

namespace rankscope::tracing {

/// What the file system says about a run file, without opening it: closing a descriptor of our own would drop the locks
/// that SQLite holds for this process.
struct FilePlace {
    bool folderWritable = true;
    bool walHasContent = false; ///< run.rsdb-wal exists and is not empty
    bool walIndexExists = false; ///< run.rsdb-shm exists: somebody has it open
};

FilePlace lookAt(const std::string& path);

/// How to open a file for reading. SQLite needs to write beside a file in WAL mode; where it cannot, a finished file is
/// opened as immutable, and one that was not finished is refused with what to do.
Result<std::string> readingUri(const std::string& path, const FilePlace& place);

/// "file:" URI of a path.
std::string uriOf(const std::string& path, const std::string& parameters = {});

/// A regular file that is not empty, or why not.
Status checkFile(const std::string& path);

/// Version of the schema of an open database; an error where it is none of ours or newer than this program.
Result<int> checkSchema(const Database& database);

/// Opens a run file for reading, migrates it first where it is older.
Result<Database> openForReading(const std::string& path);

/// Makes an empty run file in WAL mode.
Result<Database> createRunFile(const std::string& path);

/// Opens a run file to go on writing, in WAL mode and migrated.
Result<Database> openForWriting(const std::string& path);

/// Removes a run file and what SQLite left beside it. Refuses a file that is something else.
Status removeRunFile(const std::string& path);

} // namespace rankscope::tracing
