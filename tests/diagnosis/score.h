#pragma once

#include "tests/diagnosis/draw.h"
#include "tracing/model/result.h"

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace rankscope::diagnosis_score {

/// What one run should have shown and what its findings said.
struct Answer {
    struct Expected {
        std::string kind; ///< of the injected fault; "none" for a clean run
        std::string found; ///< cause that was named for it, "(other culprit)" behind it where that is wrong; "nothing"
        bool isRight = false;
    };
    std::vector<Expected> expected;
    std::vector<std::string> alarms; ///< that no fault stands behind, as the findings' titles
    bool isRight = false; ///< all faults named with culprit and cause, and nothing else
};

/// Trains the case, analyses the file, and only then looks at the truth in it. `folder` is empty and takes the files.
tracing::Result<Answer> answerTo(const Case& drawn, const std::filesystem::path& folder);

/// Rows injected, columns named.
class ConfusionMatrix {
public:
    void add(const Answer& answer);
    std::string text() const;

private:
    std::map<std::string, std::map<std::string, int>> cells_;
};

} // namespace rankscope::diagnosis_score
