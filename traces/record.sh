#!/bin/sh
# Records the bundled traces again: each program is compiled by `orrery cc`, runs, and of what it records the references to
# its named regions between its start and its stop mark are kept. Needs gcc and cargo.
#
#   traces/record.sh                 all programs, into traces/
#   traces/record.sh mpm             one program
#   traces/record.sh --check         record into a temporary folder and compare with traces/ byte for byte; and record what
#                                    gcc alone makes under Valgrind's lackey, which must do the same, reference by reference
#   ORRERY=path/to/orrery traces/record.sh    with a binary that is built already
set -eu
cd "$(dirname "$0")"
out=.
if [ "${1:-}" = --check ]; then
    check=yes
    shift
else
    check=
fi
for tool in gcc ${check:+valgrind}; do
    command -v "$tool" >/dev/null || {
        echo "record.sh: found no $tool; install the packages gcc, binutils and valgrind" >&2
        exit 1
    }
done
if [ -z "${ORRERY:-}" ]; then
    cargo build --quiet --release --no-default-features --features cli --manifest-path ../Cargo.toml
    ORRERY=${CARGO_TARGET_DIR:-../target}/release/orrery
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' INT TERM
[ -z "$check" ] || out=$work

[ $# -gt 0 ] || set -- matmul16 matmul16_transposed matmul16_blocked matmul12_blocked array_init bubble_sort merge_sort mpm \
    false_sharing false_sharing_padded
# COMPILER...: compiles $name. -O1 keeps sums in registers and arrays in memory (README.md says what each flag is for); the
# section's fixed address and the prefix map make the result independent of machine and folder.
compile() {
    "$@" -g -O1 -std=c11 -Wall -Wextra -Werror -ffile-prefix-map="$PWD"=. \
        -no-pie -Wl,--section-start=orrery_memory=0x10000000 -o "$work/$name" "programs/$name.c" -lm
}

wrong() {
    echo "record.sh: $name $*" >&2
    exit 1
}

# FROM TO: keeps the references to named regions between the marks.
keep() {
    "$ORRERY" convert "$1" -o "$2" --tables "$work/tables.json" --only-regions --program "$work/$name"
    rm "$1"
}

# Kind, address and size of each reference, for comparison: instructions lie elsewhere.
references() {
    "$ORRERY" convert "$1" -o - --to csv 2>/dev/null | cut -d, -f1-3
}

for name; do
    compile "$ORRERY" cc
    ORRERY_OUT=$work/whole.orrery ORRERY_TABLES="$work/tables.json" "$work/$name" || wrong "failed its own check"
    # What collects may be a little behind.
    while [ -e "$work/whole.orrery.part" ]; do sleep 0.1; done
    keep "$work/whole.orrery" "$out/$name.orrery"
    [ -n "$check" ] || continue
    cmp "$out/$name.orrery" "$name.orrery" || failed=yes

    compile gcc
    # The log has a file of its own, so that nothing the program prints can end up in it.
    ORRERY_TABLES="$work/tables.json" valgrind --quiet --tool=lackey --trace-mem=yes --log-file="$work/log" "$work/$name" ||
        wrong "failed its own check"
    keep "$work/log" "$work/lackey.orrery"
    references "$work/lackey.orrery" >"$work/lackey"
    references "$name.orrery" >"$work/compiled"
    cmp "$work/lackey" "$work/compiled" || failed=yes
done
[ -z "${failed:-}" ] || exit 1
