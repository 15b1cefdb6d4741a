#include "app/session/import_job.h"

#include "tests/app/support/qt_wait.h"
#include "tests/support/temporary_directory.h"
#include "tracing/import/importer.h"
#include "tracing/store/trace_reader.h"

#include <gtest/gtest.h>

namespace rankscope::app {
namespace {

const char* const kTrace = R"({"traceEvents":[
{"ph":"X","cat":"kernel","name":"sgemm","pid":0,"tid":7,"ts":10,"dur":5,"args":{"device":0,"stream":7}},
{"ph":"X","cat":"kernel","name":"sgemm","pid":0,"tid":7,"ts":20,"dur":5,"args":{"device":0,"stream":7}}]})";

class ImportJobTest : public testing::Test {
protected:
    ImportJobTest()
    {
        qputenv("XDG_CACHE_HOME", QByteArray::fromStdString((directory_ / "cache").string()));
        QObject::connect(&job_, &ImportJob::finished, [this](const QString& file) { file_ = file; });
        QObject::connect(&job_, &ImportJob::failed, [this](const QString& message) { message_ = message; });
    }

    void import(const std::filesystem::path& path)
    {
        file_.clear();
        message_.clear();
        job_.start({ QString::fromStdString(path.string()) });
        EXPECT_TRUE(job_.isRunning());
        EXPECT_TRUE(waitFor([&] { return !job_.isRunning(); }));
    }

    support::TemporaryDirectory directory_;
    ImportJob job_;
    QString file_;
    QString message_;
};

TEST_F(ImportJobTest, MakesARunFileInTheCacheAndFindsItAgain)
{
    const auto trace = directory_.write("rank0.json", kTrace);
    import(trace);
    ASSERT_EQ(message_, "");
    const QString first = file_;
    EXPECT_TRUE(first.startsWith(QString::fromStdString((directory_ / "cache").string()))) << first.toStdString();
    auto reader = tracing::TraceReader::open(first.toStdString());
    ASSERT_TRUE(reader);
    EXPECT_EQ(reader->ranks()->size(), 1U);
    import(trace);
    EXPECT_EQ(file_, first);
}

TEST_F(ImportJobTest, SaysInOneLineWhyThereIsNoRun)
{
    import(directory_.write("letter.json", "Dear all"));
    EXPECT_TRUE(file_.isEmpty());
    EXPECT_TRUE(message_.contains("letter.json")) << message_.toStdString();
    EXPECT_FALSE(message_.contains('\n'));
}

TEST_F(ImportJobTest, ACancelledJobIsSilent)
{
    job_.start({ QString::fromStdString(directory_.write("rank0.json", kTrace).string()) });
    job_.cancel();
    EXPECT_FALSE(job_.isRunning());
    import(directory_.write("letter.json", "Dear all")); // comes after the cancelled one
    EXPECT_TRUE(file_.isEmpty());
}

TEST(ImportLineTest, TellsHowFarItIsAndHowLongItWillTake)
{
    tracing::ImportProgress progress;
    progress.files = 8;
    progress.filesDone = 5;
    progress.bytesRead = 412'000'000;
    progress.bytes = 980'000'000;
    EXPECT_EQ(importLine(progress, 100), "5 of 8 files · 412 of 980 MB");
    // 412 MB in 2 s are 206 MB/s; the other 568 MB take 2.76 s.
    EXPECT_EQ(importLine(progress, 2000), "5 of 8 files · 412 of 980 MB · 206 MB/s · 3 s left");
    progress.writing = true;
    progress.events = 1'204'000;
    EXPECT_EQ(importLine(progress, 2000), "writing 1,204,000 events");
}

} // namespace
} // namespace rankscope::app
