#include "backend/comm/message_communicator.h"
#include "backend/comm/thread_transport.h"
#include "backend/parallel/hidden_exchange.h"

#include <gtest/gtest.h>

#include <memory>

namespace rankscope::backend {

namespace {

/// Two stages in one thread: sends between threads' mailboxes are complete at once, so nothing here waits.
class HiddenExchange : public testing::Test {
protected:
    HiddenLink linkOf(MessageCommunicator& communicator)
    {
        const Group pipeline = Mesh::create({ .pp = 2 })->pipelineGroup(communicator.rank());
        return { .communicator = &communicator,
            .group = communicator.addGroup(pipeline),
            .peer = 1 - communicator.rank(),
            .name = "activations",
            .count = 2 };
    }
    void send(Outbox& outbox, int microBatch)
    {
        const std::span<float> buffer = outbox.buffer();
        buffer[0] = static_cast<float>(microBatch);
        buffer[1] = -buffer[0];
        outbox.send(microBatch);
    }

    ThreadWorld world_{ 2 };
    std::unique_ptr<tracing::Recorder> recorder_ = tracing::Recorder::open({});
    MessageCommunicator sender_{ std::make_unique<ThreadTransport>(world_, 0), *recorder_ };
    MessageCommunicator receiver_{ std::make_unique<ThreadTransport>(world_, 1), *recorder_ };
};

} // namespace

TEST_F(HiddenExchange, MoreMessagesThanBuffersArriveInOrder)
{
    Outbox outbox(linkOf(sender_), 2);
    Inbox inbox(linkOf(receiver_), 2);
    inbox.expect({ 4, 5, 6, 7, 8 });
    for (int microBatch = 4; microBatch <= 8; ++microBatch)
        send(outbox, microBatch);
    for (int microBatch = 4; microBatch <= 8; ++microBatch) {
        EXPECT_EQ(inbox.nextMicroBatch(), microBatch);
        const std::span<const float> got = inbox.take();
        EXPECT_EQ(got[0], static_cast<float>(microBatch));
        EXPECT_EQ(got[1], -static_cast<float>(microBatch));
        inbox.release();
    }
}

TEST_F(HiddenExchange, InboxKnowsWhetherTheNextMessageIsHere)
{
    Outbox outbox(linkOf(sender_), 1);
    Inbox inbox(linkOf(receiver_), 1);
    inbox.expect({ 0 });
    EXPECT_FALSE(inbox.isHere());
    send(outbox, 0);
    EXPECT_TRUE(inbox.isHere());
    inbox.take();
    inbox.release();
}

} // namespace rankscope::backend
