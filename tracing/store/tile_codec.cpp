#include "tracing/store/tile_codec.h"

#include <algorithm>

namespace rankscope::tracing {

namespace {

constexpr unsigned kBegins = 1;
constexpr unsigned kOneClass = 2;
constexpr unsigned kFull = 4;
constexpr unsigned kClassShift = 3;
static_assert(kSpanClassCount <= 32, "a class fits beside the flags in a byte");

constexpr std::size_t kMostVarint = 10;
/// Gap, flags, busyNs, the classes with their number, what begins, and how many more.
constexpr std::size_t kMostCell = (9 + 2 * kSpanClassCount) * kMostVarint;

char* putVarint(char* out, std::uint64_t value)
{
    for (; value >= 0x80; value >>= 7)
        *out++ = static_cast<char>(value | 0x80);
    *out++ = static_cast<char>(value);
    return out;
}

char* putNumber(char* out, std::int64_t value) { return putVarint(out, static_cast<std::uint64_t>(value)); }

std::uint64_t zigzag(std::int64_t value)
{
    return (static_cast<std::uint64_t>(value) << 1) ^ static_cast<std::uint64_t>(value >> 63);
}

std::int64_t unzigzag(std::uint64_t value) { return static_cast<std::int64_t>((value >> 1) ^ (~(value & 1) + 1)); }

/// Wraps on overflow, which only a damaged file brings.
std::int64_t sum(std::int64_t a, std::int64_t b)
{
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
}
std::int64_t difference(std::int64_t a, std::int64_t b)
{
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) - static_cast<std::uint64_t>(b));
}

std::int64_t cellBegin(const Tile& tile)
{
    return static_cast<std::int64_t>(
        static_cast<std::uint64_t>(tile.index) * static_cast<std::uint64_t>(tileWidthNs(tile.level)));
}

unsigned flagsOf(const Tile& tile)
{
    unsigned flags = 0;
    if (tile.count != 0 || tile.longestBeginNs != 0 || tile.longestEndNs != 0
        || tile.longestClass != SpanClass::Unattributed)
        flags |= kBegins;
    if (tile.busyNs == tileWidthNs(tile.level))
        flags |= kFull;
    const auto covered
        = std::find_if(tile.classNs.begin(), tile.classNs.end(), [](std::int64_t ns) { return ns != 0; });
    if (covered != tile.classNs.end() && *covered == tile.busyNs
        && std::all_of(covered + 1, tile.classNs.end(), [](std::int64_t ns) { return ns == 0; }))
        flags |= kOneClass | static_cast<unsigned>(covered - tile.classNs.begin()) << kClassShift;
    return flags;
}

/// A cell in the middle of one long span; such cells come in runs.
bool isPlain(unsigned flags) { return (flags & (kBegins | kOneClass | kFull)) == (kOneClass | kFull); }

char* putCell(char* out, const Tile& tile, unsigned flags)
{
    if (!(flags & kFull))
        out = putNumber(out, tile.busyNs);
    if (!(flags & kOneClass)) {
        out = putNumber(
            out, std::count_if(tile.classNs.begin(), tile.classNs.end(), [](std::int64_t ns) { return ns != 0; }));
        for (std::size_t i = 0; i < tile.classNs.size(); ++i) {
            if (tile.classNs[i] != 0)
                out = putNumber(putVarint(out, i), tile.classNs[i]);
        }
    }
    if (flags & kBegins) {
        out = putNumber(out, tile.count);
        out = putVarint(out, zigzag(difference(tile.longestBeginNs, cellBegin(tile))));
        out = putNumber(out, difference(tile.longestEndNs, tile.longestBeginNs));
        out = putVarint(out, static_cast<std::uint64_t>(tile.longestClass));
    }
    return out;
}

class Decoder {
public:
    explicit Decoder(std::string_view bytes)
        : bytes_(bytes)
    {
    }

    bool done() const { return bytes_.empty(); }
    bool good() const { return good_; }

