/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * machine_internal.h - a machine that is recorded, or only lives
 *
 * machine.c runs it and records what happens; machine_cores.c has its cores
 * take turns; machine_devices.c records what devices are; machine_reset.c has
 * it begin anew; machine_live.c takes it over from a replay.
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

/* Whose turn it is, the board knows. */
struct machine_cores {
	unsigned count;
	bool waits[BOARD_CORES_MOST];	/* behind a WFI */
	bool is_stuck[BOARD_CORES_MOST];	/* as board_is_stuck(), when it
						   was last asked */
	uint64_t turn_start;	/* steps */
	bool is_alone;		/* no other core could have a turn, when the
				   present one began to run */
};

struct machine {
	const struct machine_options *options;
	const struct live_kind *kind;
	void *live;
	struct board *board;
	struct board_world world;
	struct machine_cores cores;
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
	unsigned accesses;	/* of devices, since the last look for input */
	uint8_t output[OUTPUT_ROOM];
	size_t output_count;
};

/* The devices, and the world that the board has in them; there is no board. */
int machine_create_world(struct machine *machine, struct failure *why);

/* Time passes, to `tick` at most; `*ended`: nothing will happen any more. */
void machine_pass_time(struct machine *machine, uint64_t tick, bool *ended);

/* The effects of an event are recorded behind it. */
void machine_record_event(struct machine *machine, struct packet *packet);

/* ------- machine_cores.c ------- */

/*
 * Time passes until a core can go on: which one that is.  If none ever can, or
 * somebody wants an end, it is the present one.
 */
unsigned machine_cores_wait(struct machine *machine, bool *ended);

/* It is a core's turn; if that is the present one, it goes on. */
void machine_cores_turn(struct machine *machine, unsigned core);

/* Of a run: it begins; when it must end, so that others have their turn;
 * something has happened meanwhile; it has come to its end. */
void machine_cores_begin_run(struct machine *machine);
uint64_t machine_cores_run_end(const struct machine *machine);
void machine_cores_look(struct machine *machine);
void machine_cores_end_run(struct machine *machine);

/* Whether all cores that are on are stuck. */
bool machine_cores_are_stuck(struct machine *machine);

/* After a reset only the first one is on, and present. */
void machine_cores_reset(struct machine *machine);

/* Runs to the next stop and does what it asks for; `*on`: the machine does. */
int machine_advance(struct machine *machine, bool *on, struct failure *why);

/* It has stopped, and what that asks for is to be done. */
int machine_attend(struct machine *machine, enum board_stop stop, bool *on,
		   struct failure *why);

/* Behind a key frame: what devices are, and what was written to disks. */
int machine_record_devices(struct machine *machine, struct failure *why);

/* Devices do what they were asked for, and it is recorded. */
int machine_work(struct machine *machine, struct failure *why);

/* After a reset it begins anew. */
int machine_reset(struct machine *machine, struct failure *why);

/* Registers of the present core are as before anything was executed; effects
 * that say so. */
void machine_reset_registers(struct machine *machine);
void machine_record_registers(struct machine *machine);

void machine_tell_ending(const struct machine *machine,
			 struct machine_ending *out);

void machine_write_output(struct machine *machine);

/* Frees it, too. */
void machine_destroy(struct machine *machine);

#endif
