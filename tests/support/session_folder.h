#pragma once

#include "tracing/record/facts_file.h"
#include "tracing/record/ring_file.h"

#include <algorithm>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <sys/mman.h>
#include <unistd.h>
#include <vector>

namespace rankscope::tracing {

/// A session directory of one test, removed at its end, and what lies in it.
class SessionFolder {
public:
    SessionFolder()
    {
        std::string pattern = (std::filesystem::temp_directory_path() / "rankscope-test-XXXXXX").string();
        path_ = mkdtemp(pattern.data());
    }
    ~SessionFolder() { std::filesystem::remove_all(path_); }
    SessionFolder(const SessionFolder&) = delete;
    SessionFolder& operator=(const SessionFolder&) = delete;

    const std::string& path() const { return path_; }

    std::vector<std::string> files(const std::string& suffix) const
    {
        std::vector<std::string> result;
        for (const auto& entry : std::filesystem::directory_iterator(path_)) {
            if (entry.path().string().ends_with(suffix))
                result.push_back(entry.path().string());
        }
        std::sort(result.begin(), result.end());
        return result;
    }

private:
    std::string path_;
};

/// A ring as the collector would map it.
class RingView {
public:
    explicit RingView(const std::string& path)
    {
        const int file = open(path.c_str(), O_RDWR | O_CLOEXEC);
        const auto bytes = static_cast<std::size_t>(std::filesystem::file_size(path));
        mapping_ = Mapping(mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0), bytes);
        close(file);
    }

    RingHeader& header() { return *static_cast<RingHeader*>(mapping_.data()); }
    const Record& record(std::uint64_t number)
    {
        const auto* records
            = reinterpret_cast<const Record*>(static_cast<const char*>(mapping_.data()) + sizeof(RingHeader));
        return records[number % header().capacity];
    }
    std::uint64_t head() { return header().head.load(std::memory_order_acquire); }

private:
    Mapping mapping_;
};

inline std::string readFile(const std::string& path)
{
    std::ifstream file(path, std::ios::binary);
    return { std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>() };
}

} // namespace rankscope::tracing
