#pragma once

#include "tracing/import/rules/name_pattern.h"
#include "tracing/model/kinds.h"
#include "tracing/model/result.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rankscope::tracing {

/// What a device operation's name says about communication.
struct KernelMeaning {
    bool communication = false;
    CollectiveOp op = CollectiveOp::Unknown; ///< Unknown: the name's words tell, or metadata
    Dimension dimension = Dimension::None; ///< None: its group tells
};

/// What a host annotation's name says about training.
struct AnnotationMeaning {
    RangeKind kind = RangeKind::Annotation;
    Pass pass = Pass::None;
    std::optional<std::int64_t> step;
    std::optional<std::int32_t> microBatch;
    std::optional<std::int32_t> stage;
    bool counts = false; ///< the n-th of its pass in a step is micro-batch n, its name has no number
    std::size_t rule = 0; ///< place of the rule: earlier ones come first
};

/// What names in traces mean: rules of TOML files, the first that fits counts. The built-in ones (builtin.toml, which
/// explains the form) come last.
class ImportRules {
public:
    /// The built-in ones alone.
    static const ImportRules& builtIn();
    static std::string_view builtInText();

    /// These files' rules, then those of *.toml in `$XDG_CONFIG_HOME/rankscope/rules` (else `~/.config/...`) in order
    /// of name, then the built-in ones. An error names file and line.
    static Result<ImportRules> load(const std::vector<std::string>& files);
    static std::string userFolder(); ///< empty: neither XDG_CONFIG_HOME nor HOME is set

    KernelMeaning kernel(std::string_view name) const;
    /// Of a kernel, a collective's or an annotation's name: "ncclDevKernel_AllReduce_Sum_f32_RING_LL",
    /// "_allgather_base", "hcom_allReduce__868_0_1". Unknown: generic kernels (RCCL), and SendRecv, which serves
    /// all-to-all and point-to-point alike.
    CollectiveOp operationOf(std::string_view name) const;
    /// The parallel dimension that a process group's name or description tells: "mesh_tp", "default_pg", "expert".
    std::optional<Dimension> dimensionOf(std::string_view nameOrDescription) const;
    AnnotationMeaning annotation(std::string_view name) const;

    /// Differs where the rules do.
    std::uint64_t fingerprint() const { return fingerprint_; }

private:
    friend class RulesReader;
    Status addFile(const std::string& path);

    template <typename Meaning> struct Rule {
        std::vector<NamePattern> names;
        Meaning meaning;
    };
    std::vector<Rule<KernelMeaning>> kernels_;
    std::vector<Rule<CollectiveOp>> operations_;
    std::vector<Rule<Dimension>> groups_;
    std::vector<Rule<AnnotationMeaning>> annotations_;
    std::uint64_t fingerprint_ = 0;
};

/// Bytes of one element: "Float", "BFloat16", "c10::BFloat16", "FP32", "Byte", "Long int". 0: unknown.
int bytesOfType(std::string_view type);

} // namespace rankscope::tracing
