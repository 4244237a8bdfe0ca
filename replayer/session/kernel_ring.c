/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kernel_ring.c - see kernel_ring.h
 *
 * Source: Linux 5.10 and later, kernel/printk/printk_ringbuffer.c.
 */
#include "replayer/session/kernel_ring.h"

#include <stdlib.h>
#include <string.h>

#include "formats/array.h"
#include "formats/error.h"
#include "replayer/session/kernel_internal.h"

#define RING_SIZE 256u		/* at most */
#define MESSAGES_MOST (1u << 20)	/* that are looked at */

/* Of a descriptor's state. */
#define STATE_SHIFT 62
#define STATE_COMMITTED 1u
#define STATE_FINAL 2u
#define IDS ((UINT64_C(1) << STATE_SHIFT) - 1)	/* numbers begin anew behind */

static const struct kernel_place members[RING_MEMBERS] = {
	[RING_COUNT] = { "printk_ringbuffer", "desc_ring.count_bits" },
	[RING_ENTRIES] = { "printk_ringbuffer", "desc_ring.descs" },
	[RING_INFOS] = { "printk_ringbuffer", "desc_ring.infos" },
	[RING_HEAD] = { "printk_ringbuffer", "desc_ring.head_id" },
	[RING_TAIL] = { "printk_ringbuffer", "desc_ring.tail_id" },
	[TEXT_SIZE] = { "printk_ringbuffer", "text_data_ring.size_bits" },
	[TEXT_BYTES] = { "printk_ringbuffer", "text_data_ring.data" },
	[ENTRY_STATE] = { "prb_desc", "state_var" },
	[ENTRY_BEGIN] = { "prb_desc", "text_blk_lpos.begin" },
	[ENTRY_NEXT] = { "prb_desc", "text_blk_lpos.next" },
	[INFO_SEQUENCE] = { "printk_info", "seq" },
	[INFO_TIME] = { "printk_info", "ts_nsec" },
	[INFO_LENGTH] = { "printk_info", "text_len" },
	[INFO_FLAGS] = { "printk_info", "facility" },
};

/* ------- where there may be one ------- */

static bool is_kernel(uint64_t addr)
{
	return addr >> 48 == 0xffff;
}

static bool are_bits(uint64_t count, uint64_t size)
{
	return count >= 4 && count <= 24 && size >= 8 && size <= 30;
}

/* Read quickly, where the kernel is in one piece. */
static uint64_t in_image(const struct kernel *kernel, size_t at, unsigned size)
{
	uint64_t value = 0;

	if (at + size > kernel->image.size)
		return 0;
	memcpy(&value, kernel->image.bytes + at, size);
	return value;
}

static bool may_be_ring(const struct kernel_ring *ring, size_t at)
{
	const struct kernel *kernel = ring->kernel;

	return are_bits(in_image(kernel, at + ring->at[RING_COUNT], 4),
			in_image(kernel, at + ring->at[TEXT_SIZE], 4)) &&
	       is_kernel(in_image(kernel, at + ring->at[RING_ENTRIES], 8)) &&
	       is_kernel(in_image(kernel, at + ring->at[RING_INFOS], 8)) &&
	       is_kernel(in_image(kernel, at + ring->at[TEXT_BYTES], 8));
}

static int find_all(struct kernel_ring *ring, struct failure *why)
{
	const struct kernel *kernel = ring->kernel;

	for (size_t at = 0; at + RING_SIZE < kernel->image.size; at += 8) {
		if (!may_be_ring(ring, at))
			continue;
		if (array_room(ring->may_be, ring->count, ring->room))
			return failed(why, ERR_NO_MEMORY, "out of memory");
		ring->may_be[ring->count++] = kernel->image.base + at;
	}
	return 0;
}

int kernel_ring_prepare(struct kernel_ring *ring, struct kernel *kernel,
			struct failure *why)
{
	const struct btf *btf = &kernel->btf;
	int rc;

