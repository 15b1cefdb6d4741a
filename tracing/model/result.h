#pragma once

#include "tracing/model/check.h"

#include <string>
#include <utility>
#include <variant>

namespace rankscope::tracing {

/// Why something from the outside world failed: what, which value, what to do. One line.
class Error {
public:
    explicit Error(std::string message)
        : message_(std::move(message))
    {
    }

    const std::string& message() const { return message_; }

    /// Adds context on the way up: Error("disk full").in("write run.rsdb") reads "write run.rsdb: disk full".
    Error in(const std::string& context) const { return Error(context + ": " + message_); }

private:
    std::string message_;
};

/// A value or the reason there is none. Same members as std::expected, which nvcc's C++20 does not have.
template <typename T> class [[nodiscard]] Result {
public:
    Result(T value)
        : state_(std::in_place_index<0>, std::move(value))
    {
    }
    Result(Error error)
        : state_(std::in_place_index<1>, std::move(error))
    {
    }

    bool has_value() const { return state_.index() == 0; }
    explicit operator bool() const { return has_value(); }

    T& value()
    {
        RS_CHECK(has_value(), "Result holds a value");
        return *std::get_if<0>(&state_);
    }
    const T& value() const
    {
        RS_CHECK(has_value(), "Result holds a value");
        return *std::get_if<0>(&state_);
    }
    T& operator*() { return value(); }
    const T& operator*() const { return value(); }
    T* operator->() { return &value(); }
    const T* operator->() const { return &value(); }

    const Error& error() const
    {
        RS_CHECK(!has_value(), "Result holds an error");
        return *std::get_if<1>(&state_);
    }

private:
    std::variant<T, Error> state_;
};

/// Success without a value: `return Done {};`.
struct Done { };
using Status = Result<Done>;

} // namespace rankscope::tracing
