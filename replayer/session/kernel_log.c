/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kernel_log.c - what a machine's kernel has logged
 *
 * Source: Linux 5.10 and later, kernel/printk/printk_ringbuffer.c.
 */
#include "replayer/session/kernel_internal.h"

#include "formats/error.h"
#include "replayer/session/kernel_log_times.h"
#include "replayer/session/kernel_ring.h"

#define TEXT_MOST 8192u

#define IS_EMPTY UINT64_C(1)	/* of where a text begins: there is none */
#define IN_HEAD 8u		/* a text begins behind its descriptor's id */

struct log {
	struct kernel *kernel;
	struct kernel_ring ring;
	struct kernel_log_times times;
	kernel_message_visit *visit;
	void *context;
};

/* Where the text of an entry is; 0: nowhere. */
static uint64_t text_of(const struct kernel_ring *ring, uint64_t entry)
{
	uint64_t begin = kernel_number(ring->kernel,
				       entry + ring->at[ENTRY_BEGIN], 8);
	uint64_t next = kernel_number(ring->kernel,
				      entry + ring->at[ENTRY_NEXT], 8);
	uint64_t mask = (UINT64_C(1) << ring->size_bits) - 1;

	if (begin & IS_EMPTY)
		return 0;
	/* One that does not fit before the end is at the start. */
	if (begin >> ring->size_bits != next >> ring->size_bits && next & mask)
		begin = 0;
	return ring->bytes + (begin & mask) + IN_HEAD;
}

static int tell(struct log *log, uint64_t id)
{
	const struct kernel_ring *ring = &log->ring;
	struct kernel *kernel = log->kernel;
	uint64_t info = kernel_ring_info(ring, id);
	uint64_t text = text_of(ring, kernel_ring_entry(ring, id));
	char bytes[TEXT_MOST];
	struct kernel_message message = { .text = bytes };

	message.nanoseconds = kernel_number(kernel, info + ring->at[INFO_TIME],
					    8);
	message.length = kernel_number(kernel, info + ring->at[INFO_LENGTH], 2);
	/* Behind the facility, five bits of flags and three of the level. */
	message.level = (unsigned)kernel_number(
		kernel, info + ring->at[INFO_FLAGS] + 1, 1) >> 5;
	message.has_time = kernel_log_time(&log->times,
					   kernel_ring_sequence(ring, id),
					   &message.at);
	if (!text || message.length > TEXT_MOST)
		return 0;
	for (size_t done = 0, part; done < message.length; done += part) {
		part = message.length - done < 256 ? message.length - done :
						     256;
		if (!kernel_read(kernel, text + done, bytes + done, part))
			return 0;
	}
	return log->visit(log->context, &message);
}

static int tell_all(struct log *log)
{
	uint64_t first = kernel_ring_tail(&log->ring);
	size_t count = kernel_ring_count(&log->ring);
	int rc = 0;

	for (size_t i = 0; i < count && !rc; i++)
		if (kernel_ring_is_stored(&log->ring, first + i))
			rc = tell(log, first + i);
	return rc;
}

int kernel_each_message(struct kernel *kernel, struct names *names,
			const struct position *at, kernel_message_visit *visit,
			void *context, struct failure *why)
{
	struct log log = {
		.kernel = kernel, .visit = visit, .context = context,
	};
	int rc = kernel_ring_prepare(&log.ring, kernel, why);

	if (!rc)
		rc = kernel_log_times_find(&log.times, &log.ring, names, at,
					   why);
	if (!rc)
		rc = kernel_go(kernel, at, why);
	if (!rc)
		rc = kernel_ring_find(&log.ring) ? tell_all(&log) :
			failed(why, ERR_NOT_FOUND, "the kernel's log is not to"
			       " be found then");
	kernel_leave(kernel);
	kernel_log_times_release(&log.times);
	kernel_ring_release(&log.ring);
	return rc;
}
