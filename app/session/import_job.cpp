#include "app/session/import_job.h"

#include "tracing/analysis/wording.h"
#include "tracing/import/import_cache.h"

#include <QElapsedTimer>

#include <algorithm>
#include <exception>

namespace rankscope::app {
namespace {

constexpr double kMegabyte = 1e6;
constexpr qint64 kSteadyMs = 500; ///< a rate of less than that says nothing

QString megabytes(std::uint64_t bytes) { return QString::number(static_cast<double>(bytes) / kMegabyte, 'f', 0); }

} // namespace

QString importLine(const tracing::ImportProgress& progress, qint64 elapsedMs)
{
    if (progress.files == 0)
        return QStringLiteral("looking for traces");
    if (progress.writing)
        return QStringLiteral("writing %1 events").arg(QString::fromStdString(tracing::countText(progress.events)));
    QStringList parts{ QStringLiteral("%1 of %2 files").arg(progress.filesDone).arg(progress.files),
        QStringLiteral("%1 of %2 MB").arg(megabytes(progress.bytesRead), megabytes(progress.bytes)) };
    if (elapsedMs >= kSteadyMs && progress.bytesRead > 0) {
        const double perSecond = static_cast<double>(progress.bytesRead) * 1000 / static_cast<double>(elapsedMs);
        const std::uint64_t left = progress.bytes - std::min(progress.bytes, progress.bytesRead);
        parts << QStringLiteral("%1 MB/s").arg(perSecond / kMegabyte, 0, 'f', 0)
              << QStringLiteral("%1 s left").arg(static_cast<double>(left) / perSecond, 0, 'f', 0);
    }
    return parts.join(QStringLiteral(" · "));
}

ImportJob::ImportJob(QObject* parent)
    : QObject(parent)
    , worker_(new QObject)
{
    worker_->moveToThread(&thread_);
    connect(&thread_, &QThread::finished, worker_, &QObject::deleteLater);
    thread_.start();
}

ImportJob::~ImportJob()
{
    cancel();
    thread_.quit();
    thread_.wait();
}

void ImportJob::start(const QStringList& inputs)
{
    cancel();
    cancelled_ = std::make_shared<std::atomic<bool>>(false);
    std::vector<std::string> paths;
    for (const QString& input : inputs)
        paths.push_back(input.toStdString());
    QMetaObject::invokeMethod(
        worker_, [this, paths, cancelled = cancelled_] { run(paths, cancelled); }, Qt::QueuedConnection);
}

void ImportJob::cancel()
{
    if (cancelled_)
        *cancelled_ = true;
    cancelled_.reset();
}

template <typename Then> void ImportJob::deliver(const Flag& cancelled, Then then)
{
    QMetaObject::invokeMethod(
        this,
        [this, cancelled, then] {
            if (cancelled == cancelled_)
                then();
        },
        Qt::QueuedConnection);
}

void ImportJob::run(const std::vector<std::string>& inputs, const Flag& cancelled)
{
    if (*cancelled)
        return;
    QElapsedTimer clock;
    clock.start();
    tracing::ImportOptions options;
    options.progress = [&](const tracing::ImportProgress& progress) {
        deliver(cancelled, [this, line = importLine(progress, clock.elapsed())] { emit progressed(line); });
        return !*cancelled;
    };
    QString runFile;
    QString message;
    try {
        const auto run = tracing::importCached(inputs, options);
        if (run)
            runFile = QString::fromStdString(run->path);
        else
            message = QString::fromStdString(run.error().message());
    } catch (const std::exception& error) {
        message = tr("import: %1").arg(QString::fromUtf8(error.what()));
    }
    deliver(cancelled, [this, runFile, message] {
        cancelled_.reset();
        if (message.isEmpty())
            emit finished(runFile);
        else
            emit failed(message);
    });
}

} // namespace rankscope::app
