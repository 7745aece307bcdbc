/* Writes one small trace in each format whose records are C structs, by the structs themselves, so that sizes, padding and
 * byte order are the compiler's and not ours. `cc structs.c && ./a.out FOLDER` writes FOLDER/{champsim,cloudsuite,drmemtrace,
 * dinero}. tests/trace/binary.rs compiles and runs it and knows what must come out.
 *
 * The structs are those of ChampSim's inc/trace_instruction.h, of DynamoRIO's clients/drcachesim/common/trace_entry.h
 * (version 7 of the format), and the record that Dinero IV's binaryfmt.c reads byte by byte.
 */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

struct input_instr {
	unsigned long long ip;
	unsigned char is_branch, branch_taken;
	unsigned char destination_registers[2], source_registers[4];
	unsigned long long destination_memory[2], source_memory[4];
};

struct cloudsuite_instr {
	unsigned long long ip;
	unsigned char is_branch, branch_taken;
	unsigned char destination_registers[4], source_registers[4];
	unsigned long long destination_memory[4], source_memory[4];
	unsigned char asid[2];
};

#pragma pack(push, 1)
struct trace_entry {
	uint16_t type, size;
	union {
		uint64_t addr;
		uint8_t length[8];
	} u;
};
#pragma pack(pop)

struct dinero {
	uint32_t address;
	uint16_t size;
	uint8_t type, pad;
};

static FILE *create(const char *folder, const char *name)
{
	char path[4096];
	snprintf(path, sizeof path, "%s/%s", folder, name);
	return fopen(path, "wb");
}

/* A loop of 24 turns: load a[i] and b[i], store c[i], branch. */
static void champsim(FILE *out)
{
	for (int i = 0; i < 24; i++) {
		struct input_instr in;
		memset(&in, 0, sizeof in);
		in.ip = 0x401130;
		in.destination_registers[0] = 60, in.source_registers[0] = 6, in.source_registers[3] = 25;
		in.source_memory[0] = 0x7ffc00001000 + 8 * i;
		in.source_memory[2] = 0x7ffc00002000 + 8 * i;
		fwrite(&in, sizeof in, 1, out);
		memset(&in, 0, sizeof in);
		in.ip = 0x401134;
		in.source_registers[1] = 60;
		in.destination_memory[1] = 0x7ffc00003000 + 8 * i;
		fwrite(&in, sizeof in, 1, out);
		memset(&in, 0, sizeof in);
		in.ip = 0x401138;
		in.is_branch = 1, in.branch_taken = i < 23;
		in.destination_registers[0] = 26, in.source_registers[0] = 26, in.source_registers[1] = 25;
		fwrite(&in, sizeof in, 1, out);
	}
}

static void cloudsuite(FILE *out)
{
	for (int i = 0; i < 24; i++) {
		struct cloudsuite_instr in;
		memset(&in, 0, sizeof in);
		in.ip = 0x10001000 + 4 * i;
		in.destination_registers[3] = 9, in.source_registers[3] = 8;
		in.destination_memory[3] = 0xffff800000003000 + 8 * i;
		in.source_memory[0] = 0xffff800000001000 + 8 * i;
		in.asid[0] = 1, in.asid[1] = i < 22 ? 1 : 2;
		fwrite(&in, sizeof in, 1, out);
	}
}

static void entry(FILE *out, unsigned type, unsigned size, uint64_t addr)
{
	struct trace_entry e = { (uint16_t)type, (uint16_t)size, { addr } };
	fwrite(&e, sizeof e, 1, out);
}

static void drmemtrace(FILE *out)
{
	entry(out, 25, 0, 7);                /* header: version 7 */
	entry(out, 28, 12, 7);               /* marker: version */
	entry(out, 22, 4, 4711);             /* thread */
	entry(out, 24, 4, 4711);             /* process */
	entry(out, 28, 2, 13300000000000000); /* marker: time */
	entry(out, 47, 4, 0x00458b48);       /* encoding of the next instruction */
	entry(out, 10, 4, 0x401000);         /* instruction */
	entry(out, 0, 8, 0x7ffd0000);        /* read */
	entry(out, 1, 4, 0x7ffd0010);        /* write */
	struct trace_entry bundle = { 17, 3, { 0 } };
	bundle.u.length[0] = 2, bundle.u.length[1] = 5, bundle.u.length[2] = 1;
	fwrite(&bundle, sizeof bundle, 1, out); /* 0x401004, 0x401006, 0x40100b */
	entry(out, 0, 1, 0x7ffd0020);        /* read by the bundle's last */
	entry(out, 22, 4, 4712);             /* another thread */
	entry(out, 48, 2, 0x402000);         /* taken branch */
	entry(out, 29, 3, 0x402010);         /* no fetch */
	entry(out, 1, 16, 0x7ffe0000);       /* write */
	entry(out, 3, 64, 0x7ffe0040);       /* prefetch to L1 */
	entry(out, 42, 64, 0x7ffe0080);      /* store prefetch */
	entry(out, 20, 0, 0x7ffe0000);       /* flush, and its end */
	entry(out, 21, 0, 0x7fff0000);
	entry(out, 22, 4, 4711);
	entry(out, 16, 1, 0x40100c);         /* return */
	entry(out, 0, 8, 0x7ffd0030);
	entry(out, 23, 4, 4711);             /* thread exit */
	entry(out, 26, 0, 0);                /* footer */
}

static void dinero(FILE *out)
{
	for (uint32_t i = 0; i < 30; i++) {
		struct dinero d = { 0x80001000u + 4 * i, (uint16_t)(1 << i % 4), (uint8_t)(i % 6), 0 };
		fwrite(&d, sizeof d, 1, out);
	}
}

int main(int argc, char **argv)
{
	struct { const char *name; void (*write)(FILE *); } all[] = {
		{ "champsim", champsim }, { "cloudsuite", cloudsuite }, { "drmemtrace", drmemtrace }, { "dinero", dinero },
	};
	for (unsigned i = 0; argc == 2 && i < sizeof all / sizeof *all; i++) {
		FILE *out = create(argv[1], all[i].name);
		if (!out)
			return 1;
		all[i].write(out);
		if (fclose(out))
			return 1;
	}
	return argc == 2 ? 0 : 2;
}
