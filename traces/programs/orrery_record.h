/* Marks and region tables for programs whose memory references are recorded.
 *
 * A program names its arrays once, then brackets the part worth seeing:
 *
 *     orrery_title("16×16 matrix multiply", "standard order i, j, k");
 *     orrery_region("A", A, sizeof A, "double", sizeof A[0][0], 2, 16, 16);
 *     orrery_write_tables();
 *     ORRERY_START();
 *     multiply();
 *     ORRERY_STOP();
 *
 * A mark is one store to a cell of its own: any recorder of stores sees it, and nothing else in the program is disturbed.
 * `orrery_write_tables` writes the names and the addresses of the cells as JSON to the file that the environment variable
 * ORRERY_TABLES names, in the form that `orrery convert --tables` reads. Without the variable it does nothing. */
#ifndef ORRERY_RECORD_H
#define ORRERY_RECORD_H

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

/* Arrays go into a section of their own, which the linker puts at a fixed address: the same sets on every machine. */
#define ORRERY_MEMORY __attribute__((section("orrery_memory"), aligned(4096)))

enum { ORRERY_MOST_REGIONS = 32, ORRERY_MOST_MARKERS = 64, ORRERY_MOST_EXTENTS = 4, ORRERY_MOST_CORES = 64 };

struct orrery_region {
    const char *name, *type;
    const void *base;
    unsigned long bytes, elem_bytes;
    int extents;
    unsigned long shape[ORRERY_MOST_EXTENTS];
};

/* Cell 0 opens the log, cell 1 closes it, cell 2 + i is marker i. */
static volatile unsigned char orrery_cells[2 + ORRERY_MOST_MARKERS];
/* Cell n makes what follows core n's. */
static volatile unsigned char orrery_core_cells[ORRERY_MOST_CORES];
static int orrery_core_count;
static const char *orrery_marker_names[ORRERY_MOST_MARKERS];
static struct orrery_region orrery_regions[ORRERY_MOST_REGIONS];
static int orrery_region_count, orrery_marker_count;
static const char *orrery_title_text = "", *orrery_subtitle_text = "";

/* No load or store moves across a mark, and nothing stays in a register across it. */
#define ORRERY_TOUCH(cell)                         \
    do {                                           \
        __asm__ volatile("" ::: "memory");         \
        (cell) = 1;                                \
        __asm__ volatile("" ::: "memory");         \
    } while (0)
#define ORRERY_START() ORRERY_TOUCH(orrery_cells[0])
#define ORRERY_STOP() ORRERY_TOUCH(orrery_cells[1])
/* What follows is the work of `core`, in a program whose workers take turns; `orrery_cores` said how many there are. */
#define ORRERY_CORE(core) ORRERY_TOUCH(orrery_core_cells[core])
/* `marker` is what orrery_marker returned, or any number below the count of markers. */
#define ORRERY_MARK(marker) ORRERY_TOUCH(orrery_cells[2 + (marker)])

/* The value of `x`, a double in memory, loaded before everything written after it. It costs no instruction; without it a
 * compiler is free to fetch the operands of a product in either order. */
#define LOAD_FIRST(x) \
    __extension__({ \
        double loaded_ = (x); \
        __asm__ volatile("" : "+x"(loaded_) : : "memory"); \
        loaded_; \
    })

static inline void orrery_title(const char *title, const char *subtitle)
{
    orrery_title_text = title;
    orrery_subtitle_text = subtitle;
}

/* Names an array; the extents follow, outermost first, as ints. */
static inline void orrery_region(const char *name, const void *base, unsigned long bytes, const char *type,
                                 unsigned long elem_bytes, int extents, ...)
{
    struct orrery_region *r = &orrery_regions[orrery_region_count];
    va_list list;
    if (orrery_region_count == ORRERY_MOST_REGIONS || extents > ORRERY_MOST_EXTENTS) {
        fprintf(stderr, "orrery_record.h: too many regions or extents at %s\n", name);
        exit(1);
    }
    r->name = name;
    r->type = type;
    r->base = base;
    r->bytes = bytes;
    r->elem_bytes = elem_bytes;
    r->extents = extents;
    va_start(list, extents);
    for (int i = 0; i < extents; i++)
        r->shape[i] = (unsigned long)va_arg(list, int);
    va_end(list);
    orrery_region_count++;
}

/* Says how many workers take turns, up to 64. */
static inline void orrery_cores(int count)
{
    orrery_core_count = count;
}

/* Names a moment; the text must outlive the program's run. */
static inline int orrery_marker(const char *name)
{
    if (orrery_marker_count == ORRERY_MOST_MARKERS) {
        fprintf(stderr, "orrery_record.h: too many markers at %s\n", name);
        exit(1);
    }
    orrery_marker_names[orrery_marker_count] = name;
    return orrery_marker_count++;
}

/* Names are the program's own: they need no escaping but of quotes and backslashes. */
static inline void orrery_json_text(FILE *f, const char *text)
{
    fputc('"', f);
    for (; *text; text++) {
        if (*text == '"' || *text == '\\')
            fputc('\\', f);
        fputc(*text, f);
    }
    fputc('"', f);
}

/* There in programs compiled by `orrery cc`, which record themselves. */
extern void __orrery_mark(const char *) __attribute__((weak));

static inline void orrery_write_tables(void)
{
    const char *path = getenv("ORRERY_TABLES");
    FILE *f;
    if (!path)
        return;
    f = fopen(path, "w");
    if (!f) {
        perror(path);
        exit(1);
    }
    fputs("{\n  \"title\": ", f);
    orrery_json_text(f, orrery_title_text);
    fputs(",\n  \"subtitle\": ", f);
    orrery_json_text(f, orrery_subtitle_text);
    fprintf(f, ",\n  \"made_by\": \"gcc %s, recorded with %s\"", __VERSION__,
            __orrery_mark ? "orrery cc" : "Valgrind's lackey");
    fprintf(f, ",\n  \"start\": %lu,\n  \"stop\": %lu", (unsigned long)&orrery_cells[0],
            (unsigned long)&orrery_cells[1]);
    if (orrery_core_count)
        fprintf(f, ",\n  \"cores\": {\"base\": %lu, \"count\": %d}", (unsigned long)&orrery_core_cells[0], orrery_core_count);
    fputs(",\n  \"regions\": [", f);
    for (int i = 0; i < orrery_region_count; i++) {
        const struct orrery_region *r = &orrery_regions[i];
        fprintf(f, "%s\n    {\"name\": ", i ? "," : "");
        orrery_json_text(f, r->name);
        fprintf(f, ", \"base\": %lu, \"bytes\": %lu, \"elem_bytes\": %lu, \"elem_type\": ", (unsigned long)r->base,
                r->bytes, r->elem_bytes);
        orrery_json_text(f, r->type);
        fputs(", \"shape\": [", f);
        for (int d = 0; d < r->extents; d++)
            fprintf(f, "%s%lu", d ? ", " : "", r->shape[d]);
        fputs("]}", f);
    }
    fputs("\n  ],\n  \"markers\": [", f);
    for (int i = 0; i < orrery_marker_count; i++) {
        fprintf(f, "%s\n    {\"address\": %lu, \"name\": ", i ? "," : "", (unsigned long)&orrery_cells[2 + i]);
        orrery_json_text(f, orrery_marker_names[i]);
        fputc('}', f);
    }
    fputs("\n  ]\n}\n", f);
    if (fclose(f)) {
        perror(path);
        exit(1);
    }
}

#endif
