#include "backend/train/command_line.h"

#include <gtest/gtest.h>

namespace rankscope::backend {

namespace {

tracing::Result<CommandLine> parse(std::vector<const char*> words)
{
    words.insert(words.begin(), "rankscope-train");
    return parseCommandLine(static_cast<int>(words.size()), words.data());
}

} // namespace

TEST(CommandLine, TellsTheConfigurationFromOverridesInAnyOrder)
{
    const auto line = parse({ "--plan", "parallel.pp=2", "run.toml", "train.steps=3", "--json" });
    ASSERT_TRUE(line);
    EXPECT_TRUE(line->plan);
    EXPECT_TRUE(line->json);
    EXPECT_EQ(line->configPath, "run.toml");
    EXPECT_EQ(line->overrides, (std::vector<std::string>{ "parallel.pp=2", "train.steps=3" }));
}

TEST(CommandLine, RefusesWhatItDoesNotKnow)
{
    EXPECT_FALSE(parse({ "--steps", "3" }));
    EXPECT_EQ(parse({ "a.toml", "b.toml" }).error().message(),
        "b.toml: there is a configuration already, a.toml; write keys as key=value");
    EXPECT_EQ(parse({ "--json" }).error().message(), "--json: only with --plan");
}

} // namespace rankscope::backend
