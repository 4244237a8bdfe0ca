/* SPDX-License-Identifier: GPL-2.0-or-later */
/* exidx.c - see exidx.h */
#include "replayer/symbols/exidx.h"

#include <gelf.h>
#include <string.h>

#define ENTRY_BYTES 8u
#define CANNOT_UNWIND 1u	/* that is also said of all code without tables */
#define IS_HERE 0x80000000u	/* the instructions stand in the word itself */
#define INSTRUCTIONS_MOST 1024u	/* bytes: 255 words and three */

enum { SP = 13, LR = 14, PC = 15, REGISTERS = 16 };

/* ------- words of the file, by their addresses ------- */

struct tables {
	Elf *elf;
	const uint8_t *bytes;	/* of the whole file */
	size_t size;
	uint64_t start, count;	/* of the index */
};

static bool word_at(const struct tables *tables, uint64_t addr, uint32_t *out)
{
	GElf_Phdr header;
	uint64_t offset;

	for (int i = 0; gelf_getphdr(tables->elf, i, &header); i++) {
		if (header.p_type != PT_LOAD || addr < header.p_vaddr ||
		    addr - header.p_vaddr >= header.p_filesz)
			continue;
		offset = header.p_offset + (addr - header.p_vaddr);
		if (tables->size < sizeof(*out) ||
		    offset > tables->size - sizeof(*out))
			return false;
		memcpy(out, tables->bytes + offset, sizeof(*out));
		return true;
	}
	return false;
}

/* An address that is told by its distance: 31 bits, with a sign. */
static bool place_at(const struct tables *tables, uint64_t addr, uint64_t *out)
{
	uint32_t word;

	if (!word_at(tables, addr, &word))
		return false;
	*out = (uint32_t)(addr + (uint64_t)(int64_t)((int32_t)(word << 1) >>
						     1));
	return true;
}

static bool find_tables(struct tables *tables, Elf *elf)
{
	GElf_Phdr header;

	*tables = (struct tables){ .elf = elf };
	if (!elf)
		return false;
	tables->bytes = (const uint8_t *)elf_rawfile(elf, &tables->size);
	for (int i = 0; tables->bytes && gelf_getphdr(elf, i, &header); i++) {
		if (header.p_type != PT_ARM_EXIDX)
			continue;
		tables->start = header.p_vaddr;
		tables->count = header.p_memsz / ENTRY_BYTES;
		return tables->count;
	}
	return false;
}

/* The last entry of a function that begins at `addr` or before. */
static bool find_entry(const struct tables *tables, uint64_t addr,
		       uint64_t *entry, uint64_t *start)
{
	uint64_t low = 0, high = tables->count;

	while (low < high) {
		uint64_t middle = low + (high - low) / 2;

		*entry = tables->start + middle * ENTRY_BYTES;
		if (!place_at(tables, *entry, start))
			return false;
		if (*start <= addr)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low)
		return false;
	*entry = tables->start + (low - 1) * ENTRY_BYTES;
	return place_at(tables, *entry, start);
}

/* ------- instructions ------- */

struct instructions {
	uint8_t bytes[INSTRUCTIONS_MOST];
	unsigned count, at;
};

/* From the word's highest byte on. */
static void add_bytes(struct instructions *to, uint32_t word, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		to->bytes[to->count++] = (uint8_t)(word >> 8 * (count - 1 - i));
}

static bool add_words(const struct tables *tables, uint64_t addr,
		      unsigned count, struct instructions *to)
{
	uint32_t word;

	for (unsigned i = 0; i < count; i++) {
		if (!word_at(tables, addr + 4 * i, &word))
			return false;
		add_bytes(to, word, 4);
	}
	return true;
}

/* Of a table on its own: three models, or a language's, which has the same
 * behind the address of its function. */
static bool take_table(const struct tables *tables, uint64_t addr,
		       struct instructions *to)
{
	uint32_t word;

	if (!word_at(tables, addr, &word))
		return false;
	if (!(word & IS_HERE)) {
		addr += 4;
		if (!word_at(tables, addr, &word))
			return false;
		add_bytes(to, word, 3);
		return add_words(tables, addr + 4, word >> 24, to);
	}
	if (!(word >> 24 & 15)) {
		add_bytes(to, word, 3);
		return true;
	}
	add_bytes(to, word, 2);
	return add_words(tables, addr + 4, word >> 16 & 0xff, to);
}

/* ------- unwinding ------- */

struct unwinding {
	const struct guest_reader *memory;
	struct unwind_state *state;
	uint64_t sp;
	uint32_t popped;	/* a bit for each register */
	struct instructions todo;
};

static uint64_t *value(struct unwinding *unwinding, unsigned reg)
{
	return &unwinding->state->registers.value[reg];
}

static bool pop(struct unwinding *unwinding, uint32_t list)
{
	for (unsigned reg = 0; reg < REGISTERS; reg++) {
		if (!(list >> reg & 1))
			continue;
		if (!guest_read_number(unwinding->memory, unwinding->sp, 4,
				       value(unwinding, reg)))
			return false;
		unwinding->sp += 4;
		unwinding->popped |= 1u << reg;
		unwinding->state->registers.known[reg] = true;
	}
	if (list >> SP & 1)
		unwinding->sp = *value(unwinding, SP);
	return true;
}

