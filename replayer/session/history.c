/* SPDX-License-Identifier: GPL-2.0-or-later */
/* history.c - see history.h */
#include "replayer/session/history.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "formats/bit_field.h"
#include "formats/error.h"
#include "replayer/session/query_internal.h"
#include "replayer/session/segment_uses.h"
#include "vm/memory/memory.h"

/* So many epochs are searched by one replay at first. */
#define EPOCHS_TOGETHER 4

/* Of what is asked for: what is there, and was before an access. */
struct bytes {
	uint8_t *now, *known;
	uint8_t *old, *old_known;
};

struct search {
	struct query *query;
	const struct history_question *question;
	struct history_question own;	/* of a machine: with its home, */
	struct address_space before;	/* instead of an address in this */
	guest_addr shift;		/* from there to what was asked for */
	struct replayer *rep;
	struct replay_observer observer;

	bool has_bytes;
	struct bytes bytes;
	guest_addr home;	/* what accesses to question.addr are told with */
	bool everywhere;	/* it may be another one meanwhile */
	bool is_shared;		/* others may write it, and nobody tells */
	struct segment_uses parts;	/* of the segment, that may matter */

	/* An access of an instruction that may have further parts. */
	bool has_pending;
	struct history_access pending;

	/* An event under way. */
	struct position event_before;
	guest_addr event_pc;

	/* Of what was visited. */
	history_visit *visit;	/* NULL: the last one is kept */
	bool has_last;
	struct history_access last;
	struct bytes last_bytes;

	int rc;
	struct failure *why;
};

bool history_changes(const struct history_access *access)
{
	return !access->old ||
	       memcmp(access->old, access->new, access->size) != 0 ||
	       memcmp(access->old_known, access->new_known, access->size) != 0;
}

/* ------- bits ------- */

bool history_has_value(const struct history_question *question,
		       const struct history_access *access, uint64_t value)
{
	unsigned offset = question->bit_offset, size = question->bit_size;
	uint64_t found;

	if (!size && access->size <= sizeof(found))
		size = 8 * (unsigned)access->size;
	if (!access->new || !size ||
	    !bit_field_read(access->new, access->new_known, offset, size,
			    &found))
		return false;
	return found == (size < 64 ? value & ((UINT64_C(1) << size) - 1) :
				     value);
}

/* To write bits is to write their neighbours, too, as they were. */
static bool changes_bits(const struct history_question *question,
			 const struct history_access *access)
{
	uint64_t old, new;
	bool was_known = bit_field_read(access->old, access->old_known,
					question->bit_offset,
					question->bit_size, &old);
	bool is_known = bit_field_read(access->new, access->new_known,
				       question->bit_offset,
				       question->bit_size, &new);

	return was_known != is_known || (is_known && old != new);
}

/* ------- bytes ------- */

static int make_bytes(struct bytes *bytes, uint64_t size)
{
	bytes->now = calloc(4, size);
	if (!bytes->now)
		return ERR_NO_MEMORY;
	bytes->known = bytes->now + size;
	bytes->old = bytes->known + size;
	bytes->old_known = bytes->old + size;
	return 0;
}

/* Reads a part anew; what cannot be read is not known. */
static void look(struct search *search, uint64_t at, uint64_t size)
{
	struct bytes *bytes = &search->bytes;

	if (!search->has_bytes)
		return;
	memset(bytes->known + at, 0, size);
	replayer_read(search->rep, search->question->addr + at,
		      bytes->now + at, bytes->known + at, size, NULL);
	for (uint64_t i = at; i < at + size; i++)
		if (!bytes->known[i])
			bytes->now[i] = 0;
}

static void keep_old(struct search *search, uint64_t at, uint64_t size)
{
	struct bytes *bytes = &search->bytes;

	if (!search->has_bytes)
		return;
	memcpy(bytes->old + at, bytes->now + at, size);
	memcpy(bytes->old_known + at, bytes->known + at, size);
}

/* Of bits, all bytes are told. */
static void keep_all(struct search *search, uint64_t at, uint64_t size)
{
	if (search->question->bit_size)
		keep_old(search, 0, search->question->size);
	else
		keep_old(search, at, size);
}

