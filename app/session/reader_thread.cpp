#include "app/session/reader_thread.h"

namespace rankscope::app {

ReaderThread::ReaderThread(QObject* parent)
    : QObject(parent)
    , worker_(new QObject)
{
    worker_->moveToThread(&thread_);
    connect(&thread_, &QThread::finished, worker_, &QObject::deleteLater);
    thread_.start();
}

ReaderThread::~ReaderThread()
{
    thread_.quit();
    thread_.wait();
}

void ReaderThread::setPath(const std::string& path)
{
    enqueue([this, path] {
        reader_.reset();
        path_ = path;
    });
}

void ReaderThread::enqueue(std::function<void()> job)
{
    QMetaObject::invokeMethod(worker_, std::move(job), Qt::QueuedConnection);
}

tracing::Result<tracing::TraceReader*> ReaderThread::reader()
{
    if (!reader_) {
        auto opened = tracing::TraceReader::open(path_);
        if (!opened)
            return opened.error();
        reader_ = std::make_unique<tracing::TraceReader>(std::move(*opened));
    }
    return reader_.get();
}

} // namespace rankscope::app
