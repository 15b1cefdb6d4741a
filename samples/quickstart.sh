#!/bin/bash
# From a fresh machine to a real training run on the screen: installs what is missing, builds, trains the sample under the
# recorder and opens the app on it while it runs. Without a display it prints the report and draws two pictures instead.
# May be run from any directory, again, and after an interruption. Exit codes: 0 good, 1 a stage failed, 2 not on this system.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
out=$root/build/quickstart
bin=$root/build/release/bin
run=$out/run.rsdb
cores=$(nproc)
if ((cores >= 4)); then
    sample=$root/samples/quickstart-4.toml ranks=4
else
    sample=$root/samples/quickstart.toml ranks=2
fi

say() { printf '\n== %s\n' "$*"; }

# Runs a command quietly; shows the end of what it said only when it fails.
quietly() {
    local log=$out/$1.log
    shift
    if ! "$@" >"$log" 2>&1; then
        tail -n 20 "$log" >&2
        echo "quickstart: this failed: $*; all it said is in $log" >&2
        exit 1
    fi
}

build() {
    cd "$root"
    # A build folder that was moved or half written is set up anew.
    cmake --preset release >"$out/configure.log" 2>&1 || quietly configure cmake --fresh --preset release
    local targets=(--target rankscope rankscope-train rankscope-app)
    if [[ -t 1 ]]; then
        cmake --build --preset release "${targets[@]}" -- -j "$cores"
    else
        quietly build cmake --build --preset release "${targets[@]}" -- -j "$cores"
    fi
}

# Opens the app, which waits for the file.
app=
open_app() {
    [[ -n ${DISPLAY:-} ]] || return 0
    "$bin/rankscope-app" --live "$run" >"$out/app.log" 2>&1 9>&- &
    app=$!
}

# False also when the app found that DISPLAY leads nowhere.
app_is_open() { [[ -n $app ]] && kill -0 "$app" 2>/dev/null; }

# On a terminal the launcher shows its progress; elsewhere only what happens besides the steps.
train() {
    local command=("$bin/rankscope" train --config "$sample" --out "$run")
    if [[ -t 1 ]]; then
        "${command[@]}" 9>&-
    else
        "${command[@]}" 9>&- | tee "$out/steps.jsonl" | grep --line-buffered '"event"'
    fi
}

mkdir -p "$out"
exec 9>"$out/lock"
if ! flock -n 9; then
    echo "quickstart: another one is running here; wait for it or stop it" >&2
    exit 1
fi

cat <<STAGES
Rankscope quickstart: $ranks ranks on $cores cores
  1 packages   up to 2 minutes the first time, then at once
  2 build      about 3 minutes on 2 cores the first time, then seconds
  3 train      up to 50 seconds, recorded
  4 app        opens while the training runs; without a display a report and two pictures
STAGES

say "1 packages"
"$root/resources/setup/install-deps.sh" build run app sample

say "2 build"
build

say "3 train"
rm -f "$run" "$run-wal" "$run-shm"
open_app
train || {
    status=$?
    ! app_is_open || kill "$app"
    exit "$status"
}

say "4 app"
"$bin/rankscope" report "$run" --text
if app_is_open; then
    disown "$app"
    echo "The app shows the run. To open it again: $bin/rankscope open $run"
else
    [[ -z $app ]] || echo "The app could not open a window (see $out/app.log); drawing pictures instead."
    quietly overview "$bin/rankscope-app" --render "$out/overview.png" --view overview "$run"
    quietly timeline "$bin/rankscope-app" --render "$out/timeline.png" --view timeline --window "steps 10:12" "$run"
    cat <<FILES
No display, so the app drew pictures:
  $out/timeline.png
  $out/overview.png
The run is in $run. On a machine with a display: $bin/rankscope open $run
FILES
fi
