// The smallest example of each of cachegrind's rows in DEVIATIONS.md; -DEXAMPLE=n picks one. `data` begins on a page. Loads
// add to %r12: one whose value nobody uses is not there for valgrind.
    .bundle_align_mode 5
    .globl _start
_start:
    lea data(%rip), %rbx
#if EXAMPLE == 1                    // one load across two lines
    add 60(%rbx), %r12
#elif EXAMPLE == 2                  // B leaves D1 but not LL; A leaves LL but not D1; then a load across A and B
    add 64(%rbx), %r12
    add 64+512(%rbx), %r12
    add 64+1024(%rbx), %r12
    add (%rbx), %r12
    add 1024(%rbx), %r12
    add (%rbx), %r12
    add 2048(%rbx), %r12
    add (%rbx), %r12
    add 3072(%rbx), %r12
    add (%rbx), %r12
    add 4096(%rbx), %r12
    add (%rbx), %r12
    add 60(%rbx), %r12
#elif EXAMPLE == 3                  // a load at address 0
    mov $9, %eax
    xor %edi, %edi
    mov $4096, %esi
    mov $3, %edx
    mov $0x32, %r10d
    mov $-1, %r8
    xor %r9d, %r9d
    syscall
    test %rax, %rax
    jnz refused
    add 0, %r12
#elif EXAMPLE == 4                  // a store, then two loads that push its line out of D1: the write-back reaches LL
    mov %eax, (%rbx)
    add 512(%rbx), %r12
    add 1024(%rbx), %r12
#elif EXAMPLE == 5                  // load and store by one instruction
    incl (%rbx)
#elif EXAMPLE == 6                  // a store of a whole 32-byte line
    vmovaps %ymm0, (%rbx)
#endif
    xor %edi, %edi
    mov $60, %eax
    syscall
refused:
    mov $3, %edi
    mov $60, %eax
    syscall

    .bss
    .balign 4096
data:
    .skip 8192
