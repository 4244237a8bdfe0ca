/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kernel_ring.h - where a machine's kernel keeps what it logs
 *
 * A ring of descriptors, which have numbers, one of what is known of each
 * message, and one of texts.  All is read where the replay stands, while it sees
 * the kernel.
 *
 * Ownership:  the kernel is borrowed.
 * Errors:     ERR_NOT_FOUND.
 */
#ifndef CPREC_REPLAYER_SESSION_KERNEL_RING_H
#define CPREC_REPLAYER_SESSION_KERNEL_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct failure;
struct kernel;

enum ring_member {
	RING_COUNT, RING_ENTRIES, RING_INFOS, RING_HEAD, RING_TAIL,
	TEXT_SIZE, TEXT_BYTES, ENTRY_STATE, ENTRY_BEGIN, ENTRY_NEXT,
	INFO_SEQUENCE, INFO_TIME, INFO_LENGTH, INFO_FLAGS, RING_MEMBERS
};

struct kernel_ring {
	struct kernel *kernel;
	uint32_t at[RING_MEMBERS];
	uint32_t entry_size, info_size;
	uint64_t *may_be;	/* where there may be one, for it is found anew
				   at each time */
	size_t count, room;

	/* As it is then. */
	uint64_t addr;
	uint64_t entries, infos, bytes;
	unsigned count_bits, size_bits;
};

/* What any ring of the kernel's is like, and where there may be one. */
int kernel_ring_prepare(struct kernel_ring *ring, struct kernel *kernel,
			struct failure *why);
void kernel_ring_release(struct kernel_ring *ring);

/* The one that the kernel uses then; false: it has none yet. */
bool kernel_ring_find(struct kernel_ring *ring);

/* The one at an address; whether it is one. */
bool kernel_ring_take(struct kernel_ring *ring, uint64_t addr);

/* The number of the oldest descriptor; how many there are from there on. */
uint64_t kernel_ring_tail(const struct kernel_ring *ring);
size_t kernel_ring_count(const struct kernel_ring *ring);

/* Addresses of what a number leads to. */
uint64_t kernel_ring_entry(const struct kernel_ring *ring, uint64_t id);
uint64_t kernel_ring_info(const struct kernel_ring *ring, uint64_t id);

/* Whether all of a message is there. */
bool kernel_ring_is_stored(const struct kernel_ring *ring, uint64_t id);

/* Which message of all it is: the number is never used again. */
uint64_t kernel_ring_sequence(const struct kernel_ring *ring, uint64_t id);

#endif
