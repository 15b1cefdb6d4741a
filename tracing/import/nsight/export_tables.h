#pragma once

#include "tracing/store/sqlite.h"

#include <functional>
#include <initializer_list>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>

namespace rankscope::tracing {

/// The tables of an Nsight Systems SQLite export. The schema changes with every release and tables exist only where
/// they have rows, so each one is looked up first: what is absent reads as NULL.
class ExportTables {
public:
    /// Opens the file for reading alone, whatever lies beside it.
    static Result<ExportTables> open(const std::string& path);

    bool has(std::string_view table) const { return columns_.contains(std::string(table)); }
    bool has(std::string_view table, std::string_view column) const;

    using RowVisitor = std::function<Status(const Statement& row)>;
    /// Hands out all rows of a table with these columns in this order. No table: no row. Where the file is damaged the
    /// rows before it are handed out and `damaged()` tells; an error is the visitor's own.
    Status each(const std::string& table, std::initializer_list<std::string_view> columns, const RowVisitor& visitor);

    /// Text of a StringIds row; "" where there is none. Valid until the next call.
    const std::string& string(std::int64_t id);
    /// A column that holds its text itself, or the number of one.
    std::string textOf(const Statement& row, int textColumn, int idColumn);

    /// Labels of an ENUM_ table by number.
    std::map<std::int64_t, std::string> labels(const std::string& table);

    std::int64_t rowsOf(const std::string& table) const; ///< 0 where it is absent or damaged
    const std::map<std::string, std::string>& damaged() const { return damaged_; } ///< table and what SQLite says

private:
    Database database_;
    std::map<std::string, std::set<std::string>> columns_;
    Statement findString_;
    std::unordered_map<std::int64_t, std::string> strings_;
    std::map<std::string, std::string> damaged_;
};

/// Nsight's "serialized GlobalId": machine from bit 48 on, 24 bits of process, 24 bits of thread.
constexpr std::int64_t processOf(std::int64_t globalTid) { return globalTid & ~std::int64_t{ 0xFFFFFF }; }
constexpr std::int32_t pidOf(std::int64_t globalTid) { return static_cast<std::int32_t>((globalTid >> 24) & 0xFFFFFF); }
constexpr std::int32_t tidOf(std::int64_t globalTid) { return static_cast<std::int32_t>(globalTid & 0xFFFFFF); }
constexpr std::int64_t machineOf(std::int64_t globalTid) { return globalTid >> 48; }

} // namespace rankscope::tracing
