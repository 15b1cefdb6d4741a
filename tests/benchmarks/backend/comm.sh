# Sourced by tests/bench.sh, after training.sh: exchanges between two ranks of this machine.

measure_comm() {
    echo "== comm: all-reduce of two ranks over shared memory, without single copy, in turns (medians)"
    OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 mpirun -n 2 --use-hwthread-cpus --bind-to hwthread \
        --mca btl_vader_single_copy_mechanism none "$bin/bench_mpi_comm"
    echo "-- dp 2 on a link of 0.5 GB/s, small model: what is hidden under compute"
    mkdir "$scratch/session"
    "$bin/rankscope" collect --quiet --session "$scratch/session" --out "$scratch/run.rsdb" &
    local collector=$!
    RANKSCOPE_SESSION=$scratch/session ranks_rate 2 1 link.0.from=0 link.0.to=1 link.0.gbit_s=4 link.1.from=1 link.1.to=0 \
        link.1.gbit_s=4 link.0.delay_us=0 link.1.delay_us=0 >/dev/null
    kill -TERM "$collector"
    wait "$collector" || true
    "$bin/rankscope" report "$scratch/run.rsdb" | sed -n '/^Ranks:/,/^$/p;/^Collectives/,/^$/p'
    rm -rf "$scratch/run.rsdb"* "$scratch/session"
}
