#!/bin/bash
# Installs the packages that debian-packages.txt names and that this machine lacks.
#
#   resources/setup/install-deps.sh [GROUP...]     groups: build run app sample test bench; none means all
#
# Needs no network when nothing is missing. Exit codes: 0 everything is there, 1 the installation failed, 2 it cannot be
# done here (unknown system, or neither root nor sudo); then it names the packages.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
list=$here/debian-packages.txt
# Slim container images drop /usr/share/doc, where the sample text lives: being installed is not enough for it.
sample_text=/usr/share/doc/jargon-text/jargon.txt.gz

# Prints "package<TAB>purpose" for each package of the given groups.
packages_of() {
    awk -v wanted=" $* " '!/^#/ && NF >= 3 && (wanted == "  " || index(wanted, " " $1 " ")) {
        package = $2; $1 = $2 = ""; sub(/^ +/, ""); print package "\t" $0 }' "$list"
}

is_installed() {
    [[ $(dpkg-query -W -f='${db:Status-Status}' "$1" 2>/dev/null) == installed ]] || return 1
    [[ $1 != jargon-text || -e $sample_text ]]
}

refuse() {
    echo "install-deps: $1. Rankscope needs:" >&2
    printf '%s\n' "$missing" | awk -F'\t' '{ printf "  %-20s %s\n", $1, $2 }' >&2
    exit 2
}

for group in "$@"; do
    if ! grep -q "^$group " "$list"; then
        echo "install-deps: no group '$group'; there are: $(awk '!/^#/ && NF && !seen[$1]++ { printf "%s%s", sep, $1; sep = " " }' "$list")" >&2
        exit 2
    fi
done

missing=$(packages_of "$@")
if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
    refuse "this system has no apt, so the packages (under Debian's names) must be installed by hand"
fi
missing=$(while IFS=$'\t' read -r package purpose; do
    is_installed "$package" || printf '%s\t%s\n' "$package" "$purpose"
done <<<"$missing")
if [[ -z $missing ]]; then
    echo "install-deps: all packages are there"
    exit 0
fi

as_root=()
if [[ $(id -u) != 0 ]]; then
    command -v sudo >/dev/null || refuse "installing needs root, or sudo, which is not here"
    as_root=(sudo)
fi

echo "install-deps: installing"
printf '%s\n' "$missing" | awk -F'\t' '{ printf "  %-20s %s\n", $1, $2 }'
mapfile -t names < <(cut -f1 <<<"$missing")
log=$(mktemp)
trap 'rm -f "$log"' EXIT
apt_get() {
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq -o DPkg::Lock::Timeout=120 "$@" >>"$log" 2>&1
}
install() {
    apt_get install -y --no-install-recommends --reinstall \
        -o Dpkg::Options::=--path-include="$(dirname "$sample_text")/*" "${names[@]}"
}
# The package lists may be absent or too old for the mirror: a first failure is answered by fetching them.
if ! install && ! { apt_get update && install; }; then
    tail -n 15 "$log" >&2
    echo "install-deps: apt-get could not install ${names[*]}; its last words are above" >&2
    exit 1
fi
