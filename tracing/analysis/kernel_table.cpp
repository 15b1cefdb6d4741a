#include "tracing/analysis/kernel_table.h"

#include <algorithm>
#include <map>

namespace rankscope::tracing {

namespace {

struct NameSum {
    std::int64_t count = 0;
    std::int64_t totalNs = 0;
    double flop = 0;
    double bytes = 0;
    bool flopKnown = true;
    bool bytesKnown = true;
};

std::optional<double> perSecond(double amount, bool known, std::int64_t ns)
{
    if (!known || ns <= 0)
        return std::nullopt;
    return amount * 1e9 / static_cast<double>(ns);
}

} // namespace

KernelTable::KernelTable(const std::vector<std::string>& names, const std::vector<KernelSignature>& signatures)
    : names_(names)
    , signatures_(signatures)
    , bySignature_(signatures.size())
{
}

void KernelTable::add(std::span<const Kernel> kernels, Window window)
{
    for (const Kernel& kernel : kernels) {
        if (kernel.beginNs >= window.beginNs && kernel.beginNs < window.endNs)
            add(kernel.signature, Window{ kernel.beginNs, kernel.endNs });
    }
}

void KernelTable::add(SignatureId signature, Window launch)
{
    const auto index = static_cast<std::size_t>(raw(signature));
    if (index >= bySignature_.size())
        return;
    ++bySignature_[index].count;
    bySignature_[index].totalNs += launch.durationNs();
}

std::vector<KernelRow> KernelTable::rows() const
{
    std::map<std::int32_t, NameSum> byName;
    std::int64_t allNs = 0;
    for (std::size_t i = 0; i < bySignature_.size(); ++i) {
        if (bySignature_[i].count == 0)
            continue;
        const auto launches = static_cast<double>(bySignature_[i].count);
        NameSum& sum = byName[raw(signatures_[i].name)];
        sum.count += bySignature_[i].count;
        sum.totalNs += bySignature_[i].totalNs;
        sum.flop += launches * static_cast<double>(signatures_[i].flop.value_or(0));
        sum.bytes += launches * static_cast<double>(signatures_[i].bytes.value_or(0));
        sum.flopKnown = sum.flopKnown && signatures_[i].flop.has_value();
        sum.bytesKnown = sum.bytesKnown && signatures_[i].bytes.has_value();
        allNs += bySignature_[i].totalNs;
    }
    std::vector<KernelRow> result;
    for (const auto& [name, sum] : byName) {
        const auto index = static_cast<std::size_t>(name);
        result.push_back({
            .name = index < names_.size() ? names_[index] : std::string(),
            .shortName = {},
            .family = index < names_.size() ? kernelFamilyOf(names_[index]) : KernelFamily::Other,
            .count = sum.count,
            .totalNs = sum.totalNs,
            .share = allNs > 0 ? static_cast<double>(sum.totalNs) / static_cast<double>(allNs) : 0,
            .flops = perSecond(sum.flop, sum.flopKnown, sum.totalNs),
            .bytesPerSecond = perSecond(sum.bytes, sum.bytesKnown, sum.totalNs),
        });
    }
    std::vector<std::string> full;
    for (const KernelRow& row : result)
        full.push_back(row.name);
    std::vector<std::string> shortNames = distinctKernelNames(full);
    for (std::size_t i = 0; i < result.size(); ++i)
        result[i].shortName = std::move(shortNames[i]);
    std::stable_sort(
        result.begin(), result.end(), [](const KernelRow& a, const KernelRow& b) { return a.totalNs > b.totalNs; });
    return result;
}

} // namespace rankscope::tracing
