#include "tracing/import/flight_recorder/pickle.h"

#include <array>
#include <bit>
#include <charconv>
#include <unordered_map>

namespace rankscope::tracing {

/// The pickle machine without everything that makes pickles dangerous.
class PickleParser {
public:
    explicit PickleParser(std::string bytes)
    {
        out_.bytes_ = std::move(bytes);
        out_.nodes_ = { { Pickle::Kind::None, 0, 0 }, { Pickle::Kind::Bool, 0, 0 }, { Pickle::Kind::Bool, 0, 1 } };
    }

    Result<Pickle> run()
    {
        while (at_ < out_.bytes_.size()) {
            const char code = out_.bytes_[at_++];
            if (code == '.')
                return stop();
            if (Status status = step(code); !status)
                return status.error().in("byte " + std::to_string(at_ - 1));
            if (out_.nodes_.size() > Pickle::kMostValues)
                return Error("more than " + std::to_string(Pickle::kMostValues) + " values");
        }
        return Error("ends before its stop mark");
    }

private:
    using Value = Pickle::Value;
    using Kind = Pickle::Kind;

    Result<Pickle> stop()
    {
        if (stack_.empty())
            return Error("holds no value");
        out_.root_ = stack_.back();
        return std::move(out_);
    }

    Status step(char code)
    {
        switch (code) {
        case '\x80': // PROTO
            return skip(1);
        case '\x95': // FRAME
            return skip(8);
        case 'N':
            return push(0);
        case '\x89':
            return push(1);
        case '\x88':
            return push(2);
        case '(':
            marks_.push_back(stack_.size());
            return marks_.size() > Pickle::kMostValues ? Status(Error("too many marks")) : Status(Done{});
        case '0': // POP
            if (!marks_.empty() && marks_.back() == stack_.size())
                marks_.pop_back();
            else if (!stack_.empty())
                stack_.pop_back();
            return Done{};
        case '1': { // POP_MARK
            const auto dropped = fromMark();
            return dropped ? Status(Done{}) : Status(dropped.error());
        }
        case '2': // DUP
            return stack_.empty() ? Status(Error("nothing to repeat")) : push(stack_.back());
        default:
            return stepNumber(code);
        }
    }

    Status stepNumber(char code)
    {
        switch (code) {
        case 'J': // BININT
            return binaryInteger(4, true);
        case 'K': // BININT1
            return binaryInteger(1, false);
        case 'M': // BININT2
            return binaryInteger(2, false);
        case '\x8a': // LONG1
            return longInteger(1);
        case '\x8b': // LONG4
            return longInteger(4);
        case 'I':
        case 'L':
            return textInteger();
        case 'G': // BINFLOAT: big endian
            return binaryReal();
        case 'F':
            return textReal();
        default:
            return stepText(code);
        }
    }

    Status stepText(char code)
    {
        switch (code) {
        case 'X': // BINUNICODE
        case 'T': // BINSTRING
            return countedText(4);
        case '\x8c': // SHORT_BINUNICODE
        case 'U': // SHORT_BINSTRING
            return countedText(1);
        case '\x8d': // BINUNICODE8
            return countedText(8);
        case 'V':
        case 'S':
            return lineText(code == 'S');
        default:
            return stepContainer(code);
        }
    }

    Status stepContainer(char code)
    {
        switch (code) {
        case ']':
            return push(container(Kind::List, {}));
        case '}':
            return push(container(Kind::Dict, {}));
        case ')':
            return push(container(Kind::Tuple, {}));
        case 'l':
            return gather(Kind::List);
        case 'd':
            return gather(Kind::Dict);
        case 't':
            return gather(Kind::Tuple);
        case '\x85':
        case '\x86':
        case '\x87':
            return tuple(static_cast<std::size_t>(static_cast<unsigned char>(code) - 0x84));
        case 'a': // APPEND
            return extend(1, Kind::List);
        case 's': // SETITEM
            return extend(2, Kind::Dict);
        case 'e': // APPENDS
        case 'u': // SETITEMS
            return extendFromMark(code == 'e' ? Kind::List : Kind::Dict);
        default:
            return stepMemo(code);
        }
    }

    Status stepMemo(char code)
    {
        switch (code) {
        case 'q': // BINPUT
        case 'r': // LONG_BINPUT
            return put(unsignedNumber(code == 'q' ? 1 : 4));
        case '\x94': // MEMOIZE
            return put(memo_.size());
        case 'h': // BINGET
        case 'j': // LONG_BINGET
            return get(unsignedNumber(code == 'h' ? 1 : 4));
        case 'p':
        case 'g': {
            std::uint64_t number = 0;
            const auto text = line();
            if (!text || std::from_chars(text->data(), text->data() + text->size(), number).ec != std::errc())
                return Error("a memo number that is none");
            return code == 'p' ? put(number) : get(number);
        }
        default:
            return refuse(code);
        }
    }

