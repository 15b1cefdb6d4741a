#include "backend/comm/mpi_transport.h"

#include "backend/comm/mpi_check.h"
#include "tracing/model/check.h"

#include <mpi.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <string>
#include <thread>

namespace rankscope::backend {

using tracing::Error;
using tracing::Result;

struct MpiTransport::Pending {
    MPI_Request request = MPI_REQUEST_NULL;
};

void mpiFailed(int code, const char* call, const char* file, int line)
{
    std::array<char, MPI_MAX_ERROR_STRING> text{};
    int length = 0;
    MPI_Error_string(code, text.data(), &length);
    MpiTransport::abortJob(std::string(call) + " failed at " + file + ":" + std::to_string(line) + ": " + text.data());
}

void MpiTransport::abortJob(const std::string& why)
{
    int rank = -1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    std::fprintf(stderr, "rankscope-train: rank %d: %s\n", rank, why.c_str());
    std::fflush(nullptr); // spans are in mapped memory already
    MPI_Abort(MPI_COMM_WORLD, 1);
    std::abort();
}

MpiTransport::MpiTransport()
    : pending_(std::make_unique<Slots<Pending>>())
{
}

Result<std::unique_ptr<MpiTransport>> MpiTransport::start()
{
    int provided = MPI_THREAD_SINGLE;
    if (MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided) != MPI_SUCCESS)
        return Error("MPI cannot start; start the program with mpirun, or with rankscope train");
    std::unique_ptr<MpiTransport> transport(new MpiTransport);
    if (provided < MPI_THREAD_FUNNELED)
        return Error("this MPI was built without threads; install libopenmpi3");
    RS_MPI(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    RS_MPI(MPI_Comm_rank(MPI_COMM_WORLD, &transport->rank_));
    RS_MPI(MPI_Comm_size(MPI_COMM_WORLD, &transport->worldSize_));
    return transport;
}

MpiTransport::~MpiTransport() { MPI_Finalize(); }

std::string MpiTransport::libraryVersion()
{
    std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
    int length = 0;
    RS_MPI(MPI_Get_library_version(text.data(), &length));
    return text.data();
}

MessageId MpiTransport::send(std::span<const std::byte> data, int to, int tag)
{
    RS_CHECK(data.size() <= std::numeric_limits<int>::max(), "a message fits MPI's int count");
    MPI_Request request = MPI_REQUEST_NULL;
    RS_MPI(MPI_Isend(data.data(), static_cast<int>(data.size()), MPI_BYTE, to, tag, MPI_COMM_WORLD, &request));
    return pending_->add({ request });
}

MessageId MpiTransport::receive(std::span<std::byte> data, int from, int tag)
{
    RS_CHECK(data.size() <= std::numeric_limits<int>::max(), "a message fits MPI's int count");
    MPI_Request request = MPI_REQUEST_NULL;
    RS_MPI(MPI_Irecv(data.data(), static_cast<int>(data.size()), MPI_BYTE, from, tag, MPI_COMM_WORLD, &request));
    return pending_->add({ request });
}

bool MpiTransport::test(MessageId message)
{
    int complete = 0;
    RS_MPI(MPI_Test(&(*pending_)[message].request, &complete, MPI_STATUS_IGNORE));
    if (complete == 0)
        return false;
    pending_->remove(message);
    looks_ = 0;
    return true;
}

void MpiTransport::idle()
{
    // What comes at all soon comes within this many looks, less than a millisecond: a core given away on a busy machine
    // is gone for several. Then a rank that shares its core lets its neighbour compute; where ranks outnumber cores MPI
    // does so at each look.
    constexpr int kLooks = 2000;
    if (++looks_ > kLooks)
        std::this_thread::yield();
}

} // namespace rankscope::backend
