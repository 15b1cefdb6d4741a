#include "tests/support/temporary_directory.h"

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

namespace fs = std::filesystem;

namespace rankscope::support {

TemporaryDirectory::TemporaryDirectory(const fs::path& parent)
{
    std::string name = ((parent.empty() ? fs::temp_directory_path() : parent) / "rankscope_test_XXXXXX").string();
    if (!mkdtemp(name.data())) {
        std::perror(name.c_str());
        std::abort();
    }
    path_ = name;
}

TemporaryDirectory::~TemporaryDirectory()
{
    std::error_code ignored;
    fs::remove_all(path_, ignored);
}

fs::path TemporaryDirectory::write(std::string_view name, std::string_view text) const
{
    const auto file = path_ / name;
    fs::create_directories(file.parent_path());
    std::ofstream(file, std::ios::binary) << text;
    return file;
}

std::string readText(const fs::path& path)
{
    std::ifstream file(path, std::ios::binary);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

} // namespace rankscope::support
