#pragma once

#include "tracing/model/result.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rankscope::tracing {

/// A whole name with gaps: `*` stands for any text, `{step}`, `{micro_batch}`, `{stage}` and `{number}` for a whole
/// number, which is kept. "PP:{stage}F{micro_batch}" matches "PP:2F0".
class NamePattern {
public:
    static Result<NamePattern> parse(std::string_view text);

    struct Numbers {
        std::optional<std::int64_t> step, microBatch, stage;
    };
    /// None: the name is another one.
    std::optional<Numbers> match(std::string_view name) const;
    bool hasNumbers() const;

private:
    enum class Kind : std::uint8_t { Text, Any, Step, MicroBatch, Stage, Number };
    struct Piece {
        Kind kind = Kind::Text;
        std::string text;
    };
    static bool takeNumber(std::string_view name, std::size_t& at, std::int64_t& value);
    static void keep(Kind kind, std::int64_t value, Numbers& numbers);

    std::vector<Piece> pieces_;
};

} // namespace rankscope::tracing
