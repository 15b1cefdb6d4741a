#pragma once

#include "tracing/store/trace_reader.h"

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace rankscope::app::timeline {

/// Worker threads, each with a TraceReader of its own on the same file, opened with the first task.
class ReaderPool {
public:
    using Task = std::function<void(tracing::TraceReader&)>;
    using OnError = std::function<void(const tracing::Error&)>; ///< called on a worker: the file cannot be opened

    ReaderPool(std::string path, int threads, OnError onError);
    ~ReaderPool(); ///< drops what waits, finishes what runs
    ReaderPool(const ReaderPool&) = delete;
    ReaderPool& operator=(const ReaderPool&) = delete;

    void post(Task task);
    void replaceAll(std::vector<Task> tasks); ///< drops all that still wait
    bool idle() const; ///< nothing waits, nothing runs

    /// Each worker closes its reader when it next has nothing to do, and opens again with its next task: the collector
    /// can then fold the WAL into the finished file.
    void release();

private:
    void work();

    std::string path_;
    OnError onError_;
    mutable std::mutex mutex_;
    std::condition_variable wake_;
    std::deque<Task> waiting_;
    int running_ = 0;
    std::uint64_t releases_ = 0;
    bool stopping_ = false;
    std::vector<std::thread> threads_;
};

} // namespace rankscope::app::timeline
