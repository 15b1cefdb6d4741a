#include "tracing/import/nsight/nvtx_payloads.h"

#include "tracing/import/nsight/export_tables.h"

#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>

#include <array>
#include <cstring>
#include <optional>

namespace rankscope::tracing {

namespace {

constexpr std::size_t kHead = 32; ///< domain, schema, bytes of the payload, bytes of all: 8 each
constexpr std::int64_t kNotPlain = 0x3E; ///< flags of pointers, offsets and arrays

struct Width {
    std::size_t bytes = 0;
    bool isSigned = false;
    bool isWhole = true;
};

/// NVTX_PAYLOAD_ENTRY_TYPE_*, from char (1) to address (23), on the 64-bit machines that CUDA runs on.
std::optional<Width> widthOf(std::int64_t type)
{
    static constexpr std::array<Width, 24> kWidths{ { {}, { 1, true }, { 1 }, { 2, true }, { 2 }, { 4, true }, { 4 },
        { 8, true }, { 8 }, { 8, true }, { 8 }, { 1, true }, { 1 }, { 2, true }, { 2 }, { 4, true }, { 4 }, { 8, true },
        { 8 }, { 4, true, false }, { 8, true, false }, { 16, true, false }, { 8 }, { 8 } } };
    if (type < 1 || type >= static_cast<std::int64_t>(kWidths.size()))
        return std::nullopt;
    return kWidths[static_cast<std::size_t>(type)];
}

/// Little endian, as all machines are whose reports can be opened.
std::uint64_t numberAt(std::string_view bytes, std::size_t at, std::size_t size)
{
    std::uint64_t number = 0;
    std::memcpy(&number, bytes.data() + at, size);
    return number;
}

std::int64_t withSign(std::uint64_t number, std::size_t size)
{
    const auto unused = static_cast<unsigned>(64 - 8 * size);
    return static_cast<std::int64_t>(number << unused) >> unused;
}

} // namespace

Status NvtxPayloads::load(ExportTables& tables)
{
    const Status sizes = tables.each(
        "NVTX_PAYLOAD_SCHEMAS", { "domainId", "schemaId", "payloadSize" }, [&](const Statement& row) -> Status {
            schemas_[{ row.integer(0), row.integer(1) }].bytes = row.integer(2);
            return Done{};
        });
    if (!sizes)
        return sizes;
    return tables.each("NVTX_PAYLOAD_SCHEMA_ENTRIES",
        { "domainId", "schemaId", "idx", "flags", "type", "name", "offset" }, [&](const Statement& row) -> Status {
            if (const auto schema = schemas_.find({ row.integer(0), row.integer(1) }); schema != schemas_.end())
                schema->second.fields[row.integer(2)] = { row.integer(3), row.integer(4), row.integer(6), row.text(5) };
            return Done{};
        });
}

std::string NvtxPayloads::json(std::string_view payload) const
{
    if (payload.size() < kHead)
        return {};
    const auto found = schemas_.find(
        { static_cast<std::int64_t>(numberAt(payload, 0, 4)), static_cast<std::int64_t>(numberAt(payload, 8, 4)) });
    const std::string_view data = payload.substr(kHead);
    if (found == schemas_.end() || found->second.bytes < 0
        || data.size() < static_cast<std::uint64_t>(found->second.bytes))
        return {};
    rapidjson::StringBuffer text;
    rapidjson::Writer<rapidjson::StringBuffer> json(text);
    json.StartObject();
    std::size_t next = 0;
    for (const auto& [place, field] : found->second.fields) {
        const auto width = widthOf(field.type);
        const bool isPlain = width && (field.flags & kNotPlain) == 0;
        // What is not understood has no width: the fields behind it need an offset of their own.
        if (field.offset <= 0 && (!isPlain || next == std::string_view::npos)) {
            next = std::string_view::npos;
            continue;
        }
        const std::size_t at = field.offset > 0 ? static_cast<std::size_t>(field.offset)
                                                : (next + width->bytes - 1) / width->bytes * width->bytes;
        if (!isPlain || at > data.size() || data.size() - at < width->bytes) {
            next = std::string_view::npos;
            continue;
        }
        next = at + width->bytes;
        if (!width->isWhole || field.label.empty())
            continue;
        const std::uint64_t number = numberAt(data, at, width->bytes);
        json.Key(field.label.c_str());
        if (width->isSigned)
            json.Int64(withSign(number, width->bytes));
        else
            json.Uint64(number);
    }
    json.EndObject();
    return text.GetString();
}

} // namespace rankscope::tracing
