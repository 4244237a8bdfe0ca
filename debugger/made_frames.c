/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * made_frames.c - how a debugger leaves functions of a kernel without its file
 *
 * By .debug_frame, made of their code: a kernel for AArch64 keeps frame records,
 * at which x29 is from the prologue's end up to each epilogue.  Before and behind
 * that, x29 and x30 are the caller's.  How large a frame is, is not said: the
 * stack pointer of a caller is taken for the record's end.
 *
 * Source: DWARF 5, 6.4; Arm Architecture Reference Manual, DDI 0487, C4.
 */
#include "debugger/server_internal.h"

#include <stdlib.h>
#include <string.h>

#define WINDOW (UINT64_C(1) << 20)	/* bytes of code that are read at once */
#define FUNCTION_MOST (UINT64_C(64) << 10)
#define FRAMES_MOST (UINT64_C(64) << 20)
#define INSTRUCTION 4u

enum { REG_FP = 29, REG_LR = 30, REG_SP = 31 };

enum { CFA_NOP = 0, CFA_ADVANCE_4 = 4, CFA_UNDEFINED = 7, CFA_DEF_CFA = 0x0c,
       CFA_OFFSET = 0x80, CFA_RESTORE = 0xc0 };

struct code {
	struct cprec_cursor *cursor;
	const struct cprec_memory *window;	/* NULL: none yet */
};

/* ------- instructions ------- */

/* add x29, sp, #N; mov x29, sp */
static bool sets_frame(uint32_t word)
{
	return (word & 0xffc003ff) == 0x910003fd;
}

/* ldp x29, x30, [sp, #N]; ldp x29, x30, [sp], #N */
static bool loads_frame(uint32_t word)
{
	return (word & 0xffc07fff) == 0xa9407bfd ||
	       (word & 0xffc07fff) == 0xa8c07bfd;
}

/* ret, br, b */
static bool leaves(uint32_t word)
{
	return (word & 0xfffffc1f) == 0xd65f0000 ||
	       (word & 0xfffffc1f) == 0xd61f0000 ||
	       (word & 0xfc000000) == 0x14000000;
}

/* ------- code ------- */

static bool has(const struct cprec_memory *window, uint64_t addr,
		uint64_t length)
{
	return window && addr >= window->addr &&
	       addr - window->addr <= window->length &&
	       length <= window->length - (addr - window->addr);
}

/* NULL: not all of it is known. */
static const uint8_t *code_at(struct code *code, uint64_t addr,
			      uint64_t length)
{
	uint64_t at;

	if (!has(code->window, addr, length) &&
	    (addr > UINT64_MAX - WINDOW ||
	     cprec_read(code->cursor, addr, WINDOW, &code->window, NULL)))
		code->window = NULL;
	if (!has(code->window, addr, length))
		return NULL;
	at = addr - code->window->addr;
	return memchr(code->window->known + at, 0, length) ?
		       NULL : code->window->bytes + at;
}

/* ------- one function ------- */

static void add_byte(struct text *out, unsigned byte)
{
	text_add_bytes(out, &(uint8_t){ (uint8_t)byte }, 1);
}

static void add_number(struct text *out, uint64_t number, unsigned size)
{
	for (unsigned i = 0; i < size; i++)
		add_byte(out, (unsigned)(number >> 8 * i) & 0xff);
}

static void add_cfa(struct text *out, unsigned reg, unsigned offset)
{
	add_byte(out, CFA_DEF_CFA);
	add_byte(out, reg);
	add_byte(out, offset);
}

/* The record has both; in words before the end of it. */
static void add_record(struct text *out)
{
	add_cfa(out, REG_FP, 16);
	add_byte(out, CFA_OFFSET | REG_FP);
	add_byte(out, 2);
	add_byte(out, CFA_OFFSET | REG_LR);
	add_byte(out, 1);
}

static void add_no_record(struct text *out)
{
	add_cfa(out, REG_SP, 0);
	add_byte(out, CFA_RESTORE | REG_FP);
	add_byte(out, CFA_RESTORE | REG_LR);
}

