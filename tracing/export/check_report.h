#pragma once

#include "tracing/analysis/check/check.h"

#include <string>
#include <vector>

namespace rankscope::tracing {

/// One line a rule and a sentence about when the rules were registered.
std::string checkText(const CheckResult& result);
/// JUnit's XML as build servers read it: one suite a run, one case a rule, and one for the registration.
std::string checkJunit(const std::vector<CheckResult>& results);
/// A heading and a table, to paste into a review.
std::string checkMarkdown(const CheckResult& result);

} // namespace rankscope::tracing
