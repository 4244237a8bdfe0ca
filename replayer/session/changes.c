/* SPDX-License-Identifier: GPL-2.0-or-later */
/* changes.c - see changes.h */
#include "replayer/session/changes.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "formats/array.h"
#include "formats/error.h"
#include "formats/number_map.h"
#include "replayer/replayer.h"
#include "replayer/session/segment_uses.h"
#include "vm/memory/memory.h"
#include "vm/vm.h"

struct range {
	guest_addr addr;
	uint64_t size;
	guest_addr home;	/* what accesses to it are told with */
	uint8_t *bytes, *known;	/* what is there */
	bool is_known;		/* all of it; false says nothing */
};

struct changes {
	const struct changes_question *question;
	struct replayer *rep;
	struct range *ranges;
	size_t count, room;
	bool everywhere;	/* memory may have another home meanwhile */
	bool is_shared;		/* others may write it, and nobody tells */

	/* An instruction that may have further accesses; an event under way. */
	bool has_pending, has_changed;
	struct history_access pending;

	atomic_bool is_over;
	int rc;
};

struct replayer *changes_replayer(const struct changes *changes)
{
	return changes->rep;
}

/* ------- ranges ------- */

static void release(struct changes *changes)
{
	for (size_t i = 0; i < changes->count; i++)
		free(changes->ranges[i].bytes);
	changes->count = 0;
}

static int add_range(struct changes *changes, const struct changes_range *range)
{
	struct range *made;

	if (array_room(changes->ranges, changes->count, changes->room))
		return ERR_NO_MEMORY;
	made = &changes->ranges[changes->count];
	*made = (struct range) {
		.addr = range->addr, .size = range->size, .home = range->addr,
		.bytes = calloc(2, range->size),
	};
	if (!made->bytes)
		return ERR_NO_MEMORY;
	made->known = made->bytes + range->size;
	changes->count++;
	return 0;
}

static int set_ranges(struct changes *changes,
		      const struct changes_range *ranges, size_t count)
{
	int rc = 0;

	release(changes);
	for (size_t i = 0; i < count && !rc; i++)
		rc = add_range(changes, &ranges[i]);
	return rc;
}

/* What is there now; what cannot be read is not known. */
static bool look(struct changes *changes, struct range *range)
{
	uint8_t before[64], *copy = before;
	uint64_t size = 2 * range->size;
	bool differs;

	if (size > sizeof(before))
		copy = malloc(size);
	if (copy)
		memcpy(copy, range->bytes, size);
	memset(range->bytes, 0, size);
	replayer_read(changes->rep, range->addr, range->bytes, range->known,
		      range->size, NULL);
	for (uint64_t i = 0; i < range->size; i++)
		if (!range->known[i])
			range->bytes[i] = 0;
	range->is_known = !memchr(range->known, 0, range->size);
	differs = !copy || memcmp(copy, range->bytes, size) != 0;
	if (copy != before)
		free(copy);
	return differs;
}

static void look_at_mapping(struct changes *changes, struct range *range)
{
	struct vm *vm = replayer_vm(changes->rep);
	const struct region *region =
		vm ? memory_region_at(vm_memory(vm), range->addr) : NULL;

	range->home = replayer_home(changes->rep, range->addr);
	changes->is_shared |= region && region->kind == REGION_SHARED;
}

bool changes_bytes(const struct changes *changes, guest_addr addr,
		   uint64_t size, uint8_t *out, bool *known)
{
	for (size_t i = 0; i < changes->count; i++) {
		const struct range *range = &changes->ranges[i];
		uint64_t at = addr - range->addr;

		if (addr < range->addr || at >= range->size ||
		    size > range->size - at)
			continue;
		memcpy(out, range->bytes + at, size);
		*known = range->is_known ||
			 !memchr(range->known + at, 0, size);
		return true;
	}
	return false;
}

bool changes_is_all(const struct changes *changes)
{
	struct vm *vm = replayer_vm(changes->rep);

	for (size_t i = 0; i < changes->count && vm; i++) {
		const struct range *range = &changes->ranges[i];

		if (memchr(range->known, 0, range->size) &&
		    memory_region_at(vm_memory(vm), range->addr))
			return false;
	}
	return true;
}

bool changes_watch(struct changes *changes, const struct changes_range *ranges,
		   size_t count)
{
	const struct changes_question *question = changes->question;
	bool is_seen = true;

	for (size_t i = 0; i < count; i++)
		is_seen &= changes->everywhere ||
			   (ranges[i].addr >= question->first &&
			    ranges[i].addr + ranges[i].size - 1 <=
				    question->last);
	if (!is_seen || set_ranges(changes, ranges, count))
		return false;
	for (size_t i = 0; i < count; i++) {
		bool was_shared = changes->is_shared;

		look_at_mapping(changes, &changes->ranges[i]);
		look(changes, &changes->ranges[i]);
		is_seen &= changes->everywhere ||
			   (changes->ranges[i].home == ranges[i].addr &&
			    was_shared == changes->is_shared);
	}
	return is_seen;
}

