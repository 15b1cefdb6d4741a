#include "tracing/export/json_writer.h"

#include <rapidjson/prettywriter.h>
#include <rapidjson/stringbuffer.h>

#include <cmath>

namespace rankscope::tracing {

namespace {

/// Length of the valid code point at the front (RFC 3629: no overlong forms, no surrogates, up to U+10FFFF).
std::size_t codePointBytes(std::string_view text)
{
    const auto byte = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U; };
    const auto follows
        = [&](std::size_t i, unsigned low = 0x80U, unsigned high = 0xBFU) { return byte(i) >= low && byte(i) <= high; };
    const unsigned first = byte(0);
    if (first < 0x80U)
        return 1;
    if (first >= 0xC2U && first <= 0xDFU)
        return follows(1) ? 2 : 0;
    if (first >= 0xE0U && first <= 0xEFU) {
        const bool second = follows(1, first == 0xE0U ? 0xA0U : 0x80U, first == 0xEDU ? 0x9FU : 0xBFU);
        return second && follows(2) ? 3 : 0;
    }
    if (first >= 0xF0U && first <= 0xF4U) {
        const bool second = follows(1, first == 0xF0U ? 0x90U : 0x80U, first == 0xF4U ? 0x8FU : 0xBFU);
        return second && follows(2) && follows(3) ? 4 : 0;
    }
    return 0;
}

} // namespace

std::string validUtf8(std::string_view bytes)
{
    std::string text;
    text.reserve(bytes.size());
    while (!bytes.empty()) {
        const std::size_t length = codePointBytes(bytes);
        text += length > 0 ? bytes.substr(0, length) : std::string_view("\xEF\xBF\xBD");
        bytes.remove_prefix(length > 0 ? length : 1);
    }
    return text;
}

struct JsonWriter::Impl {
    rapidjson::StringBuffer buffer;
    rapidjson::PrettyWriter<rapidjson::StringBuffer> writer{ buffer };
};

JsonWriter::JsonWriter()
    : impl_(std::make_unique<Impl>())
{
    impl_->writer.SetIndent(' ', 1);
}

JsonWriter::~JsonWriter() = default;

JsonWriter& JsonWriter::beginObject()
{
    impl_->writer.StartObject();
    return *this;
}

JsonWriter& JsonWriter::endObject()
{
    impl_->writer.EndObject();
    return *this;
}

JsonWriter& JsonWriter::beginArray()
{
    impl_->writer.StartArray();
    return *this;
}

JsonWriter& JsonWriter::endArray()
{
    impl_->writer.EndArray();
    return *this;
}

JsonWriter& JsonWriter::key(std::string_view name)
{
    const std::string valid = validUtf8(name);
    impl_->writer.Key(valid.data(), static_cast<rapidjson::SizeType>(valid.size()));
    return *this;
}

JsonWriter& JsonWriter::value(std::string_view text)
{
    const std::string valid = validUtf8(text);
    impl_->writer.String(valid.data(), static_cast<rapidjson::SizeType>(valid.size()));
    return *this;
}

JsonWriter& JsonWriter::value(std::int64_t number)
{
    impl_->writer.Int64(number);
    return *this;
}

JsonWriter& JsonWriter::value(double number)
{
    if (!std::isfinite(number))
        return null();
    impl_->writer.Double(number);
    return *this;
}

JsonWriter& JsonWriter::value(bool flag)
{
    impl_->writer.Bool(flag);
    return *this;
}

JsonWriter& JsonWriter::null()
{
    impl_->writer.Null();
    return *this;
}

std::string JsonWriter::take()
{
    std::string part(impl_->buffer.GetString(), impl_->buffer.GetSize());
    impl_->buffer.Clear();
    return part;
}

std::string JsonWriter::text() const { return std::string(impl_->buffer.GetString(), impl_->buffer.GetSize()) + "\n"; }

} // namespace rankscope::tracing
