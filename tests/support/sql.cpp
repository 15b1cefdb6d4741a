#include "tests/support/sql.h"

#include <memory>
#include <sqlite3.h>

namespace rankscope::support {

std::string sql(const std::filesystem::path& database, const std::string& statement)
{
    sqlite3* handle = nullptr;
    sqlite3_open_v2(database.c_str(), &handle, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, nullptr);
    const std::unique_ptr<sqlite3, decltype(&sqlite3_close)> connection(handle, sqlite3_close);
    sqlite3_busy_timeout(handle, 10'000);

    sqlite3_stmt* raw = nullptr;
    int code = sqlite3_prepare_v2(handle, statement.c_str(), -1, &raw, nullptr);
    const std::unique_ptr<sqlite3_stmt, decltype(&sqlite3_finalize)> prepared(raw, sqlite3_finalize);
    std::string first;
    bool haveFirst = false;
    while (code == SQLITE_OK || code == SQLITE_ROW) {
        code = sqlite3_step(raw);
        if (code == SQLITE_ROW && !haveFirst) {
            const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(raw, 0));
            first = text ? text : "";
            haveFirst = true;
        }
    }
    return code == SQLITE_DONE ? first : std::string("error: ") + sqlite3_errmsg(handle);
}

} // namespace rankscope::support
