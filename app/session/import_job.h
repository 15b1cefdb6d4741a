#pragma once

#include <QObject>
#include <QString>
#include <QStringList>
#include <QThread>

#include <atomic>
#include <memory>
#include <string>
#include <vector>

namespace rankscope::tracing {
struct ImportProgress;
}

namespace rankscope::app {

/// Makes a run file of other tools' traces in the background. Lives on the UI thread; one import at a time, a newer one
/// replaces the one before. Destroying it cancels, and waits until the importer has noticed.
class ImportJob : public QObject {
    Q_OBJECT

public:
    explicit ImportJob(QObject* parent = nullptr);
    ~ImportJob() override;

    /// Run files, traces, folders of traces. What was imported before is there at once (tracing::importCached).
    void start(const QStringList& inputs);
    void cancel(); ///< no signal follows
    bool isRunning() const { return cancelled_ != nullptr; }

signals:
    void progressed(const QString& line); ///< importLine()
    void finished(const QString& runFile);
    void failed(const QString& message); ///< one line

private:
    using Flag = std::shared_ptr<std::atomic<bool>>;
    void run(const std::vector<std::string>& inputs, const Flag& cancelled);
    /// Calls `then` on the UI thread, unless the job was cancelled.
    template <typename Then> void deliver(const Flag& cancelled, Then then);

    QThread thread_;
    QObject* worker_; ///< lives on the thread; its event queue is the job queue
    Flag cancelled_; ///< of the running job; null: none runs
};

/// "5 of 8 files · 412 of 980 MB · 214 MB/s · 3 s left"
QString importLine(const tracing::ImportProgress& progress, qint64 elapsedMs);

} // namespace rankscope::app
