#include "tracing/store/event_tables.h"

#include <sqlite3.h>

#include <limits>
#include <type_traits>

namespace rankscope::tracing {

namespace {

template <typename T> void give(sqlite3_context* out, T value)
{
    if constexpr (std::is_enum_v<T>)
        sqlite3_result_int64(out, static_cast<std::int64_t>(value));
    else if constexpr (std::is_floating_point_v<T>)
        sqlite3_result_double(out, value);
    else
        sqlite3_result_int64(out, value);
}

// An unset result is NULL.
template <typename T> void give(sqlite3_context* out, const std::optional<T>& value)
{
    if (value)
        give(out, *value);
}

template <typename Row> Row readSpan(const Statement& statement)
{
    Row row;
    row.lane = LaneId{ statement.integer32(0) };
    row.beginNs = statement.integer(1);
    // A damaged file may hold anything; adding must not overflow.
    if (__builtin_add_overflow(row.beginNs, statement.integer(2), &row.endNs) || row.endNs < row.beginNs)
        row.endNs = row.beginNs;
    return row;
}

NameId nameAt(const Statement& statement, int column) { return NameId{ statement.integer32(column) }; }

} // namespace

// Column 1 and 2 of every span; the others are its own.
#define RS_GIVE_SPAN                                                                                                   \
    case 1:                                                                                                            \
        return give(out, row.beginNs);                                                                                 \
    case 2:                                                                                                            \
        return give(out, endOf(row) - row.beginNs)
#define RS_GIVE(column, value)                                                                                         \
    case column:                                                                                                       \
        return give(out, row.value)

void EventTable<Kernel>::emit(const Kernel& row, int column, sqlite3_context* out)
{
    switch (column) {
        RS_GIVE_SPAN;
        RS_GIVE(3, signature);
        RS_GIVE(4, cpuNs);
        RS_GIVE(5, microBatch);
        RS_GIVE(6, work);
        RS_GIVE(7, correlation);
    }
}

Kernel EventTable<Kernel>::read(const Statement& statement)
{
    Kernel row = readSpan<Kernel>(statement);
    row.signature = SignatureId{ statement.integer32(3) };
    row.cpuNs = statement.optionalInteger(4);
    row.microBatch = statement.optionalInteger32(5);
    row.work = statement.optionalInteger(6);
    row.correlation = statement.optionalInteger(7);
    return row;
}

void EventTable<Copy>::emit(const Copy& row, int column, sqlite3_context* out)
{
    switch (column) {
        RS_GIVE_SPAN;
        RS_GIVE(3, name);
        RS_GIVE(4, bytes);
        RS_GIVE(5, correlation);
    }
}

Copy EventTable<Copy>::read(const Statement& statement)
{
    Copy row = readSpan<Copy>(statement);
    row.name = nameAt(statement, 3);
    row.bytes = statement.optionalInteger(4);
    row.correlation = statement.optionalInteger(5);
    return row;
}

void EventTable<HostCall>::emit(const HostCall& row, int column, sqlite3_context* out)
{
    switch (column) {
        RS_GIVE_SPAN;
        RS_GIVE(3, name);
        RS_GIVE(4, correlation);
    }
}

HostCall EventTable<HostCall>::read(const Statement& statement)
{
    HostCall row = readSpan<HostCall>(statement);
    row.name = nameAt(statement, 3);
    row.correlation = statement.optionalInteger(4);
    return row;
}

void EventTable<CollectivePart>::emit(const CollectivePart& row, int column, sqlite3_context* out)
{
    switch (column) {
        RS_GIVE_SPAN;
        RS_GIVE(3, name);
        RS_GIVE(4, op);
        RS_GIVE(5, instance);
        RS_GIVE(6, bytes);
        RS_GIVE(7, peer);
        RS_GIVE(8, microBatch);
        RS_GIVE(9, cpuNs);
        RS_GIVE(10, launchGroup);
        RS_GIVE(11, correlation);
    }
}

CollectivePart EventTable<CollectivePart>::read(const Statement& statement)
{
    CollectivePart row = readSpan<CollectivePart>(statement);
    row.name = nameAt(statement, 3);
    row.op = statement.word(4, CollectiveOp::Receive);
    row.instance = InstanceId{ statement.integer(5) };
    row.bytes = statement.integer(6);
    row.peer = statement.optionalInteger32(7);
    row.microBatch = statement.optionalInteger32(8);
    row.cpuNs = statement.optionalInteger(9);
    row.launchGroup = statement.optionalInteger(10);
    row.correlation = statement.optionalInteger(11);
    return row;
}

void EventTable<Bubble>::emit(const Bubble& row, int column, sqlite3_context* out)
{
    switch (column) {
        RS_GIVE_SPAN;
        RS_GIVE(3, phase);
        RS_GIVE(4, stage);
        RS_GIVE(5, microBatch);
        RS_GIVE(6, awaitedRank);
        RS_GIVE(7, pass);
    }
}

Bubble EventTable<Bubble>::read(const Statement& statement)
{
    Bubble row = readSpan<Bubble>(statement);
    row.phase = statement.word(3, BubblePhase::Drain);
    row.stage = statement.integer32(4);
    row.microBatch = statement.optionalInteger32(5);
    row.awaitedRank = statement.optionalInteger32(6);
    row.pass = statement.word(7, Pass::Optimizer);
    return row;
}

void EventTable<Range>::emit(const Range& row, int column, sqlite3_context* out)
{
    switch (column) {
        RS_GIVE_SPAN;
        RS_GIVE(3, name);
        RS_GIVE(4, kind);
        RS_GIVE(5, depth);
        RS_GIVE(6, step);
        RS_GIVE(7, microBatch);
        RS_GIVE(8, cpuNs);
    }
}

Range EventTable<Range>::read(const Statement& statement)
{
    Range row = readSpan<Range>(statement);
    row.name = nameAt(statement, 3);
    row.kind = statement.word(4, RangeKind::Recovery);
    row.depth = statement.integer32(5);
    row.step = statement.optionalInteger(6);
    row.microBatch = statement.optionalInteger32(7);
    row.cpuNs = statement.optionalInteger(8);
    return row;
}

void EventTable<CounterSample>::emit(const CounterSample& row, int column, sqlite3_context* out)
{
    switch (column) {
        RS_GIVE(1, timeNs);
        RS_GIVE(2, value);
    }
}

CounterSample EventTable<CounterSample>::read(const Statement& statement)
{
    // SQLite stores a NaN as NULL.
    const double value = statement.isNull(2) ? std::numeric_limits<double>::quiet_NaN() : statement.real(2);
    return { LaneId{ statement.integer32(0) }, statement.integer(1), value };
}

CollectiveMatch readMatch(const Statement& statement)
{
    CollectiveMatch match;
    match.id = InstanceId{ statement.integer(0) };
    match.communicator = CommunicatorId{ statement.integer32(1) };
    match.op = statement.word(2, CollectiveOp::Receive);
    match.sequence = statement.integer(3);
    match.partsPresent = statement.integer32(4);
    match.partsExpected = statement.integer32(5);
    match.firstEntryNs = statement.integer(6);
    match.lastEntryNs = statement.integer(7);
    match.lastExitNs = statement.integer(8);
    match.lateRank = statement.optionalInteger32(9);
    return match;
}

} // namespace rankscope::tracing
