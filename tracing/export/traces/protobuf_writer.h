#pragma once

#include <bit>
#include <cstdint>
#include <string>
#include <string_view>

namespace rankscope::tracing {

/// Appends fields of a protobuf message to a text (the encoding's page of protobuf.dev). Numbers of fields are the
/// caller's.
class ProtobufWriter {
public:
    void varint(int field, std::uint64_t value)
    {
        tag(field, 0);
        raw(value);
    }
    void fixed64(int field, std::uint64_t value)
    {
        tag(field, 1);
        for (int shift = 0; shift < 64; shift += 8)
            bytes_.push_back(static_cast<char>(value >> static_cast<unsigned>(shift)));
    }
    void real(int field, double value) { fixed64(field, std::bit_cast<std::uint64_t>(value)); }
    void text(int field, std::string_view value)
    {
        tag(field, 2);
        raw(value.size());
        bytes_ += value;
    }
    void message(int field, const ProtobufWriter& inner) { text(field, inner.bytes_); }

    const std::string& bytes() const { return bytes_; }
    bool empty() const { return bytes_.empty(); }
    void clear() { bytes_.clear(); }

private:
    void tag(int field, unsigned wire) { raw(static_cast<std::uint64_t>(field) << 3U | wire); }
    void raw(std::uint64_t value)
    {
        for (; value >= 0x80; value >>= 7U)
            bytes_.push_back(static_cast<char>(value | 0x80U));
        bytes_.push_back(static_cast<char>(value));
    }

    std::string bytes_;
};

} // namespace rankscope::tracing
