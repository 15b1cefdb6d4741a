#pragma once

#include <string>

namespace rankscope::tracing {

struct RunAnalysis;

/// The answer to "where does the compute go", in words. LOOK, sections 4 and 5. No figure, no sentence.
struct Headline {
    double bigShare = 0; ///< the big number, 0 to 1
    std::string bigCaption; ///< what it is a share of: "useful, of what 2 cores can do"
    std::string bigHint; ///< "4 ranks share 2 cores", "FLOPs are not in this trace", or empty
    std::string sentence; ///< share, denominator, what, whom
    std::string cause; ///< cause and where, or empty
    std::string gain; ///< what fixing it would give, or empty
};
Headline headline(const RunAnalysis& run);

} // namespace rankscope::tracing
