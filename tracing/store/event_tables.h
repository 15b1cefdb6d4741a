#pragma once

#include "tracing/model/rows.h"
#include "tracing/store/sqlite.h"

#include <cstdint>
#include <span>
#include <string_view>

struct sqlite3_context;

namespace rankscope::tracing {

/// Numbers of the tables in column block.kind; never renumber.
enum class BlockKind : std::int32_t {
    Kernel = 1,
    Copy = 2,
    HostCall = 3,
    Collective = 4,
    Bubble = 5,
    Range = 6,
    Counter = 7,
    Match = 8,
};

/// How a row type lies in its table. columns begins with lane and begin (or time); emit() gives column i of a row to
/// SQLite, except the lane, which the span of rows shares; absent() has bit i for each optional column that is empty in
/// all of the rows; read() takes a row whose statement selects columns.
template <typename Row> struct EventTable;

#define RS_EVENT_TABLE(Row, Kind, Table, Columns)                                                                      \
    template <> struct EventTable<Row> {                                                                               \
        static constexpr BlockKind kind = BlockKind::Kind;                                                             \
        static constexpr std::string_view table = Table;                                                               \
        static constexpr std::string_view columns = Columns;                                                           \
        static void emit(const Row& row, int column, sqlite3_context* out);                                            \
        static std::uint32_t absent(std::span<const Row> rows);                                                        \
        static Row read(const Statement& statement);                                                                   \
    }

RS_EVENT_TABLE(
    Kernel, Kernel, "kernel", "lane, begin_ns, duration_ns, signature, cpu_ns, micro_batch, work, correlation");
RS_EVENT_TABLE(Copy, Copy, "copy", "lane, begin_ns, duration_ns, name, bytes, correlation");
RS_EVENT_TABLE(HostCall, HostCall, "host_call", "lane, begin_ns, duration_ns, name, correlation");
RS_EVENT_TABLE(CollectivePart, Collective, "collective",
    "lane, begin_ns, duration_ns, name, op, instance, bytes, peer, micro_batch, cpu_ns, launch_group, correlation");
RS_EVENT_TABLE(Bubble, Bubble, "bubble", "lane, begin_ns, duration_ns, phase, stage, micro_batch, awaited_rank, pass");
RS_EVENT_TABLE(Range, Range, "range", "lane, begin_ns, duration_ns, name, kind, depth, step, micro_batch, cpu_ns");
RS_EVENT_TABLE(CounterSample, Counter, "counter", "lane, time_ns, value");

#undef RS_EVENT_TABLE

/// Columns of table collective_match, as readMatch() takes them.
inline constexpr std::string_view kMatchColumns = "id, communicator, op, sequence, parts_present, parts_expected,"
                                                  " first_entry_ns, last_entry_ns, last_exit_ns, late_rank";
CollectiveMatch readMatch(const Statement& statement);

inline std::int64_t beginOf(const CounterSample& row) { return row.timeNs; }
inline std::int64_t endOf(const CounterSample& row) { return row.timeNs; }
template <typename Row> std::int64_t beginOf(const Row& row) { return row.beginNs; }
/// Never before the begin: that is how such a row is stored.
template <typename Row> std::int64_t endOf(const Row& row) { return row.endNs < row.beginNs ? row.beginNs : row.endNs; }

/// Order of rows in answers: by begin, the longer first, so that a parent stands before its children.
template <typename Row> bool earlier(const Row& a, const Row& b)
{
    return beginOf(a) != beginOf(b) ? beginOf(a) < beginOf(b) : endOf(a) > endOf(b);
}

/// Number of columns in a comma-separated list.
constexpr int columnCount(std::string_view columns)
{
    int count = 1;
    for (const char c : columns)
        count += c == ',';
    return count;
}

} // namespace rankscope::tracing
