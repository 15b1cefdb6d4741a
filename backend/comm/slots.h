#pragma once

#include "backend/comm/transport.h"

#include <utility>
#include <vector>

namespace rankscope::backend {

/// Values under small numbers that are used again: a transport's messages under way.
template <typename Value> class Slots {
public:
    MessageId add(Value value)
    {
        if (free_.empty()) {
            values_.push_back(std::move(value));
            return static_cast<MessageId>(values_.size() - 1);
        }
        const MessageId id = free_.back();
        free_.pop_back();
        (*this)[id] = std::move(value);
        return id;
    }
    void remove(MessageId id)
    {
        (*this)[id] = Value{};
        free_.push_back(id);
    }
    Value& operator[](MessageId id) { return values_[static_cast<std::size_t>(id)]; }

private:
    std::vector<Value> values_;
    std::vector<MessageId> free_;
};

} // namespace rankscope::backend
