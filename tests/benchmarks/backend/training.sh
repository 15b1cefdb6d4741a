# Sourced by tests/bench.sh: training beside PyTorch, beside matrix products alone, and on two ranks. Every figure is the
# median of rounds in which all contenders take turns, so that a drifting machine hits them alike; the ratios count.

small=(6 384 6 256 4 256)
large=(12 768 12 50257 4 64)
rounds=${RS_BENCH_ROUNDS:-3}

# PyTorch's products go through OpenBLAS where they are not oneDNN's; its OpenMP build shares the pool of threads.
torch_python=/usr/bin/python3
torch_blas=/usr/lib/$(uname -m)-linux-gnu/openblas-openmp

# Kernels by name and kind of numbers (2: bf16, as in the view kernels).
roofline_query="SELECT n.text, SUM(k.duration_ns), SUM(s.flop), SUM(s.bytes), s.dtype FROM kernel k
    JOIN signature s ON s.id = k.signature JOIN name n ON n.id = s.name GROUP BY n.text, s.dtype ORDER BY 2 DESC"

has_torch() { "$torch_python" -c 'import torch' 2>/dev/null; }

# Tokens/s of a benchmark of bench_backend_model, such as "trainingStep small_fp32".
step_rate() {
    "$bin/bench_backend_model" --benchmark_filter="^$1/$2/" --benchmark_min_time=2 --benchmark_format=csv 2>/dev/null |
        awk -F, '$1 ~ /^name/ { for (i = 1; i <= NF; ++i) if ($i == "\"tokens/s\"") column = i }
            $1 ~ /^"'"$1"'/ { print $column }'
}

# torch_rate small|large fp32|bf16
torch_rate() {
    local -n sizes=$1
    local steps=10
    [[ $1 == small ]] || steps=3
    LD_LIBRARY_PATH=$torch_blas "$torch_python" tests/benchmarks/backend/model/pytorch_step.py "${sizes[@]}" "$2" "$steps" \
        2>/dev/null
}

# Tokens/s of the median step after the third: ranks_rate RANKS THREADS [key=value...]
ranks_rate() {
    local ranks=$1 threads=$2 placement=(--bind-to none)
    shift 2
    ((threads > 1)) || placement=(--use-hwthread-cpus --bind-to hwthread)
    (($(nproc) >= ranks * threads)) || placement=(--oversubscribe --bind-to none --mca mpi_yield_when_idle 1)
    OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMP_NUM_THREADS=$threads mpirun -n "$ranks" \
        "${placement[@]}" --mca btl_vader_single_copy_mechanism none -x RANKSCOPE_SESSION "$bin/rankscope-train" \
        samples/quickstart.toml model.layers=6 model.width=384 model.heads=6 model.sequence=256 \
        batch.micro_batches=1 parallel.pp=1 parallel.dp="$ranks" batch.micro_batch=$((4 / ranks)) train.steps=12 \
        train.validate_every=0 train.peak_gflops=100 train.threads="$threads" "$@" 2>>"$scratch/errors.log" |
        sed -n 's/.*"step":[0-9]*,.*"tokens_per_s":\([0-9.]*\).*/\1/p' | tail -n +4 | median
}

# kernel_rate BENCHMARK COUNTER, of bench_kernels.
kernel_rate() {
    "$bin/bench_kernels" --benchmark_filter="^$1/" --benchmark_format=csv 2>/dev/null |
        awk -F, -v counter="\"$2\"" '$1 ~ /^name/ { for (i = 1; i <= NF; ++i) if ($i == counter) column = i }
            $1 ~ /^"/ { print $column }'
}

