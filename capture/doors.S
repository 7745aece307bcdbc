/* What recorded code calls: the hooks of hooks.S, and the functions that stand in for the C library's (alloc.c, ranges.c).
 *
 * In a program (ORRERY_PROGRAM) these are a table, __orrery_doors, that shared libraries find by its name. In a shared library
 * each is a door: a jump to where the program's table says, or, in a program that does not record, to nothing and to the C
 * library's own. So a library that was compiled by orrery cc runs in any program, whatever its link says of symbols
 * (-Bsymbolic, version scripts, -z defs), and in namespaces of its own (dlmopen). A door changes no register and no flag. */
#include "spool.h"

#ifdef ORRERY_PROGRAM

        .section .data.rel.ro, "aw"
        .globl  __orrery_doors
        .type   __orrery_doors, @object
        .p2align 3
__orrery_doors:
        .quad   ORRERY_VERSION
        .quad   (doors_end - doors) / 8
        .quad   orrery_loaded
        .quad   orrery_unloaded
doors:
        .macro DOOR name, plain
        .quad   __orrery_\name
        .endm

#else

        .text
        .type   nothing, @function
nothing:
        .cfi_startproc
        endbr64
        ret
        .cfi_endproc
        .size   nothing, . - nothing

        .section .data.rel, "aw"
        .p2align 3
        .globl  orrery_doors_here, orrery_doors_end
        .hidden orrery_doors_here, orrery_doors_end
orrery_doors_here:

        .macro DOOR name, plain
        .ifnc   \plain, nothing
        .weak   \plain
        .endif
        .section .data.rel, "aw"
door_\name:
        .quad   \plain
        .text
        .globl  __orrery_\name
        .hidden __orrery_\name
        .type   __orrery_\name, @function
__orrery_\name:
        .cfi_startproc
        endbr64
        jmp     *door_\name(%rip)
        .cfi_endproc
        .size   __orrery_\name, . - __orrery_\name
        .endm

#endif

        .macro OPERANDS size
        DOOR    r\size, nothing
        DOOR    w\size, nothing
        DOOR    m\size, nothing
        DOOR    fs_r\size, nothing
        DOOR    fs_w\size, nothing
        DOOR    fs_m\size, nothing
        .endm

        .macro STRINGS size
        DOOR    rep_movs\size, nothing
        DOOR    one_movs\size, nothing
        DOOR    rep_stos\size, nothing
        DOOR    one_stos\size, nothing
        DOOR    rep_lods\size, nothing
        DOOR    one_lods\size, nothing
        .endm

        .irp size, 1, 2, 4, 6, 8, 10, 16, 32, 64
        OPERANDS \size
        .endr
        .irp size, 1, 2, 4, 8
        STRINGS \size
        .endr
        DOOR    frame, nothing
        .irp name, malloc, calloc, realloc, reallocarray, free, aligned_alloc, posix_memalign, memalign, strdup, strndup
        DOOR    \name, \name
        .endr
        .irp name, _Znwm, _Znam, _ZnwmRKSt9nothrow_t, _ZnamRKSt9nothrow_t, _ZnwmSt11align_val_t, _ZnamSt11align_val_t
        DOOR    \name, \name
        .endr
        .irp name, _ZdlPv, _ZdaPv, _ZdlPvm, _ZdaPvm
        DOOR    \name, \name
        .endr
        .irp name, _ZdlPvSt11align_val_t, _ZdaPvSt11align_val_t, _ZdlPvmSt11align_val_t, _ZdaPvmSt11align_val_t
        DOOR    \name, \name
        .endr
        .irp name, memcpy, memmove, mempcpy, memset, bzero, memcmp, memchr, strlen, strnlen
        DOOR    \name, \name
        .endr
        .irp name, strcpy, strncpy, stpcpy, strcat, strncat, strcmp, strncmp, strchr, strrchr
        DOOR    \name, \name
        .endr
        .irp name, __memcpy_chk, __memmove_chk, __mempcpy_chk, __memset_chk, __strcpy_chk, __strncpy_chk
        DOOR    \name, \name
        .endr
        .irp name, __strcat_chk, __strncat_chk, __stpcpy_chk, _exit, _Exit, quick_exit, vfork, clone
        DOOR    \name, \name
        .endr

#ifdef ORRERY_PROGRAM
doors_end:
        .size   __orrery_doors, . - __orrery_doors
#else
        .section .data.rel, "aw"
orrery_doors_end:
#endif
        .section .note.GNU-stack,"",@progbits
