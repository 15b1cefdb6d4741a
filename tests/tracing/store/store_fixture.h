#pragma once

#include "tracing/model/rows.h"
#include "tracing/store/trace_reader.h"
#include "tracing/store/trace_writer.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <limits>
#include <span>
#include <string>
#include <unistd.h>
#include <vector>

namespace rankscope::tracing {

/// Everything that has a length; what ends at the last moment of all is beyond any run.
inline constexpr Window kAlways{ std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max() };

/// A folder for the test's file, gone afterwards.
class StoreTest : public testing::Test {
protected:
    StoreTest()
        : folder_(std::filesystem::temp_directory_path()
            / ("rankscope_store_" + std::to_string(::getpid()) + "_"
                + testing::UnitTest::GetInstance()->current_test_info()->name()))
        , path_((folder_ / "run.rsdb").string())
    {
        std::filesystem::create_directories(folder_);
    }
    ~StoreTest() override { std::filesystem::remove_all(folder_); }

    TraceWriter create() { return std::move(*TraceWriter::open(path_, TraceWriter::Mode::CreateNew)); }
    TraceReader read() { return std::move(*TraceReader::open(path_)); }

    std::filesystem::path folder_;
    std::string path_;
};

/// Why something failed; "" if it did not.
template <typename T> std::string why(const Result<T>& result) { return result ? "" : result.error().message(); }

inline LaneId computeLane(TraceWriter& writer, int rank = 0)
{
    return *writer.lane({ {}, rank, LaneKind::Compute, Dimension::None, "compute", "" });
}

inline Kernel kernelAt(std::int64_t beginNs, std::int64_t endNs)
{
    Kernel kernel;
    kernel.beginNs = beginNs;
    kernel.endNs = endNs;
    return kernel;
}

inline std::vector<std::int64_t> beginsOf(const std::vector<Kernel>& kernels)
{
    std::vector<std::int64_t> begins;
    for (const Kernel& kernel : kernels)
        begins.push_back(kernel.beginNs);
    return begins;
}

} // namespace rankscope::tracing
