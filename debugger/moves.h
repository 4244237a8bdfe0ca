/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * moves.h - instructions that leave bytes as they are, by their text
 *
 * A table per architecture says which instructions move registers or memory;
 * which ones stand in the text.
 *
 * Ownership:  plain data.
 * Errors:     none: what is not known is no move.
 */
#ifndef CPREC_DEBUGGER_MOVES_H
#define CPREC_DEBUGGER_MOVES_H

#include <stdbool.h>
#include <stdint.h>

enum move_kind {
	MOVE_NONE,		/* it computes, or is not known */
	MOVE_REGISTER,		/* the second part to the first */
	MOVE_LOAD,		/* memory to the parts, one behind the other */
	MOVE_STORE,		/* the parts to memory */
	MOVE_MEMORY,		/* memory to memory */
};

/* Bytes of a register, which is named as the largest that they are of. */
struct move_part {
	char name[16];
	uint64_t offset;	/* in the register */
	uint64_t size;		/* 0: as many as are moved */
};

#define MOVE_PARTS 32u

struct move {
	enum move_kind kind;
	struct move_part parts[MOVE_PARTS];
	unsigned count;
};

struct moves {
	void (*read)(const char *text, struct move *out);

	/* The register that another is a part of: "rax" for "al"; "x0" for
	 * "w0".  False for "ah", and what is no register. */
	bool (*find)(const char *name, struct move_part *out);
};

extern const struct moves moves_x86_64, moves_i386, moves_arm64, moves_arm;

/* For them: whether the first word of a text is one of these, NULL-ended. */
bool move_begins_with(const char *text, const char *const *words);

#endif
