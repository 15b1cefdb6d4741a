#include "tracing/import/communication_rules.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string>
#include <utility>

namespace rankscope::tracing {

namespace {

/// Lower case, without blanks, underscores and hyphens: "_all_gather_base" and "AllGather" meet.
std::string folded(std::string_view text)
{
    std::string out;
    for (const char c : text) {
        if (c != '_' && c != '-' && c != ' ')
            out.push_back(static_cast<char>(std::tolower(static_cast<unsigned char>(c))));
    }
    return out;
}

bool has(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

} // namespace

bool isCommunicationName(std::string_view name)
{
    if (name.starts_with("nccl") || name.starts_with("hcom_") || name.starts_with("hccl"))
        return true;
    static constexpr std::array<std::string_view, 14> kParts{ "ncclKernel", "ncclDevKernel", "rccl",
        "multimem_all_reduce", "multimem_one_shot", "one_shot_all_reduce", "two_shot_all_reduce", "symm_mem", "nvshmem",
        "deep_ep::", "mscclpp", "msccl", "cross_device_reduce", "hybrid_ep" };
    return std::ranges::any_of(kParts, [&](std::string_view part) { return has(name, part); });
}

CollectiveOp collectiveOpOf(std::string_view name)
{
    const std::string text = folded(name.substr(0, 96));
    // Order matters: "reducescatter" holds "reduce", "allreduce" too.
    static constexpr std::array<std::pair<std::string_view, CollectiveOp>, 13> kWords{ {
        { "reducescatter", CollectiveOp::ReduceScatter },
        { "allreduce", CollectiveOp::AllReduce },
        { "allgather", CollectiveOp::AllGather },
        { "alltoall", CollectiveOp::AllToAll },
        { "all2all", CollectiveOp::AllToAll },
        { "broadcast", CollectiveOp::Broadcast },
        { "barrier", CollectiveOp::Barrier },
        { "sendrecv", CollectiveOp::Unknown },
        { "recv", CollectiveOp::Receive },
        { "send", CollectiveOp::Send },
        { "scatter", CollectiveOp::Scatter },
        { "gather", CollectiveOp::Gather },
        { "reduce", CollectiveOp::Reduce },
    } };
    for (const auto& [word, op] : kWords) {
        if (has(text, word))
            return op;
    }
    return CollectiveOp::Unknown;
}

std::optional<Dimension> dimensionOf(std::string_view nameOrDescription)
{
    const std::string text = folded(nameOrDescription);
    if (text.empty())
        return std::nullopt;
    static constexpr std::array<std::pair<std::string_view, Dimension>, 18> kWords{
        { { "embedding", Dimension::Embedding }, { "tensor", Dimension::Tensor }, { "meshtp", Dimension::Tensor },
            { "pipeline", Dimension::Pipeline }, { "meshpp", Dimension::Pipeline }, { "expert", Dimension::Expert },
            { "meshep", Dimension::Expert }, { "context", Dimension::Context }, { "meshcp", Dimension::Context },
            { "dataparallel", Dimension::Data }, { "meshdp", Dimension::Data }, { "fsdp", Dimension::Data },
            { "ddp", Dimension::Data }, { "dpcp", Dimension::Data }, { "defaultpg", Dimension::World },
            { "meshclip", Dimension::Clip }, { "meshouter", Dimension::Outer }, { "undefined", Dimension::None } }
    };
    for (const auto& [word, dimension] : kWords) {
        if (has(text, word))
            return dimension;
    }
    static constexpr std::array<std::pair<std::string_view, Dimension>, 5> kShort{ { { "tp", Dimension::Tensor },
        { "pp", Dimension::Pipeline }, { "dp", Dimension::Data }, { "ep", Dimension::Expert },
        { "cp", Dimension::Context } } };
    for (const auto& [word, dimension] : kShort) {
        if (text == word || text.ends_with(std::string(word) + "group")
            || text.starts_with(std::string(word) + "group"))
            return dimension;
    }
    return std::nullopt;
}

int bytesOfType(std::string_view type)
{
    const std::string text = folded(type);
    static constexpr std::array<std::pair<std::string_view, int>, 22> kTypes{ { { "bfloat16", 2 }, { "bf16", 2 },
        { "float16", 2 }, { "fp16", 2 }, { "half", 2 }, { "float8", 1 }, { "fp8", 1 }, { "double", 8 },
        { "float64", 8 }, { "fp64", 8 }, { "float", 4 }, { "fp32", 4 }, { "longint", 8 }, { "long", 8 }, { "int64", 8 },
        { "int32", 4 }, { "int8", 1 }, { "uint8", 1 }, { "byte", 1 }, { "char", 1 }, { "bool", 1 }, { "int", 4 } } };
    for (const auto& [word, bytes] : kTypes) {
        if (has(text, word))
            return bytes;
    }
    return 0;
}

} // namespace rankscope::tracing
