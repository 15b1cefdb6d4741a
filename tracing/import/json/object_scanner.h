#pragma once

#include "tracing/import/byte_source.h"

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rankscope::tracing {

/// Cuts a trace-event file into its event objects without understanding them, so that one broken event costs one event:
/// the array under "traceEvents", or a bare array. Other top-level values are kept as text. Works on a window of the
/// file; objects larger than kGreatestObject are skipped and counted.
class ObjectScanner {
public:
    static constexpr std::size_t kGreatestObject = 8u << 20;
    static constexpr std::size_t kGreatestValue = 16u << 20; ///< a top-level value that is kept
    static constexpr std::size_t kGreatestValues = 48u << 20; ///< all of them with their keys

    explicit ObjectScanner(ByteSource& source);

    /// Appends the next objects' texts to `text` and their ends to `ends` until about `bytes` are there. False: end of
    /// file.
    Result<bool> next(std::size_t bytes, std::string& text, std::vector<std::size_t>& ends);

    /// Top-level values other than the events, as JSON text; complete after next() gave false.
    const std::map<std::string, std::string>& values() const { return values_; }
    bool foundEvents() const { return foundEvents_; } ///< an array of events was there
    bool terminated() const { return terminated_; } ///< ... and it was closed
    std::int64_t skipped() const { return skipped_; } ///< stretches that are no object: damage between events

private:
    enum class State { Begin, TopLevel, Events, End };
    bool fill(); ///< more bytes behind what is there; false: none left
    bool skipBlank();
    char peek() const { return buffer_[at_]; }
    void begin();
    void topLevel();
    bool readKey(std::string& key);
    bool skipValue(std::size_t limit, std::string* text);
    bool nextObject(std::string& text, std::vector<std::size_t>& ends);
    void resynchronise();

    ByteSource& source_;
    std::string buffer_; ///< [at_, size) is not yet used
    std::size_t at_ = 0;
    bool atEnd_ = false;
    State state_ = State::Begin;
    bool inObject_ = false; ///< the array stands in a top-level object
    std::map<std::string, std::string> values_;
    std::size_t valueBytes_ = 0;
    bool foundEvents_ = false;
    bool terminated_ = false;
    std::int64_t skipped_ = 0;
    std::optional<Error> error_;
};

} // namespace rankscope::tracing
