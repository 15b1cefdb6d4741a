#pragma once

#include "tests/support/temporary_directory.h"
#include "tracing/model/rows.h"
#include "tracing/store/trace_reader.h"
#include "tracing/store/trace_writer.h"

#include <gtest/gtest.h>

#include <limits>
#include <span>
#include <string>
#include <vector>

namespace rankscope::tracing {

/// Everything that has a length; what ends at the last moment of all is beyond any run.
inline constexpr Window kAlways{ std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max() };

/// A folder for the test's file, gone afterwards.
class StoreTest : public testing::Test {
protected:
    TraceWriter create() { return std::move(*TraceWriter::open(path_, TraceWriter::Mode::CreateNew)); }
    TraceReader read() { return std::move(*TraceReader::open(path_)); }

    support::TemporaryDirectory folder_;
    std::string path_ = (folder_ / "run.rsdb").string();
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
