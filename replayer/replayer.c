/* SPDX-License-Identifier: GPL-2.0-or-later */
/* replayer.c - a replayer: made, brought to a position, looked at */
#include "replayer/replayer.h"

#include <stdlib.h>
#include <string.h>

#include "formats/error.h"
#include "index/index.h"
#include "replayer/replayer_internal.h"

/* ------- segments ------- */

/* Reads the streams of a segment; the guest is left as it is. */
static int load_script(struct replayer *rep, size_t segment,
		       const struct key_frame *frame, struct failure *why)
{
	int rc;

	if (!rep->has_script || rep->segment != segment) {
		script_release(&rep->script);
		rc = script_load(&rep->script, rep->recording, segment, frame,
				 &rep->cache, why);
		rep->has_script = !rc;
		if (rc)
			return rc;
	}
	rep->segment = segment;
	rep->start = frame->time;
	rep->next = 0;
	return 0;
}

/* Those of a key frame that are aliases, or those that are not. */
static int map_regions(struct replayer *rep, const struct key_frame *frame,
		       bool aliases, struct failure *why)
{
	for (size_t i = 0; i < frame->region_count; i++) {
		const struct region *region = &frame->regions[i];
		int rc = 0;

		if (aliases == (region->common != 0))
			rc = memory_map(rep->memory, region, -1, why);
		if (rc == ERR_NOT_FOUND && aliases)
			return failed(why, ERR_CORRUPT,
				      "'%s': a key frame has an alias of pages "
				      "that are not mapped",
				      trace_reader_path(recording_reader(
					      rep->recording)));
		if (rc)
			return rc;
	}
	return 0;
}

static int map_all(struct replayer *rep, const struct key_frame *frame,
		   struct failure *why)
{
	int rc;

	memory_unmap(rep->memory, 0, UINT64_C(1) << 46);
	memory_unmap(rep->memory, UINT64_C(1) << 46, UINT64_C(1) << 46);
	memory_unmap(rep->memory, COMMON_START, COMMON_START);
	rc = map_regions(rep, frame, false, why);
	if (!rc)	/* aliases, of common pages that are there now */
		rc = map_regions(rep, frame, true, why);
	return rc;
}

static bool has_shared(const struct region *regions, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (regions[i].kind == REGION_SHARED)
			return true;
	return false;
}

static bool is_same(const struct region *a, const struct region *b)
{
	return a->start == b->start && a->end == b->end &&
	       a->prot == b->prot && a->kind == b->kind &&
	       a->offset == b->offset && !strcmp(a->name, b->name);
}

/* Whether a list, sorted, has this region; `*next` is where to go on. */
static bool has_region(const struct region *list, size_t count, size_t *next,
		       const struct region *region)
{
	while (*next < count && list[*next].start < region->start)
		++*next;
	return *next < count && is_same(&list[*next], region);
}

/* Unmaps and maps only what differs, so that most of what was translated stays. */
static int map_changes(struct replayer *rep, const struct key_frame *frame,
		       const struct region *now, size_t count,
		       struct failure *why)
{
	size_t next = 0;
	int rc = 0;

	for (size_t i = 0; i < count; i++)
		if (!has_region(frame->regions, frame->region_count, &next,
				&now[i]))
			memory_unmap(rep->memory, now[i].start,
				     now[i].end - now[i].start);
	next = 0;
	for (size_t i = 0; i < frame->region_count && !rc; i++)
		if (!has_region(now, count, &next, &frame->regions[i]))
			rc = memory_map(rep->memory, &frame->regions[i], -1,
					why);
	if (!rc)
		memory_restart(rep->memory);
	return rc;
}

static int map_again(struct replayer *rep, const struct key_frame *frame,
		     struct failure *why)
{
	size_t count, size;
	const struct region *regions = memory_all_regions(rep->memory, &count);
	struct region *now;
	int rc;

	size = count * sizeof(*regions);
	now = malloc(size + 1);
	if (!now)
		return failed(why, ERR_NO_MEMORY, "out of memory");
	memcpy(now, regions, size);
	rc = map_changes(rep, frame, now, count, why);
	free(now);
	return rc;
}

