#include "tracing/analysis/faster_links.h"

#include "tracing/analysis/ledger/collective_split.h"
#include "tracing/analysis/ledger/largest_remainder.h"
#include "tracing/analysis/link_calibration.h"

#include <algorithm>
#include <set>

namespace rankscope::tracing {

namespace {

using ledger::Instance;
using ledger::Ratio;

class FasterLinks {
public:
    FasterLinks(const ledger::LedgerInput& input, std::span<const LinkSpeed> links, std::optional<Dimension> dimension,
        Ratio kept)
        : dimension_(dimension)
        , kept_(kept)
        , before_(links)
        , after_(std::span<const LinkSpeed>())
    {
        for (const Instance& instance : input.instances) {
            if (isMeant(instance)) {
                const auto pairs = linksOf(instance);
                faster_.insert(pairs.begin(), pairs.end());
            }
        }
        std::vector<LinkSpeed> changed(links.begin(), links.end());
        for (LinkSpeed& link : changed) {
            if (!faster_.contains({ link.from, link.to }))
                continue;
            link.latencyNs = ledger::mulDiv(link.latencyNs, kept.numerator, kept.denominator);
            link.bytesPerSecond = ledger::mulDiv(link.bytesPerSecond, kept.denominator, kept.numerator);
        }
        after_ = LinkCalibration(changed);
    }

    Ratio of(const Instance& instance)
    {
        const auto pairs = linksOf(instance);
        const auto isFaster = [&](const auto& pair) { return faster_.contains(pair); };
        if (isMeant(instance) || (!pairs.empty() && std::ranges::all_of(pairs, isFaster)))
            return kept_;
        const auto before = before_.of(instance), after = after_.of(instance);
        if (!before || !after || std::ranges::none_of(pairs, isFaster))
            return {};
        const ledger::Ns time = ledger::idealTransfer(instance, *before);
        return time > 0 ? Ratio{ ledger::idealTransfer(instance, *after), time } : Ratio{};
    }

private:
    bool isMeant(const Instance& instance) const { return !dimension_ || instance.dimension == *dimension_; }

    std::optional<Dimension> dimension_;
    Ratio kept_;
    std::set<std::pair<std::int32_t, std::int32_t>> faster_;
    LinkCalibration before_, after_;
};

} // namespace

std::vector<Ratio> transfersOverFasterLinks(
    const ledger::LedgerInput& input, std::span<const LinkSpeed> links, std::optional<Dimension> dimension, Ratio kept)
{
    FasterLinks faster(input, links, dimension, kept);
    std::vector<Ratio> ratios;
    ratios.reserve(input.instances.size());
    for (const Instance& instance : input.instances)
        ratios.push_back(faster.of(instance));
    return ratios;
}

} // namespace rankscope::tracing
