#pragma once

#include "tracing/model/result.h"
#include "tracing/record/clock.h"
#include "tracing/record/ring_layout.h"
#include "tracing/record/session.h"

#include <cstddef>
#include <memory>
#include <string>

namespace rankscope::tracing {

/// A mapped file; unmapped at the end. Move only.
class Mapping {
public:
    Mapping() = default;
    Mapping(void* data, std::size_t bytes)
        : data_(data)
        , bytes_(bytes)
    {
    }
    Mapping(Mapping&& other) noexcept;
    Mapping& operator=(Mapping&& other) noexcept;
    ~Mapping();

    void* data() const { return data_; }
    std::size_t bytes() const { return bytes_; }
    /// Puts private zeroes in its place: after a fork the child's stray writes reach nobody.
    void detach() noexcept;

private:
    void* data_ = nullptr;
    std::size_t bytes_ = 0;
};

struct RingRequest {
    std::string sessionDir;
    std::string fileName; ///< without directory
    std::size_t ringBytes = 4u << 20; ///< of records
    std::int32_t rank = 0;
    std::int32_t worldSize = 1;
    std::int32_t threadId = 0;
    ProcessIdentity process;
    Calibration clock;
};

/// Makes a ring file whose every byte is allocated (touching a hole in a full tmpfs would kill the process with SIGBUS)
/// and gives it its name only when its header stands. Takes at most a sixteenth of what is free, at least 256 KiB;
/// where even that is missing the ring goes to DIR/spill on disk and one line says so.
Result<Mapping> createRing(const RingRequest& request);

} // namespace rankscope::tracing
