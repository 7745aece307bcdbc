/* What programs call in the place of vfork and clone, and the end of the keeper (open.c). */
#include "runtime.h"
#include <asm/unistd.h>

        .text

/* Both come back twice with one stack, so nothing may be left on it: what is to be known is noted in variables of the thread,
 * then the library's own function is jumped to. The next hook of either process takes the slow way and asks who it is
 * (orrery_still_quiet in runtime.c). Nothing but rax and r11 changes, so this serves whatever the program calls by that name. */
        .macro QUIET
        movl    $1, %fs:orrery_quiet@tpoff
        lea     orrery_nothing(%rip), %rax
        mov     %rax, %fs:__orrery_current@tpoff
        .endm

        .globl  __orrery_vfork
        .type   __orrery_vfork, @function
        .p2align 4
__orrery_vfork:
        .cfi_startproc
        endbr64
        QUIET
        xor     %eax, %eax
        jmp     vfork@PLT
        .cfi_endproc
        .size   __orrery_vfork, . - __orrery_vfork

        .globl  __orrery_clone
        .type   __orrery_clone, @function
        .p2align 4
__orrery_clone:
        .cfi_startproc
        endbr64
        mov     clone@GOTPCREL(%rip), %r11
        cmp     __clone@GOTPCREL(%rip), %r11
        je      orrery_clone
        /* Not the library's: the program has a function of that name. */
        jmp     *%r11
        .cfi_endproc
        .size   __orrery_clone, . - __orrery_clone

/* orrery_keep(from, to): gives back all memory but the page of this code and what lies from `from` to `to`, waits for the one
 * child that there is, and ends. There is no stack then, and signals are blocked. */
        .macro  UNMAP
        sub     %rdi, %rsi
        jbe     9f
        mov     $__NR_munmap, %eax
        syscall
9:
        .endm

        .globl  orrery_keep
        .hidden orrery_keep
        .type   orrery_keep, @function
        .p2align 8
orrery_keep:
        mov     %rdi, %r12
        mov     %rsi, %r13
        lea     orrery_keep(%rip), %r14
        and     $-4096, %r14
        lea     4096(%r14), %r15
        /* In the order of addresses. */
        cmp     %r14, %r12
        jbe     1f
        xchg    %r12, %r14
        xchg    %r13, %r15
1:      xor     %edi, %edi
        mov     %r12, %rsi
        UNMAP
        mov     %r13, %rdi
        mov     %r14, %rsi
        UNMAP
        mov     %r15, %rdi
        cmp     %r13, %rdi
        cmovb   %r13, %rdi
        movabs  $0x7ffffffff000, %rsi
        UNMAP
2:      mov     $-1, %rdi
        xor     %esi, %esi
        mov     $0x40000000, %edx
        xor     %r10d, %r10d
        mov     $__NR_wait4, %eax
        syscall
        cmp     $-4, %rax
        je      2b
        xor     %edi, %edi
        mov     $__NR_exit_group, %eax
        syscall
        hlt
        .size   orrery_keep, . - orrery_keep

        .section .note.GNU-stack,"",@progbits
