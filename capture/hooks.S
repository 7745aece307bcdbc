/* The hooks that `orrery assemble` puts before each instruction that touches memory (x86-64, System V).
 *
 * At the site:      lea -128(%rsp),%rsp ; push %rdi ; lea OPERAND,%rdi ; call *HOOK@GOTPCREL(%rip) ; pop %rdi ; lea 128(%rsp),%rsp
 * so the red zone is stepped over, no flag changes, and the address to record comes in %rdi, which the hook may clobber.
 * The instruction itself begins AFTER bytes past the return address. A hook keeps every other register and the flags (the
 * six that sahf and `add` bring back; none else changes: the runtime is compiled without vector registers).
 *
 * The slot is claimed by one instruction, xadd without lock: the window is this thread's own, so only a signal handler can come
 * between, and it finds `next` raised. It counts up to 0, so that the child of a fork, whose windows the kernel wiped, finds
 * none free either. Words are stored pc first: a slot with a first word is whole (stores of x86 are seen in order), one
 * without is skipped by readers. A window that a hook may still store into is never given away (windows.c). */
#include "runtime.h"

/* Past the last slot of a window, from its start. */
#define END (ORRERY_DESK + ORRERY_CHUNK)

#define AFTER 9

        .text

        .macro HOOK name, kind, size, thread=0
        .globl  __orrery_\name
        .type   __orrery_\name, @function
        .p2align 4
__orrery_\name:
        .cfi_startproc
        endbr64
        push    %rax
        .cfi_adjust_cfa_offset 8
        push    %rcx
        .cfi_adjust_cfa_offset 8
        push    %rdx
        .cfi_adjust_cfa_offset 8
        lahf
        seto    %al
        mov     %eax, %edx
        .if     \thread
        add     %fs:0, %rdi
        .endif
        mov     %fs:__orrery_current@tpoff, %rcx
        movabs  $((\kind << 62) | ((\size - 1) << 56)), %rax
        or      %rax, %rdi
        mov     $1, %eax
        xadd    %rax, (%rcx)
        test    %al, %al
        je      orrery_slow
        test    %rax, %rax
        jns     orrery_slow
        shl     $4, %rax
        add     %rcx, %rax
        mov     24(%rsp), %rcx
        add     $AFTER, %rcx
        mov     %rcx, END+8(%rax)
        mov     %rdi, END(%rax)
        mov     %edx, %eax
        add     $127, %al
        sahf
        pop     %rdx
        .cfi_adjust_cfa_offset -8
        pop     %rcx
        .cfi_adjust_cfa_offset -8
        pop     %rax
        .cfi_adjust_cfa_offset -8
        ret
        .cfi_endproc
        .size   __orrery_\name, . - __orrery_\name
        .endm

        .macro SIZES size
        HOOK    r\size, ORRERY_READ, \size
        HOOK    w\size, ORRERY_WRITE, \size
        HOOK    m\size, ORRERY_MODIFY, \size
        /* Of a variable of the thread: %rdi is an offset from the thread's block. */
        HOOK    fs_r\size, ORRERY_READ, \size, 1
        HOOK    fs_w\size, ORRERY_WRITE, \size, 1
        HOOK    fs_m\size, ORRERY_MODIFY, \size, 1
        .endm

        SIZES   1
        SIZES   2
        SIZES   4
        SIZES   6
        SIZES   8
        SIZES   10
        SIZES   16
        SIZES   32
        SIZES   64

/* A function is entered; %rdi is its frame's address. As if of kind 0 and size ORRERY_AT_FRAME + 1. */
        HOOK    frame, 0, (ORRERY_AT_FRAME + 1)

/* The slot is a stamp's, or the chunk is full: in C, with the stack aligned and every register that C may change saved.
 * On entry as inside a hook: %rdi first word, %rax slot less ORRERY_SLOTS, %rcx window, %edx flags; rdx, rcx, rax and the return address stacked. */
        .type   orrery_slow, @function
        .p2align 4
orrery_slow:
        .cfi_startproc
        .cfi_adjust_cfa_offset 24
        push    %rbp
        .cfi_adjust_cfa_offset 8
        .cfi_rel_offset %rbp, 0
        mov     %rsp, %rbp
        .cfi_def_cfa_register %rbp
        and     $-16, %rsp
        push    %rsi
        push    %r8
        push    %r9
        push    %r10
        push    %r11
        push    %rdx
        pushfq
        sub     $8, %rsp
        cld
        mov     32(%rbp), %rsi
        add     $AFTER, %rsi
        mov     %rax, %rdx
        call    __orrery_slow
        add     $8, %rsp
        popfq
        pop     %rdx
        pop     %r11
        pop     %r10
        pop     %r9
        pop     %r8
        pop     %rsi
        mov     %rbp, %rsp
        .cfi_def_cfa_register %rsp
        pop     %rbp
        .cfi_adjust_cfa_offset -8
        .cfi_restore %rbp
        mov     %edx, %eax
        add     $127, %al
        sahf
        pop     %rdx
        .cfi_adjust_cfa_offset -8
        pop     %rcx
        .cfi_adjust_cfa_offset -8
        pop     %rax
        .cfi_adjust_cfa_offset -8
        ret
        .cfi_endproc
        .size   orrery_slow, . - orrery_slow

/* movs, stos, lods: the registers of the instruction itself say what it touches, so no address is passed. */
        .macro STRING name, size, what, one
        .globl  __orrery_\name
        .type   __orrery_\name, @function
        .p2align 4
__orrery_\name:
        .cfi_startproc
        endbr64
        pushfq
        .cfi_adjust_cfa_offset 8
        push    %rbp
        .cfi_adjust_cfa_offset 8
        .cfi_rel_offset %rbp, 0
        mov     %rsp, %rbp
        .cfi_def_cfa_register %rbp
        and     $-16, %rsp
        push    %rax
        push    %rcx
        push    %rdx
        push    %rsi
        push    %rdi
        push    %r8
        push    %r9
        push    %r10
        push    %r11
        sub     $8, %rsp
        pushq   $0
        pushq   8(%rbp)
        cld
        mov     %rcx, %rdx
        .if     \one
        mov     $1, %edx
        .endif
        mov     $\size, %ecx
        mov     16(%rbp), %r8
        add     $AFTER, %r8
        mov     $\what, %r9d
        call    __orrery_string
        add     $24, %rsp
        pop     %r11
        pop     %r10
        pop     %r9
        pop     %r8
        pop     %rdi
        pop     %rsi
        pop     %rdx
        pop     %rcx
        pop     %rax
        mov     %rbp, %rsp
        .cfi_def_cfa_register %rsp
        pop     %rbp
        .cfi_adjust_cfa_offset -8
        .cfi_restore %rbp
        popfq
        .cfi_adjust_cfa_offset -8
        ret
        .cfi_endproc
        .size   __orrery_\name, . - __orrery_\name
        .endm

        .macro STRINGS size
        STRING  rep_movs\size, \size, 0, 0
        STRING  one_movs\size, \size, 0, 1
        STRING  rep_stos\size, \size, 1, 0
        STRING  one_stos\size, \size, 1, 1
        STRING  rep_lods\size, \size, 2, 0
        STRING  one_lods\size, \size, 2, 1
        .endm

        STRINGS 1
        STRINGS 2
        STRINGS 4
        STRINGS 8

        .section .note.GNU-stack,"",@progbits
