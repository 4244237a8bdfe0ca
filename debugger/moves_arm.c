/* SPDX-License-Identifier: GPL-2.0-or-later */
/* moves_arm.c - moves of AArch64 and of 32-bit ARM; see moves.h */
#include "debugger/moves.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What an instruction moves, by its first word. */
struct row {
	const char *word;
	enum move_kind kind;
	unsigned skip;		/* so many operands in front are not moved */
};

static const struct row rows_64[] = {
	{ "mov", MOVE_REGISTER, 0 }, { "fmov", MOVE_REGISTER, 0 },
	{ "sxtb", MOVE_REGISTER, 0 }, { "sxth", MOVE_REGISTER, 0 },
	{ "sxtw", MOVE_REGISTER, 0 }, { "uxtb", MOVE_REGISTER, 0 },
	{ "uxth", MOVE_REGISTER, 0 },
	{ "ldr", MOVE_LOAD, 0 }, { "ldrb", MOVE_LOAD, 0 },
	{ "ldrh", MOVE_LOAD, 0 }, { "ldrsb", MOVE_LOAD, 0 },
	{ "ldrsh", MOVE_LOAD, 0 }, { "ldrsw", MOVE_LOAD, 0 },
	{ "ldur", MOVE_LOAD, 0 }, { "ldurb", MOVE_LOAD, 0 },
	{ "ldurh", MOVE_LOAD, 0 }, { "ldursb", MOVE_LOAD, 0 },
	{ "ldursh", MOVE_LOAD, 0 }, { "ldursw", MOVE_LOAD, 0 },
	{ "ldp", MOVE_LOAD, 0 }, { "ldnp", MOVE_LOAD, 0 },
	{ "ldar", MOVE_LOAD, 0 }, { "ldarb", MOVE_LOAD, 0 },
	{ "ldarh", MOVE_LOAD, 0 }, { "ldxr", MOVE_LOAD, 0 },
	{ "ldxrb", MOVE_LOAD, 0 }, { "ldxrh", MOVE_LOAD, 0 },
	{ "ldaxr", MOVE_LOAD, 0 }, { "ldaxrb", MOVE_LOAD, 0 },
	{ "ldaxrh", MOVE_LOAD, 0 },
	{ "str", MOVE_STORE, 0 }, { "strb", MOVE_STORE, 0 },
	{ "strh", MOVE_STORE, 0 }, { "stur", MOVE_STORE, 0 },
	{ "sturb", MOVE_STORE, 0 }, { "sturh", MOVE_STORE, 0 },
	{ "stp", MOVE_STORE, 0 }, { "stnp", MOVE_STORE, 0 },
	{ "stlr", MOVE_STORE, 0 }, { "stlrb", MOVE_STORE, 0 },
	{ "stlrh", MOVE_STORE, 0 }, { "stxr", MOVE_STORE, 1 },
	{ "stxrb", MOVE_STORE, 1 }, { "stxrh", MOVE_STORE, 1 },
	{ "stlxr", MOVE_STORE, 1 }, { "stlxrb", MOVE_STORE, 1 },
	{ "stlxrh", MOVE_STORE, 1 },
	{ NULL, MOVE_NONE, 0 }
};

