#include "tests/fuzz/fuzz_input.h"

/// libFuzzer's entry; RS_FUZZ_FORMAT names the reader.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    rankscope::tracing::readFuzzed(RS_FUZZ_FORMAT, data, size);
    return 0;
}