/* ------- what is told ------- */

static void tell(struct changes *changes, bool is_now)
{
	const struct changes_question *question = changes->question;
	struct history_access *access = &changes->pending;

	changes->has_pending = false;
	if (!changes->has_changed || changes->rc)
		return;
	changes->has_changed = false;
	if (position_compare(&access->after, &question->to) > 0)
		return;
	changes->rc = question->changed(question->context, changes, access,
					is_now);
	if (!changes->rc)
		return;
	atomic_store(&changes->is_over, true);
	replayer_halt(changes->rep);
}

static void begin_pending(struct changes *changes,
			  const struct vm_access_told *told)
{
	if (changes->has_pending) {
		if (changes->pending.before.time == told->steps &&
		    changes->pending.pc == told->pc)
			return;
		tell(changes, false);
	}
	changes->has_pending = true;
	changes->pending = (struct history_access) {
		.before = { told->steps, EVENTS_ALL },
		.after = { told->steps + 1, 0 },
		.stream = replayer_stream(changes->rep),
		.writes = true, .pc = told->pc,
	};
}

/* The part of an access that is in a range, from its start on. */
static bool clip(const struct range *range, guest_addr addr, uint64_t size,
		 uint64_t *at, uint64_t *skipped, uint64_t *part)
{
	guest_addr home = range->home;

	*skipped = addr < home ? home - addr : 0;
	if (*skipped >= size)
		return false;
	*at = addr + *skipped - home;
	if (*at >= range->size)
		return false;
	*part = size - *skipped < range->size - *at ? size - *skipped :
						      range->size - *at;
	return true;
}

/*
 * A read that finds what nobody has written: another process has, some time
 * before.
 */
static void take(struct changes *changes, struct range *range,
		 const struct vm_access_told *told)
{
	uint64_t at, skipped, part, value;
	bool is_known;

	if (!clip(range, told->addr, told->size, &at, &skipped, &part))
		return;
	value = told->value >> 8 * skipped;
	is_known = range->is_known || !memchr(range->known + at, 0, part);
	if (is_known ? !memcmp(range->bytes + at, &value, part) :
		       !told->writes)
		return;
	begin_pending(changes, told);
	if (!told->writes)
		changes->pending.kind = HISTORY_OTHERS;
	memcpy(range->bytes + at, &value, part);
	if (!is_known)
		memset(range->known + at, 1, part);
	changes->has_changed = true;
}

static void on_accessed(void *context, const struct vm_access_told *list,
			size_t count)
{
	struct changes *changes = context;

	for (size_t i = 0; i < count && !changes->rc; i++)
		for (size_t j = 0; j < changes->count && !changes->rc; j++)
			take(changes, &changes->ranges[j], &list[i]);
}

/* All accesses before it have been told. */
static void on_instruction(void *context, uint64_t steps, guest_addr pc)
{
	struct changes *changes = context;

	(void)pc;
	if (changes->has_pending)
		tell(changes, changes->pending.before.time + 1 == steps);
}

static unsigned part(void *context, guest_addr pc)
{
	const struct changes *changes = context;

	return number_map_find(changes->question->behind, pc) ?
		       VM_PART_TOLD : 0;
}

/* ------- events ------- */

static bool is_call(enum packet_kind kind)
{
	return kind == PACKET_SYSCALL || kind == PACKET_RETURN;
}

static enum history_kind kind_of(const struct replay_event *event)
{
	enum packet_kind kind = event->packet->kind;

	return kind == PACKET_SLICE || kind == PACKET_GIVE_WAY ?
		       HISTORY_OTHERS : HISTORY_KERNEL;
}

static void on_event(void *context, const struct replay_event *event)
{
	struct changes *changes = context;
	struct replayer *rep = changes->rep;
	const struct reg_table *regs =
		recording_reg_table(query_recording(changes->question->query));

	if (changes->has_pending)
		tell(changes, false);
	changes->pending = (struct history_access) {
		.before = replayer_now(rep), .stream = replayer_stream(rep),
		.kind = kind_of(event), .writes = true,
		.pc = replayer_reg(rep, regs->pc),
		.event = event->packet->kind, .number = event->packet->number,
	};
	if (is_call(event->packet->kind))
		changes->pending.pc -= vm_call_size(replayer_vm(rep));
	/* What a call does, its instruction does. */
	if (event->packet->kind == PACKET_SYSCALL)
		changes->pending.before = (struct position){
			changes->pending.before.time - 1, EVENTS_ALL };
}

static void on_event_done(void *context, const struct replay_event *event)
{
	struct changes *changes = context;

	if (!event->count || changes->rc)
		return;
	for (size_t i = 0; i < changes->count; i++) {
		look_at_mapping(changes, &changes->ranges[i]);
		changes->has_changed |= look(changes, &changes->ranges[i]);
	}
	if (!changes->has_changed)
		return;
	changes->pending.after = replayer_now(changes->rep);
	tell(changes, true);
}

