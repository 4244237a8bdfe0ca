/* SPDX-License-Identifier: GPL-2.0-or-later */
/* guest_program.c - what a replayer does with programs: see guests.h */
#include "replayer/guests.h"

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

static int go(struct replayer *rep, const struct segment_position *to,
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

static int seek_in(struct replayer *rep, size_t segment, uint64_t t,
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
	return rc;
}

static struct position now(const struct replayer *rep)
{
	struct position now = { vm_steps(rep->vm), events_done(rep) };
	uint32_t before = 0;

	if (now.time == rep->start)
		recording_events_before(rep->recording, rep->segment, &before,
					NULL);
	now.events += before;
	return now;
}

static uint64_t time_now(const struct replayer *rep)
{
	return vm_steps(rep->vm);
}

static void interrupt(struct replayer *rep)
{
	vm_interrupt(rep->vm);
}

/* ------- looking ------- */

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

/* Reads unused bytes of read-only mappings from the file that was mapped. */
static int read_unused(struct replayer *rep, uint64_t addr, uint8_t *bytes,
		       uint8_t *known, size_t size, struct failure *why)
{
	const struct region *region = memory_region_at(rep->memory, addr);

	if (!rep->unused || !region || region->kind != REGION_FILE ||
	    region->prot & MAY_WRITE)
		return 0;
	return rep->unused->read(rep->unused->context, region, addr, bytes,
				 known, size, why);
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
		return read_unused(rep, addr, bytes, known, size, why);
	if (doubt && is_shared(rep, addr))
		return read_touch(rep, touch, addr, bytes, known, size, why);
	if (memory_look(rep->memory, addr, bytes, size))
		return 0;	/* not mapped */
	memset(known, 1, size);
	return rep->error ? failed(why, rep->error, "%s", rep->why.text) : 0;
}

static int look(struct replayer *rep, uint64_t addr, uint8_t *bytes,
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

static bool is_doubtful(const struct replayer *rep, uint64_t addr)
{
	return memory_page_doubt(rep->memory, memory_home(rep->memory, addr) >>
						      GUEST_PAGE_SHIFT);
}

static bool peek(struct replayer *rep, uint64_t addr, uint8_t *bytes,
		 size_t size)
{
	return addr % GUEST_PAGE + size <= GUEST_PAGE &&
	       !is_doubtful(rep, addr) &&
	       !memory_look(rep->memory, addr, bytes, size) && !rep->error;
}

static guest_addr home(struct replayer *rep, guest_addr addr)
{
	return memory_home(rep->memory, addr);
}

static guest_addr address(struct replayer *rep, guest_addr home)
{
	return memory_address(rep->memory, home);
}

/* A program has one. */
static void use_space(struct replayer *rep, const struct address_space *space)
{
	(void)rep;
	(void)space;
}

static uint64_t reg(struct replayer *rep, unsigned number)
{
	return vm_reg(rep->vm, number);
}

static void registers(struct replayer *rep, struct reg_file *out)
{
	vm_registers(rep->vm, out);
}

static void instruction(struct replayer *rep, guest_addr pc,
			const uint8_t *code, size_t size,
			enum vm_syntax syntax, struct vm_instruction *out)
{
	vm_instruction(rep->vm, pc, code, size, syntax, out);
}

/* ------- breakpoints and observers ------- */

static int break_set(struct replayer *rep, guest_addr pc, struct failure *why)
{
	return vm_break_set(rep->vm, pc, why);
}

static void break_clear(struct replayer *rep, guest_addr pc)
{
	vm_break_clear(rep->vm, pc);
}

static bool break_is_set(const struct replayer *rep, guest_addr pc)
{
	return vm_break_is_set(rep->vm, pc);
}

static int observe(struct replayer *rep, const struct vm_observer *observer,
		   struct failure *why)
{
	return vm_observe(rep->vm, observer, why);
}

static void unobserve(struct replayer *rep, const struct vm_observer *observer)
{
	vm_unobserve(rep->vm, observer);
}

/* ------- making one ------- */

static bool on_expects(void *context, uint64_t page)
{
	struct replayer *rep = context;

	return page_index_is_touched(&rep->index, page);
}

static bool takes_faults;

void replayer_take_faults(void)
{
	takes_faults = true;
}

/*
 * Whether memory may be accessed directly.  A program that was recorded so has
 * only addresses that are low enough; the others had them from the start.
 */
static bool is_direct(const struct replayer *rep)
{
	struct key_frame frame = { 0 };
	bool is = takes_faults &&
		  !recording_key_frame(rep->recording, 0, &frame, NULL);

	for (size_t i = 0; is && i < frame.region_count; i++)
		is = !frame.regions[i].prot ||
		     frame.regions[i].end <= UINT64_C(1) << MEMORY_LINEAR_BITS;
	key_frame_release(&frame);
	return is;
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
		rc = vm_create(&rep->vm, rep->regs->arch, is_direct(rep),
			       &observer, why);
	if (rc)
		return rc;
	vm_behave_as(rep->vm,
		     recording_meta(rep->recording)->processor.behaviour);
	rep->memory = vm_memory(rep->vm);
	rep->home = vm_thread_current(rep->vm);
	return 0;
}

static void end(struct replayer *rep)
{
	turns_end(rep);
	vm_destroy(rep->vm);
}

const struct guest guest_program = {
	.make = replayer_make_vm, .end = end, .go = go, .seek_in = seek_in,
	.encode_point = stored_point_encode, .now = now, .time = time_now,
	.interrupt = interrupt,
	.reg = reg, .registers = registers, .of_thread = turns_registers,
	.read = look, .peek = peek, .home = home, .address = address,
	.use_space = use_space,
	.break_set = break_set, .break_clear = break_clear,
	.break_is_set = break_is_set, .observe = observe,
	.unobserve = unobserve, .instruction = instruction,
};
