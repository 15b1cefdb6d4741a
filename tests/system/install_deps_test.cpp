#include "tests/support/child_process.h"
#include "tests/support/temporary_directory.h"

#include <gtest/gtest.h>

namespace rankscope::support {
namespace {

namespace fs = std::filesystem;

/// Runs install-deps.sh on a system that a test makes up: its PATH holds the plain tools and what the test writes.
class InstallDeps : public testing::Test {
protected:
    void SetUp() override
    {
        for (const char* tool : { "awk", "bash", "cat", "cut", "dirname", "env", "grep", "mktemp", "rm", "tail" })
            link(tool);
        program("id", "echo 0");
    }

    void link(const std::string& tool) const
    {
        for (const char* folder : { "/usr/bin", "/bin" }) {
            if (fs::exists(fs::path(folder) / tool)) {
                fs::create_symlink(fs::path(folder) / tool, path_ / tool);
                return;
            }
        }
    }

    void program(const std::string& name, const std::string& body) const
    {
        fs::permissions(path_.write(name, "#!/bin/bash\n" + body + "\n"), fs::perms::owner_all);
    }

    Outcome install(const std::string& group) const
    {
        return run(
            { { "/bin/bash", RS_SOURCE_DIR "/resources/setup/install-deps.sh", group }, { { "PATH", path_.path() } } });
    }

    std::string aptCalls() const { return readText(path_ / "apt.log"); }

    /// dpkg-query that knows only these packages, and an apt-get that writes down how it was called.
    void debianWith(const std::string& packages) const
    {
        program("dpkg-query", "case ' " + packages + " ' in *\" ${*: -1} \"*) echo -n installed;; *) exit 1;; esac");
        program("apt-get", "echo \"$*\" >>" + (path_ / "apt.log").string());
    }

    TemporaryDirectory path_;
};

TEST_F(InstallDeps, LeavesAptAloneWhenEverythingIsThere)
{
    debianWith("libgtest-dev xvfb xauth xdotool ccache");
    const auto outcome = install("test");
    EXPECT_EQ(outcome.exitCode, 0) << outcome.error;
    EXPECT_EQ(outcome.output, "install-deps: all packages are there\n");
    EXPECT_EQ(aptCalls(), "");
}

TEST_F(InstallDeps, SaysAndInstallsOnlyWhatIsMissing)
{
    debianWith("libgtest-dev xvfb xauth ccache");
    const auto outcome = install("test");
    EXPECT_EQ(outcome.exitCode, 0) << outcome.error;
    EXPECT_EQ(outcome.output,
        "install-deps: installing\n"
        "  xdotool              moves the mouse and presses keys in those tests\n");
    EXPECT_NE(aptCalls().find("install -y --no-install-recommends"), std::string::npos);
    EXPECT_TRUE(aptCalls().ends_with(" xdotool\n")) << aptCalls();
}

TEST_F(InstallDeps, TriesAgainWithFreshPackageListsAndThenGivesUp)
{
    debianWith("");
    program(
        "apt-get", "echo \"$*\" >>" + (path_ / "apt.log").string() + "; echo no such package; [[ $* == *update* ]]");
    const auto outcome = install("bench");
    EXPECT_EQ(outcome.exitCode, 1);
    EXPECT_NE(aptCalls().find("update\n"), std::string::npos);
    EXPECT_NE(outcome.error.find("no such package"), std::string::npos);
    EXPECT_NE(outcome.error.find("apt-get could not install libbenchmark-dev"), std::string::npos) << outcome.error;
}

TEST_F(InstallDeps, NamesWhatItNeedsOnASystemWithoutApt)
{
    const auto outcome = install("sample");
    EXPECT_EQ(outcome.exitCode, 2);
    EXPECT_EQ(outcome.error,
        "install-deps: this system has no apt, so the packages (under Debian's names) must be installed by hand. "
        "Rankscope needs:\n"
        "  jargon-text          the Jargon File, public-domain English text to train on\n");
}

TEST_F(InstallDeps, NeedsRootOrSudo)
{
    debianWith("");
    program("id", "echo 1000");
    const auto without = install("bench");
    EXPECT_EQ(without.exitCode, 2);
    EXPECT_NE(without.error.find("installing needs root, or sudo"), std::string::npos) << without.error;

    program("sudo", "echo sudo >>" + (path_ / "apt.log").string() + "; \"$@\"");
    EXPECT_EQ(install("bench").exitCode, 0);
    EXPECT_TRUE(aptCalls().starts_with("sudo\n")) << aptCalls();
}

TEST_F(InstallDeps, RefusesAGroupThatDoesNotExist)
{
    const auto outcome = install("docs");
    EXPECT_EQ(outcome.exitCode, 2);
    EXPECT_EQ(outcome.error, "install-deps: no group 'docs'; there are: build run app sample test bench\n");
}

} // namespace
} // namespace rankscope::support
