#include "backend/comm/link.h"

#include <algorithm>

namespace rankscope::backend {

ShapedTransport::ShapedTransport(std::unique_ptr<Transport> inner, const std::vector<Link>& links, Now now)
    : inner_(std::move(inner))
    , now_(std::move(now))
{
    for (const Link& link : links) {
        if (link.from == inner_->rank())
            shapes_[link.to] = Shape{ .link = link, .freeAt = {}, .held = {} };
    }
}

MessageId ShapedTransport::send(std::span<const std::byte> data, int to, int tag)
{
    const auto found = shapes_.find(to);
    if (found == shapes_.end())
        return states_.add({ .inner = inner_->send(data, to, tag) });
    Shape& shape = found->second;
    const double seconds
        = shape.link.gbitPerSecond > 0 ? static_cast<double>(data.size()) * 8 / (shape.link.gbitPerSecond * 1e9) : 0;
    const auto onTheWire = std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
    const auto delay
        = std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double, std::micro>(shape.link.delayUs));
    shape.freeAt = std::max(shape.freeAt, now_()) + onTheWire;
    const MessageId message = states_.add({});
    shape.held.push_back({ .message = message, .data = data, .tag = tag, .releaseAt = shape.freeAt + delay });
    return message;
}

MessageId ShapedTransport::receive(std::span<std::byte> data, int from, int tag)
{
    return states_.add({ .inner = inner_->receive(data, from, tag) });
}

bool ShapedTransport::test(MessageId message)
{
    poll();
    const auto inner = states_[message].inner;
    if (!inner || !inner_->test(*inner))
        return false;
    states_.remove(message);
    return true;
}

void ShapedTransport::poll()
{
    inner_->poll();
    for (auto& [to, shape] : shapes_) {
        while (!shape.held.empty() && shape.held.front().releaseAt <= now_()) {
            const Held& due = shape.held.front();
            states_[due.message].inner = inner_->send(due.data, to, due.tag);
            shape.held.pop_front();
        }
    }
}

} // namespace rankscope::backend
