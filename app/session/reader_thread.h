#pragma once

#include "tracing/model/result.h"
#include "tracing/store/trace_reader.h"

#include <QObject>
#include <QPointer>
#include <QThread>

#include <atomic>
#include <functional>
#include <memory>
#include <utility>

namespace rankscope::app {

/// What one kind of question was asked last. A newer question, or forget(), makes an older answer outdated: a job that
/// has not started yet is skipped, one that is running loses its result.
class JobSlot {
public:
    std::uint64_t next() { return ++*latest_; }
    void forget() { ++*latest_; }
    std::shared_ptr<const std::atomic<std::uint64_t>> latest() const { return latest_; }

private:
    std::shared_ptr<std::atomic<std::uint64_t>> latest_ = std::make_shared<std::atomic<std::uint64_t>>(0);
};

/// A thread that owns one TraceReader and answers questions in the order they were asked. Lives on the UI thread;
/// answers arrive there as values, through the event loop. Destroying it waits for the running job.
class ReaderThread : public QObject {
public:
    explicit ReaderThread(QObject* parent = nullptr);
    ~ReaderThread() override;

    /// Closes the file; jobs posted from now on open and read this one.
    void setPath(const std::string& path);

    /// Runs `work` on the thread and hands its result to `done` on the UI thread, unless the slot has moved on or
    /// `receiver` is gone. Where the file cannot be opened, `done` gets that error.
    template <typename T>
    void post(JobSlot& slot, std::function<tracing::Result<T>(tracing::TraceReader&)> work, QObject* receiver,
        std::function<void(tracing::Result<T>)> done)
    {
        const auto number = slot.next();
        enqueue([this, number, latest = slot.latest(), work = std::move(work), receiver = QPointer<QObject>(receiver),
                    done = std::move(done)] {
            if (*latest != number)
                return;
            auto opened = reader();
            auto result
                = std::make_shared<tracing::Result<T>>(opened ? work(**opened) : tracing::Result<T>(opened.error()));
            QMetaObject::invokeMethod(
                this,
                [number, latest, result, receiver, done] {
                    if (*latest == number && receiver)
                        done(std::move(*result));
                },
                Qt::QueuedConnection);
        });
    }

private:
    void enqueue(std::function<void()> job);
    tracing::Result<tracing::TraceReader*> reader();

    QThread thread_;
    QObject* worker_; ///< lives on the thread; its event queue is the job queue
    std::string path_; ///< touched by the thread only
    std::unique_ptr<tracing::TraceReader> reader_; ///< touched by the thread only
};

} // namespace rankscope::app
