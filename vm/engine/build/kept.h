/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kept.h - translations that a process and those that it forks have in common
 *
 * Their host addresses are the same: the engine was opened before the fork.
 */
#ifndef CPREC_VM_ENGINE_BUILD_KEPT_H
#define CPREC_VM_ENGINE_BUILD_KEPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Address space of the engine's buffer for them. */
#define KEPT_SIZE (256u << 20)

struct kept_store;
struct kept_entry;

/* What a translation depends on, beside the bytes of its code. */
struct kept_key {
	uint64_t pc, other;
	uint64_t direct;	/* where memory is accessed directly; 0: nowhere */
	uint32_t flags, reserved;
};

/* Of one engine. */
struct kept {
	struct kept_store *store;	/* NULL: it keeps none */
	uint8_t **place;	/* the engine's own, where it translates to */
	uint8_t *zone;		/* of the buffer: the store's addresses */
	uint8_t *next, *end;	/* the piece of it that this process fills */
	pid_t owner;		/* which process that is */
	uint8_t *others;	/* where translations that are not kept go on */

	/* Of the translation under way. */
	enum { KEPT_NOT, KEPT_MADE, KEPT_FOUND } state;
	struct kept_key key;
	const uint8_t *code;	/* the guest's, of which `left` bytes */
	size_t left;
	const struct kept_entry *found;
	uint8_t pristine[256];	/* what the engine notes of it in front */
	int size;		/* and bytes of the translation itself */
};

/* The one under way is there already: nothing is to be translated. */
bool kept_is_found(void);

/* All translations of this engine were dropped. */
void kept_forget(struct kept *kept);
void kept_release(struct kept *kept);

#endif
