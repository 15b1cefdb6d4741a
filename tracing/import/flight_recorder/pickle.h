#pragma once

#include "tracing/model/result.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rankscope::tracing {

/// Plain data out of a Python pickle: dict, list, tuple, str, int, float, bool, None. Nothing is ever executed or
/// looked up: whatever else a pickle asks for is refused by its name. Values are numbers into one table, so that what a
/// pickle shares (or lets hold itself) costs nothing; look values up, do not walk them.
class Pickle {
public:
    enum class Kind : std::uint8_t { None, Bool, Integer, Real, Text, List, Tuple, Dict };
    using Value = std::uint32_t;

    /// `bytes` is the whole file; protocols 0 to 5. An error: damage, anything but plain data, more values than
    /// kMostValues.
    static Result<Pickle> parse(std::string bytes);
    static constexpr std::size_t kMostValues = 8'000'000;

    Value root() const { return root_; }
    Kind kind(Value value) const { return nodes_[value].kind; }
    std::optional<std::int64_t> integer(Value value) const; ///< also of a bool
    std::optional<double> real(Value value) const; ///< also of an int
    std::optional<std::string_view> text(Value value) const;
    /// A list's or tuple's values; of a dict key, value, key, value, ...; of all else nothing.
    const std::vector<Value>& items(Value value) const;
    /// A dict's value of a key that is text, among its first keys.
    std::optional<Value> find(Value dict, std::string_view key, std::size_t keys = kMostValues) const;

private:
    friend class PickleParser;
    struct Node {
        Kind kind = Kind::None;
        std::uint32_t length = 0; ///< Text
        std::int64_t payload = 0; ///< Bool, Integer; bits of Real; begin of Text in bytes_; place in containers_
    };
    std::string bytes_;
    std::vector<Node> nodes_;
    std::vector<std::vector<Value>> containers_;
    Value root_ = 0;
};

} // namespace rankscope::tracing
