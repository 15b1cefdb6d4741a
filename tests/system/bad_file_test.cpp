#include "tests/system/expect_refusal.h"

#include "tests/support/sql.h"
#include "tests/support/temporary_directory.h"
#include "tests/support/trace_builder.h"

#include <gtest/gtest.h>

namespace rankscope::system {
namespace {

class BadFile : public testing::TestWithParam<const char*> {
protected:
    support::Outcome read(const std::filesystem::path& file) const
    {
        std::vector<std::string> words{ RS_BIN_DIR "/rankscope", GetParam(), file.string() };
        if (words[1] == "sql")
            words.emplace_back("SELECT 1");
        return support::run({ words });
    }

    /// A finished run of some thousand kernels.
    std::filesystem::path goodFile() const
    {
        auto file = directory_ / "run.rsdb";
        support::TraceBuilder trace(file, 1);
        for (std::int64_t i = 0; i < 2000; ++i)
            trace.kernel(0, { i * 1000, i * 1000 + 900 });
        trace.finish();
        return file;
    }

    support::TemporaryDirectory directory_;
};

TEST_P(BadFile, ThatDoesNotExistIsRefused) { expectRefusal(read(directory_ / "none.rsdb"), 3, { "none.rsdb" }); }

TEST_P(BadFile, ThatIsNoDatabaseIsRefused)
{
    expectRefusal(
        read(directory_.write("text.rsdb", "This is a sentence and no database at all.\n")), 3, { "text.rsdb" });
}

TEST_P(BadFile, OfAnotherProgramIsRefused)
{
    const auto file = directory_ / "other.rsdb";
    ASSERT_EQ(support::sql(file, "CREATE TABLE notes (text TEXT)"), "");
    expectRefusal(read(file), 3, { "other.rsdb" });
}

TEST_P(BadFile, ThatIsCutInHalfIsRefusedOrReadWithoutACrash)
{
    const auto file = goodFile();
    EXPECT_EQ(read(file).exitCode, 0);
    std::filesystem::resize_file(file, std::filesystem::file_size(file) / 2);
    const auto outcome = read(file);
    EXPECT_TRUE(outcome.exitCode == 0 || outcome.exitCode == 3) << outcome.exitCode << outcome.error;
    if (outcome.exitCode == 3)
        expectRefusal(outcome, 3, { "run.rsdb" });
}

TEST_P(BadFile, OfANewerSchemaIsRefusedByName)
{
    const auto file = goodFile();
    ASSERT_EQ(support::sql(file, "PRAGMA user_version = 999"), "");
    expectRefusal(read(file), 3, { "run.rsdb", "schema 999", "update Rankscope" });
}

INSTANTIATE_TEST_SUITE_P(Read, BadFile, testing::Values("info", "report", "sql"));

} // namespace
} // namespace rankscope::system