/* What changes behind an instruction. */
enum change { CHANGE_NONE, CHANGE_RECORD, CHANGE_NO_RECORD };

struct tracking {
	bool has_record;	/* x29 is at it, */
	bool had_record;	/* or was before an epilogue */
};

static enum change follow(struct tracking *tracking, uint32_t word)
{
	if (!tracking->has_record &&
	    (sets_frame(word) || (tracking->had_record && leaves(word)))) {
		tracking->has_record = tracking->had_record = true;
		return CHANGE_RECORD;
	}
	if (!tracking->has_record || !loads_frame(word))
		return CHANGE_NONE;
	tracking->has_record = false;
	return CHANGE_NO_RECORD;
}

/* Whether it keeps a record at all. */
static bool add_changes(struct text *out, const uint8_t *code, uint64_t length)
{
	struct tracking tracking = { 0 };
	uint64_t last = 0;

	for (uint64_t at = 0; at + INSTRUCTION <= length; at += INSTRUCTION) {
		const uint8_t *bytes = code + at;
		uint32_t word = bytes[0] | (uint32_t)bytes[1] << 8 |
				(uint32_t)bytes[2] << 16 |
				(uint32_t)bytes[3] << 24;
		enum change change = follow(&tracking, word);

		if (change == CHANGE_NONE)
			continue;
		add_byte(out, CFA_ADVANCE_4);
		add_number(out, (at + INSTRUCTION - last) / INSTRUCTION, 4);
		last = at + INSTRUCTION;
		if (change == CHANGE_RECORD)
			add_record(out);
		else
			add_no_record(out);
	}
	return tracking.had_record;
}

/* ------- all ------- */

/* As long as it says, in whole words. */
static void add_entry(struct text *out, struct text *entry)
{
	while (entry->size % 8 != 4)
		add_byte(entry, CFA_NOP);
	add_number(out, entry->size, 4);
	text_add_bytes(out, entry->bytes, entry->size);
}

static void add_common(struct text *out)
{
	struct text entry = { 0 };

	add_number(&entry, UINT32_MAX, 4);
	add_byte(&entry, 1);		/* version */
	add_byte(&entry, 0);		/* nothing more */
	add_byte(&entry, INSTRUCTION);
	add_byte(&entry, 0x78);		/* -8 */
	add_byte(&entry, REG_LR);
	add_cfa(&entry, REG_SP, 0);
	add_entry(out, &entry);
	text_release(&entry);
}

static void add_function(struct text *out, struct code *code,
			 const struct made_function *function)
{
	struct text entry = { 0 };
	uint64_t length = function->length < FUNCTION_MOST ?
				  function->length : FUNCTION_MOST;
	const uint8_t *bytes = length >= INSTRUCTION ?
		code_at(code, function->addr, length) : NULL;

	add_number(&entry, 0, 4);	/* what is common */
	add_number(&entry, function->addr, 8);
	add_number(&entry, function->length, 8);
	if (function->is_outermost) {
		add_byte(&entry, CFA_UNDEFINED);
		add_byte(&entry, REG_LR);
	}
	if (function->is_outermost ||
	    (bytes && add_changes(&entry, bytes, length)))
		add_entry(out, &entry);
	text_release(&entry);
}

void frames_make(struct server *server, const struct text *functions,
		 struct text *out)
{
	const struct made_function *list = (const void *)functions->bytes;
	size_t count = functions->size / sizeof(*list);
	struct code code = { 0 };

	/* At the end, the kernel is where it has moved itself to. */
	if (!count || cprec_cursor_create(&code.cursor, server->recording,
					  "end", NULL))
		return;
	add_common(out);
	for (size_t i = 0; i < count && out->size < FRAMES_MOST; i++)
		if (!i || list[i].addr != list[i - 1].addr)
			add_function(out, &code, &list[i]);
	cprec_cursor_destroy(code.cursor);
}
