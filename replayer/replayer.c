/* SPDX-License-Identifier: GPL-2.0-or-later */
/* replayer.c - executes a recording again */
#include "replayer/replayer.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/error.h"
#include "index/page_index.h"
#include "replayer/internal.h"

/* ------- pages, when they are first touched ------- */

static bool on_expects(void *context, uint64_t page)
{
	struct replayer *rep = context;

	return page_index_is_touched(&rep->index, page);
}

/* It is still doubtful: the guest has not seen it. */
static void remember_peek(struct replayer *rep, uint64_t page, uint64_t doubt)
{
	if (rep->peeked_count == rep->peeked_room) {
		size_t room = rep->peeked_room ? rep->peeked_room * 2 : 16;
		struct peeked *more =
			realloc(rep->peeked, room * sizeof(*more));

		if (!more) {
			replayer_broken(rep, ERR_NO_MEMORY, "out of memory");
			return;
		}
		rep->peeked = more;
		rep->peeked_room = room;
	}
	rep->peeked[rep->peeked_count++] = (struct peeked){ page, doubt };
}

static void on_resolve(void *context, uint64_t page, uint64_t doubt,
		       uint8_t *bytes)
{
	struct replayer *rep = context;
	const struct script_touch *touch =
		script_find_touch(&rep->script, page, doubt);
	struct failure why;
	int rc;

	if (rep->giving)
		return;
	if (!touch && !rep->running) {
		remember_peek(rep, page, doubt);
		return;
	}
	if (!touch) {
		replayer_broken(rep, ERR_DIVERGED,
		       "the replay diverged near t=%" PRIu64 ": it touched "
		       "page 0x%" PRIx64 ", whose contents the program never "
		       "saw", vm_steps(rep->vm), page << GUEST_PAGE_SHIFT);
		return;
	}
	rc = script_touch_contents(touch, rep->recording, bytes, &why);
	if (rc)
		replayer_broken(rep, rc, "%s", why.text);
}

static void forget_peeks(struct replayer *rep)
{
	for (size_t i = 0; i < rep->peeked_count; i++)
		memory_set_doubtful(rep->memory,
				    rep->peeked[i].page << GUEST_PAGE_SHIFT,
				    GUEST_PAGE, rep->peeked[i].doubt);
	rep->peeked_count = 0;
}

/* ------- segments ------- */