/* The part of [addr, addr + size) that is asked for, from question.addr on. */
static bool clip(const struct search *search, guest_addr home, guest_addr addr,
		 uint64_t size, uint64_t *at, uint64_t *part)
{
	uint64_t wanted = search->question->size;

	if (addr < home) {
		if (home - addr >= size)
			return false;
		size -= home - addr;
		addr = home;
	}
	*at = addr - home;
	if (*at >= wanted)
		return false;
	*part = size < wanted - *at ? size : wanted - *at;
	return true;
}

/* ------- what is found ------- */

static bool is_between(const struct search *search,
		       const struct history_access *access)
{
	return position_compare(&access->before, &search->question->from) >= 0 &&
	       position_compare(&access->after, &search->question->to) <= 0;
}

static void point_to(struct history_access *access, const struct bytes *bytes,
		     uint64_t at)
{
	access->old = bytes->old + at;
	access->old_known = bytes->old_known + at;
	access->new = bytes->now + at;
	access->new_known = bytes->known + at;
}

/* Keeps it, as the last one so far. */
static void keep(struct search *search, const struct history_access *access)
{
	const struct bytes *from = &search->bytes;
	struct bytes *to = &search->last_bytes;
	uint64_t size = 4 * search->question->size;

	search->has_last = true;
	search->last = *access;
	if (!access->old)
		return;
	memcpy(to->now, from->now, size);
	point_to(&search->last, to, access->addr - search->question->addr);
}

/* In an instruction, all events before it have taken effect. */
static void complete(struct search *search, struct history_access *access)
{
	uint32_t events = 0;

	if (access->before.events == EVENTS_ALL &&
	    !recording_events_at(search->query->recording, access->before.time,
				 &events, NULL))
		access->before.events = events;
}

/* What others have written, a thread only finds. */
static bool is_by_thread(struct search *search,
			 const struct history_access *access)
{
	const struct history_question *question = search->question;
	struct recording *recording = search->query->recording;
	uint32_t tid;

	if (!question->some_thread)
		return true;
	if (!search->rc)
		search->rc = recording_tid(
			recording,
			recording_thread_of(recording, access->stream,
					    access->before.time),
			&tid, search->why);
	return !search->rc && tid == question->tid &&
	       access->kind != HISTORY_OTHERS;
}

static const struct address_space physical = { .is_physical = true };

/* Of a machine: addresses are those that were asked for, or physical again. */
static void use_space(struct search *search, bool asked)
{
	if (search->question == &search->own)
		query_use_space(search->query,
				asked ? &search->before : &physical);
}

/* Whoever asks has the address that was asked for. */
static bool is_meant(struct search *search, const struct history_access *access)
{
	const struct history_question *question = search->question;
	struct history_access asked = *access;
	bool is;

	if (!question->is_meant)
		return true;
	asked.addr += search->shift;
	use_space(search, true);
	is = question->is_meant(question->context, &asked);
	use_space(search, false);
	return is;
}

static int tell_of(struct search *search, history_visit *visit,
		   struct history_access *access, struct failure *why)
{
	int rc;

	access->addr += search->shift;
	use_space(search, true);
	rc = visit(search->question->context, access, why);
	use_space(search, false);
	return rc;
}

static void found(struct search *search, struct history_access *access)
{
	const struct history_question *question = search->question;

	if (question->bit_size) {
		access->addr = question->addr;
		access->size = question->size;
	}
	if (search->has_bytes)
		point_to(access, &search->bytes, access->addr - question->addr);
	if (question->bit_size && access->writes &&
	    !changes_bits(question, access))
		return;
	if (search->rc || !is_between(search, access) ||
	    !is_by_thread(search, access) || !is_meant(search, access))
		return;
	if (!search->visit) {
		keep(search, access);
		return;
	}
	search->rc = query_is_wanted(search->query, search->why);
	if (search->rc)
		return;
	complete(search, access);
	search->rc = tell_of(search, search->visit, access, search->why);
}

