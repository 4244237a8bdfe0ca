/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * packet.h - what a thread's event stream holds
 *
 * An event happens to the thread at a step: an entry to the kernel, a signal,
 * an instruction whose result cannot be computed, the end.  The packets after
 * an event and before the next are its effects, in order.  Contents of memory
 * are not here: WRITE takes them from the read stream (cache/prediction.h),
 * TOUCH names a stored page or takes them from there too.
 *
 * A replay needs nothing but these to follow the kernel: it does not know
 * which operating system it was.
 *
 * One thread runs at a time.  What it executes between two switches is a slice.
 * Slices are counted from 0 in each segment, over all threads.  Slice 0 belongs
 * to the thread whose key frame starts the segment; every other one begins with
 * a SLICE packet in its thread's stream.  So a thread's own steps plus all that
 * it has skipped are the time of all threads since the segment's start, and
 * slices in the order of their numbers are the order in which everything
 * happened, entries to the kernel and locked instructions included.
 *
 * A system call during which the thread gave the processor away retires in one
 * slice and comes back in a later one: a RETURN packet takes the place of the
 * SYSCALL.  What the call has done until then is told where it gave way.
 *
 * What a thread needs to be executed without the others: SEEN and SEEN_PAGE
 * packets say what the others have changed of the pages that it touches, as
 * unpredicted reads; and the effects behind a SLICE packet are the changes of
 * the address space that the others have made since the slice before.  A
 * replay of all threads on one memory has no use for either.
 *
 * Source: US 7,620,938 B2: sequence packets, numbered by one counter.
 *
 * Units:      steps are retired instructions of the thread since the segment's
 *             key frame or, as coded, since the event before; addresses are
 *             guest virtual; pages are address / GUEST_PAGE.
 * Ownership:  nothing is allocated; a decoded packet borrows from its input.
 * Errors:     ERR_TRUNCATED, ERR_CORRUPT.
 */
#ifndef CPREC_FORMATS_PACKET_H
#define CPREC_FORMATS_PACKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/bytes.h"
#include "formats/region.h"

/* Written to disk. */
enum packet_kind {
	/* Events.  Each starts with the steps since the event before. */
	PACKET_SYSCALL = 1,	/* entry to and exit from the kernel */
	PACKET_SIGNAL = 2,	/* a signal is delivered between instructions */
	PACKET_VALUE = 3,	/* an instruction's result was captured */
	PACKET_EXIT = 4,	/* the thread ends */
	PACKET_FAULT = 5,	/* the next instruction cannot retire: a signal */
	PACKET_SLICE = 6,	/* the thread gets the processor: sequence packet */
	PACKET_GIVE_WAY = 7,	/* others change memory, at the end of a slice or
				   within it */
	PACKET_RETURN = 8,	/* a call that retired in a slice before is over */
	PACKET_INTERRUPT = 10,	/* a machine's processor is interrupted */
	PACKET_DMA = 12,	/* devices have used a machine's memory */
	PACKET_FIXED_CALL = 13,	/* the next instruction cannot be fetched: it is
				   a system call at a fixed address */
	/* 9 SEQUENCE: trace-format.md, 15 */

	/* Effects of the event before. */
	PACKET_REG = 16,	/* a register gets a value */
	PACKET_WRITE = 17,	/* memory gets contents from the read stream */
	PACKET_MAP = 18,
	PACKET_UNMAP = 19,
	PACKET_PROTECT = 20,
	PACKET_MOVE = 21,	/* pages move to other addresses (mremap) */
	PACKET_CLEAR = 22,	/* pages become zeros (madvise) */
	PACKET_DOUBT = 23,	/* pages may have changed: doubtful from here */
	PACKET_OUTPUT = 24,	/* the program wrote to a standard stream */
	PACKET_STORED = 25,	/* a page gets contents that are stored */

	/* Between events: found at the first access to a doubtful page. */
	PACKET_TOUCH = 32,