static unsigned next_byte(struct unwinding *unwinding)
{
	struct instructions *todo = &unwinding->todo;

	return todo->at < todo->count ? todo->bytes[todo->at++] : 0xb0;
}

/* A number in groups of seven bits, the lowest first. */
static uint64_t next_number(struct unwinding *unwinding)
{
	uint64_t number = 0;
	unsigned byte, shift = 0;

	do {
		byte = next_byte(unwinding);
		number |= (uint64_t)(byte & 0x7f) << shift;
		shift += 7;
	} while (byte & 0x80 && shift < 35);
	return number;
}

/* 0xb1 to 0xbf, and of vectors above. */
static bool execute_other(struct unwinding *unwinding, unsigned op)
{
	unsigned more;

	switch (op) {
	case 0xb1:
		more = next_byte(unwinding);
		return more && more < 16 && pop(unwinding, more);
	case 0xb2:
		unwinding->sp += 0x204 + 4 * next_number(unwinding);
		return true;
	case 0xb3:		/* of doubles, and a word */
		more = next_byte(unwinding);
		unwinding->sp += 8 * (more & 15) + 12;
		return true;
	case 0xc8: case 0xc9:	/* of doubles */
		more = next_byte(unwinding);
		unwinding->sp += 8 * (more & 15) + 8;
		return true;
	}
	if (op >= 0xb8 && op <= 0xbf)
		unwinding->sp += 8 * (op & 7) + 12;
	else if (op >= 0xd0 && op <= 0xd7)
		unwinding->sp += 8 * (op & 7) + 8;
	else
		return false;
	return true;
}

static bool execute(struct unwinding *unwinding, unsigned op)
{
	unsigned more, count;

	switch (op >> 4) {
	case 0x0: case 0x1: case 0x2: case 0x3:
		unwinding->sp += 4 * op + 4;
		return true;
	case 0x4: case 0x5: case 0x6: case 0x7:
		unwinding->sp -= 4 * (op & 0x3f) + 4;
		return true;
	case 0x8:
		more = (op & 15) << 8 | next_byte(unwinding);
		return more && pop(unwinding, more << 4);
	case 0x9:
		more = op & 15;
		if (more == SP || more == PC ||
		    !unwinding->state->registers.known[more])
			return false;
		unwinding->sp = *value(unwinding, more);
		return true;
	case 0xa:
		count = (op & 7) + 1;
		return pop(unwinding, ((1u << count) - 1) << 4 |
					      (op & 8 ? 1u << LR : 0));
	default:
		return execute_other(unwinding, op);
	}
}

#define FINISH 0xb0u

/* What is not popped is as before, if functions keep it. */
static enum unwind_result run(struct unwinding *unwinding)
{
	struct unwind_state *state = unwinding->state;
	unsigned op;

	while ((op = next_byte(unwinding)) != FINISH)
		if (!execute(unwinding, op))
			return UNWIND_UNKNOWN;
	if (!(unwinding->popped >> PC & 1)) {
		if (!state->registers.known[LR])
			return UNWIND_UNKNOWN;
		*value(unwinding, PC) = *value(unwinding, LR);
	}
	for (unsigned reg = 0; reg < REGISTERS; reg++)
		state->registers.known[reg] &=
			(unwinding->popped | (uint32_t)state->kept) >> reg & 1;
	state->pc = *value(unwinding, PC);
	*value(unwinding, SP) = (uint32_t)unwinding->sp;
	state->registers.known[SP] = true;
	return UNWIND_DONE;
}

bool exidx_function(Elf *elf, uint64_t bias, uint64_t addr, uint64_t *start)
{
	struct tables tables;
	uint64_t entry;

	if (!find_tables(&tables, elf) ||
	    !find_entry(&tables, addr - bias, &entry, start))
		return false;
	*start += bias;
	return true;
}

enum unwind_result exidx_unwind(Elf *elf, uint64_t bias, uint64_t addr,
				const struct guest_reader *memory,
				struct unwind_state *state, uint64_t *start,
				bool *is_signal)
{
	struct unwinding unwinding = {
		.memory = memory, .state = state,
		.sp = state->registers.value[SP],
	};
	enum unwind_result result;
	struct tables tables;
	uint64_t entry, place;
	uint32_t word;

	*is_signal = false;
	if (state->count < REGISTERS || !find_tables(&tables, elf) ||
	    !find_entry(&tables, addr - bias, &entry, start) ||
	    !word_at(&tables, entry + 4, &word) || word == CANNOT_UNWIND)
		return UNWIND_UNKNOWN;
	*start += bias;
	if (word & IS_HERE)
		add_bytes(&unwinding.todo, word, 3);
	else if (!place_at(&tables, entry + 4, &place) ||
		 !take_table(&tables, place, &unwinding.todo))
		return UNWIND_UNKNOWN;
	result = run(&unwinding);
	/* Nothing else brings both back. */
	*is_signal = unwinding.popped >> SP & unwinding.popped >> PC & 1;
	return result;
}
