#include "backend/comm/link.h"
#include "backend/comm/thread_transport.h"

#include <gtest/gtest.h>

namespace rankscope::backend {

namespace {

using namespace std::chrono_literals;

/// Rank 0 sends to rank 1 over a link of 1 Gbit/s and 100 us, on a clock that the test sets.
class ShapedLink : public testing::Test {
protected:
    MessageId send() { return sender_.send(std::as_bytes(std::span(data_)), 1, 0); }
    MessageId receive() { return receiver_.receive(std::as_writable_bytes(std::span(into_)), 0, 0); }

    ThreadWorld world_{ 2 };
    ShapedTransport::Clock::time_point now_;
    ShapedTransport sender_{ std::make_unique<ThreadTransport>(world_, 0),
        { { .from = 0, .to = 1, .gbitPerSecond = 1, .delayUs = 100 },
            { .from = 1, .to = 0, .gbitPerSecond = 0.001, .delayUs = 0 } },
        [this] { return now_; } };
    ThreadTransport receiver_{ world_, 1 };
    std::vector<float> data_ = std::vector<float>(31'250, 1); // 125 kB: 1 ms at 1 Gbit/s
    std::vector<float> into_ = std::vector<float>(31'250);
};

} // namespace

TEST_F(ShapedLink, DeliversWhenTheLastByteHasArrived)
{
    const MessageId sent = send();
    const MessageId received = receive();
    now_ += 1ms + 99us;
    EXPECT_FALSE(sender_.test(sent));
    EXPECT_FALSE(receiver_.test(received));
    now_ += 1us;
    EXPECT_TRUE(sender_.test(sent));
    EXPECT_TRUE(receiver_.test(received));
    EXPECT_EQ(into_, data_);
}

TEST_F(ShapedLink, SecondMessageQueuesBehindTheFirstButDelaysOverlap)
{
    const MessageId first = send();
    const MessageId second = send();
    now_ += 1ms + 100us;
    EXPECT_TRUE(sender_.test(first));
    // 2 ms on the wire and one delay, not two.
    now_ += 999us;
    EXPECT_FALSE(sender_.test(second));
    now_ += 1us;
    EXPECT_TRUE(sender_.test(second));
}

TEST_F(ShapedLink, AnIdleLinkStartsAfresh)
{
    const MessageId first = send();
    now_ += 10ms;
    EXPECT_TRUE(sender_.test(first));
    const MessageId second = send();
    now_ += 1ms;
    EXPECT_FALSE(sender_.test(second));
    now_ += 100us;
    EXPECT_TRUE(sender_.test(second));
}

TEST_F(ShapedLink, TheWayBackIsAnotherLink)
{
    const std::vector<float> back{ 3 };
    std::vector<float> got(1);
    receiver_.send(std::as_bytes(std::span(back)), 0, 0);
    const MessageId received = sender_.receive(std::as_writable_bytes(std::span(got)), 1, 0);
    EXPECT_TRUE(sender_.test(received));
    EXPECT_EQ(got, back);
}

} // namespace rankscope::backend
