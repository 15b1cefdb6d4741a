#pragma once

namespace rankscope::kernels {

/// What a kernel has to do at least, the two axes of the roofline (Williams et al. 2009).
/// flop: additions and multiplications, each 1, as is a division, square root, exp, log or tanh; no recomputation, no
/// padding. bytes: each input read once, each output written once (and read, where it is accumulated into).
struct KernelCost {
    double flop = 0;
    double bytes = 0;

    KernelCost& operator+=(const KernelCost& other)
    {
        flop += other.flop;
        bytes += other.bytes;
        return *this;
    }
};

} // namespace rankscope::kernels
