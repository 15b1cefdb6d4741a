#include "tracing/store/migration.h"

#include "tracing/store/schema.h"

#include <array>
#include <string>

namespace rankscope::tracing {

namespace {

constexpr std::array<std::string_view, 2> kMigrations{
    "CREATE TABLE failure (attempt INTEGER PRIMARY KEY, detected_ns INTEGER, reason TEXT, ranks TEXT, "
    "reformed_ns INTEGER, restored_step INTEGER)",
    "ALTER TABLE signature ADD COLUMN redundant_flop INTEGER; "
    "CREATE TABLE link (sender INTEGER NOT NULL, receiver INTEGER NOT NULL, latency_ns INTEGER NOT NULL, "
    "bytes_per_second INTEGER NOT NULL, PRIMARY KEY (sender, receiver)) WITHOUT ROWID",
};

} // namespace

static_assert(kSchemaVersion == kMigrations.size() + 1, "each version after the first adds its step to migrations()");

std::span<const std::string_view> migrations() { return kMigrations; }

Status migrate(const Database& database, std::span<const std::string_view> steps)
{
    if (auto begun = database.execute("BEGIN IMMEDIATE"); !begun)
        return begun;
    // Asked inside the transaction: another process may have migrated in between.
    auto version = database.integer("PRAGMA user_version");
    if (!version)
        return version.error();
    for (auto done = static_cast<std::size_t>(*version); done < steps.size() + 1; ++done) {
        const std::string sql(steps[done - 1]);
        if (auto applied = database.execute(sql + "; PRAGMA user_version = " + std::to_string(done + 1)); !applied) {
            const Error error = applied.error().in("migrate from schema " + std::to_string(done));
            static_cast<void>(database.execute("ROLLBACK"));
            return error;
        }
    }
    return database.execute("COMMIT");
}

} // namespace rankscope::tracing
