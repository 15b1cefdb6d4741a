#include "tracing/model/sha256.h"

#include <gtest/gtest.h>

namespace rankscope::tracing {
namespace {

TEST(Sha256, GivesThePublishedDigests)
{
    // FIPS 180-4 examples: one block, two blocks; and nothing.
    EXPECT_EQ(sha256("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    EXPECT_EQ(sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
        "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    EXPECT_EQ(sha256(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
}

} // namespace
} // namespace rankscope::tracing
