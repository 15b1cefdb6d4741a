#pragma once

#include <cstdlib>
#include <optional>
#include <string>

namespace rankscope::support {

/// Sets a variable of the environment for a test's scope.
class EnvironmentVariable {
public:
    EnvironmentVariable(const char* name, const std::string& value)
        : name_(name)
    {
        if (const char* before = std::getenv(name))
            before_ = before;
        setenv(name, value.c_str(), 1);
    }
    EnvironmentVariable(const EnvironmentVariable&) = delete;
    EnvironmentVariable& operator=(const EnvironmentVariable&) = delete;
    ~EnvironmentVariable() { before_ ? setenv(name_, before_->c_str(), 1) : unsetenv(name_); }

private:
    const char* name_;
    std::optional<std::string> before_;
};

} // namespace rankscope::support
