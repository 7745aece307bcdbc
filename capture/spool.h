/* The layout of a capture's spool file, NAME.orrery.part, shared by the runtime (writer) and src/trace/formats/capture
 * (reader). All numbers are little-endian. The file is a header of ORRERY_HEADER bytes, then chunks of ORRERY_CHUNK bytes.
 *
 * A chunk belongs to one thread. Its first 64 bytes are a head, the rest are slots of 16 bytes, one record each, filled in
 * order; which slot is the next is nowhere in the file. A slot whose first word is zero is not filled: it lies past the end,
 * or was claimed by a hook that a signal handler interrupts, or that did not live to fill it. Once the head says that the
 * chunk is whole, no record will come into it any more. All of it lies in pages that the kernel keeps when the program dies,
 * however it dies; pages that no record reached may be holes.
 *
 * Chunks go round: whoever reads the spool while the program runs writes the `turn` of a chunk that it has read into `read`,
 * and the program, where it still has the chunk in memory, clears the slots, fills them again and gives it the next `turn` of
 * the thread. New chunks make pages of a file, and that costs more than all else that recording does. So the program waits
 * for the reader rather than run ahead of it, as long as the reader gets on: it keeps how many chunks it has read to their end
 * in the last eight bytes of the header, which the text never reaches. */
#ifndef ORRERY_SPOOL_H
#define ORRERY_SPOOL_H

#define ORRERY_VERSION 2
#define ORRERY_HEADER 65536
/* Where in the header the reader says how many chunks it has read. */
#define ORRERY_PROGRESS (ORRERY_HEADER - 8)
#define ORRERY_CHUNK 1048576
/* Slots of a chunk, its head among them. */
#define ORRERY_SLOTS 65536
/* Slots that a chunk's head takes. */
#define ORRERY_HEAD 4
/* Each slot whose number is a multiple of this holds a stamp. */
#define ORRERY_STAMP 256

/* First word of a record: bits 63..62 kind, 61..56 (size - 1), 55..0 address; of kind 0, 61..56 is one of the codes below.
 * The second word of a reference is its program counter. */
#define ORRERY_READ 1
#define ORRERY_WRITE 2
#define ORRERY_MODIFY 3

#define ORRERY_AT_STAMP 1 /* word 2: time stamp counter */
#define ORRERY_AT_SITE 2  /* low bits: ORRERY_BY_...; word 2: pc of the call that the next ALLOC of this thread is about */
#define ORRERY_AT_ALLOC 3 /* address; word 2: bytes */
#define ORRERY_AT_FREE 4  /* address; word 2: pc */
#define ORRERY_AT_FRAME 5 /* address: that of the frame (CFA) entered; word 2: pc */
#define ORRERY_AT_TEXT 6  /* low bits: 1 to 8; word 2: as many bytes of a name that goes on in the next TEXT */
#define ORRERY_AT_MARK 7  /* named by the texts before it */
#define ORRERY_AT_SHAPE 8 /* low bits: rows; word 2: columns; of the next REGION */
#define ORRERY_AT_REGION 9 /* address; word 2: bytes of an element; named by the texts before it */

#define ORRERY_AT_CALLER 10 /* word 2: pc of the call of the function whose call SITE, or the CALLER before this one, is */

#define ORRERY_AT_PATH 11 /* low bits: 1 to 8; word 2: as many bytes of what says which file the next LOADED is: inode, time
                             of its last change (seconds, nanoseconds), path */
#define ORRERY_AT_LOADED 12 /* address: first byte of a shared library that was loaded; word 2: bytes */
#define ORRERY_AT_UNLOADED 13 /* address: that of LOADED */

/* Callers told of for each allocation, at most. */
#define ORRERY_CALLERS 10

#define ORRERY_BY_MALLOC 1
#define ORRERY_BY_CALLOC 2
#define ORRERY_BY_REALLOC 3
#define ORRERY_BY_NEW 4
#define ORRERY_BY_STRDUP 5

#ifndef __ASSEMBLER__
#include <stdint.h>

struct orrery_header {
  char magic[8];         /*  0: "ORRSPOOL" */
  uint32_t version;      /*  8 */
  uint32_t header_bytes; /* 12 */
  uint64_t chunk_bytes;  /* 16 */
  uint64_t claimed;      /* 24: chunks handed out; the last ones may lie past the end of the file where the disk was full */
  uint64_t lost;         /* 32: records that found no room, at least */
  uint32_t fault;        /* 40: errno of what ended the recording early, or 0 */
  uint32_t ended;        /* 44: 1 once the program said that it ends */
  uint64_t pid;          /* 48 */
  uint64_t text_bytes;   /* 56: length of what follows: lines of /proc/self/maps, then `exe PATH`, `output PATH` */
  char text[];           /* 64 */
};

struct orrery_chunk {
  uint64_t whole;  /*  0: ORRERY_SLOTS once nothing more comes, 0 before */
  uint64_t thread; /*  8: from 0, by the order of first references */
  uint64_t stamp;  /* 16: time stamp counter at its start */
  uint64_t magic;  /* 24: ORRERY_CHUNK_MAGIC */
  uint64_t turn;   /* 32: 1 of the first chunk that this thread took, 2 of the next, ... */
  uint64_t read;   /* 40: the turn that was read to its end; written by the reader */
  uint64_t left;   /* 48: 1 once the program has it in memory no more */
  uint64_t unused;
};

#define ORRERY_CHUNK_MAGIC 0x4b4e554843524f21ull

/* What a program that records has for its shared libraries (doors.S). */
struct orrery_doors {
  uint64_t version; /* ORRERY_VERSION */
  uint64_t count;
  void (*loaded)(const void *inside);
  void (*unloaded)(const void *inside);
  const void *doors[];
};
#endif
#endif
