#pragma once

#include "backend/train/config.h"

#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace rankscope::backend {

/// One key of a run configuration. The table of all drives parsing, refusal, --plan and --help.
struct ConfigKey {
    using Field = std::variant<int& (*)(Config&), double& (*)(Config&), std::string& (*)(Config&),
        std::vector<double>& (*)(Config&), bool& (*)(Config&)>;

    std::string_view name; ///< "model.layers"
    std::string_view meaning;
    Field field;
    double least = 0, most = 0; ///< numbers: both ends allowed
    std::vector<std::string_view> words{}; ///< texts: what is allowed; empty: any

    std::string_view type() const; ///< "integer", "number", "text", "two numbers", "true or false"
    std::string allowed() const; ///< "1 to 1000", "fp32"
    std::string value(const Config& config) const; ///< as TOML
};
std::span<const ConfigKey> configKeys();

/// Keys of one [[link]]; they have no default.
struct LinkKey {
    std::string_view name; ///< "gbit_s"
    std::string_view meaning;
    std::variant<int Link::*, double Link::*> field;
    double least = 0, most = 0;

    std::string allowed() const;
    std::string value(const Link& link) const;
};
std::span<const LinkKey> linkKeys();

/// Keys of one [[fault]]. What a fault's kind has no use for is left alone.
struct FaultKey {
    std::string_view name; ///< "factor"
    std::string_view meaning;
    std::variant<int Fault::*, double Fault::*, std::string Fault::*> field;
    double least = 0, most = 0;
    std::span<const std::string_view> words{}; ///< texts: what is allowed

    std::string allowed() const;
    std::string value(const Fault& fault) const; ///< as TOML
};
std::span<const FaultKey> faultKeys();

/// A value as it came from TOML or from a command line.
using RawValue = std::variant<std::int64_t, double, bool, std::string, std::vector<double>>;

/// Checks type and range. The error begins with the key and ends with what is allowed.
tracing::Status setKey(Config& config, const ConfigKey& key, const RawValue& value);
tracing::Status setLinkKey(Config& config, std::size_t link, std::string_view key, const RawValue& value);

tracing::Status setFaultKey(Config& config, std::size_t fault, std::string_view key, const RawValue& value);

/// Where `name` is no key: an error that says so and lists the section's keys (or the sections).
tracing::Error unknownKey(const std::string& name);

} // namespace rankscope::backend
