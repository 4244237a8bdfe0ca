/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * copies.c - see copies.h
 *
 * An instruction that stores a register is followed to the one that wrote the
 * register; if that loaded it, the load's place had the value.  What is told by
 * the replay are the accesses; which registers an instruction has stands in its
 * text.
 */
#include "debugger/copies.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* From register to register, and no further. */
#define HOPS_MOST 32

struct search {
	struct cprec_cursor *cursor;
	uint32_t tid;
	unsigned word;
	struct copy_source *out;
	struct cprec_failure *why;
	uint64_t offset, length;	/* in the register, which bytes */
};

/* ------- instructions ------- */

struct moved {
	char text[160];
	const char *from;	/* the last operand, in `text` */
};

static int take_code(void *context, const struct cprec_instruction *one)
{
	struct moved *moved = context;

	snprintf(moved->text, sizeof(moved->text), "%s",
		 one->text ? one->text : "");
	return 1;
}

static bool begins_with(const char *text, const char *const *words)
{
	size_t size = strcspn(text, " ");

	for (; *words; words++)
		if (strlen(*words) == size && !strncmp(text, *words, size))
			return true;
	return false;
}

/* Instructions that leave the bytes as they are; NULL as `from`: another. */
static int read_move(const struct search *search, uint64_t pc,
		     struct moved *out)
{
	static const char *const moves[] = {
		"mov", "movabs", "movaps", "movapd", "movups", "movupd",
		"movdqa", "movdqu", "movq", "movd", "movss", "movsd", "movzx",
		"movsx", "movsxd", "movnti", "movntdq", "movntps", "lddqu",
		"push", "pop", NULL
	};
	const struct cprec_code code = {
		.size = sizeof(code), .start = pc, .count = 1,
	};
	char *comma;
	int rc;

	*out = (struct moved){ 0 };
	rc = cprec_each_instruction(search->cursor, &code, take_code, out,
				    search->why);
	if (rc < 0 || !begins_with(out->text, moves))
		return rc < 0 ? rc : 0;
	comma = strrchr(out->text, ',');
	out->from = comma ? comma + 1 + strspn(comma + 1, " ") :
			    out->text + strcspn(out->text, " ") + 1;
	return 0;
}

static bool is_string_move(const char *text)
{
	static const char *const moves[] = {
		"movsb", "movsw", "movsd", "movsq", NULL
	};

	if (!strncmp(text, "rep ", 4))
		text += 4;
	return begins_with(text, moves) && strstr(text, "si]");
}

bool copy_whole_register(unsigned word, const char *name, char out[16])
{
	static const char *const wholes[] = { "ax", "bx", "cx", "dx", "si",
					      "di", "bp", "sp" };
	bool is_vector = !strncmp(name, "xmm", 3);
	size_t size = strlen(name);
	size_t digits = size ? strspn(name + (is_vector ? 3 : 1),
				      "0123456789") : 0;
	char core[3] = "";

	if (digits && (is_vector || *name == 'r')) {
		snprintf(out, 16, "%.*s", (int)digits + (is_vector ? 3 : 1),
			 name);
		return true;
	}
	if (size == 3 && strchr("re", *name))
		memcpy(core, name + 1, 2);
	else if (size == 2 || (size == 3 && name[2] == 'l'))
		memcpy(core, name, 2);
	if (core[0] && core[1] == 'l')	/* "al" */
		core[1] = 'x';
	for (size_t i = 0; i < sizeof(wholes) / sizeof(*wholes); i++)
		if (!strcmp(wholes[i], core))
			return snprintf(out, 16, "%c%s", word == 8 ? 'r' : 'e',
					core) > 0;
	return false;
}

/* ------- what one instruction accesses ------- */

