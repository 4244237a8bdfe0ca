/* SPDX-License-Identifier: GPL-2.0-or-later */
/* trail.c - see trail.h */
#include "replayer/session/trail.h"

#include <stdlib.h>
#include <string.h>

#include "formats/array.h"
#include "formats/error.h"
#include "replayer/replayer.h"
#include "vm/vm.h"

/*
 * How many instructions are replayed at once: more each time that somebody
 * walks on behind what was kept.  The registers of one take some 700 bytes.
 */
#define LENGTH_LEAST 256u
#define LENGTH_MOST 16384u

/* An instruction has written this, which is there from time `from` on. */
struct written {
	uint64_t from;
	guest_addr addr;	/* as memory_home() has it */
	uint64_t value;
	uint8_t size;
};

/* The kernel has changed something here. */
struct changed {
	struct position from;
	guest_addr first, last;
};

struct trail {
	struct query *query;
	struct recording *recording;
	const struct reg_table *regs;

	/* All stops at or behind `from` and before `to`. */
	struct position from, to;
	uint64_t length;
	struct trail_stop *stops;
	size_t count, room;
	uint8_t *registers;		/* of each, regs->bytes */
	size_t registers_room;
	struct written *writes;		/* in order */
	size_t write_count, write_room;
	struct changed *changes;	/* the same */
	size_t change_count, change_room;
	struct position *outputs;	/* something has been printed; the same */
	size_t output_count, output_room;

	/* While it is made: */
	struct replayer *rep;
	struct position now;		/* behind the last event */
	bool is_out_of_memory;
};

int trail_create(struct trail **out, struct query *query, struct failure *why)
{
	struct trail *trail = calloc(1, sizeof(*trail));

	if (!trail)
		return failed(why, ERR_NO_MEMORY, "out of memory");
	trail->query = query;
	trail->recording = query_recording(query);
	trail->regs = recording_reg_table(trail->recording);
	*out = trail;
	return 0;
}

void trail_destroy(struct trail *trail)
{
	if (!trail)
		return;
	free(trail->stops);
	free(trail->registers);
	free(trail->writes);
	free(trail->changes);
	free(trail->outputs);
	free(trail);
}

/* ------- making it ------- */

static struct trail_stop *last_of(const struct trail *trail)
{
	return trail->count ? &trail->stops[trail->count - 1] : NULL;
}

static void add(struct trail *trail, const struct trail_stop *stop)
{
	const unsigned size = trail->regs->bytes;
	struct reg_file regs;

	if (trail->is_out_of_memory)
		return;
	if (array_room(trail->stops, trail->count, trail->room)) {
		trail->is_out_of_memory = true;
		return;
	}
	if (trail->registers_room < trail->room) {
		uint8_t *more = realloc(trail->registers, trail->room * size);

		if (!more) {
			trail->is_out_of_memory = true;
			return;
		}
		trail->registers = more;
		trail->registers_room = trail->room;
	}
	replayer_registers(trail->rep, &regs);
	/* The guest may not have written down yet where it stands. */
	reg_set(trail->regs, &regs, trail->regs->pc, stop->pc);
	memcpy(trail->registers + trail->count * size, regs.bytes, size);
	trail->stops[trail->count++] = *stop;
}

static void on_instruction(void *context, uint64_t time, guest_addr pc)
{
	struct trail *trail = context;
	const struct trail_stop *last = last_of(trail);
	const struct trail_stop stop = {
		.at = { time, time == trail->now.time ? trail->now.events : 0 },
		.stream = replayer_stream(trail->rep), .pc = pc,
	};

	/* One that is told again goes on. */
	if (!last || position_compare(&last->at, &stop.at))
		add(trail, &stop);
}

static void on_accessed(void *context, const struct vm_access_told *list,
			size_t count)
{
	struct trail *trail = context;

	for (size_t i = 0; i < count; i++) {
		if (trail->is_out_of_memory ||
		    array_room(trail->writes, trail->write_count,
			       trail->write_room)) {
			trail->is_out_of_memory = true;
			return;
		}
		trail->writes[trail->write_count++] = (struct written) {
			.from = list[i].steps + 1, .addr = list[i].addr,
			.value = list[i].value, .size = list[i].size,
		};
	}
}

static void note_output(struct trail *trail, const struct position *from)
{
	if (trail->is_out_of_memory ||
	    array_room(trail->outputs, trail->output_count,
		       trail->output_room)) {
		trail->is_out_of_memory = true;
		return;
	}
	trail->outputs[trail->output_count++] = *from;
}

