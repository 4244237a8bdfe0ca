/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * register_history.h - what wrote a register last
 *
 * The instructions before a time are looked at one by one, in windows that
 * grow until one is found that wrote the register.
 *
 * Units:      times are retired instructions of the recording.
 * Ownership:  all is the caller's.
 * Errors:     those of replayer.h; ERR_NOT_FOUND if the thread is not there;
 *             ERR_INPUT (no such register, or the program counter).
 */
#ifndef CPREC_REPLAYER_SESSION_REGISTER_HISTORY_H
#define CPREC_REPLAYER_SESSION_REGISTER_HISTORY_H

#include <stdbool.h>
#include <stdint.h>

#include "formats/packet.h"
#include "formats/registers.h"
#include "replayer/recording/recording.h"
#include "replayer/session/query.h"

struct register_question {
	const struct reg_named *named;	/* register_to_ask() */
	bool some_thread;	/* else the one whose turn it is */
	uint32_t tid;
	struct position at;	/* what wrote it before */
};

struct register_write {
	struct position before;	/* the instruction, or the event */
	uint32_t stream;
	guest_addr pc;		/* of the instruction */
	bool by_event;		/* of this kind, with this number: */
	enum packet_kind event;
	uint64_t number;
	uint8_t old[16], new[16];	/* as much as it has */
};

/* A register by its name: any but the program counter. */
int register_to_ask(const struct reg_table *table, const char *name,
		    struct reg_named *out, struct failure *why);

/* `*found` is false if nothing wrote it since the thread began. */
int register_last_write(struct query *query,
			const struct register_question *question,
			struct register_write *out, bool *found,
			struct failure *why);

#endif