    std::uint64_t number()
    {
        std::uint64_t value = 0;
        for (unsigned shift = 0; shift < 64; shift += 7) {
            if (bytes_.empty())
                break;
            const auto byte = static_cast<unsigned char>(bytes_.front());
            bytes_.remove_prefix(1);
            value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
            if (byte < 0x80)
                return value;
        }
        good_ = false;
        return 0;
    }
    std::int64_t integer() { return static_cast<std::int64_t>(number()); }
    std::size_t classNumber()
    {
        const std::uint64_t value = number();
        good_ = good_ && value < kSpanClassCount;
        return good_ ? static_cast<std::size_t>(value) : 0;
    }

    void cell(Tile& tile, unsigned flags)
    {
        tile.busyNs = flags & kFull ? tileWidthNs(tile.level) : integer();
        if (flags & kOneClass) {
            const unsigned number = flags >> kClassShift;
            good_ = good_ && number < kSpanClassCount;
            tile.classNs[good_ ? number : 0] = tile.busyNs;
        } else {
            for (std::uint64_t left = number(); left > 0 && good_; --left) {
                const std::size_t which = classNumber();
                tile.classNs[which] = integer();
            }
        }
        if (flags & kBegins) {
            tile.count = static_cast<std::int32_t>(integer());
            tile.longestBeginNs = sum(unzigzag(number()), cellBegin(tile));
            tile.longestEndNs = sum(tile.longestBeginNs, integer());
            tile.longestClass = static_cast<SpanClass>(classNumber());
        }
    }

private:
    std::string_view bytes_;
    bool good_ = true;
};

} // namespace

std::string_view encodeTiles(std::span<const Tile> cells, std::vector<char>& buffer)
{
    if (cells.empty())
        return {};
    if (buffer.size() < cells.size() * kMostCell)
        buffer.resize(cells.size() * kMostCell);
    char* out = buffer.data();
    std::int64_t next = firstCellOf(tileChunkOf(cells.front().index));
    for (std::size_t i = 0; i < cells.size(); ++i) {
        const unsigned flags = flagsOf(cells[i]);
        out = putNumber(out, cells[i].index - next);
        out = putVarint(out, flags);
        out = putCell(out, cells[i], flags);
        next = cells[i].index + 1;
        if (!isPlain(flags))
            continue;
        std::int64_t more = 0;
        for (; i + 1 < cells.size() && cells[i + 1].index == next && flagsOf(cells[i + 1]) == flags; ++i, ++next)
            ++more;
        out = putNumber(out, more);
    }
    return { buffer.data(), static_cast<std::size_t>(out - buffer.data()) };
}

std::string encodeTiles(std::span<const Tile> cells)
{
    std::vector<char> buffer;
    return std::string(encodeTiles(cells, buffer));
}

Result<std::vector<Tile>> decodeTiles(LaneId lane, int level, std::int64_t firstCell, std::string_view bytes)
{
    const Error damaged("a tile is damaged");
    if (level < 0 || level >= kTileLevels)
        return damaged;
    Decoder decoder(bytes);
    const std::uint64_t cellCount = std::uint64_t{ 1 } << kTileChunkShift;
    std::vector<Tile> cells;
    std::uint64_t next = 0;
    while (!decoder.done()) {
        const std::uint64_t gap = decoder.number();
        const auto flags = static_cast<unsigned>(decoder.number());
        if (!decoder.good() || gap >= cellCount - next || flags > 0xff)
            return damaged;
        next += gap;
        Tile tile;
        tile.lane = lane;
        tile.level = level;
        tile.index = sum(firstCell, static_cast<std::int64_t>(next));
        decoder.cell(tile, flags);
        ++next;
        const std::uint64_t more = isPlain(flags) ? decoder.number() : 0;
        if (!decoder.good() || more > cellCount - next)
            return damaged;
        cells.push_back(tile);
        for (std::uint64_t i = 0; i < more; ++i, ++next) {
            ++tile.index;
            cells.push_back(tile);
        }
        if (next == cellCount && !decoder.done())
            return damaged;
    }
    return cells;
}

} // namespace rankscope::tracing
