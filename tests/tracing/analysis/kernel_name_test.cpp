#include "tracing/analysis/kernel_name.h"

#include <gtest/gtest.h>

namespace rankscope::tracing {

TEST(KernelName, LosesVoidNamespacesDefaultArgumentsAndParameters)
{
    EXPECT_EQ(shortKernelName("void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>, "
                              "at::detail::Array<char*, 3> >(int, at::native::CUDAFunctor_add<float>, "
                              "at::detail::Array<char*, 3>)"),
        "elementwise add<float>");
    EXPECT_EQ(shortKernelName("void (anonymous namespace)::softmax_warp_forward<float, float, float, 10, true, false>("
                              "float*, float const*, int, int, int, bool const*, int, bool)"),
        "softmax_warp_forward<float>");
}

TEST(KernelName, FindsTheInnermostOperationOfWrappers)
{
    EXPECT_EQ(
        shortKernelName("void at::native::unrolled_elementwise_kernel<at::native::AUnaryFunctor<float, float, float, "
                        "at::native::binary_internal::MulFunctor<float> >, at::detail::Array<char*, 2> >(int)"),
        "elementwise mul<float>");
    EXPECT_EQ(shortKernelName(
                  "void at::native::elementwise_kernel<128, 2, at::native::gpu_kernel_impl<at::native::"
                  "direct_copy_kernel_cuda(at::TensorIteratorBase&)::{lambda()#2}::operator()() const::{lambda()#7}::"
                  "operator()() const::{lambda(float)#1}>(at::TensorIteratorBase&)::{lambda(int)#1}>(int)"),
        "elementwise copy<float>");
    EXPECT_EQ(
        shortKernelName("void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float, "
                        "at::native::func_wrapper_t<float, at::native::sum_functor<float, float, float>::"
                        "operator()(at::TensorIterator&)::{lambda(float, float)#1}>, unsigned int, float, 4> >(int)"),
        "reduce sum<float>");
    EXPECT_EQ(shortKernelName("void at::native::vectorized_elementwise_kernel<8, "
                              "at::native::CUDAFunctor_add<c10::BFloat16>, std::array<char*, 3ul> >(int)"),
        "elementwise add<bf16>");
}

TEST(KernelName, OfLibrariesKeepsWhatAndTile)
{
    EXPECT_EQ(shortKernelName("volta_sgemm_128x32_nt"), "sgemm 128x32 nt");
    EXPECT_EQ(shortKernelName("void cutlass::Kernel<cutlass_80_tensorop_s1688gemm_256x64_16x4_nn_align4>("
                              "cutlass_80_tensorop_s1688gemm_256x64_16x4_nn_align4::Params)"),
        "s1688gemm 256x64 16x4 nn align4");
    EXPECT_EQ(shortKernelName("matmul up weight gradient"), "matmul up weight gradient");
    EXPECT_EQ(shortKernelName("SubTensorOpWithCastTensor1d"), "SubTensorOpWithCastTensor1d");
}

TEST(KernelName, OfCollectivesSaysOperationWayAndType)
{
    EXPECT_EQ(shortKernelName("ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevComm*, unsigned long, ncclWork*)"),
        "all-reduce ring LL f32");
    EXPECT_EQ(shortKernelName("ncclKernel_AllReduce_RING_LL_Sum_float(ncclDevComm*, unsigned long, ncclWork*)"),
        "all-reduce ring LL f32");
    EXPECT_EQ(shortKernelName("ncclDevKernel_SendRecv(ncclDevComm*, unsigned long, ncclWork*)"), "send-receive");
    EXPECT_EQ(
        shortKernelName("ncclDevKernel_ReduceScatter_Sum_bf16_NVLS_SIMPLE(x)"), "reduce-scatter nvls simple bf16");
}

TEST(KernelName, IsDemangled)
{
    EXPECT_EQ(demangled("_ZN2at6native3addIfEEvi"), "void at::native::add<float>(int)");
    EXPECT_EQ(shortKernelName("_ZN2at6native3addIfEEvi"), "add<float>");
    EXPECT_EQ(demangled("_Znonsense"), "_Znonsense");
    EXPECT_EQ(shortKernelName("_ZN2ck6device11kernel_gemmINS_4cut"), "kernel_gemm"); // cut off
    EXPECT_EQ(demangled("gemm_kernel.kd"), "gemm_kernel");
    EXPECT_EQ(demangled(""), "");
}

TEST(KernelName, DamagedNamesAreHarmless)
{
    for (const char* name :
        { "<", ">", "(", ")", "::", "a<b<c", "a>>(", "{lambda(", "nccl", "ncclKernel", "_", "Kernel<>", "void ",
            "elementwise_kernel<", "elementwise_kernel<>", "_ZN99999999999999999999a", "_Z", "_ZN" })
        EXPECT_NO_FATAL_FAILURE(shortKernelName(name)) << name;
}

TEST(KernelNames, KeepThePartThatDiffers)
{
    const std::vector<std::string> names{ "void cudnn::bn_bw<float, float, float2, 32, true, 1>(float)",
        "void cudnn::bn_bw<float, float, float2, 512, true, 1>(float)", "volta_sgemm_128x32_nt",
        "volta_sgemm_128x32_nt" };
    const auto shown = distinctKernelNames(names);
    EXPECT_EQ(shown[0], "bn_bw<float, float, float2, 32, true, 1>");
    EXPECT_EQ(shown[1], "bn_bw<float, float, float2, 512, true, 1>");
    EXPECT_EQ(shown[2], "sgemm 128x32 nt");
    EXPECT_EQ(shown[3], "sgemm 128x32 nt");
    // The same operation in two widths.
    const std::vector<std::string> widths{
        "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>, int>(int)",
        "void at::native::vectorized_elementwise_kernel<8, at::native::CUDAFunctor_add<float>, int>(int)"
    };
    EXPECT_EQ(distinctKernelNames(widths)[1], "vectorized_elementwise_kernel add<float> 8");
    // Alike but for their parameters.
    const std::vector<std::string> overloads{ "void f<int>(float)", "void f<int>(double)" };
    EXPECT_NE(distinctKernelNames(overloads)[0], distinctKernelNames(overloads)[1]);
    EXPECT_TRUE(distinctKernelNames({}).empty());
}

TEST(KernelFamily, IsToldByTheName)
{
    const auto family = [](std::string_view name) { return std::string(toString(kernelFamilyOf(name))); };
    EXPECT_EQ(family("volta_sgemm_128x32_nt"), "matrix");
    EXPECT_EQ(family("Cijk_Alik_Bljk_BBS_BH_Bias_HAS"), "matrix");
    EXPECT_EQ(family("void flash_fwd_kernel<Flash_fwd_kernel_traits<64>>(Flash_fwd_params)"), "attention");
    EXPECT_EQ(
        family("void at::native::(anonymous namespace)::vectorized_layer_norm_kernel<float, float>(int)"), "norm");
    EXPECT_EQ(family("void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>>(int)"),
        "elementwise");
    EXPECT_EQ(family("void multi_tensor_apply_kernel<TensorListMetadata<4>, AdamFunctor<float>>(int)"), "optimizer");
    EXPECT_EQ(family("Memcpy HtoD (Pageable -> Device)"), "copy");
    EXPECT_EQ(family("ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevComm*)"), "communication");
    EXPECT_EQ(family("attention backward"), "attention");
    EXPECT_EQ(family("adamw"), "optimizer");
    EXPECT_EQ(family("something else"), "other");
    EXPECT_EQ(family("void fbgemm_gpu::permute_2D_data_kernel<false, int>(int)"), "copy");
    EXPECT_EQ(family("void deep_ep::intranode::dispatch<8>(int)"), "communication");
    // A parameter's type is not what the kernel does.
    EXPECT_EQ(family("void scatter<float>(NormParams, GemmParams)"), "other");
}

} // namespace rankscope::tracing
