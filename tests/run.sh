#!/bin/bash
# Installs what is missing, builds, and runs every test that this machine can run: all of them optimised (preset dev),
# then the unit tests under AddressSanitizer and ThreadSanitizer. Ends with ctest's summaries; any failure gives 1.
#
#   tests/run.sh [PRESET...]     only these presets; none means dev asan tsan
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit
presets=("$@")
[[ ${#presets[@]} -gt 0 ]] || presets=(dev asan tsan)
cores=$(nproc)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# Each skipped test with the reason that its GTEST_SKIP gave, from the log of the last ctest run.
print_skipped() {
    awk '/: Skipped$/ { getline reason; waiting = 1 }
         /\[  SKIPPED \] [^ ]+( \([0-9]+ ms\))?$/ && waiting { print "skipped: " $4 " (" reason ")"; waiting = 0 }' \
        "build/$1/Testing/Temporary/LastTest.log"
}

# Runs the tests of a preset; keeps ctest's summary in $scratch for the end.
run_tests() {
    ctest --preset "$1" -j "$cores" 2>&1 |
        awk -v summary="$scratch/$1" '/^[0-9]+% tests passed|^No tests were found/ { held = 1 }
                                      held { print > summary; next } { print; fflush() }'
    return "${PIPESTATUS[0]}"
}

resources/setup/install-deps.sh build run app sample test || exit

failed=()
for preset in "${presets[@]}"; do
    echo "== $preset: build"
    if ! cmake --preset "$preset" >"$scratch/configure.log" 2>&1; then
        cat "$scratch/configure.log"
        failed+=("$preset (configure)")
    elif ! cmake --build --preset "$preset" -- -j "$cores"; then
        failed+=("$preset (build)")
    else
        echo "== $preset: tests"
        run_tests "$preset" || failed+=("$preset (tests)")
    fi
done

# The first preset runs the most tests; its summary closes the run.
for ((i = ${#presets[@]} - 1; i >= 0; --i)); do
    if [[ -e $scratch/${presets[i]} ]]; then
        echo "== ${presets[i]}"
        print_skipped "${presets[i]}"
        cat "$scratch/${presets[i]}"
    fi
done
if [[ ${#failed[@]} -gt 0 ]]; then
    printf 'FAILED: %s\n' "${failed[@]}"
    exit 1
fi
