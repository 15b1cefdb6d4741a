#include "tracing/model/shell_quote.h"

#include <algorithm>

namespace rankscope::tracing {

namespace {

bool isPlain(char letter)
{
    const bool isAscii = static_cast<unsigned char>(letter) < 0x80;
    return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') || (letter >= '0' && letter <= '9')
        || std::string_view("_-+=./,:@%").find(letter) != std::string_view::npos || !isAscii;
}

} // namespace

std::string shellQuoted(std::string_view word)
{
    if (!word.empty() && std::ranges::all_of(word, isPlain))
        return std::string(word);
    std::string quoted = "'";
    for (const char letter : word) {
        if (letter == '\'')
            quoted += "'\\''";
        else
            quoted += letter;
    }
    return quoted + "'";
}

} // namespace rankscope::tracing