static void flush(struct search *search)
{
	if (!search->has_pending)
		return;
	search->has_pending = false;
	found(search, &search->pending);
}

/* ------- accesses ------- */

/* Another part of an access that is wide or repeated. */
static bool continues(const struct history_access *access,
		      const struct vm_access_told *told, guest_addr addr)
{
	return access->before.time == told->steps && access->pc == told->pc &&
	       access->writes == told->writes &&
	       access->addr + access->size == addr;
}

static void write_bytes(struct search *search, uint64_t at, uint64_t size,
			uint64_t value)
{
	if (!search->has_bytes)
		return;
	memcpy(search->bytes.now + at, &value, size);
	memset(search->bytes.known + at, 1, size);
}

/* A read finds what nobody is known to have written. */
static bool is_news(const struct search *search, uint64_t at, uint64_t size,
		    uint64_t value)
{
	const struct bytes *bytes = &search->bytes;

	return search->has_bytes && !memchr(bytes->known + at, 0, size) &&
	       memcmp(bytes->now + at, &value, size) != 0;
}

/* Another process has written, some time before this read. */
static void take_news(struct search *search, const struct vm_access_told *told,
		      uint64_t at, uint64_t size, uint64_t value)
{
	struct history_access access = {
		.before = { told->steps, EVENTS_ALL },
		.after = { told->steps + 1, 0 },
		.stream = replayer_stream(search->rep),
		.kind = HISTORY_OTHERS, .writes = true, .pc = told->pc,
		.addr = search->question->addr + at, .size = size,
	};

	flush(search);
	keep_all(search, at, size);
	write_bytes(search, at, size, value);
	if (search->question->writes)
		found(search, &access);
}

static void take(struct search *search, const struct vm_access_told *told)
{
	guest_addr addr = search->question->addr;
	uint64_t at, size, value;

	if (!clip(search, search->home, told->addr, told->size, &at, &size))
		return;
	value = told->value >> 8 * (search->home + at - told->addr);
	if (!told->writes && is_news(search, at, size, value))
		take_news(search, told, at, size, value);
	if (!told->writes && !search->question->reads)
		return;
	if (search->has_pending &&
	    continues(&search->pending, told, addr + at)) {
		search->pending.size += size;
		if (!search->question->bit_size)
			keep_old(search, at, size);
	} else {
		flush(search);
		search->has_pending = true;
		search->pending = (struct history_access) {
			.before = { told->steps, EVENTS_ALL },
			.after = { told->steps + 1, 0 },
			.stream = replayer_stream(search->rep),
			.writes = told->writes, .pc = told->pc,
			.addr = addr + at, .size = size,
		};
		keep_all(search, at, size);
	}
	write_bytes(search, at, size, value);
}

static void on_accessed(void *context, const struct vm_access_told *list,
			size_t count)
{
	struct search *search = context;

	for (size_t i = 0; i < count; i++)
		take(search, &list[i]);
}

/* ------- events ------- */

static bool is_call(enum packet_kind kind)
{
	return kind == PACKET_SYSCALL || kind == PACKET_RETURN;
}

static enum history_kind kind_of(const struct replay_event *event,
				 const struct packet *effect)
{
	switch (effect->kind) {
	case PACKET_MAP:
	case PACKET_MOVE:
		return HISTORY_MAPPED;
	case PACKET_UNMAP:
		return HISTORY_UNMAPPED;
	case PACKET_CLEAR:
		return HISTORY_CLEARED;
	default:
		return event->packet->kind == PACKET_SLICE ||
				       event->packet->kind == PACKET_GIVE_WAY ?
			       HISTORY_OTHERS : HISTORY_KERNEL;
	}
}

/* What is there now of what is asked for. */
static void look_at_mapping(struct search *search)
{
	struct vm *vm = replayer_vm(search->rep);
	guest_addr addr = search->question->addr;
	const struct region *region =
		vm ? memory_region_at(vm_memory(vm), addr) : NULL;

	search->home = replayer_home(search->rep, addr);
	search->is_shared = region && region->kind == REGION_SHARED;
}

