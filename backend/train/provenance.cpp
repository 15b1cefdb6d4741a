#include "backend/train/provenance.h"

#include "backend/train/calibration.h"
#include "backend/train/layout.h"
#include "backend/train/process_usage.h"
#include "kernels/bf16.h"
#include "kernels/library.h"

#include <fmt/format.h>
#include <sys/utsname.h>

namespace rankscope::backend {

namespace {

std::string hostName()
{
    utsname names{};
    return uname(&names) == 0 ? names.nodename : "unknown";
}

std::string systemName()
{
    utsname names{};
    return uname(&names) == 0 ? fmt::format("{} {} {}", names.sysname, names.release, names.machine) : "unknown";
}

void writeJob(tracing::Recorder& recorder, const Config& config, const Text& text, const std::string& mpiVersion)
{
    for (const auto& [key, value] : configValues(config))
        recorder.provenance("config." + key, value);
    recorder.provenance("code.version", RS_CODE_VERSION);
    recorder.provenance("data.files", std::to_string(text.files.size()));
    recorder.provenance("data.skipped_files", std::to_string(text.skipped.size()));
    recorder.provenance("data.bytes", std::to_string(text.bytes.size()));
    recorder.provenance("data.fnv1a", fmt::format("{:016x}", fingerprint(text.bytes)));
    const MeshSizes sizes = config.meshSizes();
    recorder.provenance("layout", fmt::format("dp {} x tp {} x pp {}, ep {}", sizes.dp, sizes.tp, sizes.pp, sizes.ep));
    recorder.provenance("schedule", config.parallel.schedule);
    recorder.provenance("model.parameters", std::to_string(parameterCount(config.model, wholeModel(config.model))));
    recorder.provenance("model.flop_per_token", fmt::format("{:.0f}", modelFlopPerToken(config.model)));
    recorder.provenance("library.mpi", mpiVersion);
    if (numbersOf(config) == Numbers::Bf16)
        recorder.provenance("compute.bf16", kernels::cpu::hasBf16() ? "AVX512_BF16" : "widened to fp32");
    recorder.provenance("library.matmul", kernels::cpu::libraryVersion());
    recorder.provenance("compiler", __VERSION__);
}

} // namespace

Peak peakOf(const Config& config)
{
    if (config.train.peakGflops > 0)
        return { .flops = config.train.peakGflops * 1e9, .source = "declared by train.peak_gflops" };
    return { .flops = measurePeakFlops(numbersOf(config)),
        .source = fmt::format("measured with a 768 x 768 x 768 {} matrix product", config.train.dtype) };
}

void writeProvenance(tracing::Recorder& recorder, const Config& config, int rank, const Text& text, const Peak& peak,
    int threads, const std::string& mpiVersion)
{
    if (rank == 0)
        writeJob(recorder, config, text, mpiVersion);
    // The collector puts "rank.N." before the facts of every rank but 0, whose facts are the job's.
    const std::string of = rank == 0 ? "rank.0." : "";
    recorder.provenance(of + "host", hostName());
    recorder.provenance(of + "system", systemName());
    recorder.provenance(of + "processor", processorName());
    recorder.provenance(of + "cores", std::to_string(availableCores()));
    recorder.provenance(of + "threads", std::to_string(threads));
    recorder.provenance(of + "peak_flops", fmt::format("{:.6g}", peak.flops));
    recorder.provenance(of + "peak_source", peak.source);
}

} // namespace rankscope::backend
