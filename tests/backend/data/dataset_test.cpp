#include "backend/data/dataset.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace rankscope::backend {

namespace {

/// 1000 bytes of which the last 100 are 'z'.
std::string textWithTail() { return std::string(900, 'a') + std::string(100, 'z'); }

} // namespace

TEST(ByteTokens, AreTheBytesOfTheTextWithoutSign)
{
    EXPECT_EQ(byteTokens("A\xc3\xa9"), (std::vector<std::int32_t>{ 65, 195, 169 }));
}

TEST(Dataset, TargetsAreTheTokensThatFollow)
{
    const auto data = Dataset::create("abcdefghij", 0, 4, 1);
    ASSERT_TRUE(data);
    const Batch batch = data->train(0, 0, 3);
    ASSERT_EQ(batch.tokens.size(), 12u);
    ASSERT_EQ(batch.targets.size(), 12u);
    for (std::size_t i = 0; i < 12; ++i)
        EXPECT_EQ(batch.targets[i], batch.tokens[i] + 1);
}

TEST(Dataset, NeverTrainsOnTheHeldOutTail)
{
    const auto data = Dataset::create(textWithTail(), 0.1, 16, 7);
    ASSERT_TRUE(data);
    EXPECT_EQ(data->trainTokens(), 900u);
    EXPECT_EQ(data->heldOutTokens(), 100u);
    for (int step = 0; step < 200; ++step) {
        const Batch batch = data->train(step, 0, 8);
        EXPECT_EQ(std::set(batch.targets.begin(), batch.targets.end()), std::set{ std::int32_t{ 'a' } });
    }
}

TEST(Dataset, ValidatesOnTheHeldOutTailOnly)
{
    const auto data = Dataset::create(textWithTail(), 0.1, 16, 7);
    ASSERT_TRUE(data);
    const Batch batch = data->heldOut(0, 8, 8);
    EXPECT_EQ(std::set(batch.tokens.begin(), batch.tokens.end()), std::set{ std::int32_t{ 'z' } });
    EXPECT_EQ(std::set(batch.targets.begin(), batch.targets.end()), std::set{ std::int32_t{ 'z' } });
}

TEST(Dataset, TwoHalvesOfAGlobalBatchAreTheWholeOne)
{
    std::string text;
    for (int i = 0; i < 5000; ++i)
        text += static_cast<char>('a' + i * i % 23);
    const auto data = Dataset::create(text, 0.1, 8, 3);
    ASSERT_TRUE(data);
    Batch halves = data->train(5, 0, 3);
    const Batch second = data->train(5, 3, 3);
    halves.tokens.insert(halves.tokens.end(), second.tokens.begin(), second.tokens.end());
    EXPECT_EQ(halves.tokens, data->train(5, 0, 6).tokens);
    EXPECT_NE(data->train(6, 0, 6).tokens, data->train(5, 0, 6).tokens);
}

TEST(Dataset, RefusesATextShorterThanASequence)
{
    const auto data = Dataset::create("abcdefgh", 0, 8, 1);
    ASSERT_FALSE(data);
    EXPECT_EQ(data.error().message(),
        "the text is too short: 8 bytes in the training part, model.sequence = 8 needs at least 9");
    const auto tail = Dataset::create(std::string(100, 'a'), 0.05, 8, 1);
    ASSERT_FALSE(tail);
    EXPECT_EQ(tail.error().message(),
        "the text is too short: 5 bytes in the held-out part, model.sequence = 8 needs at least 9");
}

} // namespace rankscope::backend