/* Of pages that others share there is more to know. */
static bool is_simple(const struct replayer *rep, const struct key_frame *frame)
{
	size_t count;
	const struct region *regions = memory_all_regions(rep->memory, &count);

	return !has_shared(regions, count) &&
	       !has_shared(frame->regions, frame->region_count);
}

int replayer_set_memory(struct replayer *rep, const struct key_frame *frame,
			struct failure *why)
{
	int rc;

	rep->refills = is_simple(rep, frame);
	rc = rep->refills ? map_again(rep, frame, why) :
			    map_all(rep, frame, why);
	for (size_t i = 0; i < frame->doubt_count && !rc; i++) {
		const struct doubt_range *range = &frame->doubts[i];

		rc = memory_restore_doubt(rep->memory,
					 range->page << GUEST_PAGE_SHIFT,
					 range->count << GUEST_PAGE_SHIFT,
					 range->number);
		if (rc)
			rc = failed(why, ERR_CORRUPT,
				    "'%s': a key frame doubts pages that are "
				    "not mapped",
				    trace_reader_path(recording_reader(
					    rep->recording)));
	}
	memory_set_doubt(rep->memory, frame->doubt);
	if (!rep->refills)
		memory_set_absent(rep->memory);
	return rc;
}

/* The thread that runs when a segment starts. */
static uint32_t first_stream(const struct replayer *rep, size_t segment)
{
	size_t count;

	return recording_streams(rep->recording, segment, &count)[0];
}

/* Goes to the key frame of a segment, on the way to `t`. */
static int jump(struct replayer *rep, size_t segment, uint64_t t,
		struct failure *why)
{
	struct key_frame frame = { 0 };
	int rc = recording_key_frame(rep->recording, segment, &frame, why);

	rep->loaded = false;
	rep->peeked_count = 0;
	rep->error = 0;
	if (!rc)
		rc = load_script(rep, segment, &frame, why);
	segment_index_release(&rep->index);
	if (!rc)
		rc = recording_index(rep->recording, segment, &rep->index,
				     why);
	if (!rc)
		rc = replayer_set_memory(rep, &frame, why);
	if (!rc) {
		rep->base = segment;
		turns_start(rep, first_stream(rep, segment));
		vm_set_registers(rep->vm, &frame.regs);
		vm_set_steps(rep->vm, frame.time);
		rep->loaded = true;
		replayer_fetch(rep, t - frame.time);
		rc = rep->error ? failed(why, rep->error, "%s", rep->why.text) :
				  0;
	}
	key_frame_release(&frame);
	return rc;
}

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
		rc = load_script(rep, segment, &frame, why);
	if (!rc)
		rc = turns_switch(rep, segment, first_stream(rep, segment),
				  why);
	if (!rc)
		doubtful_anew(rep, &frame);
	key_frame_release(&frame);
	if (rc)
		rep->loaded = false;
	return rc;
}

/* ------- going to a position ------- */

void replayer_in_order(struct replayer *rep)
{
	rep->in_order = true;
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

int replayer_go(struct replayer *rep, const struct segment_position *to,
		struct failure *why)
{
	int rc = 0;

	if (!is_ahead(rep, to))
		rc = jump(rep, rep->in_order ? 0 : to->segment, to->time, why);
	while (!rc && rep->segment < to->segment) {
		uint64_t end =
			recording_time(rep->recording, rep->segment + 1);

		rc = events_run(rep, end, EVENTS_ALL, why);
		if (!rc)
			rc = cross(rep, why);
	}
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
		rc = turns_switch(rep, segment, first_stream(rep, segment),
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

	if (!rep->loaded || rep->segment != segment || !is_ahead(rep, &place))
		rc = jump(rep, segment, t, why);
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
	rep->memory = vm_memory(rep->vm);
	rep->home = vm_thread_current(rep->vm);
	return 0;
}

int replayer_create(struct replayer **out, struct recording *recording,
		    struct failure *why)
{
	struct replayer *rep = calloc(1, sizeof(*rep));
	int rc;

	if (!rep)
		return failed(why, ERR_NO_MEMORY, "out of memory");
	rep->recording = recording;
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
	script_release(&rep->script);
	segment_index_release(&rep->index);
	cache_release(&rep->cache);
	free(rep->observers);
	free(rep->peeked);
	free(rep->wanted);
	free(rep);
}
