#pragma once

#include "backend/comm/slots.h"
#include "backend/comm/transport.h"
#include "tracing/model/result.h"

#include <memory>
#include <string>

namespace rankscope::backend {

/// The ranks of an MPI job, from MPI_Init_thread (MPI_THREAD_FUNNELED) in start() to MPI_Finalize in the destructor:
/// one a process. An MPI error prints rank, call and place, and aborts the job.
class MpiTransport final : public Transport {
public:
    /// An error if MPI is there but cannot start as asked.
    static tracing::Result<std::unique_ptr<MpiTransport>> start();
    ~MpiTransport() override;

    int rank() const override { return rank_; }
    int worldSize() const override { return worldSize_; }
    MessageId send(std::span<const std::byte> data, int to, int tag) override;
    MessageId receive(std::span<std::byte> data, int from, int tag) override;
    bool test(MessageId message) override;
    void idle() override;

    /// Says why and ends all ranks: one that leaves alone would keep the others waiting.
    [[noreturn]] static void abortJob(const std::string& why);

    /// "Open MPI v4.1.4, ..." for the provenance.
    static std::string libraryVersion();

private:
    struct Pending; ///< holds an MPI_Request; mpi.h stays out of the header

    MpiTransport();

    int rank_ = 0;
    int worldSize_ = 1;
    int looks_ = 0; ///< in vain, one after the other
    std::unique_ptr<Slots<Pending>> pending_;
};

} // namespace rankscope::backend