static const struct row rows_32[] = {
	{ "mov", MOVE_REGISTER, 0 }, { "movs", MOVE_REGISTER, 0 },
	{ "vmov", MOVE_REGISTER, 0 }, { "vmov.f32", MOVE_REGISTER, 0 },
	{ "vmov.f64", MOVE_REGISTER, 0 }, { "sxtb", MOVE_REGISTER, 0 },
	{ "sxth", MOVE_REGISTER, 0 }, { "uxtb", MOVE_REGISTER, 0 },
	{ "uxth", MOVE_REGISTER, 0 },
	{ "ldr", MOVE_LOAD, 0 }, { "ldrb", MOVE_LOAD, 0 },
	{ "ldrh", MOVE_LOAD, 0 }, { "ldrsb", MOVE_LOAD, 0 },
	{ "ldrsh", MOVE_LOAD, 0 }, { "ldrd", MOVE_LOAD, 0 },
	{ "ldrex", MOVE_LOAD, 0 }, { "ldrexb", MOVE_LOAD, 0 },
	{ "ldrexh", MOVE_LOAD, 0 }, { "ldrexd", MOVE_LOAD, 0 },
	{ "ldm", MOVE_LOAD, 0 }, { "ldmda", MOVE_LOAD, 0 },
	{ "ldmdb", MOVE_LOAD, 0 }, { "ldmib", MOVE_LOAD, 0 },
	{ "pop", MOVE_LOAD, 0 }, { "vldr", MOVE_LOAD, 0 },
	{ "vldmia", MOVE_LOAD, 0 }, { "vldmdb", MOVE_LOAD, 0 },
	{ "vpop", MOVE_LOAD, 0 }, { "vld1.8", MOVE_LOAD, 0 },
	{ "vld1.16", MOVE_LOAD, 0 }, { "vld1.32", MOVE_LOAD, 0 },
	{ "vld1.64", MOVE_LOAD, 0 },
	{ "str", MOVE_STORE, 0 }, { "strb", MOVE_STORE, 0 },
	{ "strh", MOVE_STORE, 0 }, { "strd", MOVE_STORE, 0 },
	{ "strex", MOVE_STORE, 1 }, { "strexb", MOVE_STORE, 1 },
	{ "strexh", MOVE_STORE, 1 }, { "strexd", MOVE_STORE, 1 },
	{ "stm", MOVE_STORE, 0 }, { "stmda", MOVE_STORE, 0 },
	{ "stmdb", MOVE_STORE, 0 }, { "stmib", MOVE_STORE, 0 },
	{ "push", MOVE_STORE, 0 }, { "vstr", MOVE_STORE, 0 },
	{ "vstmia", MOVE_STORE, 0 }, { "vstmdb", MOVE_STORE, 0 },
	{ "vpush", MOVE_STORE, 0 }, { "vst1.8", MOVE_STORE, 0 },
	{ "vst1.16", MOVE_STORE, 0 }, { "vst1.32", MOVE_STORE, 0 },
	{ "vst1.64", MOVE_STORE, 0 },
	{ NULL, MOVE_NONE, 0 }
};

static const struct row *find_row(const struct row *rows, const char *word,
				  size_t size)
{
	for (; rows->word; rows++)
		if (strlen(rows->word) == size &&
		    !strncmp(rows->word, word, size))
			return rows;
	return NULL;
}

/* ------- registers ------- */

/* Letter and number; false if it is something else. */
static bool is_numbered(const char *name, unsigned *number)
{
	char *end;

	if (!*name || name[1] < '0' || name[1] > '9')
		return false;
	*number = (unsigned)strtoul(name + 1, &end, 10);
	return (!*end || *end == '.') && *number < 32;
}

/* Bytes of a vector's part. */
static unsigned vector_size(char letter)
{
	static const char letters[] = "bhsdq";
	const char *at = strchr(letters, letter);

	return at && *at ? 1u << (at - letters) : 0;
}

static bool find_64(const char *name, struct move_part *out)
{
	unsigned number;

	*out = (struct move_part){ 0 };
	if (!strcmp(name, "sp")) {
		out->size = 8;
		return snprintf(out->name, sizeof(out->name), "sp") > 0;
	}
	if (!is_numbered(name, &number))
		return false;
	if (*name == 'w' || *name == 'x') {
		out->size = *name == 'w' ? 4 : 8;
		snprintf(out->name, sizeof(out->name), "x%u", number);
		return number < 31;
	}
	out->size = *name == 'v' ? 16 : vector_size(*name);
	snprintf(out->name, sizeof(out->name), "v%u", number);
	return out->size;
}