# Every kernel of the recorded steps of a model beside the rooflines of products and memory: print_rooflines small_fp32
print_rooflines() {
    mkdir "$scratch/session"
    "$bin/rankscope" collect --quiet --session "$scratch/session" --out "$scratch/run.rsdb" &
    local collector=$!
    RANKSCOPE_SESSION=$scratch/session step_rate trainingStep "$1" >/dev/null
    kill -TERM "$collector"
    wait "$collector" || true
    echo "  $1:"
    "$bin/rankscope" sql "$scratch/run.rsdb" --csv "$roofline_query" |
        awk -F, -v peak="$peak" -v half_peak="$half_peak" -v bandwidth="$bandwidth" 'NR > 1 {
            gsub(/"/, ""); least = $3 / ($5 == 2 ? half_peak : peak); moving = $4 / bandwidth
            if (moving > least) least = moving
            time[NR] = $2; share[NR] = 100 * least / $2; name[NR] = $1; all += $2; possible += least }
            END { for (i = 2; i <= NR; ++i) if (time[i] / all > 0.005)
                printf "    %-34s %5.1f %% of the time, %4.0f %% of its roofline%s\n", name[i], 100 * time[i] / all, share[i],
                    share[i] < 80 ? sprintf(" (%.1f %% of the time above it)", 100 * time[i] * (1 - share[i] / 100) / all) : ""
                printf "    %-34s %5.1f %% of the time, %4.0f %% of its roofline\n", "all", 100, 100 * possible / all
            }'
    rm -rf "$scratch/run.rsdb"* "$scratch/session"
}

measure_rooflines() {
    local peak half_peak bandwidth model
    peak=$(kernel_rate matmulPeak GFLOP/s) half_peak=$(kernel_rate bf16MatmulPeak GFLOP/s)
    bandwidth=$(kernel_rate copyLarge GB/s)
    echo "-- rooflines: products $peak GFLOP/s in fp32, $half_peak in bf16 (768 x 768 x 768), memory $bandwidth GB/s" \
        "(copy of 256 MB); caches can be quicker than memory"
    for model in small_fp32 small_bf16 large_fp32 large_bf16; do
        print_rooflines "$model"
    done
}

ratio() { awk "BEGIN { if ($2 > 0) printf \"%.2f\", $1 / $2; else print \"-\" }"; }

measure_training() {
    local cores round size numbers of
    cores=$(nproc)
    export OMP_NUM_THREADS=$cores
    echo "== training: $rounds rounds in turns, tokens/s (median), $cores threads"
    has_torch || echo "python3-torch is not installed: without PyTorch"
    for size in small large; do
        for numbers in fp32 bf16; do
            for ((round = 0; round < rounds; ++round)); do
                step_rate trainingStep "${size}_$numbers" >>"$scratch/ours.$size.$numbers"
                has_torch && torch_rate "$size" "$numbers" >>"$scratch/torch.$size.$numbers"
                step_rate matrixProductsOfAStep "${size}_$numbers" >>"$scratch/products.$size.$numbers"
            done
            for of in ours torch products; do
                printf -v "$of" '%.0f' "$(median <"$scratch/$of.$size.$numbers" 2>/dev/null || echo 0)"
            done
            # shellcheck disable=SC2154  # set by printf -v above
            echo "  $size $numbers: ours $ours, PyTorch $torch (ratio $(ratio "$ours" "$torch"))," \
                "products alone $products (share $(ratio "$ours" "$products"))"
        done
    done
    echo "-- two replicas with a thread each beside one rank with two, small model, fp32"
    for ((round = 0; round < rounds; ++round)); do
        ranks_rate 1 2 >>"$scratch/one"
        ranks_rate 2 1 >>"$scratch/two"
        ranks_rate 2 1 parallel.zero=1 >>"$scratch/zero"
    done
    local one two zero
    one=$(median <"$scratch/one") two=$(median <"$scratch/two") zero=$(median <"$scratch/zero")
    printf '  one rank %.0f, dp 2 %.0f (%s), with ZeRO-1 %.0f (%s)\n' "$one" "$two" "$(ratio "$two" "$one")" "$zero" \
        "$(ratio "$zero" "$one")"
    measure_rooflines
}
