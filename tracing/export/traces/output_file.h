#pragma once

#include "tracing/model/result.h"

#include <memory>
#include <string>
#include <string_view>

namespace rankscope::tracing {

/// A file that appears under its name only when it is whole: it grows beside it, and goes where it is not finished. A
/// name that ends in .gz is compressed. After an error nothing more is written; finish() then says the first one.
class OutputFile {
public:
    static Result<OutputFile> create(const std::string& path);
    OutputFile(OutputFile&&) noexcept;
    OutputFile& operator=(OutputFile&&) noexcept;
    ~OutputFile();

    void write(std::string_view bytes);
    bool good() const; ///< false: the disk is full, or the like; there is no point in going on
    Status finish();

private:
    struct Impl;
    explicit OutputFile(std::unique_ptr<Impl> impl);
    std::unique_ptr<Impl> impl_;
};

} // namespace rankscope::tracing