/* The first access of the step at a position; `*is_there` false: none. */
static int first_access(const struct search *search, struct cprec_position at,
			bool reads, struct cprec_stop *out, bool *is_there)
{
	const struct cprec_watch all = {
		.length = UINT64_MAX, .reads = reads, .writes = !reads,
	};
	const struct cprec_until until = {
		.size = sizeof(until), .has_to = true, .to = { at.time + 1 },
		.watches = &all, .watch_count = 1,
	};
	const struct cprec_stop *stop;
	int rc = cprec_cursor_move(search->cursor, at, search->why);

	if (!rc)
		rc = cprec_cursor_thread(search->cursor, 0, search->why);
	if (!rc)
		rc = cprec_cursor_run(search->cursor, &until, &stop,
				      search->why);
	*is_there = !rc && stop->kind == CPREC_AT_WATCH && !stop->by_kernel;
	if (*is_there)
		*out = *stop;
	return rc;
}

/* The instruction at a position loads the bytes that are followed. */
static int take_load(const struct search *search, struct cprec_position at,
		     uint64_t pc)
{
	struct copy_source *out = search->out;
	struct cprec_stop load;
	bool is_there;
	int rc = first_access(search, at, true, &load, &is_there);

	if (rc || !is_there || load.length <= search->offset)
		return rc;
	out->is_found = true;
	out->addr = load.addr + search->offset;
	out->length = load.length - search->offset;
	if (out->length > search->length)
		out->length = search->length;
	out->at = at;
	out->pc = pc;
	return 0;
}

/* ------- through registers ------- */

static int find_register(struct search *search, const char *name,
			 struct cprec_position at)
{
	char whole[16];
	struct moved moved;

	for (int hops = 0; hops < HOPS_MOST &&
			   copy_whole_register(search->word, name, whole);
	     hops++) {
		const struct cprec_register_write *write;
		uint64_t pc;
		int rc = cprec_cursor_move(search->cursor, at, search->why);

		if (!rc)
			rc = cprec_cursor_thread(search->cursor, search->tid,
						 search->why);
		if (!rc)
			rc = cprec_find_register_write(search->cursor, whole,
						       &write, search->why);
		if (rc || !write || write->by)
			return rc;
		at = write->before;
		pc = write->pc;
		rc = cprec_cursor_move(search->cursor, at, search->why);
		if (!rc)
			rc = read_move(search, pc, &moved);
		if (rc || !moved.from || !strncmp(moved.text, "push", 4))
			return rc;
		if (strchr(moved.from, '[') || !strncmp(moved.text, "pop", 3))
			return take_load(search, at, pc);
		name = moved.from;
	}
	return 0;
}

int copy_find(struct cprec_cursor *cursor, unsigned word,
	      const struct cprec_access *access, struct copy_source *out,
	      struct cprec_failure *why)
{
	struct search search = {
		.cursor = cursor, .tid = access->tid, .word = word, .out = out,
		.why = why, .length = access->length,
	};
	struct cprec_stop store;
	struct moved moved;
	bool is_there;
	int rc = read_move(&search, access->pc, &moved);

	*out = (struct copy_source){ 0 };
	if (rc || (!moved.from && !is_string_move(moved.text)))
		return rc;
	rc = first_access(&search, access->before, false, &store, &is_there);
	if (rc || !is_there || store.addr > access->addr)
		return rc;
	search.offset = access->addr - store.addr;
	if (is_string_move(moved.text) || strchr(moved.from, '['))
		return take_load(&search, access->before, access->pc);
	return find_register(&search, moved.from, access->before);
}

int copy_find_register(struct cprec_cursor *cursor, unsigned word,
		       const char *name, struct copy_source *out,
		       struct cprec_failure *why)
{
	const struct cprec_state *state;
	struct search search = {
		.cursor = cursor, .word = word, .out = out, .why = why,
		.length = 16,
	};
	int rc = cprec_cursor_describe(cursor, &state, why);

	*out = (struct copy_source){ 0 };
	if (rc)
		return rc;
	search.tid = state->tid;
	return find_register(&search, name + (*name == '$'),
			     cprec_cursor_position(cursor));
}
