#pragma once

#include <filesystem>
#include <string>

namespace rankscope::support {

/// Opens a database past the store, to damage it or to look at it as any SQLite client would, and runs one statement.
/// Gives the first column of the first row ("" without rows), or "error: ..." with SQLite's words.
std::string sql(const std::filesystem::path& database, const std::string& statement);

} // namespace rankscope::support
