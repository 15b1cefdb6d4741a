#include "backend/comm/message_communicator.h"
#include "backend/comm/mpi_transport.h"

#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

// Our all-reduce beside MPI_Allreduce between the ranks of an mpirun, in turns: medians of the time until the last rank
// has the sum.

namespace rankscope::backend {

namespace {

double median(std::vector<double> values)
{
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::ranges::nth_element(values, middle);
    return *middle;
}

/// Seconds until the slowest rank is done.
double timed(const std::function<void()>& exchange)
{
    MPI_Barrier(MPI_COMM_WORLD);
    const auto begin = std::chrono::steady_clock::now();
    exchange();
    double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return seconds;
}

void compare(Communicator& communicator, GroupId world, std::size_t bytes)
{
    std::vector<float> data(bytes / sizeof(float));
    const auto count = static_cast<int>(data.size());
    const int rounds = static_cast<int>(std::clamp<std::size_t>((256u << 20) / bytes, 9, 200));
    std::vector<double> ours, theirs;
    for (int round = -2; round < rounds; ++round) { // two to warm up
        const double own = timed([&] { communicator.wait(communicator.allReduce(std::span(data), world, "bench")); });
        const double mpi
            = timed([&] { MPI_Allreduce(MPI_IN_PLACE, data.data(), count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD); });
        if (round < 0)
            continue;
        ours.push_back(own);
        theirs.push_back(mpi);
    }
    if (communicator.rank() != 0)
        return;
    const double own = median(std::move(ours)), mpi = median(std::move(theirs));
    std::printf("  %8zu KiB: ours %9.1f us (%5.2f GB/s), MPI_Allreduce %9.1f us (%5.2f GB/s), ours / MPI %.2f\n",
        bytes >> 10u, own * 1e6, static_cast<double>(bytes) / own / 1e9, mpi * 1e6,
        static_cast<double>(bytes) / mpi / 1e9, own / mpi);
    std::fflush(stdout);
}

int run()
{
    auto transport = MpiTransport::start();
    if (!transport) {
        std::fprintf(stderr, "bench_mpi_comm: %s\n", transport.error().message().c_str());
        return 1;
    }
    const int rank = (*transport)->rank(), ranks = (*transport)->worldSize();
    const auto recorder = tracing::Recorder::open({});
    MessageCommunicator communicator(std::move(*transport), *recorder);
    const GroupId world = communicator.addGroup(Mesh::create({ .dp = ranks })->worldGroup(rank));
    for (const std::size_t kib : { 64, 256, 1024, 4096, 16384, 65536 })
        compare(communicator, world, kib << 10u);
    return 0;
}

} // namespace

} // namespace rankscope::backend

int main() { return rankscope::backend::run(); }
