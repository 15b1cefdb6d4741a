#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace rankscope::tracing {

/// The text with every byte that is not valid UTF-8 replaced by U+FFFD: names come from anybody's program.
std::string validUtf8(std::string_view bytes);

/// Writes one JSON document. Values that JSON does not have (NaN, infinities, absent ones) become null.
class JsonWriter {
public:
    JsonWriter();
    ~JsonWriter();
    JsonWriter(const JsonWriter&) = delete;
    JsonWriter& operator=(const JsonWriter&) = delete;

    JsonWriter& beginObject();
    JsonWriter& endObject();
    JsonWriter& beginArray();
    JsonWriter& endArray();
    JsonWriter& key(std::string_view name);

    JsonWriter& value(std::string_view text);
    JsonWriter& value(const char* text) { return value(std::string_view(text)); }
    JsonWriter& value(std::int64_t number);
    JsonWriter& value(std::int32_t number) { return value(std::int64_t{ number }); }
    JsonWriter& value(double number);
    JsonWriter& value(bool flag);
    JsonWriter& null();
    template <typename T> JsonWriter& value(const std::optional<T>& optional)
    {
        return optional ? value(*optional) : null();
    }
    template <typename T> JsonWriter& member(std::string_view name, const T& content)
    {
        return key(name).value(content);
    }
    template <typename Range> JsonWriter& list(std::string_view name, const Range& items)
    {
        key(name).beginArray();
        for (const auto& item : items)
            value(item);
        return endArray();
    }

    std::string text() const; ///< of the finished document, with a newline at its end
    std::string take(); ///< what was written since the last call, for documents that do not fit in memory

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

} // namespace rankscope::tracing