/* What an event does to memory, or prints, is there behind it. */
static void note_changes(struct trail *trail, const struct replay_event *event)
{
	struct position from = replayer_now(trail->rep);

	from.events += position_counts(event->packet->kind);
	for (size_t i = 0; i < event->count; i++) {
		const struct packet *effect = replay_event_effect(event, i);
		struct changed changed = {
			from, effect->addr, effect->addr + effect->size - 1,
		};

		if (effect->kind == PACKET_OUTPUT)
			note_output(trail, &from);
		if (effect->kind == PACKET_REG || effect->kind == PACKET_OUTPUT)
			continue;
		/* It changes two places. */
		if (effect->kind == PACKET_MOVE || !effect->size)
			changed.first = 0, changed.last = UINT64_MAX;
		if (trail->is_out_of_memory ||
		    array_room(trail->changes, trail->change_count,
			       trail->change_room)) {
			trail->is_out_of_memory = true;
			return;
		}
		trail->changes[trail->change_count++] = changed;
	}
}

static void on_event(void *context, const struct replay_event *event)
{
	struct trail *trail = context;
	enum packet_kind kind = event->packet->kind;
	struct trail_stop stop = {
		.at = replayer_now(trail->rep),
		.stream = replayer_stream(trail->rep),
		.pc = replayer_reg(trail->rep, trail->regs->pc),
	};
	struct trail_stop *last = last_of(trail);

	note_changes(trail, event);
	if (kind == PACKET_SIGNAL || kind == PACKET_FAULT)
		stop.signal = event->packet->number;
	if (!stop.signal && kind != PACKET_FIXED_CALL)
		return;
	/* An instruction that faults may have been told. */
	if (last && !position_compare(&last->at, &stop.at))
		last->signal = stop.signal;
	else
		add(trail, &stop);
}

static void on_event_done(void *context, const struct replay_event *event)
{
	struct trail *trail = context;

	(void)event;
	trail->now = replayer_now(trail->rep);
}

static void on_turn(void *context, bool after)
{
	struct trail *trail = context;

	if (after)
		trail->now = replayer_now(trail->rep);
}

static void forget(struct trail *trail)
{
	trail->count = trail->write_count = trail->change_count = 0;
	trail->output_count = 0;
	trail->from = trail->to = (struct position){ 0 };
}

static int replay(struct trail *trail, struct failure *why)
{
	const struct replay_observer observer = {
		.guest = { .instruction = on_instruction,
			   .code = VM_EVERYWHERE, .accessed = on_accessed,
			   .accesses = VM_WRITES | VM_VALUES,
			   .data = VM_EVERYWHERE, .context = trail },
		.event = on_event, .event_done = on_event_done,
		.turn = on_turn, .context = trail,
	};
	const struct replay_until until = { .to = trail->to };
	struct replay_stop stop;
	int rc = replayer_seek(trail->rep, &trail->from, why);

	if (rc)
		return rc;
	trail->now = replayer_now(trail->rep);
	rc = replayer_observe(trail->rep, &observer, why);
	if (!rc)
		rc = replayer_run(trail->rep, &until, &stop, why);
	replayer_unobserve(trail->rep, &observer);
	if (!rc && trail->is_out_of_memory)
		rc = failed(why, ERR_NO_MEMORY, "out of memory");
	return rc;
}

/* Stops from one position to another, as far as the recording goes. */
static int make(struct trail *trail, const struct position *from,
		const struct position *to, struct failure *why)
{
	const struct position end = { recording_end(trail->recording),
				      EVENTS_ALL };
	int rc = query_replayer(trail->query, &trail->rep, why);

	forget(trail);
	trail->is_out_of_memory = false;
	if (rc)
		return rc;
	replayer_expect_back(trail->rep);
	trail->from = *from;
	trail->to = position_compare(to, &end) > 0 ? end : *to;
	rc = replay(trail, why);
	if (rc)
		forget(trail);
	return rc;
}

/* ------- finding a stop ------- */

/* How many stops are before a position. */
static size_t before(const struct trail *trail, const struct position *at)
{
	size_t first = 0, end = trail->count;

	while (first < end) {
		size_t middle = first + (end - first) / 2;

		if (position_compare(&trail->stops[middle].at, at) < 0)
			first = middle + 1;
		else
			end = middle;
	}
	return first;
}

/* At `at`, or NULL. */
static const struct trail_stop *stop_at(const struct trail *trail, size_t index,
					const struct position *at)
{
	if (index >= trail->count ||
	    position_compare(&trail->stops[index].at, at))
		return NULL;
	return &trail->stops[index];
}

/* Takes the stop if it is the stream's; it is passed otherwise. */
static bool take(const struct trail_stop *stop, uint32_t stream,
		 struct trail_stop *out)
{
	bool others = out->others;