    /// Says what the pickle wants, so that people see what they were sent.
    Status refuse(char code)
    {
        std::string what = "holds something that is not plain data (opcode "
            + std::to_string(static_cast<unsigned char>(code)) + ")";
        if (code == 'c' || code == 'i') {
            const auto module = line(), name = line();
            if (module && name)
                what = "wants to load " + printable(*module) + "." + printable(*name);
        } else if (code == '\x93' && stack_.size() >= 2) {
            const auto module = out_.text(stack_[stack_.size() - 2]), name = out_.text(stack_.back());
            what = "wants to load " + printable(module.value_or("?")) + "." + printable(name.value_or("?"));
        } else if (code == 'B' || code == 'C' || code == '\x8e' || code == '\x96') {
            what = "holds bytes";
        } else if (code == '\x8f' || code == '\x90' || code == '\x91') {
            what = "holds a set";
        }
        return Error(what + "; only dict, list, tuple, str, int, float, bool and None are read, nothing is executed");
    }

    static std::string printable(std::string_view text)
    {
        std::string out(text.substr(0, 80));
        for (char& c : out)
            c = c >= ' ' && c < '\x7f' ? c : '?';
        return out;
    }

    Status skip(std::size_t count)
    {
        if (out_.bytes_.size() - at_ < count)
            return Error("ends inside a value");
        at_ += count;
        return Done{};
    }

    Status push(Value value)
    {
        // As deep as the file is long at most: every push takes a byte.
        stack_.push_back(value);
        return Done{};
    }

    Value node(Kind kind, std::int64_t payload, std::uint32_t length = 0)
    {
        out_.nodes_.push_back({ kind, length, payload });
        return static_cast<Value>(out_.nodes_.size() - 1);
    }

    Value container(Kind kind, std::vector<Value> items)
    {
        out_.containers_.push_back(std::move(items));
        return node(kind, static_cast<std::int64_t>(out_.containers_.size() - 1));
    }

    /// Little endian; nothing: the file ends.
    std::optional<std::uint64_t> unsignedNumber(std::size_t bytes)
    {
        if (out_.bytes_.size() - at_ < bytes)
            return std::nullopt;
        std::uint64_t value = 0;
        for (std::size_t i = 0; i < bytes; ++i)
            value |= std::uint64_t{ static_cast<unsigned char>(out_.bytes_[at_ + i]) } << (8 * i);
        at_ += bytes;
        return value;
    }

    std::optional<std::string_view> line()
    {
        const std::size_t end = out_.bytes_.find('\n', at_);
        if (end == std::string::npos)
            return std::nullopt;
        const auto text = std::string_view(out_.bytes_).substr(at_, end - at_);
        at_ = end + 1;
        return text;
    }

    Status binaryInteger(std::size_t bytes, bool isSigned)
    {
        const auto value = unsignedNumber(bytes);
        if (!value)
            return Error("ends inside a number");
        const auto wide = static_cast<std::int64_t>(*value);
        return push(node(Kind::Integer, isSigned ? static_cast<std::int32_t>(*value) : wide));
    }

    Status longInteger(std::size_t countBytes)
    {
        const auto count = unsignedNumber(countBytes);
        if (!count || out_.bytes_.size() - at_ < *count)
            return Error("ends inside a number");
        if (*count > 8) { // beyond 64 bits: nothing that a trace needs
            at_ += *count;
            return push(0);
        }
        const auto value = unsignedNumber(*count);
        const int unused = 64 - 8 * static_cast<int>(*count);
        const std::int64_t number = *count == 0 ? 0 : static_cast<std::int64_t>(*value << unused) >> unused;
        return push(node(Kind::Integer, number));
    }

