/* SPDX-License-Identifier: GPL-2.0-or-later */
/* replayer.c - a replayer: made, brought to a position, looked at */
#include "replayer/replayer.h"

#include <stdlib.h>
#include <string.h>

#include "formats/error.h"
#include "index/index.h"
#include "replayer/replayer_internal.h"

/* ------- going to a position ------- */

/* Goes on from the end of one segment into the next. */
static int cross(struct replayer *rep, struct failure *why)
{
	struct key_frame frame = { 0 };
	size_t segment = rep->segment + 1;
	int rc;

	if (events_next(rep))
		return events_never_came(rep, why);
	rc = doubtful_touch_rest(rep, why);
	if (!rc)
		rc = recording_key_frame(rep->recording, segment, &frame, why);
	if (!rc)
		rc = start_script(rep, segment, &frame, why);
	if (!rc)
		rc = turns_switch(rep, segment, start_stream(rep, segment),
				  why);
	if (!rc)
		doubtful_anew(rep, &frame);
	key_frame_release(&frame);
	if (rc)
		rep->loaded = false;
	return rc;
}

void replayer_in_order(struct replayer *rep, bool in_order)
{
	rep->in_order = in_order;
}

static bool is_ahead(const struct replayer *rep,
		     const struct segment_position *to)
{
	uint64_t now = vm_steps(rep->vm);

	if (!rep->loaded || to->segment < rep->segment || to->time < now)
		return false;
	if (to->segment == rep->segment)
		return to->time > now || to->events >= events_done(rep);
	/* Crossing keeps the translations. */
	return rep->in_order || to->segment == rep->segment + 1;
}

/* Events behind the end of the recording never come. */
static bool is_overdue(const struct replayer *rep, uint64_t t)
{
	const struct script_event *next = events_next(rep);

	return next && t == recording_end(rep->recording) &&
	       rep->start + next->time > t;
}

/* Somebody who goes back by little will do so again. */
static bool steps_back(const struct replayer *rep,
		       const struct segment_position *to)
{
	return rep->loaded && !rep->in_order &&
	       (to->segment == rep->segment || to->segment + 1 == rep->segment);
}

/* Starts anew, where that is needed or better. */
static int start(struct replayer *rep, const struct segment_position *to,
		 struct failure *why)
{
	bool ahead = is_ahead(rep, to);
	bool lays = !ahead && steps_back(rep, to);
	int rc;

	if (ahead && (rep->in_order || rep->observer_count ||
		      !points_are_nearer(rep, to)))
		return 0;
	if (rep->in_order)
		return start_at_frame(rep, 0, why);
	rc = points_start(rep, to, why);
	if (!rc && lays && !rep->observer_count)
		rc = points_lay(rep, to, why);
	return rc;
}

int replayer_go(struct replayer *rep, const struct segment_position *to,
		struct failure *why)
{
	int rc = start(rep, to, why);

	while (!rc && rep->segment < to->segment) {
		uint64_t end =
			recording_time(rep->recording, rep->segment + 1);

		rc = events_run(rep, end, EVENTS_ALL, why);
		if (!rc)
			rc = cross(rep, why);
	}
	if (!rc && !rep->observer_count && !rep->in_order)
		rc = points_store_on_way(rep, to, why);
	if (!rc && rep->expects_back && !rep->observer_count && !rep->in_order)
		rc = points_lay_near(rep, to, why);
	if (!rc)
		rc = events_run(rep, to->time, to->events, why);
	if (!rc && is_overdue(rep, to->time))
		rc = events_never_came(rep, why);
	/* What is half done cannot be gone on with. */
	if (rc < 0)
		rep->loaded = false;
	return rc;
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
	const struct segment_position place = { segment, t, EVENTS_ALL };
	int rc = 0;

	/* What is known of shared pages must be what a key frame led to. */
	if (!rep->loaded || rep->segment != segment || !is_ahead(rep, &place))
		rc = start_at_frame(rep, segment, why);
	if (!rc)
		rc = events_run(rep, t, EVENTS_ALL, why);
	if (rc)
		rep->loaded = false;
	rep->position = (struct position){ t, EVENTS_ALL };
	return rc;
}

/* ------- looking ------- */

uint64_t replayer_time(const struct replayer *rep)
{
	return vm_steps(rep->vm);
}

struct position replayer_position(const struct replayer *rep)
{
	return rep->position;
}