	if (stop->stream != stream) {
		out->others = true;
		return false;
	}
	*out = *stop;
	out->others = others;
	return true;
}

/* Whether something was printed behind a position, up to another one. */
static bool has_printed(const struct trail *trail, const struct position *from,
			const struct position *to)
{
	for (size_t i = 0; i < trail->output_count; i++)
		if (position_compare(from, &trail->outputs[i]) < 0 &&
		    position_compare(&trail->outputs[i], to) <= 0)
			return true;
	return false;
}

static bool find_next(const struct trail *trail, const struct position *at,
		      uint32_t stream, struct trail_stop *out)
{
	size_t i = before(trail, at);

	out->others = false;
	for (i += stop_at(trail, i, at) != NULL; i < trail->count; i++) {
		if (!take(&trail->stops[i], stream, out))
			continue;
		out->prints = has_printed(trail, at, &out->at);
		return true;
	}
	return false;
}

static bool find_previous(const struct trail *trail, const struct position *at,
			  uint32_t stream, struct trail_stop *out)
{
	out->others = false;
	for (size_t i = before(trail, at); i-- > 0;)
		if (take(&trail->stops[i], stream, out))
			return true;
	return false;
}

static bool has(const struct trail *trail, const struct position *at)
{
	return position_compare(&trail->from, at) <= 0 &&
	       position_compare(at, &trail->to) <= 0;
}

/* A walk that goes on is a long one. */
static void choose_length(struct trail *trail, bool goes_on)
{
	trail->length *= 4;
	if (!goes_on || trail->length < LENGTH_LEAST)
		trail->length = LENGTH_LEAST;
	if (trail->length > LENGTH_MOST)
		trail->length = LENGTH_MOST;
}

/*
 * The time before the instruction of a stream that retires as the `number`th
 * from one time on, or before it if `number` is less than 1; ERR_NOT_FOUND.
 */
static int instruction_time(struct trail *trail, uint32_t stream, uint64_t t,
			    int number, uint64_t *out, struct failure *why)
{
	uint32_t thread = recording_thread_of(trail->recording, stream, t);
	uint32_t tid;
	uint64_t own;
	int rc = recording_tid(trail->recording, thread, &tid, why);

	if (!rc)
		rc = recording_steps(trail->recording, thread, t, &own, why);
	if (!rc && number < 1 && own < (uint64_t)(1 - number))
		rc = failed(why, ERR_NOT_FOUND, "the thread begins there");
	if (!rc)
		rc = recording_time_of(trail->recording, tid, own + number,
				       out, why);
	if (!rc)
		--*out;
	return rc;
}

/* A position that says how many events have taken effect. */
static int settle(struct trail *trail, const struct position *asked,
		  struct position *out, struct failure *why)
{
	int rc = 0;

	*out = *asked;
	if (asked->events != EVENTS_ALL)
		return 0;
	rc = query_replayer(trail->query, &trail->rep, why);
	if (!rc)
		rc = replayer_seek(trail->rep, asked, why);
	if (!rc)
		*out = replayer_now(trail->rep);
	return rc;
}

int trail_at(struct trail *trail, const struct position *asked,
	     uint32_t stream, struct trail_stop *out, struct failure *why)
{
	const struct trail_stop *found;
	struct position at, to;
	int rc = settle(trail, asked, &at, why);

	if (!rc && !has(trail, &at)) {
		choose_length(trail, false);
		to = (struct position){ at.time + trail->length, EVENTS_ALL };
		rc = make(trail, &at, &to, why);
	}
	if (rc)
		return rc;
	found = stop_at(trail, before(trail, &at), &at);
	if (!found || found->stream != stream)
		return failed(why, ERR_NOT_FOUND, "the thread is elsewhere");
	*out = *found;
	return 0;
}

int trail_next(struct trail *trail, const struct position *asked,
	       uint32_t stream, struct trail_stop *out, struct failure *why)
{
	struct trail_stop found = { 0 };
	struct position from, to, settled;
	const struct position *at = &settled;
	bool is_found = false;
	uint64_t next;
	int rc = settle(trail, asked, &settled, why);

	if (rc)
		return rc;
	from = settled;
	if (has(trail, at))
		is_found = find_next(trail, at, stream, &found);
	if (!is_found) {
		choose_length(trail, has(trail, at));
		to = (struct position){ at->time + trail->length, EVENTS_ALL };
		rc = make(trail, &from, &to, why);
		is_found = !rc && find_next(trail, at, stream, &found);
	}
	/* Others run for long. */
	if (!rc && !is_found) {
		rc = instruction_time(trail, stream, trail->to.time, 1, &next,
				      why);
		from = (struct position){ next, 0 };
		to = (struct position){ next + trail->length, EVENTS_ALL };
		if (!rc && next >= trail->to.time)
			rc = make(trail, &from, &to, why);
		is_found = !rc && find_next(trail, at, stream, &found);
		found.others = true;
	}
	if (!rc && !is_found)
		rc = failed(why, ERR_NOT_FOUND, "the thread goes no further");
	if (!rc)
		*out = found;
	return rc;
}

