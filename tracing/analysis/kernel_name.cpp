#include "tracing/analysis/kernel_name.h"

#include <cxxabi.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <map>
#include <memory>
#include <optional>
#include <utility>

namespace rankscope::tracing {

namespace {

using Pair = std::pair<std::string_view, std::string_view>;

bool has(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

bool isWord(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

std::string lower(std::string_view text)
{
    std::string out(text);
    std::ranges::transform(out, out.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return out;
}

void replaceAll(std::string& text, std::string_view from, std::string_view to)
{
    for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
        text.replace(at, from.size(), to);
}

std::vector<std::string> wordsOf(std::string_view text, char separator)
{
    std::vector<std::string> words;
    for (std::size_t begin = 0; begin <= text.size();) {
        const std::size_t end = std::min(text.find(separator, begin), text.size());
        if (end > begin)
            words.emplace_back(text.substr(begin, end - begin));
        begin = end + 1;
    }
    return words;
}

/// Without what is the same in all names of a library: return type, parameters, unnamed namespaces.
std::string withoutParameters(std::string text)
{
    replaceAll(text, "(anonymous namespace)::", "");
    if (text.starts_with("void "))
        text.erase(0, 5);
    int depth = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '<' || text[i] == '{')
            ++depth;
        else if (text[i] == '>' || text[i] == '}')
            --depth;
        else if (text[i] == '(' && depth == 0)
            return text.substr(0, i);
    }
    return text;
}

/// Every chain of names cut to its last: "at::native::add<c10::Half>" is "add<Half>".
std::string withoutNamespaces(std::string_view text)
{
    std::string out;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text.substr(i).starts_with("::")) {
            while (!out.empty() && isWord(out.back()))
                out.pop_back();
            ++i;
        } else {
            out.push_back(text[i]);
        }
    }
    replaceAll(out, "BFloat16", "bf16");
    replaceAll(out, "__nv_bfloat16", "bf16");
    replaceAll(out, "__half", "f16");
    replaceAll(out, "Half", "f16");
    replaceAll(out, " >", ">");
    return out;
}

/// Template arguments at the outermost level: "f<4, g<a, b> >" has "4" and "g<a, b>".
std::vector<std::string> argumentsOf(std::string_view text)
{
    std::vector<std::string> arguments;
    int depth = 0;
    std::size_t begin = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        if ((c == '<' || c == '(' || c == '{') && depth++ == 0)
            begin = i + 1;
        const bool closes = c == '>' || c == ')' || c == '}';
        if ((closes && --depth == 0) || (c == ',' && depth == 1)) {
            std::string_view argument = text.substr(begin, i - begin);
            while (!argument.empty() && argument.front() == ' ')
                argument.remove_prefix(1);
            while (!argument.empty() && argument.back() == ' ')
                argument.remove_suffix(1);
            if (!argument.empty())
                arguments.emplace_back(argument);
            begin = i + 1;
            if (closes)
                break;
        }
    }
    return arguments;
}

std::string baseOf(std::string_view text) { return std::string(text.substr(0, text.find('<'))); }

bool isValueType(std::string_view type)
{
    static constexpr std::array<std::string_view, 15> kTypes{ "float", "double", "int", "long", "bool", "f16", "bf16",
        "short", "char", "unsigned char", "signed char", "unsigned int", "unsigned long", "half", "float2" };
    return std::ranges::find(kTypes, type) != kTypes.end();
}

/// The type that an operation works on: that of the innermost lambda, else the first one named behind it.
std::string valueTypeIn(std::string_view text)
{
    for (std::size_t at = text.find("{lambda("); at != std::string_view::npos; at = text.find("{lambda(", at + 1)) {
        const std::size_t begin = at + 8;
        const std::string_view type = text.substr(begin, text.find_first_of(",)", begin) - begin);
        if (isValueType(type))
            return std::string(type);
    }
    for (const std::string& argument : argumentsOf(text)) {
        if (isValueType(argument))
            return argument;
        if (const std::string inner = valueTypeIn(argument); !inner.empty())
            return inner;
    }
    return {};
}

/// Identifiers of a text with their places.
std::vector<std::pair<std::size_t, std::string_view>> identifiersIn(std::string_view text)
{
    std::vector<std::pair<std::size_t, std::string_view>> words;
    for (std::size_t i = 0; i < text.size();) {
        std::size_t end = i;
        while (end < text.size() && isWord(text[end]))
            ++end;
        if (end > i)
            words.emplace_back(i, text.substr(i, end - i));
        i = std::max(end, i + 1);
    }
    return words;
}

