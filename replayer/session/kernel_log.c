/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kernel_log.c - what a machine's kernel has logged
 *
 * Source: Linux 5.10 and later, kernel/printk/printk_ringbuffer.c.
 */
#include "replayer/session/kernel_internal.h"

#include <string.h>

#include "formats/error.h"

#define TEXT_MOST 8192u
#define MESSAGES_MOST 1000000u

/* Of a descriptor's state. */
#define STATE_SHIFT 62
#define STATE_COMMITTED 1u
#define STATE_FINAL 2u

#define IS_EMPTY UINT64_C(1)	/* of where a text begins: there is none */
#define IN_HEAD 8u		/* a text begins behind its descriptor's id */

enum log_member {
	RING_COUNT, RING_ENTRIES, RING_INFOS, RING_HEAD, RING_TAIL,
	TEXT_SIZE, TEXT_BYTES, ENTRY_STATE, ENTRY_BEGIN, ENTRY_NEXT,
	INFO_TIME, INFO_LENGTH, INFO_FLAGS, LOG_MEMBERS
};

static const struct kernel_place members[LOG_MEMBERS] = {
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
	[INFO_TIME] = { "printk_info", "ts_nsec" },
	[INFO_LENGTH] = { "printk_info", "text_len" },
	[INFO_FLAGS] = { "printk_info", "facility" },
};

struct log {
	struct kernel *kernel;
	uint32_t at[LOG_MEMBERS];
	uint32_t entry_size, info_size;
	uint64_t ring;

	/* As it is then. */
	uint64_t entries, infos, bytes;
	unsigned count_bits, size_bits;
};

static int find_members(struct log *log, struct failure *why)
{
	const struct btf *btf = &log->kernel->btf;
	int rc = btf_size(btf, "prb_desc", &log->entry_size);

	if (!rc)
		rc = btf_size(btf, "printk_info", &log->info_size);
	if (!rc && kernel_places(log->kernel, members, LOG_MEMBERS,
				 log->at) < LOG_MEMBERS)
		rc = ERR_NOT_FOUND;
	return rc ? failed(why, rc, "the kernel's log is not as those since"
			   " Linux 5.10 are") : 0;
}

static uint64_t entry_of(const struct log *log, uint64_t id)
{
	uint64_t mask = (UINT64_C(1) << log->count_bits) - 1;

	return log->entries + (id & mask) * log->entry_size;
}

static unsigned state_of(const struct log *log, uint64_t id)
{
	const uint64_t ids = (UINT64_C(1) << STATE_SHIFT) - 1;
	uint64_t state = kernel_number(log->kernel, entry_of(log, id) +
					       log->at[ENTRY_STATE], 8);

	return (state & ids) == (id & ids) ? (unsigned)(state >> STATE_SHIFT) :
					     0;
}

static bool is_kernel(uint64_t addr)
{
	return addr >> 48 == 0xffff;
}

/* Whether a log is there; what it is like. */
static bool take_ring(struct log *log, uint64_t ring)
{
	struct kernel *kernel = log->kernel;

	log->ring = ring;
	log->entries = kernel_number(kernel, ring + log->at[RING_ENTRIES], 8);
	log->infos = kernel_number(kernel, ring + log->at[RING_INFOS], 8);
	log->bytes = kernel_number(kernel, ring + log->at[TEXT_BYTES], 8);
	log->count_bits = (unsigned)kernel_number(
		kernel, ring + log->at[RING_COUNT], 4);
	log->size_bits = (unsigned)kernel_number(
		kernel, ring + log->at[TEXT_SIZE], 4);
	return is_kernel(log->entries) && is_kernel(log->infos) &&
	       is_kernel(log->bytes) && log->count_bits >= 4 &&
	       log->count_bits <= 24 && log->size_bits >= 8 &&
	       log->size_bits <= 30;
}

static uint64_t head_of(const struct log *log)
{
	return kernel_number(log->kernel, log->ring + log->at[RING_HEAD], 8);
}