/* ------- a run ------- */

static int see_begin(struct changes *changes, struct failure *why)
{
	const struct changes_question *question = changes->question;
	struct query_answer answer;
	int rc = 0;

	/* What others share is known by more than a replay. */
	for (size_t i = 0; i < changes->count && !rc; i++)
		rc = query_memory(question->query, changes->ranges[i].addr,
				  &question->from, changes->ranges[i].bytes,
				  changes->ranges[i].known,
				  changes->ranges[i].size, &answer, why);
	if (!rc)
		rc = replayer_seek(changes->rep, &question->from, why);
	for (size_t i = 0; i < changes->count && !rc; i++) {
		struct range *range = &changes->ranges[i];

		look_at_mapping(changes, range);
		range->is_known = !memchr(range->known, 0, range->size);
	}
	return rc;
}

static struct vm_range range_told(const struct changes *changes)
{
	const struct changes_question *question = changes->question;
	struct vm_range all = { question->first, question->last };

	if (changes->everywhere)
		return VM_EVERYWHERE;
	for (size_t i = 0; i < changes->count; i++) {
		const struct range *range = &changes->ranges[i];

		if (range->home < all.first)
			all.first = range->home;
		if (range->home + range->size - 1 > all.last)
			all.last = range->home + range->size - 1;
	}
	return all;
}

static int watch(struct changes *changes, struct failure *why)
{
	const struct changes_question *question = changes->question;
	struct replay_observer observer = {
		.guest = { .accessed = on_accessed,
			   .accesses = VM_WRITES | VM_VALUES,
			   .data = range_told(changes), .context = changes },
		.event = on_event, .event_done = on_event_done,
		.context = changes,
	};
	const struct replay_until until = {
		.to = question->to, .interrupt = &changes->is_over,
	};
	struct replay_stop stop;
	int rc;

	if (changes->everywhere || changes->is_shared)
		observer.guest.accesses |= VM_READS;
	if (question->behind->count) {
		observer.guest.instruction = on_instruction;
		observer.guest.part = part;
	}
	rc = replayer_observe(changes->rep, &observer, why);
	if (!rc)
		rc = replayer_run(changes->rep, &until, &stop, why);
	replayer_unobserve(changes->rep, &observer);
	if (!rc && changes->has_pending)
		tell(changes, false);
	return rc ? rc : changes->rc;
}

static bool may_move(struct changes *changes, struct failure *why, int *rc)
{
	struct query *query = changes->question->query;
	struct segment_position place;
	struct segment_uses uses;
	bool any = false;

	if (recording_is_machine(query_recording(query)))
		return false;
	*rc = recording_place(query_recording(query),
			      &changes->question->from, &place, why);
	for (size_t i = 0; i < changes->count && !*rc; i++) {
		const struct segment_use use = { changes->ranges[i].addr,
						 changes->ranges[i].size,
						 false };

		*rc = segment_uses_find(&uses, query, &use, place.segment, why);
		any |= uses.everywhere;
	}
	return any;
}

int changes_run(const struct changes_question *question, struct failure *why)
{
	struct changes changes = { .question = question };
	int rc = query_replayer(question->query, &changes.rep, why);

	if (!rc && set_ranges(&changes, question->ranges, question->count))
		rc = failed(why, ERR_NO_MEMORY, "out of memory");
	if (!rc)
		changes.everywhere = may_move(&changes, why, &rc);
	if (!rc)
		rc = see_begin(&changes, why);
	if (!rc)
		rc = watch(&changes, why);
	release(&changes);
	free(changes.ranges);
	return rc;
}

/*
 * What is known of a machine's segments is by physical addresses: those of that
 * time.  Of several pages, nothing is known.
 */
static int find_use(struct query *query, const struct changes_range *range,
		    const struct position *at, struct segment_use *use,
		    bool *is_known, struct failure *why)
{
	const guest_addr last = range->addr + range->size - 1;
	int rc;

	*use = (struct segment_use){ range->addr, range->size, false };
	*is_known = true;
	if (!recording_is_machine(query_recording(query)))
		return 0;
	rc = query_home(query, range->addr, at, &use->addr, why);
	*is_known = use->addr != HOME_NONE &&
		    range->addr / GUEST_PAGE == last / GUEST_PAGE;
	return rc;
}

int changes_may_be(struct query *query, const struct position *at,
		   const struct changes_range *ranges, size_t count, bool *may,
		   struct failure *why)
{
	struct segment_position place;
	struct segment_uses uses;
	int rc = recording_place(query_recording(query), at, &place, why);

	*may = false;
	for (size_t i = 0; i < count && !*may && !rc; i++) {
		struct segment_use use;
		bool is_known;

		rc = find_use(query, &ranges[i], at, &use, &is_known, why);
		*may |= !is_known;
		if (rc || *may)
			break;
		rc = segment_uses_find(&uses, query, &use, place.segment, why);
		*may |= uses.epochs != 0;
	}
	return rc;
}