/* An event's effect is told with the guest's own address, or with its home. */
static bool concerns(const struct search *search, const struct packet *effect,
		     bool target, uint64_t *at, uint64_t *size)
{
	guest_addr addr;
	uint64_t all;

	if (!packet_changes(effect, target, &addr, &all))
		return false;
	return clip(search, search->question->addr, addr, all, at, size) ||
	       clip(search, search->home, addr, all, at, size);
}

/*
 * Whether a later effect of the event does away with this one: what is there
 * when the event is over is all that is told.
 */
static bool is_undone(const struct search *search,
		      const struct replay_event *event,
		      const struct packet *effect, uint64_t at, uint64_t size)
{
	bool is_later = false;
	uint64_t next, part;

	for (size_t i = 0; i < event->count; i++) {
		const struct packet *other = replay_event_effect(event, i);

		if (is_later && other->kind != PACKET_DOUBT &&
		    (concerns(search, other, false, &next, &part) ||
		     concerns(search, other, true, &next, &part)) &&
		    next <= at && at + size <= next + part)
			return true;
		is_later |= other == effect;
	}
	return false;
}

static void on_event(void *context, const struct replay_event *event)
{
	struct search *search = context;
	const struct reg_table *regs =
		recording_reg_table(search->query->recording);

	flush(search);
	search->event_before = replayer_now(search->rep);
	search->event_pc = replayer_reg(search->rep, regs->pc);
	if (is_call(event->packet->kind))
		search->event_pc -= vm_call_size(replayer_vm(search->rep));
	/* What a call does, its instruction does. */
	if (event->packet->kind == PACKET_SYSCALL)
		search->event_before = (struct position){
			search->event_before.time - 1, EVENTS_ALL };
}

static void take_effect(struct search *search,
			const struct replay_event *event,
			const struct packet *effect, bool target)
{
	struct history_access access = {
		.before = search->event_before,
		.after = replayer_now(search->rep),
		.stream = replayer_stream(search->rep),
		.kind = kind_of(event, effect), .writes = true,
		.pc = search->event_pc,
		.event = event->packet->kind, .number = event->packet->number,
	};
	uint64_t at, size;

	/* Of shared memory, the recorder only says that others may have. */
	if ((effect->kind == PACKET_DOUBT && search->is_shared) ||
	    !concerns(search, effect, target, &at, &size) ||
	    is_undone(search, event, effect, at, size))
		return;
	access.addr = search->question->addr + at;
	access.size = size;
	if (effect->kind == PACKET_MOVE && !target)
		access.kind = HISTORY_UNMAPPED;
	keep_all(search, at, size);
	look(search, at, size);
	point_to(&access, &search->bytes, at);
	/* Pages that the kernel may have written in part. */
	if (effect->kind == PACKET_DOUBT && search->has_bytes &&
	    !history_changes(&access))
		return;
	if (search->question->writes)
		found(search, &access);
}

static void on_event_done(void *context, const struct replay_event *event)
{
	struct search *search = context;

	look_at_mapping(search);
	for (size_t i = 0; i < event->count; i++) {
		const struct packet *effect = replay_event_effect(event, i);

		take_effect(search, event, effect, false);
		take_effect(search, event, effect, true);
	}
}

/* ------- a segment ------- */

static bool is_later(const struct position *a, const struct position *b)
{
	return position_compare(a, b) > 0;
}

static void begin(struct search *search)
{
	const struct history_question *question = search->question;
	struct vm_observer *guest = &search->observer.guest;

	search->has_pending = false;
	look_at_mapping(search);
	search->observer = (struct replay_observer) {
		.event = on_event, .event_done = on_event_done,
		.context = search,
	};
	guest->context = search;
	guest->accessed = on_accessed;
	guest->accesses = VM_WRITES | VM_VALUES;
	if (question->reads || search->everywhere || search->is_shared)
		guest->accesses |= VM_READS;
	guest->data = VM_EVERYWHERE;
	if (!search->everywhere)
		guest->data = (struct vm_range){
			question->addr, question->addr + question->size - 1,
		};
}