	/* Between events: at its first touch in this slice, memory that other
	 * threads have changed.  It is so since the slice began. */
	PACKET_SEEN = 33,	/* contents from the read stream */
	PACKET_SEEN_PAGE = 34,	/* all of a page; as in TOUCH */
};

#define PACKET_REG_SIZE_MAX 16u	/* bytes that REG can carry */
#define PACKET_REG_END 1024u	/* of numbers of registers, */
#define PACKET_INTERRUPT_END 512u	/* and of interrupts */

/* Written to disk: how the contents of a touched page are known. */
enum touch_source {
	TOUCH_STORED = 0,	/* `page_id` (0 is the page of zeros) */
	TOUCH_READS = 1,	/* GUEST_PAGE bytes in the read stream */
};

struct packet {
	enum packet_kind kind;
	/* Which members count depends on the kind, in this order on disk. */
	uint64_t steps;		/* events: since the event before */
	uint64_t number;	/* SYSCALL, RETURN and FIXED_CALL number, SIGNAL and FAULT signal, INTERRUPT: which, REG register,
				   OUTPUT descriptor (1 or 2), TOUCH and DOUBT:
				   the doubt's number */
	int64_t result;		/* SYSCALL, RETURN, FIXED_CALL: value of the result register;
				   EXIT: status, or -signal */
	guest_addr addr;	/* memory packets */
	guest_addr target;	/* MOVE: new address; MAP: of the common pages that
				   the region shows, or 0 */
	uint64_t size;		/* memory packets, REG: bytes */
	const uint8_t *value;	/* REG: `size` bytes */
	unsigned prot;		/* MAP, PROTECT */
	enum region_kind region;/* MAP */
	uint64_t offset;	/* MAP: in the file */
	const char *name;	/* MAP: `name_size` bytes, no final NUL */
	uint64_t name_size;
	enum touch_source source;	/* TOUCH, SEEN_PAGE, STORED */
	uint64_t page_id;		/* TOUCH_STORED */

	/* SLICE: what happened since the thread last had the processor. */
	uint64_t slices;	/* this slice's number in the segment less that
				   of the thread's slice before; at least 1 */
	uint64_t skipped;	/* steps that other threads retired */
	uint64_t doubts;	/* number of the newest doubt less that of the
				   newest that this stream knows */
};

/*
 * Addresses and numbers are coded as differences; both sides keep this beside
 * a stream.  Zeroed at the start of each segment, but for `doubt`, which is
 * that of the thread's key frame in the segment; if it has none there, of the
 * segment's first key frame.
 */
struct packet_state {
	guest_addr addr;	/* of the memory packet before */
	uint64_t doubt;		/* number of the newest doubt */
	uint64_t page_id;	/* of the TOUCH_STORED packet before */
	uint64_t slice;		/* number of the stream's newest slice */
};

static inline bool packet_is_event(enum packet_kind kind)
{
	return kind < PACKET_REG;
}

/*
 * Whether a packet that follows this event, before the next, tells what other
 * threads did: it was visited where they did it.
 */
static inline bool packet_is_told(enum packet_kind event,
				  enum packet_kind packet)
{
	return event == PACKET_SLICE && PACKET_REG <= packet &&
	       packet < PACKET_TOUCH;
}

/*
 * The memory whose contents an effect may change; of pages that move, where
 * they were, or their target.  False if it changes none.
 */
bool packet_changes(const struct packet *effect, bool target, guest_addr *addr,
		    uint64_t *size);

void packet_encode(struct output *out, struct packet_state *state,
		   const struct packet *packet);

/* Takes one packet; on failure neither `in` nor `state` has moved. */
int packet_decode(struct input *in, struct packet_state *state,
		  struct packet *out);

/* The kind's name in capitals, as `cprec dump` prints it; NULL if none. */
const char *packet_name(unsigned kind);

#endif
