#include "app/timeline/reader_pool.h"

#include <optional>

namespace rankscope::app::timeline {

ReaderPool::ReaderPool(std::string path, int threads, OnError onError)
    : path_(std::move(path))
    , onError_(std::move(onError))
{
    for (int i = 0; i < threads; ++i)
        threads_.emplace_back([this] { work(); });
}

ReaderPool::~ReaderPool()
{
    {
        const std::lock_guard lock(mutex_);
        stopping_ = true;
        waiting_.clear();
    }
    wake_.notify_all();
    for (std::thread& thread : threads_)
        thread.join();
}

void ReaderPool::post(Task task)
{
    {
        const std::lock_guard lock(mutex_);
        waiting_.push_back(std::move(task));
    }
    wake_.notify_one();
}

void ReaderPool::replaceAll(std::vector<Task> tasks)
{
    {
        const std::lock_guard lock(mutex_);
        waiting_.clear();
        for (Task& task : tasks)
            waiting_.push_back(std::move(task));
    }
    wake_.notify_all();
}

bool ReaderPool::idle() const
{
    const std::lock_guard lock(mutex_);
    return waiting_.empty() && running_ == 0;
}

void ReaderPool::release()
{
    {
        const std::lock_guard lock(mutex_);
        ++releases_;
    }
    wake_.notify_all();
}

void ReaderPool::work()
{
    std::optional<tracing::TraceReader> reader;
    std::uint64_t released = 0;
    std::unique_lock lock(mutex_);
    while (true) {
        wake_.wait(lock, [&] { return stopping_ || !waiting_.empty() || released != releases_; });
        if (stopping_)
            return;
        if (waiting_.empty()) {
            released = releases_;
            lock.unlock();
            reader.reset();
            lock.lock();
            continue;
        }
        const Task task = std::move(waiting_.front());
        waiting_.pop_front();
        ++running_;
        lock.unlock();
        if (!reader) {
            auto opened = tracing::TraceReader::open(path_);
            if (opened)
                reader.emplace(std::move(*opened));
            else
                onError_(opened.error());
        }
        if (reader)
            task(*reader);
        lock.lock();
        --running_;
    }
}

} // namespace rankscope::app::timeline