static int run(struct search *search, const struct position *from,
	       const struct position *to)
{
	const struct replay_until until = { .to = *to };
	struct query_answer answer;
	struct replay_stop stop;
	int rc = 0;

	/* What others share is known by more than a replay. */
	if (search->has_bytes)
		rc = query_memory(search->query, search->question->addr, from,
				  search->bytes.now, search->bytes.known,
				  search->question->size, &answer, search->why);
	if (!rc)
		rc = replayer_seek(search->rep, from, search->why);
	if (rc)
		return rc;
	begin(search);
	rc = replayer_observe(search->rep, &search->observer, search->why);
	if (!rc)
		rc = replayer_run(search->rep, &until, &stop, search->why);
	replayer_unobserve(search->rep, &search->observer);
	flush(search);
	return rc;
}

/* A stretch of its epochs. */
static int search_epochs(struct search *search, size_t segment,
			 unsigned first, unsigned last)
{
	const struct history_question *question = search->question;
	const struct segment_uses *parts = &search->parts;
	struct fine_collector collector;
	struct position from, to;
	bool learns = parts->learns;
	int rc = query_is_wanted(search->query, search->why);

	if (!rc)
		rc = segment_begin(search->query, segment, &from, search->why);
	if (!rc)
		rc = segment_begin(search->query, segment + 1, &to,
				   search->why);
	if (rc)
		return rc;
	segment_uses_bound(parts, first, last, &from, &to);
	learns &= !is_later(&question->from, &from) &&
		  !is_later(&to, &question->to);
	if (is_later(&question->from, &from))
		from = question->from;
	if (is_later(&to, &question->to))
		to = question->to;
	if (!is_later(&to, &from))
		return 0;
	if (learns)
		rc = fine_begin(&collector, &search->query->fine, search->rep,
				segment, question->reads, search->why);
	if (!rc)
		rc = run(search, &from, &to);
	if (learns)
		fine_end(&collector, !rc && !search->rc);
	return rc ? rc : search->rc;
}

static int search_forwards(struct search *search, size_t segment)
{
	unsigned first = 0, last;
	int rc = 0;

	while (!rc && segment_uses_next(&search->parts, &first, &last)) {
		rc = search_epochs(search, segment, first, last);
		first = last + 1;
	}
	return rc;
}

/*
 * Where a search that ends with `last` begins: some epochs more, if the replay
 * comes through them anyhow.  Not many: accesses are kept, one after the other.
 */
static int first_of_some(const struct search *search, unsigned last,
			 unsigned *out)
{
	const struct segment_uses *parts = &search->parts;
	struct position begins = { parts->start, 0 };
	struct position ends = { UINT64_MAX, 0 };
	uint64_t start;
	int rc;

	*out = last;
	segment_uses_bound(parts, last, last, &begins, &ends);
	rc = replayer_start_time(search->rep, &begins, &start, search->why);
	for (unsigned i = 1; !rc && i < EPOCHS_TOGETHER; i++) {
		unsigned before;

		if (!segment_uses_before(parts, *out, &before))
			break;
		begins = (struct position){ parts->start, 0 };
		segment_uses_bound(parts, before, before, &begins, &ends);
		if (begins.time < start)
			break;
		*out = before;
	}
	return rc;
}

/*
 * The last few epochs; then all that are left, which takes one replay: to go
 * back from one to the other would take many.
 */
static int search_backwards(struct search *search, size_t segment)
{
	const struct segment_uses *parts = &search->parts;
	unsigned first = 0, some, last;
	int rc;

	if (parts->is_whole)
		return search_epochs(search, segment, 0, EPOCHS_MOST - 1);
	if (!segment_uses_last(parts, search->question->to.time, &last))
		return 0;
	rc = first_of_some(search, last, &some);
	if (!rc)
		rc = search_epochs(search, segment, some, last);
	segment_uses_next(parts, &first, NULL);
	if (rc || search->has_last || first >= some)
		return rc;
	return search_epochs(search, segment, first, some - 1);
}

