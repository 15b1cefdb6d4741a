#pragma once

#include "tracing/model/result.h"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

struct sqlite3;
struct sqlite3_stmt;

namespace rankscope::tracing {

/// A prepared statement. Bind from 1, read columns from 0.
class Statement {
public:
    Statement() = default;
    explicit Statement(sqlite3_stmt* statement);

    /// Ready to be bound and stepped again; ends the read it was in.
    Statement& reset();
    Statement& bind(int index, std::int64_t value);
    Statement& bind(int index, std::int32_t value) { return bind(index, std::int64_t{ value }); }
    Statement& bind(int index, double value);
    Statement& bind(int index, std::string_view text); ///< copied
    Statement& bindBlob(int index, std::string_view bytes); ///< not copied: has to last until the statement has run
    template <typename T> Statement& bind(int index, const std::optional<T>& value)
    {
        return value ? bind(index, *value) : bindNull(index);
    }
    Statement& bindNull(int index);

    /// True: a row is there; false: done.
    Result<bool> step();
    /// Steps to the end and resets; for statements that give no rows.
    Status run();

    bool isNull(int column) const;
    std::int64_t integer(int column) const;
    std::int32_t integer32(int column) const; ///< 0 where the value does not fit: the file is damaged
    double real(int column) const;
    std::string text(int column) const; ///< also of a blob
    std::optional<std::int64_t> optionalInteger(int column) const;
    std::optional<std::int32_t> optionalInteger32(int column) const;
    /// An enum stored as its number; the first value where the number is beyond `last`.
    template <typename Enum> Enum word(int column, Enum last) const
    {
        const std::int64_t value = integer(column);
        return value >= 0 && value <= static_cast<std::int64_t>(last) ? static_cast<Enum>(value) : Enum{};
    }

    sqlite3_stmt* handle() const { return statement_.get(); }
    explicit operator bool() const { return statement_ != nullptr; }

private:
    struct Finalize {
        void operator()(sqlite3_stmt* statement) const noexcept;
    };
    std::unique_ptr<sqlite3_stmt, Finalize> statement_;
};

/// A connection. One thread at a time.
class Database {
public:
    enum class Access { ReadOnly, ReadWrite, Create };
    /// `uri` may be a plain path or a file: URI.
    static Result<Database> open(const std::string& uri, Access access);

    Database() = default;

    Result<Statement> prepare(std::string_view sql) const;
    Status execute(const std::string& sql) const;
    /// One value of a statement without parameters, such as a PRAGMA; 0 if it gives no row.
    Result<std::int64_t> integer(const std::string& sql) const;
    Result<std::string> text(const std::string& sql) const;

    std::int64_t lastRow() const;
    void forgetLastRow() const; ///< lastRow() is 0 until a row is inserted
    Error lastError() const;
    int lastCode() const; ///< extended result code
    bool inTransaction() const;

    sqlite3* handle() const { return database_.get(); }
    explicit operator bool() const { return database_ != nullptr; }

private:
    struct Close {
        void operator()(sqlite3* database) const noexcept;
    };
    std::unique_ptr<sqlite3, Close> database_;
};

/// Prepared statements by their text, which must outlive them: a literal, mostly.
using StatementCache = std::map<std::string_view, Statement>;
/// The cached statement, prepared at its first use.
Result<Statement*> prepareOnce(const Database& database, StatementCache& cache, std::string_view sql);

} // namespace rankscope::tracing
