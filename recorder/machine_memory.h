/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * machine_memory.h - what devices do with a machine's memory, and its recording
 *
 * Between two instructions memory is changed piece by piece; what it is in the
 * end is recorded, as one event.  Whole pages are stored once, whatever they
 * are of: a sector that is read again takes some bytes.
 *
 * Ownership:  machine_memory_release() frees; a zeroed structure is empty.
 * Errors:     ERR_NO_MEMORY, those of the trace.
 */
#ifndef CPREC_RECORDER_MACHINE_MEMORY_H
#define CPREC_RECORDER_MACHINE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "recorder/machine_trace.h"

struct machine_memory {
	struct machine_use {
		uint64_t addr, size;
		bool is_output;	/* else it was changed */
	} *list;
	size_t count, room;
	int error;
};

/* A device has changed memory; has taken output from there. */
void machine_memory_changed(struct machine_memory *memory, uint64_t addr,
			    uint64_t size);
void machine_memory_output(struct machine_memory *memory, uint64_t addr,
			   uint64_t size);

/* Records what is noted, if there is anything. */
int machine_memory_record(struct machine_memory *memory,
			  struct machine_trace *trace,
			  const struct board *board, struct failure *why);

void machine_memory_release(struct machine_memory *memory);

#endif
