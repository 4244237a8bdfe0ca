/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * machine_internal.h - a machine that is recorded, or only lives
 *
 * machine.c runs it and records what happens; machine_devices.c what devices
 * are; machine_reset.c has it begin anew; machine_live.c takes it over from a
 * replay.
 */
#ifndef CPREC_RECORDER_MACHINE_INTERNAL_H
#define CPREC_RECORDER_MACHINE_INTERNAL_H

#include <poll.h>

#include "recorder/machine.h"
#include "recorder/machine_memory.h"
#include "recorder/machine_panic.h"

#define OUTPUT_ROOM 1024u
#define TYPED_MOST 64u
#define SOCKETS_MOST 256u

struct machine {
	const struct machine_options *options;
	const struct live_kind *kind;
	void *live;
	struct board *board;
	struct board_world world;
	struct machine_trace trace;
	struct machine_memory memory;	/* as devices use it */
	struct machine_panic panic;
	struct reg_file first;	/* before anything was put into it */
	bool input_closed, stopped, is_connected;
	unsigned end;		/* how it ends, */
	bool has_end;		/* by itself */
	bool is_live;		/* nothing is recorded */
	bool follows;		/* a replay; nobody is to see what it says */
	struct pollfd sockets[SOCKETS_MOST];
	uint64_t spoken;	/* ticks, when the console was last used */
	uint8_t output[OUTPUT_ROOM];
	size_t output_count;
};

/* The devices, and the world that the board has in them; there is no board. */
int machine_create_world(struct machine *machine, struct failure *why);

/* Runs to the next stop and does what it asks for; `*on`: the machine does. */
int machine_advance(struct machine *machine, bool *on, struct failure *why);

/* Behind a key frame: what devices are, and what was written to disks. */
int machine_record_devices(struct machine *machine, struct failure *why);

/* Devices do what they were asked for, and it is recorded. */
int machine_work(struct machine *machine, struct failure *why);

/* After a reset it begins anew. */
int machine_reset(struct machine *machine, struct failure *why);

void machine_tell_ending(const struct machine *machine,
			 struct machine_ending *out);

void machine_write_output(struct machine *machine);

/* Frees it, too. */
void machine_destroy(struct machine *machine);

#endif
