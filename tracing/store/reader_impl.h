#pragma once

#include "tracing/store/blocks.h"
#include "tracing/store/sqlite.h"
#include "tracing/store/trace_reader.h"

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace rankscope::tracing {

/// What an authorizer allows on a connection.
enum class Permission {
    Analysis, ///< everything but the injected faults
    Person, ///< a SELECT of whatever kind; nothing that writes, opens or loads something
};

/// Puts the connection under the authorizer; the value is read at each prepare and must outlive the connection.
void guard(const Database& database, const Permission& permission);

struct TraceReader::Impl {
    explicit Impl(std::string filePath)
        : path(std::move(filePath))
    {
    }

    struct CachedIndex {
        BlockIndex index;
        std::int64_t version = -1; ///< of the data when it was read
    };

    std::string path;
    Permission permission = Permission::Analysis; ///< before database, which reads it
    bool sqlFailedOnFile = false;
    Database database;
    StatementCache statements; ///< by their text: literals
    std::map<std::pair<std::int32_t, BlockKind>, CachedIndex> indexes;
    std::int64_t version = 0; ///< of the data, over connections
    std::int64_t seenVersion = 0; ///< SQLite's, of this connection
    std::optional<std::chrono::steady_clock::time_point>
        settlesUntil; ///< the writer wants to be alone: hold on to nothing

    Error error(const Error& reason) const { return reason.in("read " + path); }
    Status connect();
    void disconnect();
    Result<Statement*> statement(std::string_view sql);
    Status noteVersion();
    Status noteFinish();
    Result<const BlockIndex*> index(LaneId lane, BlockKind kind);

    /// Runs body, which gives a Result, inside one read transaction.
    template <typename T, typename Body> Result<T> inSnapshot(Body body)
    {
        if (auto begun = beginSnapshot(); !begun)
            return begun.error();
        Result<T> result = body();
        endSnapshot();
        if (!result)
            return error(result.error());
        return result;
    }
    Status beginSnapshot();
    void endSnapshot();

    /// One value for each row of a query without parameters, or with those that bind sets.
    template <typename T, typename Read> Result<std::vector<T>> list(std::string_view sql, Read read)
    {
        return inSnapshot<std::vector<T>>([&] { return rows<T>(sql, read); });
    }
    template <typename T, typename Read> Result<std::vector<T>> rows(std::string_view sql, Read read)
    {
        auto query = statement(sql);
        if (!query)
            return query.error();
        (*query)->reset();
        return restOf<T>(**query, read);
    }
    template <typename T, typename Read> static Result<std::vector<T>> restOf(Statement& query, Read read)
    {
        std::vector<T> values;
        for (;;) {
            auto row = query.step();
            if (!row)
                return row.error();
            if (!*row)
                break;
            values.push_back(read(query));
        }
        query.reset();
        return values;
    }

    template <typename Row> Status readBlocks(std::span<const Block> blocks, Window window, std::vector<Row>& out);
    template <typename Row> Result<std::vector<Row>> rowsOf(LaneId lane, Window window);
    template <typename Row>
    Status visit(LaneId lane, Window window, const std::function<bool(std::span<const Row>)>& visitor);
    Result<std::vector<CollectivePart>> partsOf(InstanceId instance);
    Result<std::vector<LaneId>> lanesOfMembers(std::string_view members);
};

} // namespace rankscope::tracing
