/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * core.c - writes states of a recording as core files, for gdb
 *
 * usage: core FILE <lines "TIME EVENTS PATH", rising
 *
 * Each file has the registers of the thread whose turn it is and all memory
 * that is known.  What is not, gdb takes from the program's files.
 */
#include <elf.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/procfs.h>
#include <sys/user.h>

#include "formats/array.h"
#include "formats/registers.h"
#include "replayer/recording/recording.h"
#include "replayer/replayer.h"
#include "tests/run/check.h"
#include "vm/memory/memory.h"
#include "vm/vm.h"

#define NAME "CORE"
#define AUXV_MOST 512u		/* bytes */

/* Pages that are known, one after the other. */
struct part {
	uint64_t addr, size;
	uint8_t *bytes;
};

struct core {
	struct part *parts;
	size_t count, room;
	uint8_t auxv[AUXV_MOST];
};

static struct recording *recording;
static const struct reg_table *table;

static void *allocated(void *memory)
{
	if (!memory)
		check(ERR_NO_MEMORY);
	return memory;
}

static void add_page(struct core *core, uint64_t addr, const uint8_t *bytes)
{
	struct part *part = core->count ? &core->parts[core->count - 1] : NULL;

	if (!part || part->addr + part->size != addr) {
		check(array_room(core->parts, core->count, core->room));
		part = &core->parts[core->count++];
		*part = (struct part){ .addr = addr };
	}
	part->bytes = allocated(realloc(part->bytes,
					(size_t)part->size + GUEST_PAGE));
	memcpy(part->bytes + part->size, bytes, GUEST_PAGE);
	part->size += GUEST_PAGE;
}

static void add_memory(struct core *core, struct replayer *replayer)
{
	size_t count;
	const struct region *regions = memory_regions(
		vm_memory(replayer_vm(replayer)), &count);
	struct region *list = allocated(calloc(count, sizeof(*list)));

	/* Reading may change what is noted of them. */
	memcpy(list, regions, count * sizeof(*list));
	for (size_t i = 0; i < count; i++)
		for (uint64_t addr = list[i].start; addr < list[i].end;
		     addr += GUEST_PAGE) {
			uint8_t bytes[GUEST_PAGE], known[GUEST_PAGE];

			if (!list[i].prot)
				break;
			check(replayer_read(replayer, addr, bytes, known,
					    sizeof(bytes), &why));
			if (!memchr(known, 0, sizeof(known)))
				add_page(core, addr, bytes);
		}
	free(list);
}

static uint64_t word_at(struct replayer *replayer, uint64_t addr)
{
	uint64_t word = 0;
	uint8_t known[8];

	check(replayer_read(replayer, addr, (uint8_t *)&word, known, 8, &why));
	return word;
}

/* What the kernel tells a program, behind its environment. */
static void find_auxv(struct core *core, struct replayer *replayer)
{
	struct position start = { recording_start(recording), 0 };
	struct reg_file file;
	uint64_t at;

	check(replayer_seek(replayer, &start, &why));
	replayer_registers(replayer, &file);
	at = reg_get(table, &file, table->sp);
	at += 8 * (word_at(replayer, at) + 2);
	while (word_at(replayer, at))
		at += 8;
	for (unsigned i = 0; i < AUXV_MOST; i += 8) {
		uint64_t word = word_at(replayer, at + 8 + i);

		memcpy(core->auxv + i, &word, sizeof(word));
	}
}

static struct elf_prstatus make_status(struct replayer *replayer)
{
	static const uint8_t order[] = {
		X86_R15, X86_R14, X86_R13, X86_R12, X86_RBP, X86_RBX, X86_R11,
		X86_R10, X86_R9, X86_R8, X86_RAX, X86_RCX, X86_RDX, X86_RSI,
		X86_RDI, X86_RAX, X86_RIP, X86_CS, X86_RFLAGS, X86_RSP, X86_SS,
		X86_FS_BASE, X86_GS_BASE, X86_DS, X86_ES, X86_FS, X86_GS,
	};
	struct elf_prstatus status = { .pr_pid = 1 };
	struct reg_file file;

	replayer_registers(replayer, &file);
	for (size_t i = 0; i < sizeof(order); i++)
		status.pr_reg[i] = reg_get(table, &file, order[i]);
	return status;
}

static void put(FILE *out, const void *bytes, size_t size)
{
	if (fwrite(bytes, 1, size, out) != size)
		abort();
}

static void put_note(FILE *out, Elf64_Word type, const void *bytes,
		     size_t size)
{
	Elf64_Nhdr note = { sizeof(NAME), (Elf64_Word)size, type };
	char name[8] = NAME;

	put(out, &note, sizeof(note));
	put(out, name, sizeof(name));
	put(out, bytes, size);
}

#define NOTES (2 * (sizeof(Elf64_Nhdr) + 8) + sizeof(struct elf_prstatus) + \
	       AUXV_MOST)

static void put_headers(FILE *out, const struct core *core)
{
	Elf64_Ehdr header = {
		.e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB,
			     EV_CURRENT },
		.e_type = ET_CORE, .e_machine = EM_X86_64,
		.e_version = EV_CURRENT, .e_phoff = sizeof(header),
		.e_ehsize = sizeof(header), .e_phentsize = sizeof(Elf64_Phdr),
		.e_phnum = (Elf64_Half)(core->count + 1),
	};
	uint64_t at = sizeof(header) + (core->count + 1) * sizeof(Elf64_Phdr);
	Elf64_Phdr notes = { .p_type = PT_NOTE, .p_offset = at,
			     .p_filesz = NOTES, .p_align = 4 };

	put(out, &header, sizeof(header));
	put(out, &notes, sizeof(notes));
	at += NOTES;
	for (size_t i = 0; i < core->count; i++) {
		const struct part *part = &core->parts[i];
		Elf64_Phdr load = { .p_type = PT_LOAD, .p_flags = PF_R | PF_W,
				    .p_offset = at, .p_vaddr = part->addr,
				    .p_filesz = part->size,
				    .p_memsz = part->size, .p_align = 1 };

		put(out, &load, sizeof(load));
		at += part->size;
	}
}

static void write_core(struct core *core, struct replayer *replayer,
		       const char *path)
{
	struct elf_prstatus status = make_status(replayer);
	FILE *out = fopen(path, "w");

	if (!out)
		abort();
	core->count = 0;
	add_memory(core, replayer);
	put_headers(out, core);
	put_note(out, NT_PRSTATUS, &status, sizeof(status));
	put_note(out, NT_AUXV, core->auxv, sizeof(core->auxv));
	for (size_t i = 0; i < core->count; i++) {
		put(out, core->parts[i].bytes, (size_t)core->parts[i].size);
		free(core->parts[i].bytes);
	}
	if (fclose(out))
		abort();
}

int main(int argc, char **argv)
{
	struct core core = { 0 };
	struct replayer *replayer;
	struct position at;
	char path[512];

	if (argc != 2)
		return 2;
	check(recording_open(&recording, argv[1], &why));
	table = recording_reg_table(recording);
	check(replayer_create(&replayer, recording, &why));
	find_auxv(&core, replayer);
	while (scanf("%" SCNu64 " %" SCNu32 " %511s", &at.time, &at.events,
		     path) == 3) {
		check(replayer_seek(replayer, &at, &why));
		write_core(&core, replayer, path);
	}
	free(core.parts);
	replayer_destroy(replayer);
	recording_close(recording);
	return 0;
}
