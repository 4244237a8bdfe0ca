/* SPDX-License-Identifier: GPL-2.0-or-later */
/* replayer.c - a replayer: made, brought to a position, looked at */
#include "replayer/replayer.h"

#include <stdlib.h>
#include <string.h>

#include "formats/error.h"
#include "replayer/guests.h"
#include "replayer/replayer_internal.h"

/* ------- going to a position ------- */

void replayer_in_order(struct replayer *rep, bool in_order)
{
	rep->in_order = in_order;
}

int replayer_go(struct replayer *rep, const struct segment_position *to,
		struct failure *why)
{
	return rep->guest->go(rep, to, why);
}

int replayer_seek(struct replayer *rep, const struct position *to,
		  struct failure *why)
{
	struct segment_position place;
	int rc = recording_place(rep->recording, to, &place, why);

	if (!rc)
		rc = replayer_go(rep, &place, why);
	rep->position = *to;
	return rc;
}

int replayer_seek_frame(struct replayer *rep, size_t segment,
			struct failure *why)
{
	uint64_t t = recording_time(rep->recording, segment);
	struct segment_position place = { 0, t, 0 };
	int rc;

	if (segment)
		place = (struct segment_position){ segment - 1, t, EVENTS_ALL };
	rc = replayer_go(rep, &place, why);
	if (!rc && segment && events_next(rep))
		rc = events_never_came(rep, why);
	/* It is the turn of who starts the segment. */
	if (!rc && segment && segment < recording_segments(rep->recording))
		rc = turns_switch(rep, segment, start_stream(rep, segment),
				  why);
	if (rc)
		rep->loaded = false;
	rep->position = (struct position){ t, EVENTS_ALL };
	return rc;
}

int replayer_seek_in(struct replayer *rep, size_t segment, uint64_t t,
		     struct failure *why)
{
	int rc = rep->guest->seek_in(rep, segment, t, why);

	rep->position = (struct position){ t, EVENTS_ALL };
	return rc;
}

/* ------- looking ------- */

struct position position_now(const struct replayer *rep)
{
	return rep->guest->now(rep);
}

uint64_t replayer_time(const struct replayer *rep)
{
	return rep->guest->time(rep);
}

struct position replayer_position(const struct replayer *rep)
{
	return rep->position;
}

struct vm *replayer_vm(struct replayer *rep)
{
	return rep->vm;
}

void replayer_use_unused(struct replayer *rep,
			 const struct replay_unused *unused)
{
	rep->unused = unused;
}

void replayer_divert(struct replayer *rep,
		     const struct replay_diversion *diversion)
{
	rep->diversion = diversion;
	rep->was_diverted = true;
}

int replayer_diverted(struct replayer *rep, struct failure *why)
{
	int rc = rep->error;

	rep->error = 0;
	return rc ? failed(why, rc, "%s", rep->why.text) : 0;
}

void replayer_rejoin(struct replayer *rep)
{
	rep->diversion = NULL;
	rep->loaded = false;
}

int replayer_read(struct replayer *rep, uint64_t addr, uint8_t *bytes,
		  uint8_t *known, size_t size, struct failure *why)
{
	return rep->guest->read(rep, addr, bytes, known, size, why);
}

bool replayer_peek(struct replayer *rep, uint64_t addr, uint8_t *bytes,
		   size_t size)
{
	return rep->guest->peek(rep, addr, bytes, size);
}

guest_addr replayer_home(struct replayer *rep, guest_addr addr)
{
	return rep->guest->home(rep, addr);
}

guest_addr replayer_address(struct replayer *rep, guest_addr home)
{
	return rep->guest->address(rep, home);
}

void replayer_use_space(struct replayer *rep, const struct address_space *space)
{
	rep->space = *space;
	rep->guest->use_space(rep, space);
}

const struct address_space *replayer_space(const struct replayer *rep)
{
	return &rep->space;
}

uint64_t replayer_reg(struct replayer *rep, unsigned reg)
{
	return rep->guest->reg(rep, reg);
}

void replayer_registers(struct replayer *rep, struct reg_file *out)
{
	rep->guest->registers(rep, out);
}

int replayer_thread_registers(struct replayer *rep, uint32_t stream,
			      struct reg_file *out, struct failure *why)
{
	return rep->guest->of_thread(rep, stream, out, why);
}

void replayer_instruction(struct replayer *rep, guest_addr pc,
			  const uint8_t *code, size_t size,
			  enum vm_syntax syntax, struct vm_instruction *out)
{
	rep->guest->instruction(rep, pc, code, size, syntax, out);
}

bool replayer_is_at(const struct replayer *rep, const struct position *position)
{
	struct position now;

	if (!rep->loaded || rep->diversion)
		return false;
	now = position_now(rep);
	return !position_compare(&now, position);
}

/* ------- making one ------- */

int replayer_create(struct replayer **out, struct recording *recording,
		    struct failure *why)
{
	struct replayer *rep = calloc(1, sizeof(*rep));
	int rc;

	if (!rep)
		return failed(why, ERR_NO_MEMORY, "out of memory");
	rep->recording = recording;
	rep->guest = recording_is_machine(recording) ? &guest_machine :
						       &guest_program;
	rep->cancelled = recording_cancelled(recording);
	points_init(&rep->points);
	rep->regs = recording_reg_table(recording);
	rep->threads = calloc(recording_threads(recording),
			      sizeof(*rep->threads));
	if (!rep->threads)
		rc = failed(why, ERR_NO_MEMORY, "out of memory");
	else
		rc = rep->guest->make(rep, why);
	if (rc) {
		replayer_destroy(rep);
		return rc;
	}
	*out = rep;
	return 0;
}

void replayer_destroy(struct replayer *rep)
{
	if (!rep)
		return;
	rep->guest->end(rep);
	free(rep->threads);
	points_release(&rep->points);
	script_release(&rep->script);
	segment_index_release(&rep->index);
	cache_release(&rep->cache);
	free(rep->observers);
	free(rep->peeked);
	free(rep->wanted);
	number_map_release(&rep->supplied);
	free(rep);
}
