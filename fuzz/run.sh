#!/bin/sh
# Runs trace readers under libFuzzer: [JOBS=2] fuzz/run.sh SECONDS [FORMAT...]
#
# Each format (all that `Format::ALL` has, `detect`, and `story` for storyboards) runs for SECONDS on one core, JOBS of them (1) at once, from the seeds in fuzz/corpus/FORMAT and
# the samples in tests/traces and traces. Prints of each: executions; of 100 inputs, of how many a reference was read, how many were
# read to their end, and how many were followed to a picture; counters of the instrumented code that were reached, crashes, peak memory. Fails where there was a crash, an input that took
# 10 s (SLOWEST names another time, for a machine that does other work), or one that took 1 GiB. Stable Rust and a C++ compiler are all it needs. What it finds lies in fuzz/target/found/FORMAT.
set -eu
seconds=${1:?usage: fuzz/run.sh SECONDS [FORMAT...]}
shift
cd "$(dirname "$0")"
host=$(rustc -vV | sed -n 's/^host: //p')
[ $# -gt 0 ] || set -- detect $(sed -n 's/^ *name: "\(.*\)",$/\1/p' ../src/trace/formats/mod.rs) story
# Storyboards need the code that lays pictures out, which takes as long to build as all else.
case " $* " in *' story '*) features='--features story' ;; *) features= ;; esac
# As cargo-fuzz instruments a build without a sanitizer; --target keeps build scripts out of it.
RUSTFLAGS="-Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 -Cllvm-args=-sanitizer-coverage-inline-8bit-counters \
-Cllvm-args=-sanitizer-coverage-pc-table -Cllvm-args=-sanitizer-coverage-trace-compares -Ccodegen-units=1" \
	cargo build --quiet --release --target "$host" $features
fuzzer=target/$host/release/orrery-fuzz

seeds=target/seeds
rm -rf "$seeds"
mkdir -p "$seeds"
# Each format is given all of them, and keeps those of which it reads a reference.
find ../tests/traces -type f ! -name '*.py' ! -name '*.c' ! -name '*.md' | while read -r file; do
	cp "$file" "$seeds/$(echo "${file#../tests/traces/}" | tr / -)"
done
cp ../traces/*.orrery ../traces/loops/*.loops ../lessons/*.story.toml "$seeds"
# Graphs need values for their symbols, which a file can hold as constants.
for file in "$seeds"/dace-*.sdfg; do
	sed -E '0,/"attributes": *\{/s//"attributes":{"constants_prop":{"N":5,"M":7,"K":6,"T":3},/' "$file" >"$file.new" && mv "$file.new" "$file"
done
if cc -o target/structs ../tests/traces/structs.c 2>/dev/null; then
	target/structs "$seeds"
fi

printf '%-15s %8s %12s %9s %7s %7s %8s %8s %8s %8s\n' format seconds executions per_s some_% whole_% deep_% reached crashes peak_MB
# One format: its line, and failure where there was any.
one='
	format=$1 work=target/work/$1 found=target/found/$1 log=target/$1.log tally=target/$1.tally
	mkdir -p "$work" "$found" "corpus/$format"
	code=0 begun=$(date +%s) most=16384
	case $format in
	# Of several row groups; packed spools of several chunks.
	orrery | capture) most=32768 ;;
	esac
	rm -f "$tally"
	ORRERY_FUZZ_TALLY=$tally ORRERY_FUZZ_FORMAT=$format "$FUZZER" "$work" "corpus/$format" "$SEEDS" -max_total_time="$SECONDS_EACH" -max_len=$most \
		-len_control=0 -mutate_depth=2 -timeout="$SLOWEST" -report_slow_units=10 -rss_limit_mb=1024 -print_final_stats=1 -artifact_prefix="$found/" >"$log" 2>&1 || code=$?
	stat() { sed -n "s/^stat::$1: *//p" "$log" | tail -1; }
	crashes=$(find "$found" -type f ! -name "slow-unit-*" | wc -l)
	reached=$(sed -n "s/.* cov: \([0-9]*\) .*/\1/p" "$log" | tail -1)
	read -r seen some whole deep <"$tally" || seen=0
	[ "$seen" -gt 0 ] || { seen=1 some=0 whole=0 deep=0; }
	printf "%-15s %8s %12s %9s %7s %7s %8s %8s %8s %8s\n" "$format" "$(($(date +%s) - begun))" "$(stat number_of_executed_units)" \
		"$(stat average_exec_per_sec)" "$((100 * some / seen))" "$((100 * whole / seen))" "$((100 * deep / seen))" "$reached" "$crashes" "$(stat peak_rss_mb)"
	[ "$code" -eq 0 ] && [ "$crashes" -eq 0 ]
'
printf '%s\n' "$@" | FUZZER=$fuzzer SEEDS=$seeds SECONDS_EACH=$seconds SLOWEST=${SLOWEST:-10} xargs -n 1 -P "${JOBS:-1}" sh -c "$one" one
