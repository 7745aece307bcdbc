#!/bin/sh
# Programs that are hard to record, at every level of optimisation: the recorded build must end as the plain one does, say the
# same, and have recorded what it did, to the last reference. Prints a table; ends with 1 where anything differs.
#
#     scripts/capture-torture.sh [FOLDER]
#
# RUNS (20): runs of each program with signals. SIGNALS (2000000): signals of the long storm; 0 = none. LEVELS: what to build at.
# ORRERY names another orrery than target/release/orrery. tests/capture/torture.rs is the short form of this in the test suite.
set -u

here=$(cd "$(dirname "$0")/.." && pwd)
orrery=${ORRERY:-$here/target/release/orrery}
RUNS=${RUNS:-20} SIGNALS=${SIGNALS:-2000000}
LEVELS=${LEVELS:-'-O0
-O1
-O2
-O3
-O3 -march=native'}
work=${1:-$(mktemp -d)}
sources=$here/tests/programs
wrong=0 checks=0 signals=0

for tool in gcc g++ make timeout; do
    command -v "$tool" >/dev/null || { echo "$tool is missing (Debian, Ubuntu: apt install g++ make coreutils)" >&2; exit 1; }
done
[ -x "$orrery" ] || (cd "$here" && cargo build --release) || exit 1
mkdir -p "$work" && cd "$work" || exit 1
export XDG_CACHE_HOME="$work/cache"
unset ORRERY_OUT ORRERY_BIN ORRERY_LIMIT CC CXX

# NAME FLAGS...: builds the program twice, plain/NAME and recorded/NAME.
build() {
    name=$1
    shift
    mkdir -p plain recorded
    file=$sources/torture_$name.c ours=cc theirs=gcc
    [ -f "$file" ] || { file=$sources/torture_$name.cpp ours=c++ theirs=g++; set -- "$@" -std=c++20; }
    "$theirs" -w -pthread "$@" "$file" -o "plain/$name" -ldl && "$orrery" "$ours" -w -pthread "$@" "$file" -o "recorded/$name" -ldl 2>build.err
}

fault() { # WHAT
    wrong=$((wrong + 1))
    verdict="WRONG: $1"
}

# NAME TIMES MODE...: runs both builds; the last line of the table is theirs.
check() {
    name=$1 times=$2
    shift 2
    verdict=same done=0
    while [ "$done" -lt "$times" ] && [ "$verdict" = same ]; do
        rm -rf run && mkdir -p run/plain run/recorded
        (cd run/plain && timeout 300 $wrapper "$work/plain/$name" "$@" >../plain.out 2>../plain.err)
        ends=$?
        (cd run/recorded && timeout 300 $wrapper "$work/recorded/$name" "$@" >../recorded.out 2>../recorded.err)
        code=$?
        ! grep -q 'ends early' run/recorded.err || fault "recording ends early"
        [ "$code" = "$ends" ] || fault "exit code $code, not $ends"
        cmp -s run/plain.out run/recorded.out || fault "says $(head -c 80 run/recorded.out), not $(head -c 80 run/plain.out)"
        waited=0
        while ls run/recorded/*.part >/dev/null 2>&1 && [ $waited -lt 200 ]; do sleep 0.05; waited=$((waited + 1)); done
        trace=run/recorded/$name.orrery
        if ! "$orrery" convert "$trace" -o run/again.orrery >/dev/null 2>run/convert.err; then
            fault "unreadable: $(grep '^error' run/convert.err)"
        fi
        rm -f run/again.orrery
        # Traces of more than 64 threads can be read, but not simulated.
        if "$orrery" stats "$trace" >run/stats 2>/dev/null; then
            while read -r _ region count; do
                have=$(awk -v name="$region" '$1 == name { gsub(",", "", $2); print $2; exit }' run/stats)
                [ "$have" = "$count" ] || [ "$inexact" = 1 ] || fault "$region has $have references, not $count"
            done <<END
$(grep '^expect ' run/recorded.err || true)
END
        fi
        n=$(sed -n 's/^\([0-9]*\) signals$/\1/p' run/recorded.err)
        signals=$((signals + ${n:-0}))
        done=$((done + 1)) checks=$((checks + 1))
    done
    printf '%-12s %-34s %-22s %3d runs  %s\n' "$name" "$flags" "$*" "$done" "$verdict"
}

wrapper='' inexact=0
echo "orrery: $("$orrery" --version); gcc: $(gcc -dumpversion); $(nproc) processors; $RUNS runs of each program with signals"
echo "$LEVELS" | while read -r flags; do echo "$flags"; done >levels
while read -r flags <&3; do
    # shellcheck disable=SC2086
    build signals $flags || { flags="$flags" fault "does not build"; echo "$verdict"; continue; }
    for mode in timer prof nested nodefer storm swift long onstack threads; do
        case $mode in prof) n=20 ;; long) n=3 ;; swift) n=5000 ;; storm | nodefer) n=1000 ;; *) n=100 ;; esac
        check signals "$RUNS" $mode $n
    done
    # shellcheck disable=SC2086
    build starved $flags
    gcc "$sources/stepper.c" -o stepper
    wrapper=$work/stepper
    check starved 1 60 10000
    wrapper=''
    # What siglongjmp leaves in the middle may be recorded or not.
    inexact=1
    check signals "$RUNS" altstack 100
    check signals "$RUNS" jump 100
    check signals "$RUNS" overflow 20
    # What is held takes all of a small limit, so that some of it is given up.
    wrapper='env ORRERY_LIMIT=8M'
    check signals "$RUNS" jump 100
    check signals 3 long 3
    wrapper="env ORRERY_LIMIT=8M $work/stepper"
    check starved 1 20 10000
    wrapper=''
    inexact=0
    # shellcheck disable=SC2086
    build processes $flags
    for mode in fork _Fork exit SYS_fork SYS_clone SYS_clone3 raw-fork raw-vfork raw-clone-vfork vfork vfork-exec vfork-fails many-vforks vfork-killed clone \
        clone-vm clone-vfork clone-beside spawn system popen daemon reaper; do
        check processes 1 $mode
    done
    if unshare --user --map-root-user --pid --fork true 2>/dev/null; then
        wrapper='unshare --user --map-root-user --pid --fork'
        check processes 1 init
        wrapper=''
    else
        echo "skipped: no process namespaces here"
    fi
    # shellcheck disable=SC2086
    build threads $flags
    for mode in many tiny churn cancel tls idle; do check threads 1 $mode; done
    check threads 1 busy 1500
    wrapper='env ORRERY_LIMIT=8M'
    check threads 3 busy 40
    wrapper=''
    # shellcheck disable=SC2086
    build stacks $flags
    for mode in ucontext coroutines exceptions unwind; do check stacks 3 $mode; done
    # shellcheck disable=SC2086
    build parallel $flags -fopenmp
    check parallel 3
    # shellcheck disable=SC2086
    if build load $flags && gcc $flags -shared -fPIC "$sources/torture_part.c" -o plain.so &&
        "$orrery" cc $flags -shared -fPIC "$sources/torture_part.c" -o part.so; then
        check load 1 "$work/plain.so"
        check load 1 "$work/part.so"
    else
        fault "the library does not build"
        echo "$verdict"
    fi
done 3<levels

# Ways to link and to check, on programs with signals, threads and exceptions.
printf '%s\n' '-O1 -static' '-O1 -static-pie' '-O2 -flto' '-O1 -fsanitize=address' '-O1 -fsanitize=undefined' \
    '-O1 -fsanitize=thread' '-O1 -pg' '-O2 -fcf-protection=full' '-O1 -mcmodel=large' '-O2 -fno-plt' '-O2 -D_FORTIFY_SOURCE=2' \
    '-O2 -fno-asynchronous-unwind-tables' '-O2 -fomit-frame-pointer -fstack-protector-all' '-O2 -g0 -fno-pie -no-pie' >ways
while read -r flags <&3; do
    for name in signals processes threads stacks parallel; do
        more=''
        [ $name = parallel ] && more=-fopenmp
        # Its runtime keeps signals back until the program waits for something: a plain build never ends either.
        case $name$flags in signals*=thread) continue ;; esac
        # shellcheck disable=SC2086
        if ! build $name $flags $more; then
            printf '%-12s %-34s refused: %s\n' "$name" "$flags" "$(tail -1 build.err)"
            continue
        fi
        case $name in
            signals) check signals 3 timer 100; check signals 3 storm 1000 ;;
            processes) check processes 1 fork; check processes 1 vfork-fails ;;
            threads) check threads 1 tls ;;
            # Without tables nobody can unwind.
            stacks) check stacks 1 exceptions; check stacks 1 coroutines ;;
            parallel) check parallel 1 ;;
        esac
    done
done 3<ways

# Builds in parallel, and through a cache of objects.
flags='make -j'
rm -rf project && mkdir project
for i in 1 2 3 4 5 6 7 8; do
    echo "volatile int t$i[64]; int f$i(void) { int s = 0; for (int i = 0; i < 64; i++) t$i[i] = i; for (int i = 0; i < 64; i++) s += t$i[i]; return s; }" >project/f$i.c
done
{
    for i in 1 2 3 4 5 6 7 8; do echo "int f$i(void);"; done
    echo '#include <stdio.h>'
    printf '%s\n' 'int main(void) { printf("%d\n", f1() + f2() + f3() + f4() + f5() + f6() + f7() + f8()); fprintf(stderr, "expect t5 128\n"); }'
} >project/main.c
printf 'prog: main.o f1.o f2.o f3.o f4.o f5.o f6.o f7.o f8.o\n\t$(CC) $^ -o $@\n' >project/Makefile
made() { # FLAGS COMPILER
    flags=$1
    (cd project && rm -f ./*.o prog && make -s -j8 CC="$2" CFLAGS=-O1 && mv prog "$work/recorded/made") || fault "does not build"
    check made 1
}
(cd project && make -s -j8 CC=gcc CFLAGS=-O1 && mv prog "$work/plain/made")
made 'make -j' "$orrery cc"
rm -rf "$XDG_CACHE_HOME"
made 'make -j, no library yet' "$orrery cc"
if command -v ccache >/dev/null; then
    export CCACHE_DIR="$work/ccache"
    made 'ccache orrery cc' "ccache $orrery cc"
    made 'ccache orrery cc, again' "ccache $orrery cc"
    export ORRERY_CC='ccache gcc'
    made 'orrery cc by ccache gcc' "$orrery cc"
    made 'orrery cc by ccache gcc, again' "$orrery cc"
    unset ORRERY_CC
else
    echo "skipped: no ccache here"
fi

if [ "$SIGNALS" -gt 0 ]; then
    flags=-O2
    build signals -O2
    check signals 1 swift "$SIGNALS"
    check signals 1 jump $((SIGNALS / 200))
fi
echo "$checks runs compared, $signals signals, $wrong wrong"
[ "$wrong" = 0 ]
