#include "tests/tracing/export/traces/perfetto_decoder.h"

#include <algorithm>
#include <bit>
#include <stdexcept>

namespace rankscope::tracing {

namespace {

std::uint64_t takeVarint(std::string_view& bytes)
{
    std::uint64_t value = 0;
    for (unsigned shift = 0;; shift += 7) {
        if (bytes.empty() || shift > 63)
            throw std::runtime_error("varint");
        const auto byte = static_cast<unsigned char>(bytes.front());
        bytes.remove_prefix(1);
        value |= std::uint64_t{ byte & 0x7fU } << shift;
        if (byte < 0x80)
            return value;
    }
}

struct Track {
    std::string name, unit, process;
    std::uint64_t parent = 0;
    bool isCounter = false;
};

struct Event {
    std::uint64_t timeNs = 0;
    std::string_view bytes;
};

class Decoder {
public:
    PerfettoTrace decode(std::string_view bytes)
    {
        for (const ProtobufField& packet : protobufFields(bytes)) {
            if (packet.number != 1)
                throw std::runtime_error("not a packet");
            addPacket(packet.bytes);
        }
        std::ranges::stable_sort(events_, {}, &Event::timeNs);
        for (const Event& event : events_)
            addEvent(event);
        for (const auto& [uuid, open] : open_) {
            if (!open.empty())
                throw std::runtime_error("slice without an end");
        }
        return std::move(trace_);
    }

private:
    void addPacket(std::string_view bytes)
    {
        Event event;
        std::uint64_t sequence = 0;
        for (const ProtobufField& field : protobufFields(bytes)) {
            if (field.number == 8)
                event.timeNs = field.value;
            else if (field.number == 10)
                sequence = field.value;
            else if (field.number == 11)
                event.bytes = field.bytes;
            else if (field.number == 12)
                addInterned(field.bytes);
            else if (field.number == 60)
                addTrack(field.bytes);
            else if (field.number == 6)
                addClocks(field.bytes);
        }
        if (sequence == 0)
            throw std::runtime_error("packet without a sequence");
        if (!event.bytes.empty())
            events_.push_back(event);
    }

    void addInterned(std::string_view bytes)
    {
        for (const ProtobufField& table : protobufFields(bytes)) {
            std::uint64_t number = 0;
            std::string text;
            for (const ProtobufField& field : protobufFields(table.bytes))
                field.number == 1 ? void(number = field.value) : void(text = field.bytes);
            interned_[table.number][number] = text;
        }
    }

    void addTrack(std::string_view bytes)
    {
        std::uint64_t uuid = 0;
        Track track;
        for (const ProtobufField& field : protobufFields(bytes)) {
            if (field.number == 1)
                uuid = field.value;
            else if (field.number == 2)
                track.name = field.bytes;
            else if (field.number == 5)
                track.parent = field.value;
            else if (field.number == 3 || field.number == 8) {
                track.isCounter = field.number == 8;
                for (const ProtobufField& inner : protobufFields(field.bytes)) {
                    if (inner.number == 6)
                        (field.number == 3 ? track.process : track.unit) = inner.bytes;
                }
            }
        }
        tracks_[uuid] = track;
    }

    void addClocks(std::string_view bytes)
    {
        for (const ProtobufField& clock : protobufFields(bytes)) {
            if (clock.number != 1)
                continue;
            std::uint64_t id = 0, time = 0;
            for (const ProtobufField& field : protobufFields(clock.bytes))
                (field.number == 1 ? id : time) = field.value;
            trace_.clocks[id] = time;
        }
    }

    void addEvent(const Event& event)
    {
        std::uint64_t type = 0, uuid = 0;
        double value = 0;
        PerfettoTrace::Slice slice;
        slice.beginNs = event.timeNs;
        for (const ProtobufField& field : protobufFields(event.bytes)) {
            if (field.number == 9)
                type = field.value;
            else if (field.number == 11)
                uuid = field.value;
            else if (field.number == 44)
                value = std::bit_cast<double>(field.value);
            else if (field.number == 10)
                slice.name = interned_.at(2).at(field.value);
            else if (field.number == 3)
                slice.category = interned_.at(1).at(field.value);
            else if (field.number == 47)
                slice.flows.push_back(field.value);
            else if (field.number == 4)
                addAnnotation(field.bytes, slice);
        }
        const Track& track = tracks_.at(uuid);
        slice.track = track.name;
        slice.process = tracks_.at(track.parent).process;
        auto& open = open_[uuid];
        if (type == 1) {
            open.push_back(slice);
        } else if (type == 2) {
            open.back().endNs = event.timeNs;
            trace_.slices.push_back(open.back());
            open.pop_back();
        } else {
            trace_.samples.push_back({ slice.process, track.name, track.unit, event.timeNs, value });
        }
    }

    void addAnnotation(std::string_view bytes, PerfettoTrace::Slice& slice)
    {
        std::string name, value;
        for (const ProtobufField& field : protobufFields(bytes)) {
            if (field.number == 1)
                name = interned_.at(3).at(field.value);
            else
                value = field.number == 6 ? std::string(field.bytes)
                                          : std::to_string(static_cast<std::int64_t>(field.value));
        }
        slice.annotations[name] = value;
    }

    PerfettoTrace trace_;
    std::map<int, std::map<std::uint64_t, std::string>> interned_;
    std::map<std::uint64_t, Track> tracks_;
    std::vector<Event> events_;
    std::map<std::uint64_t, std::vector<PerfettoTrace::Slice>> open_;
};

} // namespace

std::vector<ProtobufField> protobufFields(std::string_view message)
{
    std::vector<ProtobufField> fields;
    while (!message.empty()) {
        const std::uint64_t tag = takeVarint(message);
        ProtobufField field;
        field.number = static_cast<int>(tag >> 3U);
        const std::uint64_t wire = tag & 7U;
        if (wire == 0) {
            field.value = takeVarint(message);
        } else if (wire == 1) {
            if (message.size() < 8)
                throw std::runtime_error("fixed64");
            for (unsigned i = 0; i < 8; ++i)
                field.value |= std::uint64_t{ static_cast<unsigned char>(message[i]) } << 8 * i;
            message.remove_prefix(8);
        } else {
            const std::uint64_t size = takeVarint(message);
            if (wire != 2 || size > message.size())
                throw std::runtime_error("length");
            field.bytes = message.substr(0, size);
            message.remove_prefix(size);
        }
        fields.push_back(field);
    }
    return fields;
}

PerfettoTrace decodePerfetto(std::string_view bytes) { return Decoder().decode(bytes); }

} // namespace rankscope::tracing