/* Of a vector of 16 bytes the first half; see add_part(). */
static bool find_32(const char *name, struct move_part *out)
{
	static const struct {
		const char *name, *whole;
	} others[] = {
		{ "sb", "r9" }, { "sl", "r10" }, { "fp", "r11" },
		{ "ip", "r12" }, { "sp", "sp" }, { "lr", "lr" },
		{ "pc", "pc" },
	};
	unsigned number;

	*out = (struct move_part){ .size = 4 };
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (!strcmp(others[i].name, name))
			return snprintf(out->name, sizeof(out->name), "%s",
					others[i].whole) > 0;
	if (!is_numbered(name, &number))
		return false;
	switch (*name) {
	case 'r':
		snprintf(out->name, sizeof(out->name), "r%u", number);
		return number < 13;
	case 's':
		out->offset = number % 2 * 4;
		snprintf(out->name, sizeof(out->name), "d%u", number / 2);
		return true;
	case 'd':
		out->size = 8;
		snprintf(out->name, sizeof(out->name), "d%u", number);
		return true;
	case 'q':
		out->size = 8;
		snprintf(out->name, sizeof(out->name), "d%u", 2 * number);
		return number < 16;
	default:
		return false;
	}
}

/* ------- instructions ------- */

typedef bool find_fn(const char *name, struct move_part *out);

/* False if there are no more, or it is no register. */
static bool add_part(find_fn *find, const char *name, struct move *out)
{
	struct move_part *part = &out->parts[out->count];
	char half[16];

	if (out->count + 1 >= MOVE_PARTS || !find(name, part))
		return false;
	out->count++;
	if (find == find_32 && *name == 'q') {
		snprintf(half, sizeof(half), "d%u",
			 2 * (unsigned)strtoul(name + 1, NULL, 10) + 1);
		find(half, &out->parts[out->count++]);
	}
	return true;
}

/*
 * Registers, up to the address in brackets; or those of a list in braces, in
 * front of which an address may be.
 */
static void take_parts(find_fn *find, const char *at, unsigned skip,
		       struct move *out)
{
	const char *list = strchr(at, '{');

	if (list)
		at = list + 1;
	while (*at && *at != '[' && *at != '}') {
		size_t size = strcspn(at, ", }[");
		char name[32];

		snprintf(name, sizeof(name), "%.*s", (int)size, at);
		if (size && skip)
			skip--;
		else if (size && !add_part(find, name, out))
			break;
		at += size;
		at += strspn(at, ", ");
	}
}

/* A register alone gets, or has, all that is moved. */
static void settle(struct move *move)
{
	if (move->count == 1)
		move->parts[0].size = 0;
	if (!move->count || (move->kind == MOVE_REGISTER && move->count != 2))
		move->kind = MOVE_NONE;
}

static void read_64(const char *text, struct move *out)
{
	size_t size = strcspn(text, " ");
	const struct row *row = find_row(rows_64, text, size);

	*out = (struct move){ 0 };
	if (!row)
		return;
	out->kind = row->kind;
	take_parts(find_64, text + size + strspn(text + size, " "), row->skip,
		   out);
	settle(out);
}

/* The word may have a condition behind it, and which encoding it has. */
static const struct row *find_row_32(const char *text, size_t size)
{
	static const char *const conditions[] = {
		"eq", "ne", "hs", "lo", "mi", "pl", "vs", "vc", "hi", "ls",
		"ge", "lt", "gt", "le",
	};
	const struct row *row;

	if (size > 2 && (!strncmp(text + size - 2, ".w", 2) ||
			 !strncmp(text + size - 2, ".n", 2)))
		size -= 2;
	row = find_row(rows_32, text, size);
	for (size_t i = 0; !row && size > 2 &&
			   i < sizeof(conditions) / sizeof(conditions[0]); i++)
		if (!strncmp(text + size - 2, conditions[i], 2))
			row = find_row(rows_32, text, size - 2);
	return row;
}

static void read_32(const char *text, struct move *out)
{
	size_t size = strcspn(text, " ");
	const struct row *row = find_row_32(text, size);

	*out = (struct move){ 0 };
	if (!row)
		return;
	out->kind = row->kind;
	take_parts(find_32, text + size + strspn(text + size, " "), row->skip,
		   out);
	settle(out);
}

const struct moves moves_arm64 = { read_64, find_64 };
const struct moves moves_arm = { read_32, find_32 };
