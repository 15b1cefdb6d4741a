#pragma once

namespace rankscope::backend {

/// Says which rank failed in which call, where and why, and ends the whole job: a rank alone would leave the others
/// waiting.
[[noreturn]] void mpiFailed(int code, const char* call, const char* file, int line);

} // namespace rankscope::backend

#define RS_MPI(call)                                                                                                   \
    do {                                                                                                               \
        if (const int rsMpiCode = (call); rsMpiCode != MPI_SUCCESS) [[unlikely]]                                       \
            ::rankscope::backend::mpiFailed(rsMpiCode, #call, __FILE__, __LINE__);                                     \
    } while (false)
