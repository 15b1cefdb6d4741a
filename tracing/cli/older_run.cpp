#include "tracing/cli/older_run.h"

#include <fmt/format.h>

#include <array>
#include <system_error>
#include <utility>

namespace rankscope::tracing {

namespace {

namespace fs = std::filesystem;

/// A file that is not finished has its log beside it.
constexpr std::array kSuffixes{ "", "-wal", "-shm" };

fs::path with(const fs::path& path, const char* suffix) { return path.string() + suffix; }

void removeRun(const fs::path& path)
{
    std::error_code ignored;
    for (const char* suffix : kSuffixes)
        fs::remove(with(path, suffix), ignored);
}

} // namespace

OlderRun::OlderRun(fs::path out)
    : out_(std::move(out))
    , aside_(out_.string() + ".before")
{
}

OlderRun::OlderRun(OlderRun&& other) noexcept
    : out_(std::move(other.out_))
    , aside_(std::move(other.aside_))
    , isWaiting_(std::exchange(other.isWaiting_, false))
{
}

OlderRun::~OlderRun() { putBack(); }

Result<OlderRun> OlderRun::setAside(const fs::path& out)
{
    OlderRun older(out);
    std::error_code error;
    if (!fs::exists(out, error))
        return older;
    removeRun(older.aside_);
    fs::rename(out, older.aside_, error);
    if (error)
        return Error(fmt::format("--out {}: cannot be replaced: {}", out.string(), error.message()));
    older.isWaiting_ = true;
    for (const char* suffix : { "-wal", "-shm" })
        fs::rename(with(out, suffix), with(older.aside_, suffix), error); // mostly there is none
    return older;
}

void OlderRun::putBack()
{
    if (!std::exchange(isWaiting_, false))
        return;
    removeRun(out_);
    std::error_code ignored;
    for (const char* suffix : kSuffixes)
        fs::rename(with(aside_, suffix), with(out_, suffix), ignored);
}

void OlderRun::drop()
{
    if (std::exchange(isWaiting_, false))
        removeRun(aside_);
}

} // namespace rankscope::tracing