/// "CUDAFunctor_add", "MulFunctor", "neg_kernel_cuda", "sum_functor", "plus": add, mul, neg, sum, plus. None: no
/// operation.
std::optional<std::string> operationOf(std::string_view identifier)
{
    static constexpr std::array<std::string_view, 12> kWrappers{ "AUnaryFunctor", "BUnaryFunctor", "BinaryFunctor",
        "UnaryFunctor", "BinaryOpScalarFunctor", "BinaryOpListAlphaFunctor", "gpu_kernel", "UnaryOpFunctor",
        "PointwiseOpScalarFunctor", "TernaryOpScalarFunctor", "elementwise_kernel", "reduce_kernel" };
    if (std::ranges::find(kWrappers, identifier) != kWrappers.end())
        return std::nullopt;
    for (const std::string_view head : { "CUDAFunctor_", "CUDAFunctorOnSelf_", "launch_" }) {
        if (identifier.starts_with(head) && identifier.size() > head.size())
            return std::string(identifier.substr(head.size()));
    }
    for (const std::string_view tail : { "Functor", "_functor", "_kernel_cuda", "_kernel_impl", "_cuda_kernel" }) {
        if (identifier.ends_with(tail) && identifier.size() > tail.size() && !identifier.starts_with("gpu_kernel")) {
            std::string name = lower(identifier.substr(0, identifier.size() - tail.size()));
            return name == "direct_copy" ? "copy" : name;
        }
    }
    static constexpr std::array<std::string_view, 5> kStandard{ "plus", "minus", "multiplies", "divides", "MeanOps" };
    if (std::ranges::find(kStandard, identifier) != kStandard.end())
        return std::string(identifier);
    return std::nullopt;
}

/// The innermost operation in the arguments with its value type: "mul<float>".
std::string operationIn(std::string_view arguments)
{
    std::string operation, type;
    for (const auto& [at, identifier] : identifiersIn(arguments)) {
        if (const auto found = operationOf(identifier)) {
            operation = *found;
            type = valueTypeIn(arguments.substr(at));
        }
    }
    if (type.empty())
        type = valueTypeIn(arguments);
    return operation.empty() || type.empty() ? operation : operation + "<" + type + ">";
}

/// What a generic kernel is called; empty: its own name says what it does.
std::string_view genericName(std::string_view base)
{
    if (has(base, "elementwise_kernel"))
        return "elementwise";
    if (base == "reduce_kernel")
        return "reduce";
    if (base == "multi_tensor_apply_kernel")
        return "multi-tensor";
    return {};
}

/// Names made of words with underscores, as the vendors' libraries have them. Tiles and layouts come first.
std::string libraryName(std::string_view text, std::size_t most)
{
    static constexpr std::array<std::string_view, 20> kDropped{ "volta", "turing", "ampere", "hopper", "maxwell",
        "pascal", "ada", "sm70", "sm75", "sm80", "sm86", "sm89", "sm90", "sm100", "cutlass", "cudnn", "infer", "train",
        "tensorop", "kernel" };
    std::vector<std::string> kept;
    for (std::string& word : wordsOf(text, '_')) {
        const bool number = word.size() == 2 && std::isdigit(static_cast<unsigned char>(word[0])) != 0
            && kept.empty(); // cutlass_80_...
        if (!number && std::ranges::find(kDropped, word) == kDropped.end())
            kept.push_back(std::move(word));
    }
    std::string out;
    for (std::size_t i = 0; i < std::min(most, kept.size()); ++i)
        out += (i ? " " : "") + kept[i];
    return out.empty() ? std::string(text) : out;
}

