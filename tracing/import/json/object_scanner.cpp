#include "tracing/import/json/object_scanner.h"

#include "tracing/import/json/brace_scan.h"

#include <algorithm>
#include <cstring>

namespace rankscope::tracing {

namespace {

constexpr std::size_t kRead = 1u << 18;

bool isBlank(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r' || static_cast<unsigned char>(c) < 0x20; }

} // namespace

ObjectScanner::ObjectScanner(ByteSource& source)
    : source_(source)
{
}

bool ObjectScanner::fill()
{
    if (atEnd_)
        return false;
    if (at_ > kRead) {
        buffer_.erase(0, at_);
        at_ = 0;
    }
    const std::size_t had = buffer_.size();
    buffer_.resize(had + kRead);
    const auto n = source_.read({ buffer_.data() + had, kRead });
    buffer_.resize(had + (n ? *n : 0));
    if (!n)
        error_ = n.error();
    atEnd_ = !n || *n == 0;
    return !atEnd_;
}

bool ObjectScanner::skipBlank()
{
    for (;;) {
        while (at_ < buffer_.size() && isBlank(buffer_[at_]))
            ++at_;
        if (at_ < buffer_.size())
            return true;
        if (!fill())
            return false;
    }
}

void ObjectScanner::begin()
{
    if (!skipBlank()) {
        state_ = State::End;
        return;
    }
    if (buffer_.size() - at_ < 3)
        fill();
    if (buffer_.compare(at_, 3, "\xEF\xBB\xBF") == 0) // a byte order mark
        at_ += 3;
    if (!skipBlank()) {
        state_ = State::End;
    } else if (peek() == '[') {
        ++at_;
        foundEvents_ = true;
        state_ = State::Events;
    } else if (peek() == '{') {
        ++at_;
        inObject_ = true;
        state_ = State::TopLevel;
    } else {
        state_ = State::End;
    }
}

bool ObjectScanner::readKey(std::string& key)
{
    key.clear();
    ++at_; // the quote
    bool escaped = false;
    for (;;) {
        while (at_ < buffer_.size()) {
            const char c = buffer_[at_++];
            if (!escaped && c == '"')
                return true;
            escaped = !escaped && c == '\\';
            if (!escaped && key.size() < 256)
                key.push_back(c);
        }
        if (!fill())
            return false;
    }
}

/// Passes over any JSON value; its text goes to `text` up to `limit`.
bool ObjectScanner::skipValue(std::size_t limit, std::string* text)
{
    std::int64_t depth = 0;
    bool inString = false, escaped = false, any = false;
    for (;;) {
        while (at_ < buffer_.size()) {
            const char c = buffer_[at_];
            if (!inString && depth == 0 && any && (c == ',' || c == '}' || c == ']'))
                return true;
            ++at_;
            any = any || !isBlank(c);
            if (text && text->size() < limit)
                text->push_back(c);
            if (escaped)
                escaped = false;
            else if (inString)
                (c == '"' ? inString : escaped) = c == '"' ? false : c == '\\';
            else if (c == '"')
                inString = true;
            else if (c == '{' || c == '[')
                ++depth;
            else if (c == '}' || c == ']')
                --depth;
        }
        if (!fill())
            return false;
    }
}

void ObjectScanner::topLevel()
{
    while (skipBlank()) {
        const char c = peek();
        if (c == ',' || c == ':') {
            ++at_;
        } else if (c == '}') {
            ++at_;
            state_ = State::End;
            return;
        } else if (c == '"') {
            std::string key, value;
            if (!readKey(key) || !skipBlank())
                break;
            if (peek() == ':')
                ++at_;
            if (!skipBlank())
                break;
            if (key == "traceEvents" && peek() == '[') {
                ++at_;
                foundEvents_ = true;
                state_ = State::Events;
                return;
            }
            if (!skipValue(kGreatestValue, &value))
                break;
            const std::size_t bytes = key.size() + value.size() + 128; // with what the map takes
            if (value.size() >= kGreatestValue || valueBytes_ + bytes > kGreatestValues)
                continue;
            valueBytes_ += bytes;
            values_[key] = std::move(value);
        } else {
            ++at_;
            ++skipped_;
        }
    }
    state_ = State::End;
}

/// Behind damage: goes to what looks like the begin of an event.
void ObjectScanner::resynchronise()
{
    ++skipped_;
    for (;;) {
        for (; at_ + 1 < buffer_.size(); ++at_) {
            if (buffer_[at_] != '{')
                continue;
            std::size_t next = at_ + 1;
            while (next < buffer_.size() && isBlank(buffer_[next]))
                ++next;
            for (const std::string_view key : { "\"ph\"", "\"name\"", "\"cat\"", "\"pid\"", "\"ts\"", "\"args\"" }) {
                if (key != "\"args\"" && buffer_.compare(next, key.size(), key) == 0)
                    return;
            }
        }
        if (!fill()) {
            at_ = buffer_.size();
            return;
        }
    }
}

bool ObjectScanner::nextObject(std::string& text, std::vector<std::size_t>& ends)
{
    BraceScan scan;
    std::size_t length = 0;
    for (;;) {
        const std::string_view rest(buffer_.data() + at_ + length, buffer_.size() - at_ - length);
        const std::size_t end = scan.feed(rest);
        if (end != BraceScan::npos) {
            text.append(buffer_, at_, length + end);
            ends.push_back(text.size());
            at_ += length + end;
            return true;
        }
        length += rest.size();
        if (length > kGreatestObject || !fill()) {
            if (length > kGreatestObject || atEnd_) {
                ++at_; // not from here: perhaps a quote is missing
                resynchronise();
            }
            return false;
        }
    }
}

Result<bool> ObjectScanner::next(std::size_t bytes, std::string& text, std::vector<std::size_t>& ends)
{
    const std::size_t target = text.size() + bytes;
    while (state_ != State::End && text.size() < target) {
        if (state_ == State::Begin) {
            begin();
        } else if (state_ == State::TopLevel) {
            topLevel();
        } else if (!skipBlank()) {
            state_ = State::End;
        } else if (peek() == '{') {
            nextObject(text, ends);
        } else if (peek() == ']') {
            ++at_;
            terminated_ = true;
            state_ = inObject_ ? State::TopLevel : State::End;
        } else if (peek() == ',') {
            ++at_;
        } else {
            resynchronise();
        }
    }
    if (error_)
        return *error_;
    return state_ != State::End || !ends.empty();
}

} // namespace rankscope::tracing