static uint64_t tail_of(const struct log *log)
{
	return kernel_number(log->kernel, log->ring + log->at[RING_TAIL], 8);
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

static bool may_be_ring(const struct log *log, size_t at)
{
	const struct kernel *kernel = log->kernel;
	uint64_t count = in_image(kernel, at + log->at[RING_COUNT], 4);
	uint64_t size = in_image(kernel, at + log->at[TEXT_SIZE], 4);

	return count >= 4 && count <= 24 && size >= 8 && size <= 30 &&
	       is_kernel(in_image(kernel, at + log->at[RING_ENTRIES], 8)) &&
	       is_kernel(in_image(kernel, at + log->at[RING_INFOS], 8)) &&
	       is_kernel(in_image(kernel, at + log->at[TEXT_BYTES], 8));
}

/* There may be two: the kernel begins with one and goes on with a larger. */
static bool find_ring(struct log *log)
{
	const struct kernel *kernel = log->kernel;
	uint64_t best = 0, most = 0;

	for (size_t at = 0; at + 256 < kernel->image.size; at += 8) {
		uint64_t count;

		if (!may_be_ring(log, at) ||
		    !take_ring(log, kernel->image.base + at) ||
		    !state_of(log, head_of(log)))
			continue;
		count = head_of(log) - tail_of(log) + 1;
		if (count >= most) {
			best = log->ring;
			most = count;
		}
	}
	return best && take_ring(log, best);
}

/* Where the text of an entry is; 0: nowhere. */
static uint64_t text_of(const struct log *log, uint64_t entry)
{
	uint64_t begin = kernel_number(log->kernel,
				       entry + log->at[ENTRY_BEGIN], 8);
	uint64_t next = kernel_number(log->kernel, entry + log->at[ENTRY_NEXT],
				      8);
	uint64_t mask = (UINT64_C(1) << log->size_bits) - 1;

	if (begin & IS_EMPTY)
		return 0;
	/* One that does not fit before the end is at the start. */
	if (begin >> log->size_bits != next >> log->size_bits && next & mask)
		begin = 0;
	return log->bytes + (begin & mask) + IN_HEAD;
}

static int tell(struct log *log, uint64_t id, kernel_message_visit *visit,
		void *context)
{
	struct kernel *kernel = log->kernel;
	uint64_t entry = entry_of(log, id), mask, info, text = text_of(log,
								       entry);
	char bytes[TEXT_MOST];
	struct kernel_message message = { .text = bytes };

	mask = (UINT64_C(1) << log->count_bits) - 1;
	info = log->infos + (id & mask) * log->info_size;
	message.nanoseconds = kernel_number(kernel, info + log->at[INFO_TIME],
					    8);
	message.length = kernel_number(kernel, info + log->at[INFO_LENGTH], 2);
	/* Behind the facility, five bits of flags and three of the level. */
	message.level = (unsigned)kernel_number(
		kernel, info + log->at[INFO_FLAGS] + 1, 1) >> 5;
	if (!text || message.length > TEXT_MOST)
		return 0;
	for (size_t done = 0, part; done < message.length; done += part) {
		part = message.length - done < 256 ? message.length - done :
						     256;
		if (!kernel_read(kernel, text + done, bytes + done, part))
			return 0;
	}
	return visit(context, &message);
}

static int tell_all(struct log *log, kernel_message_visit *visit,
		    void *context)
{
	uint64_t head = head_of(log), id = tail_of(log);
	int rc = 0;

	for (unsigned i = 0; i < MESSAGES_MOST && !rc; i++, id++) {
		unsigned state = state_of(log, id);

		if (state == STATE_COMMITTED || state == STATE_FINAL)
			rc = tell(log, id, visit, context);
		if (id == head)
			break;
	}
	return rc;
}

int kernel_each_message(struct kernel *kernel, const struct position *at,
			kernel_message_visit *visit, void *context,
			struct failure *why)
{
	struct log log = { .kernel = kernel };
	int rc = find_members(&log, why);

	if (!rc)
		rc = kernel_go(kernel, at, why);
	if (!rc)
		rc = find_ring(&log) ? tell_all(&log, visit, context) :
			failed(why, ERR_NOT_FOUND, "the kernel's log is not to"
			       " be found then");
	kernel_leave(kernel);
	return rc;
}
