#include "tracing/import/json/json_event.h"

#include "tracing/import/json/decimal.h"

// This file alone reads strings 16 bytes at a time: its buffer has room behind the text, others' have none. A namespace of
// its own keeps the two kinds of reader apart.
#define RAPIDJSON_NAMESPACE rapidjson_simd
#define RAPIDJSON_NAMESPACE_BEGIN namespace rapidjson_simd {
#define RAPIDJSON_NAMESPACE_END }
#if defined(__SSE2__)
#define RAPIDJSON_SSE2
#endif
#include <rapidjson/reader.h>

#include <cctype>

namespace rankscope::tracing {

namespace {

constexpr int kGreatestDepth = 64; // a nesting bomb ends here

enum class Field : std::uint8_t { None, Phase, Name, Category, Process, Thread, Id, Timestamp, Duration, Arguments };

Field fieldOf(std::string_view key)
{
    switch (key.size()) {
    case 2:
        return key == "ph" ? Field::Phase : key == "ts" ? Field::Timestamp : key == "id" ? Field::Id : Field::None;
    case 3:
        if (key == "cat")
            return Field::Category;
        if (key == "pid")
            return Field::Process;
        return key == "tid" ? Field::Thread : key == "dur" ? Field::Duration : Field::None;
    case 4:
        return key == "name" ? Field::Name : key == "args" ? Field::Arguments : Field::None;
    default:
        return Field::None;
    }
}

/// Fills a JsonEvent from RapidJSON's events. Strings are parsed in place, so views stay good.
class Handler : public rapidjson_simd::BaseReaderHandler<rapidjson_simd::UTF8<>, Handler> {
public:
    explicit Handler(JsonEvent& event)
        : event_(event)
    {
    }

    bool Null() { return value("null", false); }
    bool Bool(bool b) { return value(b ? "true" : "false", false); }
    bool RawNumber(const char* text, rapidjson_simd::SizeType length, bool) { return value({ text, length }, false); }
    bool String(const char* text, rapidjson_simd::SizeType length, bool) { return value({ text, length }, true); }
    bool StartObject() { return open(); }
    bool StartArray() { return open(); }
    bool EndObject(rapidjson_simd::SizeType) { return close(); }
    bool EndArray(rapidjson_simd::SizeType) { return close(); }
    bool Key(const char* text, rapidjson_simd::SizeType length, bool)
    {
        const std::string_view key(text, length);
        if (depth_ == 1)
            field_ = fieldOf(key);
        else if (depth_ == 2 && field_ == Field::Arguments)
            event_.arguments.push_back({ key, {}, false });
        return true;
    }

private:
    bool open() { return ++depth_ <= kGreatestDepth; }
    bool close()
    {
        --depth_;
        return true;
    }

    bool value(std::string_view text, bool isString)
    {
        if (depth_ == 1)
            assign(text);
        else if (depth_ >= 2 && field_ == Field::Arguments && !event_.arguments.empty())
            argument(text, isString);
        return true;
    }

    void argument(std::string_view text, bool isString)
    {
        JsonEvent::Argument& argument = event_.arguments.back();
        if (argument.value.empty()) {
            argument.value = text;
            argument.isString = isString;
        } else if (!argument.isString && !isString) {
            // A list of numbers: in place its items lie one behind another, separators between them.
            argument.value = { argument.value.data(),
                static_cast<std::size_t>(text.data() + text.size() - argument.value.data()) };
        }
    }

    void assign(std::string_view text)
    {
        switch (field_) {
        case Field::Phase:
            event_.phase = text.empty() ? '\0' : text.front();
            break;
        case Field::Name:
            event_.name = text;
            break;
        case Field::Category:
            event_.category = text;
            break;
        case Field::Process:
            event_.processId = text;
            break;
        case Field::Thread:
            event_.threadId = text;
            break;
        case Field::Id:
            event_.id = text;
            break;
        case Field::Timestamp:
            event_.timestamp = text;
            break;
        case Field::Duration:
            event_.duration = text;
            break;
        default:
            break;
        }
    }

    JsonEvent& event_;
    int depth_ = 0;
    Field field_ = Field::None;
};

bool isEscape(char c) { return std::string_view("\"\\/bfnrtu").find(c) != std::string_view::npos; }

bool isHex4(std::string_view text, std::size_t at)
{
    if (at + 4 > text.size())
        return false;
    for (std::size_t i = at; i < at + 4; ++i) {
        if (std::isxdigit(static_cast<unsigned char>(text[i])) == 0)
            return false;
    }
    return true;
}

} // namespace

struct JsonEventParser::Impl {
    rapidjson_simd::Reader reader;
};

JsonEventParser::JsonEventParser()
    : impl_(std::make_unique<Impl>())
{
}

JsonEventParser::~JsonEventParser() = default;

std::string_view JsonEvent::argument(std::string_view key) const
{
    for (auto it = arguments.rbegin(); it != arguments.rend(); ++it) {
        if (it->key == key)
            return it->value;
    }
    return {};
}

std::optional<std::int64_t> JsonEvent::number(std::string_view key) const
{
    const std::string_view text = argument(key);
    return text.empty() ? std::nullopt : wholeNumber(text);
}

bool JsonEventParser::attempt(JsonEvent& event)
{
    constexpr unsigned kFlags = rapidjson_simd::kParseInsituFlag | rapidjson_simd::kParseNumbersAsStringsFlag
        | rapidjson_simd::kParseNanAndInfFlag | rapidjson_simd::kParseTrailingCommasFlag;
    event.phase = 0;
    event.name = event.category = event.processId = event.threadId = event.id = event.timestamp = event.duration = {};
    event.arguments.clear();
    buffer_.reserve(buffer_.size() + 16); // RapidJSON reads text in whole vectors, so up to 15 bytes beyond its end
    rapidjson_simd::InsituStringStream stream(buffer_.data());
    Handler handler(event);
    return !impl_->reader.Parse<kFlags>(stream, handler).IsError();
}

/// Raw control characters become blanks, backslashes that escape nothing are doubled.
void JsonEventParser::repair(std::string_view text)
{
    buffer_.clear();
    bool inString = false;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        if (!inString) {
            inString = c == '"';
            buffer_.push_back(c == '\0' ? ' ' : c);
        } else if (c == '\\') {
            const char next = i + 1 < text.size() ? text[i + 1] : '\0';
            const bool good = isEscape(next) && (next != 'u' || isHex4(text, i + 2));
            buffer_.append(good ? "\\" : "\\\\");
            if (good) {
                buffer_.push_back(next);
                ++i;
            }
        } else {
            inString = c != '"';
            buffer_.push_back(static_cast<unsigned char>(c) < 0x20 ? ' ' : c);
        }
    }
}

bool JsonEventParser::parse(std::string_view text, JsonEvent& event)
{
    buffer_.assign(text);
    if (attempt(event))
        return true;
    repair(text);
    if (!attempt(event))
        return false;
    ++repaired_;
    return true;
}

} // namespace rankscope::tracing