/* Reads the streams of a segment; the guest is left as it is. */
static int load_script(struct replayer *rep, size_t segment,
		       const struct key_frame *frame, struct failure *why)
{
	int rc;

	script_release(&rep->script);
	rc = script_load(&rep->script, rep->recording, segment, frame,
			 &rep->cache, why);
	if (rc)
		return rc;
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

int replayer_set_memory(struct replayer *rep, const struct key_frame *frame,
			struct failure *why)
{
	int rc;

	memory_unmap(rep->memory, 0, UINT64_C(1) << 46);
	memory_unmap(rep->memory, UINT64_C(1) << 46, UINT64_C(1) << 46);
	memory_unmap(rep->memory, COMMON_START, COMMON_START);
	rc = map_regions(rep, frame, false, why);
	if (!rc)	/* aliases, of common pages that are there now */
		rc = map_regions(rep, frame, true, why);
	for (size_t i = 0; i < frame->doubt_count && !rc; i++) {
		const struct doubt_range *range = &frame->doubts[i];

		rc = memory_set_doubtful(rep->memory,
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

/* ------- events ------- */

static const char *stop_name(const struct vm_stop *stop)
{
	switch (stop->kind) {
	case VM_STOP_SYSCALL:
		return "a system call";
	case VM_STOP_FAULT:
		return "a fault";
	case VM_STOP_VALUE:
		return "an instruction whose result is captured";
	default:
		return "no event";
	}
}

/* The execution is not the recorded one: says where, and what differs. */
static int diverged(struct replayer *rep, const struct script_event *event,
		    const struct vm_stop *stop, struct failure *why)
{
	guest_addr pc = vm_reg(rep->vm, rep->regs->pc);
	uint64_t t = vm_steps(rep->vm);
	char text[96], expected[80] = "no event", thread[32];
	unsigned size;

	if (event)
		snprintf(expected, sizeof(expected), "%s at t=%" PRIu64,
			 packet_name(event->packet.kind),
			 rep->start + event->time);
	turns_name(rep, rep->stream, thread, sizeof(thread));
	if (stop->kind == VM_STOP_SYSCALL) {
		/* It has retired. */
		t--;
		pc -= stop->size;
	}
	vm_disassemble(rep->vm, pc, text, sizeof(text), &size);
	return failed(why, ERR_DIVERGED,
		      "the replay diverged at t=%" PRIu64 "%s, 0x%" PRIx64
		      " (%s): expected %s, found %s",
		      t, thread, pc, text, expected, stop_name(stop));
}

static void show_output(struct replayer *rep, const struct packet *packet)
{
	guest_addr addr = packet->addr;
	uint64_t left = packet->size;
	uint8_t bytes[8192];

	if (!rep->output)
		return;
	while (left) {
		size_t span = left < sizeof(bytes) ? left : sizeof(bytes);

		if (memory_read(rep->memory, addr, bytes, span))
			return;
		rep->output(rep->output_context, (int)packet->number, bytes,
			    span);
		addr += span;
		left -= span;
	}
}

static int map_as_recorded(struct replayer *rep, const struct packet *packet,
			   struct failure *why)
{
	struct region region = {
		.start = packet->addr,
		.end = packet->addr + packet->size,
		.prot = packet->prot,
		.kind = packet->region,
		.offset = packet->offset,
		.common = packet->target,
	};
	char *name = strndup((const char *)packet->name, packet->name_size);
	int rc;

	if (!name)
		return failed(why, ERR_NO_MEMORY, "out of memory");
	region.name = name;
	rc = memory_map(rep->memory, &region, -1, why);
	free(name);
	return rc;
}

static int apply_effect(struct replayer *rep,
			const struct script_effect *effect, struct failure *why)
{
	const struct packet *packet = &effect->packet;
	struct memory *memory = rep->memory;
	int rc = 0;

	switch (packet->kind) {
	case PACKET_WRITE:
		rc = memory_poke(memory, packet->addr, effect->contents,
				 packet->size);
		break;
	case PACKET_MAP:
		return map_as_recorded(rep, packet, why);
	case PACKET_UNMAP:
		rc = memory_unmap(memory, packet->addr, packet->size);
		break;
	case PACKET_PROTECT:
		rc = memory_protect(memory, packet->addr, packet->size,
				    packet->prot);
		break;
	case PACKET_MOVE:
		rc = memory_move(memory, packet->addr, packet->target,
				 packet->size);
		break;
	case PACKET_CLEAR:
		rc = memory_clear(memory, packet->addr, packet->size);
		break;
	case PACKET_DOUBT:
		rc = memory_set_doubtful(memory, packet->addr, packet->size,
					 packet->number);
		break;
	case PACKET_OUTPUT:
		show_output(rep, packet);
		break;
	default:
		break;		/* PACKET_REG: after the others, together */
	}
	if (rc)
		return failed(why, ERR_DIVERGED,
			      "the replay diverged at t=%" PRIu64 ": %s at 0x%"
			      PRIx64 " is not possible", vm_steps(rep->vm),
			      packet_name(packet->kind), packet->addr);
	return 0;
}

/* Registers change together: reading and writing all of them is slow. */
static void apply_registers(struct replayer *rep,
			    const struct script_event *event)
{
	const struct script_effect *effects;
	struct reg_file file;
	bool any = false;

	if (!event->count)
		return;
	effects = rep->script.effects + event->first;
	for (size_t i = 0; i < event->count; i++)
		any |= effects[i].packet.kind == PACKET_REG;
	if (!any)
		return;
	vm_registers(rep->vm, &file);
	for (size_t i = 0; i < event->count; i++) {
		const struct packet *packet = &effects[i].packet;
		const struct reg_info *info;

		if (packet->kind != PACKET_REG ||
		    packet->number >= rep->regs->count)
			continue;
		info = &rep->regs->regs[packet->number];
		if (packet->size == info->size)
			memcpy(file.bytes + info->offset, packet->value,
			       info->size);
	}
	vm_set_registers(rep->vm, &file);
}

/* What others have changed by the beginning of a turn; see alone.c. */
static int apply_seen(struct replayer *rep, size_t event, struct failure *why)
{
	const struct script *script = &rep->script;
	uint8_t bytes[GUEST_PAGE];
	int rc = 0;

	for (; rep->next_seen < script->seen_count && !rc; rep->next_seen++) {
		const struct script_seen *seen =
			&script->seen[rep->next_seen];

		if (seen->event != event)
			break;
		rc = script_seen_contents(seen, rep->recording, bytes, why);
		rep->giving = seen->size == GUEST_PAGE;
		if (!rc && memory_poke(rep->memory, seen->addr, bytes,
				       seen->size))
			rc = failed(why, ERR_DIVERGED,
				    "the replay diverged: memory at 0x%" PRIx64
				    ", which another thread changed, is not "
				    "mapped", seen->addr);
		rep->giving = false;
	}
	return rc;
}

static int apply(struct replayer *rep, const struct script_event *event,
		 struct failure *why)
{
	int rc = 0;

	if (rep->on_event)
		rep->on_event(rep->switch_context, event);
	switch (event->packet.kind) {
	case PACKET_SYSCALL:
		rep->threads[rep->stream].call = CALL_NONE;
		vm_set_reg(rep->vm, rep->regs->result,
			   (uint64_t)event->packet.result);
		break;
	case PACKET_EXIT:
		rep->threads[rep->stream].has_ended = true;
		break;
	case PACKET_SLICE:
		rc = turns_switch(rep, rep->segment, event->stream, why);
		break;
	default:
		break;
	}
	for (size_t i = 0; i < event->count && !rc; i++)
		rc = apply_effect(rep, &rep->script.effects[event->first + i],
				  why);
	if (!rc && rep->alone && event->packet.kind == PACKET_SLICE)
		rc = apply_seen(rep, rep->next, why);
	if (!rc)
		apply_registers(rep, event);
	rep->next++;
	return rc;
}

/* ------- running ------- */

static int run(struct replayer *rep, uint64_t steps, struct vm_stop *stop,
	       struct failure *why)
{
	struct replay_thread *thread = &rep->threads[rep->stream];
	int rc;

	/* The call that it stands at has not come back. */
	if (thread->call == CALL_RETIRED) {
		*stop = (struct vm_stop) { .kind = VM_STOP_SYSCALL,
					   .size = thread->call_size };
		return 0;
	}
	thread->call = CALL_NONE;
	forget_peeks(rep);
	rep->running = true;
	rc = vm_run(rep->vm, steps, true, stop, why);
	rep->running = false;
	if (rc)
		return rc;
	if (rep->error) {
		if (why)
			*why = rep->why;
		return rep->error;
	}
	return 0;
}

static const struct script_event *next_event(const struct replayer *rep)
{
	return rep->next < rep->script.event_count ?
		       &rep->script.events[rep->next] : NULL;
}

/*
 * The thread gives the processor away, perhaps during a system call: then its
 * instruction has retired, but what it does comes later.
 */
static bool may_end_slice(struct replayer *rep, const struct vm_stop *stop,
			  uint64_t t)
{
	struct replay_thread *thread = &rep->threads[rep->stream];

	if (stop->kind != VM_STOP_SYSCALL || vm_steps(rep->vm) != t)
		return stop->kind == VM_STOP_BUDGET;
	thread->call = CALL_RETIRED;
	thread->call_size = stop->size;
	return true;
}

/* Whether the event is the end of a call that retired in a slice before. */
static bool is_late_call(const struct replayer *rep,
			 const struct script_event *event)
{
	return event->packet.steps == 0 &&
	       rep->threads[rep->stream].call != CALL_NONE;
}

/*
 * Brings the guest to the event, whose time it has reached or is about to:
 * an event that is an instruction is executed up to its stop.
 */
static int meet(struct replayer *rep, const struct script_event *event,
		struct failure *why)
{
	uint64_t at = rep->start + event->time;
	uint64_t now = vm_steps(rep->vm);
	struct vm_stop stop = { 0 };
	bool as_expected = true;
	int rc = 0;

	switch (event->packet.kind) {
	case PACKET_SYSCALL:
		if (is_late_call(rep, event))
			break;
		rc = run(rep, at - now, &stop, why);
		as_expected = stop.kind == VM_STOP_SYSCALL;
		break;
	case PACKET_VALUE:
		rc = run(rep, at - now, &stop, why);
		as_expected = stop.kind == VM_STOP_VALUE &&
			      vm_steps(rep->vm) == at - 1;
		if (!rc && as_expected)
			vm_skip(rep->vm, &stop);
		break;
	case PACKET_FAULT:
		rc = run(rep, at - now + 1, &stop, why);
		as_expected = stop.kind == VM_STOP_FAULT;
		break;
	case PACKET_SLICE:
		if (at > now)
			rc = run(rep, at - now, &stop, why);
		as_expected = !rc && may_end_slice(rep, &stop, at);
		break;
	default:
		if (at > now)
			rc = run(rep, at - now, &stop, why);
		as_expected = stop.kind == VM_STOP_BUDGET;
	}
	if (rc)
		return rc;
	if (!as_expected || vm_steps(rep->vm) != at)
		return diverged(rep, event, &stop, why);
	return apply(rep, event, why);
}

/* Runs on between events, or from the last one to the segment's end. */
static int run_plain(struct replayer *rep, uint64_t t, struct failure *why)
{
	uint64_t end = recording_time(rep->recording, rep->segment + 1);
	struct vm_stop stop;
	int rc = run(rep, t - vm_steps(rep->vm), &stop, why);
	bool as_expected = stop.kind == VM_STOP_BUDGET;

	if (rc)
		return rc;
	/* A call may come back in the next segment, or never. */
	if ((t == end || rep->alone) && !next_event(rep))
		as_expected = may_end_slice(rep, &stop, t);
	if (!as_expected || vm_steps(rep->vm) != t)
		return diverged(rep, next_event(rep), &stop, why);
	return 0;
}

/* Runs to `t` and through all events at it, within this segment. */
int replayer_run_in_segment(struct replayer *rep, uint64_t t,
			    struct failure *why)
{
	int rc = 0;

	while (!rc) {
		const struct script_event *event = next_event(rep);

		if (event && rep->start + event->time <= t) {
			rc = meet(rep, event, why);
			continue;
		}
		if (vm_steps(rep->vm) >= t)
			break;
		rc = run_plain(rep, t, why);
	}
	return rc;
}

/*
 * What the kernel looked at in this segment, the replay has not touched; the
 * next segment takes it for known.
 */
static int touch_rest(struct replayer *rep, struct failure *why)
{
	for (size_t i = 0; i < rep->script.touch_room; i++) {
		const struct script_touch *touch = &rep->script.touches[i];
		uint8_t byte;

		if (touch->page != SCRIPT_NO_PAGE &&
		    memory_page_doubt(rep->memory, touch->page) == touch->doubt)
			memory_look(rep->memory,
				    touch->page << GUEST_PAGE_SHIFT, &byte, 1);
	}
	return rep->error ? failed(why, rep->error, "%s", rep->why.text) : 0;
}

/* Pages of shared mappings are doubtful anew at each key frame. */
static void doubt_anew(struct replayer *rep, const struct key_frame *frame)
{
	for (size_t i = 0; i < frame->doubt_count; i++) {
		const struct doubt_range *range = &frame->doubts[i];

		for (uint64_t j = 0; j < range->count; j++)
			if (memory_page_doubt(rep->memory, range->page + j) !=
			    range->number)
				memory_set_doubtful(
					rep->memory,
					(range->page + j) << GUEST_PAGE_SHIFT,
					GUEST_PAGE, range->number);
	}
	memory_set_doubt(rep->memory, frame->doubt);
}

/* The segment is over, but not its events. */
static int never_came(struct replayer *rep, struct failure *why)
{
	const struct vm_stop none = { .kind = VM_STOP_BUDGET };

	return diverged(rep, next_event(rep), &none, why);
}

/* Goes on from the end of one segment into the next. */
static int cross(struct replayer *rep, struct failure *why)
{
	struct key_frame frame = { 0 };
	size_t segment = rep->segment + 1;
	int rc;

	if (next_event(rep))
		return never_came(rep, why);
	rc = touch_rest(rep, why);
	if (!rc)
		rc = recording_key_frame(rep->recording, segment, &frame, why);
	if (!rc)
		rc = load_script(rep, segment, &frame, why);
	if (!rc)
		rc = turns_switch(rep, segment, first_stream(rep, segment),
				  why);
	if (!rc)
		doubt_anew(rep, &frame);
	key_frame_release(&frame);
	if (rc)
		rep->loaded = false;
	return rc;
}

void replayer_in_order(struct replayer *rep)
{
	rep->in_order = true;
}

static bool is_ahead(const struct replayer *rep, uint64_t t)
{
	size_t segment = recording_segment_at(rep->recording, t);

	if (!rep->loaded || t < vm_steps(rep->vm))
		return false;
	/* Crossing keeps the translations; output must not be left out. */
	return rep->output || rep->in_order || segment <= rep->segment + 1;
}

int replayer_seek(struct replayer *rep, uint64_t t, struct failure *why)
{
	size_t segment = recording_segment_at(rep->recording, t);
	int rc = 0;

	if (!is_ahead(rep, t)) {
		if (rep->output || rep->in_order)
			segment = 0;
		rc = jump(rep, segment, t, why);
		if (!rc && t == rep->start && segment)
			return 0;
	}
	while (!rc) {
		uint64_t end =
			recording_time(rep->recording, rep->segment + 1);

		rc = replayer_run_in_segment(rep, t < end ? t : end, why);
		if (rc || t <= end)
			break;
		rc = cross(rep, why);
	}
	if (!rc && t == recording_end(rep->recording) && next_event(rep))
		rc = never_came(rep, why);
	/* At the end of a segment it is the turn of who starts the next. */
	if (!rc && rep->segment + 1 < recording_segments(rep->recording) &&
	    t == recording_time(rep->recording, rep->segment + 1))
		rc = turns_switch(rep, rep->segment + 1,
				  first_stream(rep, rep->segment + 1), why);
	/* What is half done cannot be gone on with. */
	if (rc)
		rep->loaded = false;
	return rc;
}

/* ------- looking ------- */

uint64_t replayer_time(const struct replayer *rep)
{
	return vm_steps(rep->vm);
}

struct vm *replayer_vm(struct replayer *rep)
{
	return rep->vm;
}

/* One page, or a part of it. */
static int read_part(struct replayer *rep, uint64_t addr, uint8_t *bytes,
		     uint8_t *known, size_t size, struct failure *why)
{
	uint64_t page = memory_home(rep->memory, addr) >> GUEST_PAGE_SHIFT;
	uint64_t doubt = memory_page_doubt(rep->memory, page);

	memset(known, 0, size);
	/* What the guest will see at its first touch, it holds already. */
	if (doubt && !script_find_touch(&rep->script, page, doubt))
		return 0;
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

/* Of the format: the first whose recordings know those of floating point. */
#define VERSION_WITH_EXCEPTIONS 4

int replayer_make_vm(struct replayer *rep, struct failure *why)
{
	struct memory_observer observer = {
		.context = rep, .resolve = on_resolve, .supply = replayer_supply,
		.expects = on_expects,
	};
	int rc = vm_create(&rep->vm, rep->regs->arch, &observer, why);

	if (rc)
		return rc;
	if (recording_version(rep->recording) < VERSION_WITH_EXCEPTIONS)
		vm_ignore_exceptions(rep->vm);
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

void replayer_on_output(struct replayer *rep, replayer_output *output,
			void *context)
{
	rep->output = output;
	rep->output_context = context;
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
	free(rep->peeked);
	free(rep->wanted);
	free(rep);
}