/// "all-reduce ring LL f32" from new and old names of NCCL and RCCL; none: it is none of theirs.
std::optional<std::string> ncclName(std::string_view text)
{
    const std::size_t at = text.find("nccl");
    if (at == std::string_view::npos || !has(text, "Kernel"))
        return std::nullopt;
    static constexpr std::array<Pair, 8> kOperations{ { { "AllReduce", "all-reduce" }, { "AllGather", "all-gather" },
        { "ReduceScatter", "reduce-scatter" }, { "AllToAll", "all-to-all" }, { "Broadcast", "broadcast" },
        { "SendRecv", "send-receive" }, { "Reduce", "reduce" }, { "Generic", "collective, generic" } } };
    static constexpr std::array<Pair, 10> kTypes{ { { "float", "f32" }, { "f32", "f32" }, { "half", "f16" },
        { "f16", "f16" }, { "bf16", "bf16" }, { "double", "f64" }, { "f64", "f64" }, { "int8", "i8" }, { "u32", "u32" },
        { "u64", "u64" } } };
    static constexpr std::array<Pair, 8> kWays{ { { "RING", "ring" }, { "TREE", "tree" }, { "NVLS", "nvls" },
        { "COLLNET", "collnet" }, { "LL", "LL" }, { "LL128", "LL128" }, { "SIMPLE", "simple" }, { "PAT", "pat" } } };
    std::string operation, way, type;
    const auto find = [](const auto& table, std::string_view word) {
        const auto entry = std::ranges::find(table, word, &Pair::first);
        return entry == table.end() ? std::string_view() : entry->second;
    };
    std::string_view name = text.substr(at);
    name = name.substr(0, name.find_first_of("(<"));
    for (const std::string& word : wordsOf(name, '_')) {
        if (operation.empty())
            operation = find(kOperations, word);
        if (const auto known = find(kWays, word); !known.empty())
            way += " " + std::string(known);
        if (type.empty())
            type = find(kTypes, word);
    }
    if (operation.empty())
        return std::nullopt;
    return operation + way + (type.empty() ? "" : " " + type);
}

/// "_ZN2ck6device11kernel_gemmI..." to "kernel_gemm": of names that cannot be demangled, the last before the arguments.
std::string lastMangledName(std::string_view text)
{
    std::string_view last = text;
    std::size_t at = text.starts_with("_ZN") ? 3 : 2;
    while (at < text.size() && std::isdigit(static_cast<unsigned char>(text[at])) != 0) {
        std::size_t length = 0;
        while (at < text.size() && std::isdigit(static_cast<unsigned char>(text[at])) != 0 && length < text.size())
            length = 10 * length + static_cast<std::size_t>(text[at++] - '0');
        if (length == 0 || length > text.size() - at)
            break;
        last = text.substr(at, length);
        at += length;
    }
    return std::string(last);
}

constexpr int kLevels = 5;

/// Level 0 is the shortest; kLevels - 1 the whole.
std::string nameAt(std::string_view name, int level)
{
    std::string text = demangled(name);
    if (level >= kLevels - 1)
        return text;
    if (text.starts_with("_Z")) // cut off, or by a newer compiler's rules
        return level == 0 ? lastMangledName(text) : text;
    if (level == 0) {
        if (auto nccl = ncclName(text))
            return *std::move(nccl);
    }
    const std::string plain = withoutNamespaces(withoutParameters(text));
    const std::string base = baseOf(plain);
    if (level == kLevels - 2)
        return plain;
    const std::vector<std::string> arguments = argumentsOf(plain);
    if (base == "Kernel" && !arguments.empty()) // CUTLASS: the name is in the argument
        return libraryName(arguments.front(), level == 0 ? 6 : 12);
    if (arguments.empty())
        return has(base, "_") && !has(base, " ") ? libraryName(base, level == 0 ? 5 : 10) : base;
    if (const std::string_view generic = genericName(base); !generic.empty() && level < 2) {
        const std::string operation = operationIn(std::string_view(plain).substr(base.size()));
        const bool hasWidth = std::isdigit(static_cast<unsigned char>(arguments.front().front())) != 0;
        if (!operation.empty())
            return level == 0 ? std::string(generic) + " " + operation
                              : base + " " + operation + (hasWidth ? " " + arguments.front() : "");
    }
    if (level == 0)
        return isValueType(arguments.front()) ? base + "<" + arguments.front() + ">" : base;
    std::string out = base + "<";
    for (std::size_t i = 0; i < arguments.size(); ++i)
        out += (i ? ", " : "") + baseOf(arguments[i]);
    return out + ">";
}

} // namespace

std::string demangled(std::string_view name)
{
    std::string text(name);
    if (text.ends_with(".kd"))
        text.resize(text.size() - 3);
    if (!text.starts_with("_Z"))
        return text;
    int status = 0;
    const std::unique_ptr<char, void (*)(void*)> plain(
        abi::__cxa_demangle(text.c_str(), nullptr, nullptr, &status), std::free);
    return status == 0 && plain ? std::string(plain.get()) : text;
}

std::string shortKernelName(std::string_view name) { return nameAt(name, 0); }