	*ring = (struct kernel_ring){ .kernel = kernel };
	rc = btf_size(btf, "prb_desc", &ring->entry_size);
	if (!rc)
		rc = btf_size(btf, "printk_info", &ring->info_size);
	if (!rc && kernel_places(kernel, members, RING_MEMBERS, ring->at) <
			   RING_MEMBERS)
		rc = ERR_NOT_FOUND;
	return rc ? failed(why, rc, "the kernel's log is not as those since"
			   " Linux 5.10 are") : find_all(ring, why);
}

void kernel_ring_release(struct kernel_ring *ring)
{
	free(ring->may_be);
}

/* ------- the one that is there ------- */

static uint64_t place_of(const struct kernel_ring *ring, uint64_t id)
{
	return id & ((UINT64_C(1) << ring->count_bits) - 1);
}

uint64_t kernel_ring_entry(const struct kernel_ring *ring, uint64_t id)
{
	return ring->entries + place_of(ring, id) * ring->entry_size;
}

uint64_t kernel_ring_info(const struct kernel_ring *ring, uint64_t id)
{
	return ring->infos + place_of(ring, id) * ring->info_size;
}

/* Whether a descriptor has this number; its state. */
static bool find_state(const struct kernel_ring *ring, uint64_t id,
		       unsigned *out)
{
	uint64_t state = kernel_number(ring->kernel,
				       kernel_ring_entry(ring, id) +
					       ring->at[ENTRY_STATE], 8);

	*out = (unsigned)(state >> STATE_SHIFT);
	return (state & IDS) == (id & IDS);
}

bool kernel_ring_is_stored(const struct kernel_ring *ring, uint64_t id)
{
	unsigned state;

	return find_state(ring, id, &state) &&
	       (state == STATE_COMMITTED || state == STATE_FINAL);
}

uint64_t kernel_ring_sequence(const struct kernel_ring *ring, uint64_t id)
{
	return kernel_number(ring->kernel, kernel_ring_info(ring, id) +
						   ring->at[INFO_SEQUENCE], 8);
}

uint64_t kernel_ring_tail(const struct kernel_ring *ring)
{
	return kernel_number(ring->kernel, ring->addr + ring->at[RING_TAIL],
			     8);
}

size_t kernel_ring_count(const struct kernel_ring *ring)
{
	uint64_t head = kernel_number(ring->kernel,
				      ring->addr + ring->at[RING_HEAD], 8);
	uint64_t count = ((head - kernel_ring_tail(ring)) & IDS) + 1;

	if (count >> ring->count_bits)
		count = UINT64_C(1) << ring->count_bits;
	return count < MESSAGES_MOST ? (size_t)count : MESSAGES_MOST;
}

bool kernel_ring_take(struct kernel_ring *ring, uint64_t addr)
{
	struct kernel *kernel = ring->kernel;
	const uint32_t *at = ring->at;

	ring->addr = addr;
	ring->entries = kernel_number(kernel, addr + at[RING_ENTRIES], 8);
	ring->infos = kernel_number(kernel, addr + at[RING_INFOS], 8);
	ring->bytes = kernel_number(kernel, addr + at[TEXT_BYTES], 8);
	ring->count_bits = (unsigned)kernel_number(kernel,
						   addr + at[RING_COUNT], 4);
	ring->size_bits = (unsigned)kernel_number(kernel, addr + at[TEXT_SIZE],
						  4);
	return is_kernel(ring->entries) && is_kernel(ring->infos) &&
	       is_kernel(ring->bytes) &&
	       are_bits(ring->count_bits, ring->size_bits);
}

/* There may be two: the kernel begins with one and goes on with a larger. */
bool kernel_ring_find(struct kernel_ring *ring)
{
	uint64_t best = 0;
	size_t most = 0;

	for (size_t i = 0; i < ring->count; i++) {
		unsigned state;
		size_t count;

		if (!kernel_ring_take(ring, ring->may_be[i]))
			continue;
		count = kernel_ring_count(ring);
		if (find_state(ring, kernel_ring_tail(ring) + count - 1,
			       &state) && count >= most) {
			best = ring->addr;
			most = count;
		}
	}
	return best && kernel_ring_take(ring, best);
}