static uint64_t back_from(const struct trail *trail, uint64_t t)
{
	uint64_t start = recording_start(trail->recording);

	return t - start > trail->length ? t - trail->length : start;
}

int trail_previous(struct trail *trail, const struct position *asked,
		   uint32_t stream, struct trail_stop *out,
		   struct failure *why)
{
	struct trail_stop found = { 0 };
	struct position from, to, settled;
	const struct position *at = &settled;
	bool is_found = false;
	uint64_t last;
	int rc = settle(trail, asked, &settled, why);

	if (rc)
		return rc;
	to = settled;
	if (has(trail, at))
		is_found = find_previous(trail, at, stream, &found);
	if (!is_found) {
		choose_length(trail, has(trail, at));
		from = (struct position){ back_from(trail, at->time), 0 };
		rc = make(trail, &from, &to, why);
		is_found = !rc && find_previous(trail, at, stream, &found);
	}
	/* Others have run for long. */
	if (!rc && !is_found) {
		rc = instruction_time(trail, stream, trail->from.time, 0,
				      &last, why);
		to = (struct position){ last + 1, 0 };
		from = (struct position){ back_from(trail, to.time), 0 };
		if (!rc)
			rc = make(trail, &from, &to, why);
		is_found = !rc && find_previous(trail, at, stream, &found);
		found.others = true;
	}
	if (!rc && !is_found)
		rc = failed(why, ERR_NOT_FOUND, "the thread begins there");
	if (!rc)
		*out = found;
	return rc;
}

/* ------- looking ------- */

static bool is_changed(const struct trail *trail, const struct position *at,
		       uint64_t addr, size_t size)
{
	for (size_t i = 0; i < trail->change_count; i++) {
		const struct changed *changed = &trail->changes[i];

		if (position_compare(&changed->from, at) <= 0 &&
		    changed->first <= addr + size - 1 && addr <= changed->last)
			return true;
	}
	return false;
}

/* What was written until then to `size` bytes at `home`. */
static void overlay(const struct trail *trail, uint64_t time, guest_addr home,
		    uint8_t *bytes, size_t size)
{
	for (size_t i = 0; i < trail->write_count; i++) {
		const struct written *write = &trail->writes[i];

		if (write->from > time)
			break;
		if (write->addr >= home + size ||
		    write->addr + write->size <= home)
			continue;
		for (unsigned byte = 0; byte < write->size; byte++)
			if (write->addr + byte - home < size)
				bytes[write->addr + byte - home] =
					write->value >> 8 * byte;
	}
}

/*
 * As of the beginning, and what was written since.  Not of a machine: what an
 * address means there may have changed since.
 */
bool trail_read(struct trail *trail, const struct position *at, uint64_t addr,
		uint8_t *bytes, size_t size)
{
	size_t room = size ? size : 1;
	struct query_answer answer;
	uint8_t *known;
	bool is_known;

	/* The replayer may be another one by now. */
	if (!trail->count || recording_is_machine(trail->recording) ||
	    query_replayer(trail->query, &trail->rep, NULL) ||
	    !has(trail, at) || size - 1 > UINT64_MAX - addr ||
	    is_changed(trail, at, addr, size))
		return false;
	known = malloc(room);
	is_known = known &&
		   !query_memory(trail->query, addr, &trail->from, bytes,
				 known, size, &answer, NULL) &&
		   answer.as_of == QUERY_CERTAIN && !memchr(known, 0, size);
	free(known);
	for (size_t done = 0; is_known && done < size;) {
		size_t part = GUEST_PAGE - (addr + done) % GUEST_PAGE;

		if (part > size - done)
			part = size - done;
		overlay(trail, at->time,
			replayer_home(trail->rep, addr + done),
			bytes + done, part);
		done += part;
	}
	return is_known;
}

bool trail_registers(const struct trail *trail, const struct position *at,
		     uint32_t stream, struct reg_file *out)
{
	size_t index = before(trail, at);
	const struct trail_stop *stop = stop_at(trail, index, at);

	if (!stop || stop->stream != stream)
		return false;
	memcpy(out->bytes, trail->registers + index * trail->regs->bytes,
	       trail->regs->bytes);
	return true;
}