std::vector<std::string> distinctKernelNames(std::span<const std::string> names)
{
    std::vector<std::string> shown(names.size());
    std::vector<std::size_t> open(names.size());
    for (std::size_t i = 0; i < open.size(); ++i)
        open[i] = i;
    for (int level = 0; level < kLevels && !open.empty(); ++level) {
        std::map<std::string, std::vector<std::size_t>> same;
        for (const std::size_t i : open) {
            shown[i] = nameAt(names[i], level);
            same[shown[i]].push_back(i);
        }
        open.clear();
        for (const auto& [name, members] : same) {
            const bool differ = std::ranges::any_of(
                members, [&, &first = members.front()](std::size_t i) { return names[i] != names[first]; });
            if (differ)
                open.insert(open.end(), members.begin(), members.end());
        }
    }
    return shown;
}

KernelFamily kernelFamilyOf(std::string_view name)
{
    struct Rule {
        std::string_view part;
        KernelFamily family;
    };
    // In this order: an attention kernel may be called after its matrix product, a fused optimizer after its functor.
    static constexpr std::array<Rule, 51> kRules{ { { "nccl", KernelFamily::Communication },
        { "rccl", KernelFamily::Communication }, { "hcom_", KernelFamily::Communication },
        { "multimem", KernelFamily::Communication }, { "nvshmem", KernelFamily::Communication },
        { "deep_ep", KernelFamily::Communication }, { "mscclpp", KernelFamily::Communication },
        { "all_reduce", KernelFamily::Communication }, { "cross_device_reduce", KernelFamily::Communication },
        { "flash", KernelFamily::Attention }, { "fmha", KernelFamily::Attention },
        { "attention", KernelFamily::Attention }, { "attn", KernelFamily::Attention },
        { "adam", KernelFamily::Optimizer }, { "sgd", KernelFamily::Optimizer }, { "lamb_", KernelFamily::Optimizer },
        { "multi_tensor", KernelFamily::Optimizer }, { "multi-tensor", KernelFamily::Optimizer },
        { "optimizer", KernelFamily::Optimizer }, { "norm", KernelFamily::Norm }, { "softmax", KernelFamily::Norm },
        { "bn_fw", KernelFamily::Norm }, { "bn_bw", KernelFamily::Norm }, { "welford", KernelFamily::Norm },
        { "gemm", KernelFamily::Matrix }, { "gemv", KernelFamily::Matrix }, { "matmul", KernelFamily::Matrix },
        { "xmma", KernelFamily::Matrix }, { "scudnn", KernelFamily::Matrix }, { "conv", KernelFamily::Matrix },
        { "cutlass", KernelFamily::Matrix }, { "wgrad", KernelFamily::Matrix }, { "dgrad", KernelFamily::Matrix },
        { "winograd", KernelFamily::Matrix }, { "cijk_", KernelFamily::Matrix }, { "dot_kernel", KernelFamily::Matrix },
        { "nvjet", KernelFamily::Matrix }, { "memcpy", KernelFamily::Copy }, { "memset", KernelFamily::Copy },
        { "copy", KernelFamily::Copy }, { "transpose", KernelFamily::Copy }, { "permute", KernelFamily::Copy },
        { "catarray", KernelFamily::Copy }, { "fill", KernelFamily::Copy },
        { "elementwise", KernelFamily::Elementwise }, { "pointwise", KernelFamily::Elementwise },
        { "triton_poi", KernelFamily::Elementwise }, { "gelu", KernelFamily::Elementwise },
        { "relu", KernelFamily::Elementwise }, { "dropout", KernelFamily::Elementwise },
        { "subtensorop", KernelFamily::Elementwise } } };
    // Communication libraries are told by their namespaces; elsewhere these and parameters say who, not what.
    const std::string whole = lower(withoutParameters(demangled(name)));
    const std::string text = lower(withoutNamespaces(withoutParameters(demangled(name))));
    for (const Rule& rule : kRules) {
        if (has(rule.family == KernelFamily::Communication ? whole : text, rule.part))
            return rule.family;
    }
    return KernelFamily::Other;
}

std::string_view toString(KernelFamily family)
{
    static constexpr std::array<std::string_view, 8> kWords{ "matrix", "attention", "norm", "elementwise", "optimizer",
        "copy", "communication", "other" };
    return kWords[std::min(static_cast<std::size_t>(family), kWords.size() - 1)];
}

} // namespace rankscope::tracing
