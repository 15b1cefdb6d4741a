#!/bin/bash
# Builds the preset bench and runs the benchmarks, then measures what recording costs a training run. Prints the machine
# and the date with the medians; asserts nothing.
#
#   tests/bench.sh [NAME...]     only programs whose name contains NAME; "overhead" is the cost of recording
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
bin=build/bench/bin
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

# Prints the CPU seconds (user + system) of a command and all that it waited for.
cpu_seconds() {
    local TIMEFORMAT='%U %S'
    { time "$@" >"$scratch/run.log" 2>&1; } 2>&1 | awk '{ print $1 + $2 }'
}

median() { sort -n | awk '{ v[NR] = $1 } END { print NR % 2 ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2 }'; }

# Pairs of the same training with and without the recorder, in turns so that a drifting machine hits both alike.
measure_overhead() {
    local pairs=${RS_BENCH_PAIRS:-7} pair on off
    local train=("$bin/rankscope" train --config samples/quickstart.toml train.steps=60)
    echo "recording overhead: $pairs pairs of 60 steps of the sample (pp 2), CPU seconds of ranks, launcher and collector"
    for ((pair = 0; pair < pairs; ++pair)); do
        rm -f "$scratch/run.rsdb"*
        on=$(cpu_seconds "${train[@]}" --out "$scratch/run.rsdb")
        off=$(cpu_seconds "${train[@]}" --no-record)
        echo "$on $off" | tee -a "$scratch/pairs" | awk '{ printf "  with %.2f s, without %.2f s\n", $1, $2 }'
    done
    local cost
    cost=$(awk '{ print ($1 / $2 - 1) * 100 }' "$scratch/pairs" | median)
    printf 'recording overhead, median of the pairs: %.2f %% of CPU seconds\n' "$cost"
}

resources/setup/install-deps.sh build run app sample bench
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cmake --preset bench >"$scratch/configure.log" || { cat "$scratch/configure.log"; exit 1; }
cmake --build --preset bench -- -j "$(nproc)"

print_machine
for program in "$bin"/bench_*; do
    if [[ -x $program ]] && is_wanted "$(basename "$program")"; then
        echo "== $(basename "$program")"
        "$program" --benchmark_repetitions=5 --benchmark_report_aggregates_only=true --benchmark_color=false 2>/dev/null |
            grep -E '^Benchmark|_median|^---'
    fi
done
if is_wanted overhead; then
    measure_overhead
fi
