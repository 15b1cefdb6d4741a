#!/bin/bash
# Builds the preset bench and runs the benchmarks, then measures what recording costs a training run. Prints the machine
# and the date with the medians; asserts nothing.
#
#   tests/bench.sh [NAME...]     only programs whose name contains NAME; "overhead" is the cost of recording,
#                                "training" a training step beside PyTorch's,
#                                "comm" our all-reduce beside MPI's, and what of it is hidden
#   RS_BENCH_LARGE=1             import: also a trace of ten million events, which takes minutes and 4 GB of the disk
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
bin=build/bench/bin
steps=${RS_BENCH_STEPS:-40}
names=("$@")

is_wanted() {
    [[ ${#names[@]} -gt 0 ]] || return 0
    local name
    for name in "${names[@]}"; do
        [[ $1 == *"$name"* ]] && return 0
    done
    return 1
}

print_machine() {
    echo "machine: $(awk -F': ' '/^model name/ { print $2; exit }' /proc/cpuinfo), $(nproc) cores," \
        "$(awk '/^MemTotal/ { printf "%.0f GiB", $2 / 1048576 }' /proc/meminfo), Linux $(uname -r)"
    echo "date:    $(date -u +'%Y-%m-%d %H:%M UTC'), commit $(git rev-parse --short HEAD 2>/dev/null || echo unknown)"
    echo "load:    $(cut -d' ' -f1-3 /proc/loadavg) (before)"
}

# The ranks of the sample, pp 2 with a thread each, as the launcher starts them on a core for each.
train_ranks() {
    local placement=(--use-hwthread-cpus --bind-to hwthread)
    (($(nproc) >= 2)) || placement=(--oversubscribe --bind-to none --mca mpi_yield_when_idle 1)
    OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMP_NUM_THREADS=1 mpirun -n 2 "${placement[@]}" \
        --mca btl_vader_single_copy_mechanism none -x RANKSCOPE_SESSION \
        "$bin/rankscope-train" samples/quickstart.toml train.steps="$steps" train.max_seconds=3600 train.validate_every=0 \
        train.peak_gflops=100 >"$scratch/train.log" 2>&1
}

train_recorded() {
    mkdir "$scratch/session"
    "$bin/rankscope" collect --quiet --session "$scratch/session" --out "$scratch/run.rsdb" &
    local collector=$!
    RANKSCOPE_SESSION=$scratch/session train_ranks
    kill -TERM "$collector"
    wait
}

# Prints the CPU seconds (user + system) of a function and all the processes that it waited for.
cpu_seconds() {
    local TIMEFORMAT='%U %S'
    { time "$@" 2>"$scratch/errors.log"; } 2>&1 | awk '{ print $1 + $2 }'
}

median() { sort -n | awk '{ v[NR] = $1 } END { print NR % 2 ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2 }'; }

# Pairs of the same training with and without the recorder, in turns so that a drifting machine hits both alike.
measure_overhead() {
    local pairs=${RS_BENCH_PAIRS:-7} pair on off
    echo "== recording overhead: $pairs pairs of $steps steps of the sample, CPU seconds of the ranks and the collector"
    for ((pair = 0; pair < pairs; ++pair)); do
        on=$(cpu_seconds train_recorded)
        off=$(cpu_seconds train_ranks)
        echo "$on $off" >>"$scratch/pairs"
        echo "  with $on s, without $off s, $(du -k "$scratch/run.rsdb" | cut -f1) kB"
        rm -rf "$scratch/run.rsdb"* "$scratch/session"
    done
    printf 'median of the differences: %.2f %% of the CPU seconds\n' \
        "$(awk '{ print ($1 / $2 - 1) * 100 }' "$scratch/pairs" | median)"
}

source tests/benchmarks/backend/training.sh
source tests/benchmarks/backend/comm.sh

resources/setup/install-deps.sh build run app sample test bench
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cmake --preset bench >"$scratch/configure.log" || { cat "$scratch/configure.log"; exit 1; }
cmake --build --preset bench -- -j "$(nproc)"

print_machine
for program in "$bin"/bench_*; do
    [[ $program != */bench_mpi_* ]] || continue
    if [[ -x $program ]] && is_wanted "$(basename "$program")"; then
        echo "== $(basename "$program")"
        "$program" --benchmark_repetitions=5 --benchmark_report_aggregates_only=true --benchmark_color=false 2>/dev/null |
            grep -E '^Benchmark|_median|^---'
    fi
done
if is_wanted overhead; then
    measure_overhead
fi
if is_wanted training; then
    measure_training
fi
if is_wanted comm; then
    measure_comm
fi
