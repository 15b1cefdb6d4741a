#pragma once

#include <limits>
#include <optional>

namespace rankscope::tracing {

/// std::optional of an integer in half its room, for rows that are held by the million: the type's least value, which
/// no row has, stands for none.
template <typename T> class CompactOptional {
public:
    constexpr CompactOptional() = default;
    constexpr CompactOptional(std::nullopt_t) { }
    constexpr CompactOptional(T value)
        : value_(value)
    {
    }
    constexpr CompactOptional(const std::optional<T>& value)
        : value_(value.value_or(kNone))
    {
    }

    constexpr operator std::optional<T>() const { return has_value() ? std::optional<T>(value_) : std::nullopt; }
    constexpr explicit operator bool() const { return has_value(); }
    constexpr bool has_value() const { return value_ != kNone; }
    constexpr const T& operator*() const { return value_; }
    constexpr T value_or(T other) const { return has_value() ? value_ : other; }
    constexpr T& emplace(T value) { return value_ = value; }

    friend constexpr bool operator==(const CompactOptional&, const CompactOptional&) = default;

private:
    static constexpr T kNone = std::numeric_limits<T>::min();
    T value_ = kNone;
};

} // namespace rankscope::tracing
