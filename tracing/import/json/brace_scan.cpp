#include "tracing/import/json/brace_scan.h"

#include <bit>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace rankscope::tracing {

namespace {

#if defined(__SSE2__)
struct Masks {
    std::uint64_t quotes = 0, backslashes = 0, opens = 0, closes = 0;
};

Masks masksOf(const char* text)
{
    Masks masks;
    for (int i = 0; i < 4; ++i) {
        const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(text + 16 * i));
        const auto where = [&](char c) {
            const int mask = _mm_movemask_epi8(_mm_cmpeq_epi8(bytes, _mm_set1_epi8(c)));
            return static_cast<std::uint64_t>(static_cast<unsigned>(mask)) << (16 * i);
        };
        masks.quotes |= where('"');
        masks.backslashes |= where('\\');
        masks.opens |= where('{');
        masks.closes |= where('}');
    }
    return masks;
}

/// Bit i is the parity of bits 0 to i: inside a string between its quotes.
std::uint64_t parity(std::uint64_t bits)
{
    for (int shift = 1; shift < 64; shift *= 2)
        bits ^= bits << shift;
    return bits;
}
#endif

} // namespace

std::size_t BraceScan::feedByBytes(std::string_view text, std::size_t from, std::size_t to)
{
    for (std::size_t i = from; i < to; ++i) {
        const char c = text[i];
        if (escaped_)
            escaped_ = false;
        else if (inString_ && c == '\\')
            escaped_ = true;
        else if (c == '"')
            inString_ = !inString_;
        else if (!inString_ && c == '{')
            ++depth_;
        else if (!inString_ && c == '}' && --depth_ <= 0)
            return i + 1;
    }
    return npos;
}

std::size_t BraceScan::feed(std::string_view text)
{
    std::size_t i = 0;
#if defined(__SSE2__)
    for (; i + 64 <= text.size(); i += 64) {
        const Masks masks = masksOf(text.data() + i);
        if (masks.backslashes != 0 || escaped_) {
            if (const std::size_t end = feedByBytes(text, i, i + 64); end != npos)
                return end;
            continue;
        }
        const std::uint64_t inside = parity(masks.quotes) ^ (inString_ ? ~std::uint64_t{ 0 } : 0);
        for (std::uint64_t braces = (masks.opens | masks.closes) & ~inside; braces != 0; braces &= braces - 1) {
            const int bit = std::countr_zero(braces);
            if ((masks.opens >> bit & 1) != 0)
                ++depth_;
            else if (--depth_ <= 0)
                return i + static_cast<std::size_t>(bit) + 1;
        }
        inString_ = (inside >> 63 & 1) != 0;
    }
#endif
    return feedByBytes(text, i, text.size());
}

} // namespace rankscope::tracing
