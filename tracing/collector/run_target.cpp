#include "tracing/collector/run_target.h"

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sys/vfs.h>
#include <unistd.h>

namespace rankscope::tracing {

namespace {

namespace fs = std::filesystem;

std::string notePath(const std::string& sessionDir) { return sessionDir + "/target"; }

Result<std::string> localPath(const std::string& out)
{
    const char* base = std::getenv("TMPDIR");
    std::string dir = std::string(base && *base ? base : "/tmp").append("/rankscope-run-XXXXXX");
    if (!mkdtemp(dir.data()))
        return Error("make a local directory under " + dir + ": set TMPDIR to a writable one");
    return dir.append("/").append(fs::path(out).filename().string());
}

Status writeNote(const std::string& path, const std::string& out, const std::string& work)
{
    const std::string draft = path + ".new";
    std::ofstream file(draft);
    file << out << '\n' << work << '\n';
    file.close();
    if (!file || std::rename(draft.c_str(), path.c_str()) != 0)
        return Error("write " + path + ": the session directory is full or not writable");
    return Done{};
}

} // namespace

std::string networkFileSystemName(long magic)
{
    switch (static_cast<unsigned long>(magic) & 0xffffffff) {
    case 0x6969:
        return "nfs";
    case 0x0bd00bd0:
        return "lustre";
    case 0x47504653:
        return "gpfs";
    case 0x65735546:
        return "fuse"; // sshfs among others; a local fuse loses nothing but the copy at the end
    case 0xff534d42:
    case 0xfe534d42:
        return "smb";
    case 0x00c36400:
        return "ceph";
    case 0x19830326:
        return "beegfs";
    case 0x01021997:
        return "9p";
    default:
        return "";
    }
}

std::string networkFileSystemOf(const std::string& dir)
{
    struct statfs info { };
    return statfs(dir.c_str(), &info) == 0 ? networkFileSystemName(static_cast<long>(info.f_type)) : "";
}

bool RunTarget::isNoted(const std::string& sessionDir, const std::string& out)
{
    std::ifstream note(notePath(sessionDir));
    std::string noted;
    std::error_code error;
    return std::getline(note, noted) && noted == fs::absolute(out, error).string();
}

Result<RunTarget> RunTarget::choose(const std::string& sessionDir, const std::string& out)
{
    RunTarget target;
    std::error_code error;
    target.out_ = fs::absolute(out, error).string();
    std::ifstream note(notePath(sessionDir));
    std::string notedOut, notedWork;
    if (std::getline(note, notedOut) && std::getline(note, notedWork) && notedOut == target.out_) {
        target.work_ = notedWork;
        // Killed before the first byte: nothing to go on with.
        target.isResumed_ = fs::exists(notedWork, error) && fs::file_size(notedWork, error) > 0;
        return target;
    }
    target.work_ = target.out_;
    const std::string dir = fs::path(target.out_).parent_path().string();
    if (const std::string kind = networkFileSystemOf(dir); !kind.empty()) {
        auto local = localPath(target.out_);
        if (!local)
            return local.error();
        target.work_ = *local;
        std::fprintf(stderr,
            "rankscope: %s is on %s, where a growing run file does not work: recording to %s, copied at the end\n",
            target.out_.c_str(), kind.c_str(), target.work_.c_str());
    }
    if (const Status noted = writeNote(notePath(sessionDir), target.out_, target.work_); !noted)
        return noted.error();
    return target;
}

Status RunTarget::deliver() const
{
    if (!isLocalCopy())
        return Done{};
    // Under another name first: whoever opens the run finds it whole or not at all.
    const std::string draft = out_ + ".part";
    std::error_code error;
    fs::copy_file(work_, draft, fs::copy_options::overwrite_existing, error);
    if (!error)
        fs::rename(draft, out_, error);
    if (error)
        return Error("copy " + work_ + " to " + out_ + ": " + error.message() + "; the run stays at the first place");
    fs::remove_all(fs::path(work_).parent_path(), error);
    return Done{};
}

} // namespace rankscope::tracing
