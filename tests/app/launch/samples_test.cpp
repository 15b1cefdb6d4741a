#include "app/launch/samples.h"

#include "tests/support/temporary_directory.h"

#include <gtest/gtest.h>

namespace rankscope::app {
namespace {

TEST(Samples, AreDescribedByTheFirstSentenceOfTheirComment)
{
    const support::TemporaryDirectory directory;
    directory.write("b.toml", "# What it shows: two stages that\n# take turns. More words.\n#\n[model]\n");
    directory.write("a.toml", "[model]\n");
    directory.write("a-4.toml", "");
    directory.write("notes.txt", "no sample");
    directory.write("rules.toml", "# What must hold.\n[[rule]]\nname = \"it is fast\"\n");
    const auto samples = samplesIn(QString::fromStdString(directory.path().string()));
    ASSERT_EQ(samples.size(), 3);
    EXPECT_EQ(samples[0].name, "a");
    EXPECT_EQ(samples[0].line, "");
    EXPECT_EQ(samples[1].name, "a-4");
    EXPECT_EQ(samples[2].line, "Two stages that take turns.");
}

TEST(Samples, BeginWithTheQuickstart)
{
    const support::TemporaryDirectory directory;
    for (const char* name : { "bf16.toml", "quickstart-4.toml", "quickstart.toml" })
        directory.write(name, "");
    const auto samples = samplesIn(QString::fromStdString(directory.path().string()));
    ASSERT_EQ(samples.size(), 3);
    EXPECT_EQ(samples[0].name, "quickstart");
    EXPECT_EQ(samples[1].name, "quickstart-4");
    EXPECT_EQ(samples[2].name, "bf16");
}

TEST(Samples, AreFoundInTheTreeThatTheProgramWasBuiltIn)
{
    const support::TemporaryDirectory directory;
    std::filesystem::create_directories(directory / "samples");
    std::filesystem::create_directories(directory / "build/dev/bin");
    directory.write("samples/quickstart.toml", "");
    const auto folder = QString::fromStdString((directory / "build/dev/bin").string());
    EXPECT_TRUE(sampleFolder(folder).endsWith("/samples"));
    EXPECT_EQ(sampleFolder("/nowhere/bin"), "");
}

} // namespace
} // namespace rankscope::app
