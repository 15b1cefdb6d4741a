#pragma once

#include <cstdint>
#include <string>

namespace rankscope::tracing {

inline constexpr std::int32_t kApplicationId = 0x52534442; ///< "RSDB", in PRAGMA application_id
inline constexpr int kSchemaVersion = 3; ///< in PRAGMA user_version; see migration.h

/// Every table, column and view of a run file with meaning and unit, as SQL that creates them. The comments are part of
/// the file: any SQLite client shows them with .schema.
std::string schemaText();

/// The rows that every file begins with: name 0 and signature 0.
std::string firstRowsText();

} // namespace rankscope::tracing
