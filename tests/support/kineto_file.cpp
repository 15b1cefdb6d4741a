#include "tests/support/kineto_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace rankscope::support {

namespace {

constexpr std::int64_t kSlotNs = 12'000; ///< the host's time for a launch; kernels are longer
constexpr int kComputeStream = 7, kCommunicationStream = 20, kLayers = 12;
constexpr std::int64_t kElements = 25'192'448; ///< of a bucket of gradients

struct LaunchedKernel {
    std::string_view name;
    std::int64_t ns;
};
struct Operator {
    std::vector<std::string_view> names; ///< outermost first
    std::vector<LaunchedKernel> forward, backward;
    std::string_view dims;
};

constexpr std::string_view kNorm
    = "void at::native::(anonymous namespace)::vectorized_layer_norm_kernel<c10::BFloat16, float>(int, float, "
      "c10::BFloat16 const*, c10::BFloat16 const*, c10::BFloat16 const*, float*, float*, c10::BFloat16*)";
constexpr std::string_view kNormBackward
    = "void at::native::(anonymous namespace)::layer_norm_grad_input_kernel_vectorized<c10::BFloat16, float>"
      "(c10::BFloat16 const*, c10::BFloat16 const*, float const*, float const*, c10::BFloat16 const*, c10::BFloat16*, "
      "int)";
constexpr std::string_view kGemm = "ampere_bf16_s16816gemm_bf16_128x128_ldg8_f2f_stages_32x5_tn";
constexpr std::string_view kGemmBackward = "ampere_bf16_s16816gemm_bf16_256x64_ldg8_f2f_stages_64x3_nt";
constexpr std::string_view kFlash
    = "void pytorch_flash::flash_fwd_kernel<pytorch_flash::Flash_fwd_kernel_traits<64, 128, 128, 4, false, false, "
      "cutlass::bfloat16_t>, false, true, false, false, true, true, false>(pytorch_flash::Flash_fwd_params)";
constexpr std::string_view kFlashBackward
    = "void pytorch_flash::flash_bwd_dq_dk_dv_loop_seqk_parallel_kernel<pytorch_flash::Flash_bwd_kernel_traits"
      "<64, 128, 128, 8, 4, 4, 4, false, false>, false, true, false, true>(pytorch_flash::Flash_bwd_params)";
constexpr std::string_view kElementwise
    = "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<c10::BFloat16>, "
      "at::detail::Array<char*, 3> >(int, at::native::CUDAFunctor_add<c10::BFloat16>, at::detail::Array<char*, 3>)";
constexpr std::string_view kReduce
    = "void at::native::reduce_kernel<128, 4, at::native::ReduceOp<c10::BFloat16, at::native::func_wrapper_t<"
      "c10::BFloat16, at::native::sum_functor<c10::BFloat16, float, c10::BFloat16> >, unsigned int, "
      "c10::BFloat16, 4> >(at::native::ReduceOp<c10::BFloat16>)";
constexpr std::string_view kAllReduce = "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)";

const std::vector<Operator>& layer()
{
    static const std::vector<Operator> kLayer{
        { { "aten::layer_norm", "aten::native_layer_norm" }, { { kNorm, 22'000 } },
            { { kNormBackward, 41'000 }, { kReduce, 18'000 } }, "[[8, 1024, 1024], [], [1024], [1024], []]" },
        { { "aten::linear", "aten::addmm" }, { { kGemm, 96'000 } },
            { { kGemmBackward, 94'000 }, { kGemmBackward, 91'000 }, { kReduce, 17'000 } },
            "[[3072], [8192, 1024], [1024, 3072], [], []]" },
        { { "aten::transpose", "aten::as_strided" }, {}, {}, "[[8, 1024, 16, 64], [], [], []]" },
        { { "aten::scaled_dot_product_attention", "aten::_scaled_dot_product_flash_attention",
              "aten::_flash_attention_forward" },
            { { kFlash, 118'000 } }, { { kFlashBackward, 265'000 } },
            "[[8, 16, 1024, 64], [8, 16, 1024, 64], [8, 16, 1024, 64], [], [], [], []]" },
        { { "aten::add" }, { { kElementwise, 26'000 } }, {}, "[[8, 1024, 1024], [8, 1024, 1024], []]" },
        { { "aten::linear", "aten::addmm" }, { { kGemm, 126'000 } },
            { { kGemmBackward, 124'000 }, { kGemmBackward, 121'000 }, { kReduce, 17'000 } },
            "[[4096], [8192, 1024], [1024, 4096], [], []]" },
    };
    return kLayer;
}

class KinetoWriter {
public:
    KinetoWriter(const std::filesystem::path& path, int rank, int ranks, std::int64_t events)
        : file_(std::fopen(path.c_str(), "wb"))
        , rank_(rank)
        , ranks_(ranks)
        , events_(events)
        , process_(100'000 + 1000 * rank)
        , autograd_(process_ + 37)
        , random_(static_cast<unsigned>(rank + 1))
    {
        if (!file_) {
            std::fprintf(stderr, "cannot write %s\n", path.c_str());
            std::abort();
        }
    }

    void write()
    {
        writeHead();
        for (std::int64_t step = 10; count_ < events_; ++step)
            writeStep(step);
        text_ += "\n  ]\n}\n";
        flush(0);
        if (std::fclose(file_) != 0)
            std::abort(); // the disk is full
    }

private:
    void writeHead()
    {
        std::string members;
        for (int rank = 0; rank < ranks_; ++rank)
            members += fmt::format("{}{}", rank ? ", " : "", rank);
        members_ = "[" + members + "]";
        text_ = fmt::format(R"({{
  "schemaVersion": 1,
  "deviceProperties": [{{"id": {}, "name": "NVIDIA A100-SXM4-80GB", "numSms": 108}}],
  "distributedInfo": {{"backend": "nccl", "rank": {}, "world_size": {}}},
  "displayTimeUnit": "ms",
  "baseTimeNanoseconds": 1711964646000000000,
  "traceEvents": [
)",
            rank_ % 8, rank_, ranks_);
    }

    /// Text of one event; what comes after the asked number is left out.
    template <typename... Values> void put(fmt::format_string<Values...> form, Values&&... values)
    {
        if (count_ >= events_)
            return;
        text_ += count_ ? ",\n  {\n    " : "  {\n    ";
        fmt::format_to(std::back_inserter(text_), form, std::forward<Values>(values)...);
        text_ += "\n  }";
        ++count_;
        flush(1u << 20);
    }
    void flush(std::size_t least)
    {
        if (text_.size() < least)
            return;
        std::fwrite(text_.data(), 1, text_.size(), file_);
        text_.clear();
    }

    static std::string us(std::int64_t ns) { return fmt::format("{}.{:03}", ns / 1000, ns % 1000); }

    void span(std::string_view category, std::string_view name, int process, int thread, std::int64_t at,
        std::int64_t ns, std::string_view arguments)
    {
        put(R"("ph": "X", "cat": "{}", "name": "{}", "pid": {}, "tid": {},
    "ts": {}, "dur": {},
    "args": {{
      {}
    }})",
            category, name, process, thread, us(at), us(ns), arguments);
    }
    void flow(char phase, std::string_view category, std::int64_t id, int process, int thread, std::int64_t at)
    {
        put(R"("ph": "{}", "id": {}, "pid": {}, "tid": {}, "ts": {},
    "cat": "{}", "name": "{}"{})",
            phase, id, process, thread, us(at), category, category, phase == 'f' ? R"(, "bp": "e")" : "");
    }

    void operators(const std::vector<std::string_view>& names, std::string_view prefix, int thread, std::int64_t ns,
        std::string_view dims)
    {
        for (std::size_t i = 0; i < names.size(); ++i) {
            ++external_;
            std::string arguments
                = fmt::format(R"("External id": {},"Record function id": 0, "Ev Idx": {})", external_, external_ - 1);
            if (i + 1 == names.size() && !dims.empty())
                arguments += fmt::format(
                    R"(, "Input Dims": {}, "Input type": ["c10::BFloat16", "c10::BFloat16", "Scalar"])", dims);
            const auto depth = static_cast<std::int64_t>(i);
            span(names[i].starts_with("nccl:") ? "user_annotation" : "cpu_op", fmt::format("{}{}", prefix, names[i]),
                process_, thread, cpuNs_ + 500 * depth, ns - 900 * depth, arguments);
        }
    }

    /// The host's call at `callNs`, what it launched, and the flow between them.
    void launch(int thread, std::int64_t callNs, std::string_view call, std::string_view category,
        std::string_view name, int stream, std::int64_t at, std::int64_t ns, std::string_view more)
    {
        ++correlation_;
        span("cuda_runtime", call, process_, thread, callNs, 4200,
            fmt::format(R"("External id": {}, "cbid": 211, "correlation": {})", external_, correlation_));
        flow('s', "ac2g", correlation_, process_, thread, callNs);
        span(category, name, rank_ % 8, stream, at, ns,
            fmt::format(
                R"("External id": {}, "queued": 0, "device": {}, "context": 1, "stream": {}, "correlation": {}{})",
                external_, rank_ % 8, stream, correlation_, more));
        flow('f', "ac2g", correlation_, rank_ % 8, stream, at);
    }

    void kernels(int thread, const std::vector<LaunchedKernel>& launched)
    {
        for (std::size_t i = 0; i < launched.size(); ++i) {
            const auto ns = static_cast<std::int64_t>(static_cast<double>(launched[i].ns) * (0.94 + 0.12 * share()));
            gpuNs_ += share() < 0.15 ? 3000 : 0;
            launch(thread, cpuNs_ + 2500 + static_cast<std::int64_t>(i) * kSlotNs, "cudaLaunchKernel", "kernel",
                launched[i].name, kComputeStream, gpuNs_, ns,
                R"(, "registers per thread": 128, "shared memory": 49152, "blocks per SM": 4.740741, "warps per SM": 37.925926, "grid": [512, 1, 1], "block": [256, 1, 1], "est. achieved occupancy %": 50)");
            gpuNs_ += ns;
        }
        cpuNs_ += kSlotNs * static_cast<std::int64_t>(std::max<std::size_t>(1, launched.size()));
    }

    void writeForward()
    {
        for (int l = 0; l < kLayers; ++l) {
            for (const Operator& op : layer()) {
                operators(op.names, "", process_, kSlotNs - 1000, op.dims);
                flow('s', "fwdbwd", ++sequence_, process_, process_, cpuNs_);
                kernels(process_, op.forward);
            }
        }
    }

    void writeBackward(std::int64_t step)
    {
        for (int l = 0; l < kLayers; ++l) {
            for (auto op = layer().rbegin(); op != layer().rend(); ++op) {
                const auto slots = static_cast<std::int64_t>(std::max<std::size_t>(1, op->backward.size()));
                operators({ op->names.front(), op->names.back() }, "autograd::engine::evaluate_function: ", autograd_,
                    kSlotNs * slots - 1000, "");
                flow('f', "fwdbwd", sequence_, process_, autograd_, cpuNs_ + 500);
                kernels(autograd_, op->backward);
            }
            if (l % 2 == 1)
                reduceBucket(step * kLayers / 2 + l / 2);
        }
    }

    /// All ranks leave at once, after the last could have come; each enters when its gradients are there.
    void reduceBucket(std::int64_t number)
    {
        operators({ "c10d::allreduce_", "record_param_comms", "nccl:all_reduce" }, "", autograd_, kSlotNs - 2500,
            "[[25192448], [], []]");
        const std::int64_t begin = std::max(gpuNs_ - 100'000, lastReduceNs_);
        const std::int64_t end
            = std::max(begin, stepNs_ + 5'200'000 + (number % (kLayers / 2) + 1) * 1'700'000); // the same on all ranks
        launch(autograd_, cpuNs_ + 3500, "cudaLaunchKernelExC", "kernel", kAllReduce, kCommunicationStream, begin,
            end - begin,
            fmt::format(
                R"(, "Collective name": "allreduce", "In msg nelems": {}, "Out msg nelems": {}, "Group size": {}, "dtype": "BFloat16", "In split size": "[]", "Out split size": "[]", "Process Group Name": "0", "Process Group Description": "default_pg", "Process Group Ranks": "{}", "Seq": {})",
                kElements, kElements, ranks_, members_, number));
        cpuNs_ += kSlotNs;
        lastReduceNs_ = end;
    }

    void writeStep(std::int64_t step)
    {
        cpuNs_ = stepNs_ + 5000;
        gpuNs_ = stepNs_ + 60'000;
        operators({ "aten::to", "aten::_to_copy", "aten::copy_" }, "", process_, kSlotNs - 1000,
            "[[8, 1024], [8, 1024], []]");
        launch(process_, cpuNs_ + 2500, "cudaMemcpyAsync", "gpu_memcpy", "Memcpy HtoD (Pinned -> Device)",
            kComputeStream, gpuNs_, 28'000, R"x(, "bytes": 65536, "memory bandwidth (GB/s)": 2.340571)x");
        cpuNs_ += kSlotNs;
        gpuNs_ += 28'000;
        writeForward();
        writeBackward(step);
        span("cuda_runtime", "cudaDeviceSynchronize", process_, process_, cpuNs_, 5000,
            fmt::format(R"("External id": {}, "cbid": 165, "correlation": {})", external_, ++correlation_));
        ++external_;
        span("user_annotation", fmt::format("ProfilerStep#{}", step), process_, process_, stepNs_, kStepNs,
            fmt::format(R"("External id": {},"Record function id": 0, "Ev Idx": {})", external_, external_ - 1));
        stepNs_ += kStepNs;
    }

    double share() { return static_cast<double>(random_() - 1) / 2147483646.0; }

    static constexpr std::int64_t kStepNs = 17'000'000;
    std::FILE* file_;
    const int rank_, ranks_;
    const std::int64_t events_;
    const int process_, autograd_;
    std::minstd_rand random_;
    std::string text_, members_;
    std::int64_t count_ = 0, external_ = 0, correlation_ = 1000, sequence_ = 0;
    std::int64_t stepNs_ = 4'458'676'000'000'000, cpuNs_ = 0, gpuNs_ = 0, lastReduceNs_ = 0;
};

} // namespace

void writeKinetoFile(const std::filesystem::path& path, int rank, int ranks, std::int64_t events)
{
    KinetoWriter(path, rank, ranks, events).write();
}

} // namespace rankscope::support