static int search_segment(struct search *search, size_t segment)
{
	const struct history_question *question = search->question;
	const struct segment_use use = {
		question->addr, question->size, question->reads,
	};
	int rc = segment_uses_find(&search->parts, search->query, &use,
				    segment, search->why);

	if (rc)
		return rc;
	search->everywhere = search->parts.everywhere;
	return search->visit ? search_forwards(search, segment) :
			       search_backwards(search, segment);
}

/* ------- all ------- */

/*
 * What an address of a machine means is found out once, at the end of what is
 * asked for; then accesses to that memory count, by whatever address.
 */
static int find_home(struct search *search, struct failure *why)
{
	const struct history_question *question = search->question;
	guest_addr end = question->addr + question->size - 1;
	guest_addr home, next;
	int rc = query_home(search->query, question->addr, &question->to, &home,
			    why);

	if (rc)
		return rc;
	if (home == HOME_NONE)
		return failed(why, ERR_NOT_FOUND, "0x%" PRIx64 " is not mapped"
			      " then", question->addr);
	for (guest_addr at = question->addr | (GUEST_PAGE - 1); at < end;
	     at += GUEST_PAGE) {
		rc = query_home(search->query, at + 1, &question->to, &next,
				why);
		if (rc)
			return rc;
		if (next - home != at + 1 - question->addr)
			return failed(why, ERR_INPUT, "these bytes are not in"
				      " one piece of the machine's memory:"
				      " ask for each page of them");
	}
	search->own = *question;
	search->own.addr = home;
	search->shift = question->addr - home;
	search->question = &search->own;
	search->before = search->query->space;
	query_use_space(search->query, &physical);
	return 0;
}

static int start(struct search *search, struct query *query,
		 const struct history_question *question, struct failure *why)
{
	int rc = 0;

	*search = (struct search) {
		.query = query, .question = question, .why = why,
		.has_bytes = question->size <= HISTORY_BYTES_MOST,
	};
	if (question->some_thread)
		rc = recording_has_tid(query->recording, question->tid, why);
	if (!rc && search->has_bytes &&
	    (make_bytes(&search->bytes, question->size) ||
	     make_bytes(&search->last_bytes, question->size)))
		rc = failed(why, ERR_NO_MEMORY, "out of memory");
	if (!rc)
		rc = query_replayer(query, &search->rep, why);
	/* A search does not come back to where it was. */
	if (!rc)
		replayer_lay_points(search->rep, false);
	if (!rc && recording_is_machine(query->recording))
		rc = find_home(search, why);
	return rc;
}

static int segments_of(const struct search *search, size_t *first,
		       size_t *last)
{
	struct recording *recording = search->query->recording;
	struct segment_position place;
	int rc = recording_place(recording, &search->question->from, &place,
				 search->why);

	if (rc)
		return rc;
	*first = place.segment;
	rc = recording_place(recording, &search->question->to, &place,
			     search->why);
	if (!rc)
		*last = place.segment;
	return rc;
}

static int finish(struct search *search, int rc)
{
	if (search->rep)
		replayer_lay_points(search->rep, true);
	use_space(search, true);
	free(search->bytes.now);
	free(search->last_bytes.now);
	return rc == HISTORY_ENOUGH ? 0 : rc;
}

int history_each(struct query *query, const struct history_question *question,
		 history_visit *visit, struct failure *why)
{
	struct search search;
	size_t segment = 0, last = 0;
	int rc = start(&search, query, question, why);

	search.visit = visit;
	if (!rc)
		rc = segments_of(&search, &segment, &last);
	while (!rc && segment <= last)
		rc = search_segment(&search, segment++);
	return finish(&search, rc);
}

int history_last(struct query *query, const struct history_question *question,
		 history_visit *visit, bool *found_any, struct failure *why)
{
	struct search search;
	size_t first = 0, segment = 0;
	int rc = start(&search, query, question, why);

	*found_any = false;
	if (!rc)
		rc = segments_of(&search, &first, &segment);
	while (!rc && !search.has_last) {
		rc = search_segment(&search, segment);
		if (segment-- == first)
			break;
	}
	*found_any = !rc && search.has_last;
	if (*found_any) {
		complete(&search, &search.last);
		rc = tell_of(&search, visit, &search.last, why);
	}
	return finish(&search, rc);
}
