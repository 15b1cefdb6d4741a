#include "tracing/export/check_report.h"

#include "tracing/analysis/wording.h"
#include "tracing/export/json_writer.h"

#include <fmt/format.h>

#include <algorithm>

namespace rankscope::tracing {

namespace {

std::string numberText(double value) { return fmt::format("{:.6g}", value); }

std::string valueText(const CheckedRule& checked) { return checked.value ? numberText(*checked.value) : "unknown"; }

std::string limitText(const Rule& rule)
{
    std::string text;
    if (rule.atLeast)
        text = "at least " + numberText(*rule.atLeast);
    if (rule.atMost)
        text += (text.empty() ? "at most " : ", at most ") + numberText(*rule.atMost);
    return text;
}

std::string registrationText(const CheckResult& result)
{
    switch (result.registration) {
    case CheckResult::Registration::Before:
        return "These rules were registered before the run.";
    case CheckResult::Registration::Changed:
        return fmt::format("The rules were changed after the run began: registered was {}, these are {}.",
            result.registeredHash.substr(0, 12), result.hash.substr(0, 12));
    case CheckResult::Registration::None:
        break;
    }
    return "These rules were not registered before the run (rankscope train --rules).";
}

std::string xml(std::string_view text)
{
    std::string escaped;
    for (const char letter : validUtf8(text)) {
        switch (letter) {
        case '&':
            escaped += "&amp;";
            break;
        case '<':
            escaped += "&lt;";
            break;
        case '>':
            escaped += "&gt;";
            break;
        case '"':
            escaped += "&quot;";
            break;
        default:
            escaped += static_cast<unsigned char>(letter) < 0x20 ? ' ' : letter;
        }
    }
    return escaped;
}

std::string cell(std::string text)
{
    for (std::size_t at = 0; (at = text.find('|', at)) != std::string::npos; at += 2)
        text.insert(at, 1, '\\');
    return text;
}

std::int64_t brokenOf(const CheckResult& result)
{
    return std::ranges::count(result.rules, false, &CheckedRule::isKept);
}

std::string summaryText(const CheckResult& result)
{
    const std::int64_t broken = brokenOf(result);
    const std::string rules = plural(std::ssize(result.rules), "rule");
    return broken == 0 ? fmt::format("{}: {} kept", result.run, rules)
                       : fmt::format("{}: {} of {} broken", result.run, broken, rules);
}

std::string junitSuite(const CheckResult& result)
{
    const bool isChanged = result.registration == CheckResult::Registration::Changed;
    std::string cases;
    for (const CheckedRule& checked : result.rules) {
        const std::string message
            = fmt::format("{} = {}, {}", checked.rule.metric, valueText(checked), limitText(checked.rule));
        cases += fmt::format("    <testcase classname=\"rankscope.check\" name=\"{}\">", xml(checked.rule.name));
        if (!checked.isKept)
            cases += fmt::format("<failure message=\"{}\">{}</failure>", xml(message), xml(checked.note));
        cases += "</testcase>\n";
    }
    cases += "    <testcase classname=\"rankscope.check\" name=\"rules unchanged since the run began\">";
    if (isChanged)
        cases += fmt::format("<failure message=\"{}\"/>", xml(registrationText(result)));
    else if (result.registration == CheckResult::Registration::None)
        cases += "<skipped message=\"not registered\"/>";
    cases += "</testcase>\n";
    return fmt::format("  <testsuite name=\"{}\" tests=\"{}\" failures=\"{}\" skipped=\"{}\">\n{}  </testsuite>\n",
        xml(result.run), result.rules.size() + 1, brokenOf(result) + (isChanged ? 1 : 0),
        result.registration == CheckResult::Registration::None ? 1 : 0, cases);
}

} // namespace

std::string checkText(const CheckResult& result)
{
    std::string text;
    for (const CheckedRule& checked : result.rules) {
        text += fmt::format("{}  {}: {} = {}, {}", checked.isKept ? "kept  " : "BROKEN", checked.rule.name,
            checked.rule.metric, valueText(checked), limitText(checked.rule));
        if (!checked.note.empty())
            text += fmt::format(" ({})", checked.note);
        if (!checked.isKept && !checked.rule.owner.empty())
            text += fmt::format("; tell {}", checked.rule.owner);
        text += "\n";
    }
    return text + summaryText(result) + "\n" + registrationText(result) + "\n";
}

std::string checkJunit(const std::vector<CheckResult>& results)
{
    std::string suites;
    for (const CheckResult& result : results)
        suites += junitSuite(result);
    return "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n" + suites + "</testsuites>\n";
}

std::string checkMarkdown(const CheckResult& result)
{
    std::string text = fmt::format("## {}\n\n{}\n\n| | rule | metric | value | allowed | owner |\n"
                                   "| --- | --- | --- | ---: | --- | --- |\n",
        summaryText(result), registrationText(result));
    for (const CheckedRule& checked : result.rules) {
        text += fmt::format("| {} | {} | `{}` | {} | {} | {} |\n", checked.isKept ? "kept" : "**broken**",
            cell(checked.rule.name + (checked.note.empty() ? "" : " (" + checked.note + ")")), checked.rule.metric,
            valueText(checked), limitText(checked.rule), cell(checked.rule.owner));
    }
    return text;
}

} // namespace rankscope::tracing