    Status textInteger()
    {
        auto text = line();
        if (!text)
            return Error("ends inside a number");
        if (*text == "00" || *text == "01") // bool of protocol 0
            return push(*text == "01" ? 2 : 1);
        if (text->ends_with('L'))
            text->remove_suffix(1);
        std::int64_t value = 0;
        const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), value);
        if (error == std::errc::result_out_of_range)
            return push(0);
        if (error != std::errc() || end != text->data() + text->size())
            return Error("a number that is none");
        return push(node(Kind::Integer, value));
    }

    Status binaryReal()
    {
        const auto value = unsignedNumber(8);
        if (!value)
            return Error("ends inside a number");
        return push(node(Kind::Real, static_cast<std::int64_t>(__builtin_bswap64(*value))));
    }

    Status textReal()
    {
        const auto text = line();
        double value = 0;
        if (!text || std::from_chars(text->data(), text->data() + text->size(), value).ec != std::errc())
            return Error("a number that is none");
        return push(node(Kind::Real, std::bit_cast<std::int64_t>(value)));
    }

    Status countedText(std::size_t countBytes)
    {
        const auto length = unsignedNumber(countBytes);
        if (!length || *length > out_.bytes_.size() - at_ || *length > UINT32_MAX)
            return Error("ends inside a text");
        const std::size_t begin = at_;
        at_ += *length;
        return push(node(Kind::Text, static_cast<std::int64_t>(begin), static_cast<std::uint32_t>(*length)));
    }

    Status lineText(bool quoted)
    {
        const auto text = line();
        if (!text || text->size() > UINT32_MAX || (quoted && text->size() < 2))
            return Error("ends inside a text");
        const std::size_t begin = static_cast<std::size_t>(text->data() - out_.bytes_.data()) + (quoted ? 1 : 0);
        return push(node(
            Kind::Text, static_cast<std::int64_t>(begin), static_cast<std::uint32_t>(text->size() - (quoted ? 2 : 0))));
    }

    Result<std::vector<Value>> take(std::size_t first)
    {
        std::vector<Value> items(stack_.begin() + static_cast<std::ptrdiff_t>(first), stack_.end());
        stack_.resize(first);
        return items;
    }

    Result<std::vector<Value>> fromMark()
    {
        if (marks_.empty() || marks_.back() > stack_.size())
            return Error("a mark is missing");
        const std::size_t first = marks_.back();
        marks_.pop_back();
        return take(first);
    }

    Status gather(Kind kind)
    {
        auto items = fromMark();
        if (!items)
            return items.error();
        if (kind == Kind::Dict && items->size() % 2 != 0)
            return Error("a key without a value");
        return push(container(kind, std::move(*items)));
    }

    Status tuple(std::size_t count)
    {
        if (stack_.size() < count)
            return Error("a tuple of more values than there are");
        auto items = take(stack_.size() - count);
        return push(container(Kind::Tuple, std::move(*items)));
    }

    Status extend(std::size_t count, Kind kind)
    {
        if (stack_.size() < count + 1)
            return Error("nothing to add to");
        const auto items = take(stack_.size() - count);
        return addTo(kind, *items);
    }

    Status extendFromMark(Kind kind)
    {
        const auto items = fromMark();
        if (!items)
            return items.error();
        if (kind == Kind::Dict && items->size() % 2 != 0)
            return Error("a key without a value");
        return addTo(kind, *items);
    }

    Status addTo(Kind kind, const std::vector<Value>& items)
    {
        if (stack_.empty() || out_.nodes_[stack_.back()].kind != kind)
            return Error("adds to what is no container of that kind");
        auto& target = out_.containers_[static_cast<std::size_t>(out_.nodes_[stack_.back()].payload)];
        target.insert(target.end(), items.begin(), items.end());
        return Done{};
    }

    Status put(std::optional<std::uint64_t> number)
    {
        if (!number || stack_.empty())
            return Error("nothing to remember");
        memo_[*number] = stack_.back();
        return Done{};
    }

    Status get(std::optional<std::uint64_t> number)
    {
        const auto it = number ? memo_.find(*number) : memo_.end();
        return it == memo_.end() ? Status(Error("refers to what it never stored")) : push(it->second);
    }

    Pickle out_;
    std::size_t at_ = 0;
    std::vector<Value> stack_;
    std::vector<std::size_t> marks_;
    std::unordered_map<std::uint64_t, Value> memo_;
};

Result<Pickle> Pickle::parse(std::string bytes) { return PickleParser(std::move(bytes)).run(); }

std::optional<std::int64_t> Pickle::integer(Value value) const
{
    const Node& node = nodes_[value];
    return node.kind == Kind::Integer || node.kind == Kind::Bool ? std::optional(node.payload) : std::nullopt;
}

std::optional<double> Pickle::real(Value value) const
{
    const Node& node = nodes_[value];
    if (node.kind == Kind::Real)
        return std::bit_cast<double>(node.payload);
    return node.kind == Kind::Integer ? std::optional(static_cast<double>(node.payload)) : std::nullopt;
}

std::optional<std::string_view> Pickle::text(Value value) const
{
    const Node& node = nodes_[value];
    if (node.kind != Kind::Text)
        return std::nullopt;
    return std::string_view(bytes_).substr(static_cast<std::size_t>(node.payload), node.length);
}

const std::vector<Pickle::Value>& Pickle::items(Value value) const
{
    static const std::vector<Value> kNone;
    return nodes_[value].kind >= Kind::List ? containers_[static_cast<std::size_t>(nodes_[value].payload)] : kNone;
}

std::optional<Pickle::Value> Pickle::find(Value dict, std::string_view key, std::size_t keys) const
{
    if (nodes_[dict].kind != Kind::Dict)
        return std::nullopt;
    const std::vector<Value>& all = items(dict);
    for (std::size_t i = 0; i + 1 < all.size() && i / 2 < keys; i += 2) {
        if (text(all[i]) == key)
            return all[i + 1];
    }
    return std::nullopt;
}

} // namespace rankscope::tracing