struct vm *replayer_vm(struct replayer *rep)
{
	return rep->vm;
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

static bool is_shared(const struct replayer *rep, guest_addr addr)
{
	const struct region *region = memory_region_at(rep->memory, addr);

	return region && region->kind == REGION_SHARED;
}

/* The page stays doubtful: until it is touched, something else is known. */
static int read_touch(struct replayer *rep, const struct script_touch *touch,
		      uint64_t addr, uint8_t *bytes, uint8_t *known,
		      size_t size, struct failure *why)
{
	uint8_t contents[GUEST_PAGE];
	int rc = script_touch_contents(touch, rep->recording, contents, why);

	if (rc)
		return rc;
	memcpy(bytes, contents + addr % GUEST_PAGE, size);
	memset(known, 1, size);
	return 0;
}

/* One page, or a part of it. */
static int read_part(struct replayer *rep, uint64_t addr, uint8_t *bytes,
		     uint8_t *known, size_t size, struct failure *why)
{
	uint64_t page = memory_home(rep->memory, addr) >> GUEST_PAGE_SHIFT;
	uint64_t doubt = memory_page_doubt(rep->memory, page);
	const struct script_touch *touch;

	memset(known, 0, size);
	/* What the guest will see at its first touch, it holds already. */
	touch = doubt ? script_find_touch(&rep->script, page, doubt) : NULL;
	if (doubt && !touch)
		return 0;
	if (doubt && is_shared(rep, addr))
		return read_touch(rep, touch, addr, bytes, known, size, why);
	if (memory_look(rep->memory, addr, bytes, size))
		return 0;	/* not mapped */
	memset(known, 1, size);
	return rep->error ? failed(why, rep->error, "%s", rep->why.text) : 0;
}

int replayer_read(struct replayer *rep, uint64_t addr, uint8_t *bytes,
		  uint8_t *known, size_t size, struct failure *why)
{
	int rc = 0;

	while (size && !rc) {
		size_t span = GUEST_PAGE - addr % GUEST_PAGE;

		if (span > size)
			span = size;
		rc = read_part(rep, addr, bytes, known, span, why);
		addr += span;
		bytes += span;
		known += span;
		size -= span;
	}
	return rc;
}

bool replayer_is_at(const struct replayer *rep, const struct position *position)
{
	struct position now;

	if (!rep->loaded || rep->diversion)
		return false;
	now = position_now(rep);
	return !position_compare(&now, position);
}

static bool is_doubtful(const struct replayer *rep, uint64_t addr)
{
	return memory_page_doubt(rep->memory, memory_home(rep->memory, addr) >>
						      GUEST_PAGE_SHIFT);
}

bool replayer_peek(struct replayer *rep, uint64_t addr, uint8_t *bytes,
		   size_t size)
{
	return addr % GUEST_PAGE + size <= GUEST_PAGE &&
	       !is_doubtful(rep, addr) &&
	       !memory_look(rep->memory, addr, bytes, size) && !rep->error;
}

/* ------- making one ------- */

static bool on_expects(void *context, uint64_t page)
{
	struct replayer *rep = context;

	return page_index_is_touched(&rep->index, page);
}

int replayer_make_vm(struct replayer *rep, struct failure *why)
{
	struct memory_observer observer = {
		.context = rep, .resolve = doubtful_resolve,
		.supply = replayer_supply, .expects = on_expects,
	};
	int rc = processor_check(
		rep->regs->arch, &recording_meta(rep->recording)->processor,
		trace_reader_path(recording_reader(rep->recording)), why);

	if (!rc)
		rc = vm_create(&rep->vm, rep->regs->arch, &observer, why);
	if (rc)
		return rc;
	vm_behave_as(rep->vm,
		     recording_meta(rep->recording)->processor.behaviour);
	rep->memory = vm_memory(rep->vm);
	rep->home = vm_thread_current(rep->vm);
	return 0;
}

int replayer_create(struct replayer **out, struct recording *recording,
		    struct failure *why)
{
	struct replayer *rep;
	int rc = recording_check_program(recording, why);

	if (rc)
		return rc;
	rep = calloc(1, sizeof(*rep));
	if (!rep)
		return failed(why, ERR_NO_MEMORY, "out of memory");
	rep->recording = recording;
	rep->cancelled = recording_cancelled(recording);
	points_init(&rep->points);
	rep->regs = recording_reg_table(recording);
	rep->threads = calloc(recording_threads(recording),
			      sizeof(*rep->threads));
	if (!rep->threads)
		rc = failed(why, ERR_NO_MEMORY, "out of memory");
	else
		rc = replayer_make_vm(rep, why);
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
	turns_end(rep);
	vm_destroy(rep->vm);
	free(rep->threads);
	points_release(&rep->points);
	script_release(&rep->script);
	segment_index_release(&rep->index);
	cache_release(&rep->cache);
	free(rep->observers);
	free(rep->peeked);
	free(rep->wanted);
	free(rep);
}
