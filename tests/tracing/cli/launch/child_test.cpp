#include "tracing/cli/launch/child.h"

#include <gtest/gtest.h>

#include <csignal>
#include <unistd.h>

namespace rankscope::tracing {

namespace {

std::string everythingFrom(int descriptor)
{
    std::string text;
    char buffer[4096];
    for (ssize_t count = 0; (count = read(descriptor, buffer, sizeof buffer)) > 0;)
        text.append(buffer, static_cast<std::size_t>(count));
    return text;
}

Result<Child> shell(const std::string& script, std::vector<std::pair<std::string, std::string>> environment = {})
{
    return Child::start(
        { { "/bin/sh", "-c", script }, std::move(environment) }, Child::Output::Pipes, Child::Life::WithParent);
}

} // namespace

TEST(Child, GivesItsOutputErrorsAndExitCode)
{
    auto child = shell("echo out; echo err >&2; exit 7");
    ASSERT_TRUE(child);
    EXPECT_EQ(everythingFrom(child->outputPipe()), "out\n");
    EXPECT_EQ(everythingFrom(child->errorPipe()), "err\n");
    EXPECT_EQ(child->wait(), 7);
    EXPECT_EQ(child->poll(), 7);
}

TEST(Child, SeesOurEnvironmentWithWhatWasAdded)
{
    setenv("RANKSCOPE_TEST_OLD", "ours", 1);
    setenv("RANKSCOPE_TEST_BOTH", "ours", 1);
    auto child = shell("echo $RANKSCOPE_TEST_OLD $RANKSCOPE_TEST_BOTH", { { "RANKSCOPE_TEST_BOTH", "added" } });
    ASSERT_TRUE(child);
    EXPECT_EQ(everythingFrom(child->outputPipe()), "ours added\n");
    child->wait();
}

TEST(Child, ASignalThatEndsItIsToldLikeAShellDoes)
{
    auto child = shell("exec sleep 100");
    ASSERT_TRUE(child);
    EXPECT_EQ(child->poll(), std::nullopt);
    child->signal(SIGKILL);
    EXPECT_EQ(child->wait(), 128 + SIGKILL);
}

TEST(Child, IsAloneInItsGroupSoThatCtrlCDoesNotReachIt)
{
    auto child = shell("exec sleep 100");
    ASSERT_TRUE(child);
    EXPECT_EQ(getpgid(child->pid()), child->pid());
    child->signalGroup(SIGTERM);
    EXPECT_EQ(child->wait(), 128 + SIGTERM);
}

TEST(Child, OnItsOwnHasASessionOfItsOwn)
{
    auto child
        = Child::start({ { "/bin/sh", "-c", "exec sleep 100" }, {} }, Child::Output::Inherit, Child::Life::OnItsOwn);
    ASSERT_TRUE(child);
    // start() returns when the program runs, which is after setsid.
    EXPECT_EQ(getsid(child->pid()), child->pid());
    child->signal(SIGKILL);
    child->wait();
}

TEST(Child, WhatCannotBeStartedIsAnErrorWithItsName)
{
    const auto child = Child::start({ { "/no/such/program" }, {} }, Child::Output::Pipes, Child::Life::WithParent);
    ASSERT_FALSE(child);
    EXPECT_EQ(child.error().message(), "start /no/such/program: No such file or directory");
}

} // namespace rankscope::tracing
