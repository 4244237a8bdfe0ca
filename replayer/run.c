/* SPDX-License-Identifier: GPL-2.0-or-later */
/* run.c - see run.h */
#include <stdlib.h>
#include <string.h>

#include "formats/error.h"
#include "index/index.h"
#include "replayer/guests.h"
#include "replayer/replayer_internal.h"
#include "replayer/run_internal.h"

/* How far it runs before it asks whether it is to stop: some 40 ms. */
#define STEPS_AT_ONCE (16u << 20)

static bool is_interrupted(const struct search *search)
{
	const atomic_bool *interrupt = search->until->interrupt;

	return interrupt &&
	       atomic_load_explicit(interrupt, memory_order_relaxed);
}

bool run_is_over(const struct search *search)
{
	return is_interrupted(search) ||
	       (search->decided && atomic_load_explicit(search->decided,
			memory_order_relaxed) < search->part);
}

bool run_is_interrupted(const struct search *search, int rc)
{
	return is_interrupted(search) && (!rc || rc == ERR_CANCELLED);
}

void run_end_interrupted(struct replay_stop *stop, const struct position *at)
{
	*stop = (struct replay_stop){ .kind = REPLAY_INTERRUPTED, .at = *at };
}

/* ------- what is met ------- */

void run_take(struct search *search, const struct meeting *met)
{
	if (search->found.any && !search->for_last)
		return;
	search->found = *met;
	if (!search->for_last)
		replayer_halt(search->rep);
}

static bool is_watched(const struct search *search, bool writes,
		       guest_addr addr, uint64_t size, size_t *index)
{
	for (size_t i = 0; i < search->until->watch_count; i++) {
		const struct replay_watch *watch = &search->until->watches[i];

		*index = i;
		if (addr <= watch->data.last &&
		    addr + size - 1 >= watch->data.first &&
		    (writes ? watch->writes : watch->reads))
			return true;
	}
	return false;
}

static void meet_access(struct search *search, size_t index,
			const struct vm_access_told *access)
{
	const struct meeting met = {
		.any = true,
		.before = { access->steps, EVENTS_ALL },
		.after = { access->steps + 1, 0 },
		.stop = { .kind = REPLAY_AT_WATCH, .index = index,
			  .pc = access->pc, .addr = access->addr,
			  .size = access->size,
			  .access = access->writes ? ACCESS_WRITE :
						     ACCESS_READ },
	};

	run_take(search, &met);
}

/* What one instruction accesses first stands for it. */
static void on_accessed(void *context, const struct vm_access_told *list,
			size_t count)
{
	struct search *search = context;
	const struct meeting *found = &search->found;
	size_t index;

	for (size_t i = 0; i < count; i++) {
		const struct vm_access_told *access = &list[i];

		if (found->any && found->stop.pc == access->pc &&
		    found->before.time == access->steps)
			continue;
		if (is_watched(search, access->writes, access->addr,
			       access->size, &index))
			meet_access(search, index, access);
	}
}

static bool is_passed(const struct replay_until *until, uint64_t signal)
{
	uint64_t word = signal / 64;

	return word < sizeof(until->passed_signals) / sizeof(uint64_t) &&
	       until->passed_signals[word] >> signal % 64 & 1;
}

static bool is_awaited(const struct search *search, const struct packet *packet)
{
	const struct replay_until *until = search->until;
	bool is_signal = packet->kind == PACKET_SIGNAL ||
			 packet->kind == PACKET_FAULT;

	return until->events & 1u << packet->kind &&
	       (!is_signal ||
		(packet->number && !is_passed(until, packet->number)));
}

/* Forwards, of what is told where it is about to happen. */
bool run_is_ahead(const struct search *search, const struct position *at)
{
	int order = position_compare(&search->from, at);

	return order < 0 || (!order && search->until->here);
}

static void meet_event(struct search *search, const struct packet *packet)
{
	struct meeting met = { .any = true };

	effects_place(search->rep, packet->kind, &met);
	met.stop = (struct replay_stop) {
		.kind = REPLAY_AT_EVENT, .event = packet->kind,
		.number = packet->number,
	};
	met.after = met.before;
	if (search->for_last || run_is_ahead(search, &met.before))
		run_take(search, &met);
}

/* ------- events ------- */

static void on_event(void *context, const struct replay_event *event)
{
	struct search *search = context;

	call_meet(search, event->packet);
	if (is_awaited(search, event->packet))
		meet_event(search, event->packet);
	effects_meet(search, event);
}

/*
 * Asks whoever is to be asked: the result.  The replay goes on from here,
 * wherever that has moved it.
 */
static int ask_break(struct search *search, struct failure *why)
{
	struct replayer *rep = search->rep;
	const struct replay_until *until = search->until;
	const struct position at = position_now(rep);
	const struct wanted_breaks breaks = rep->breaks;
	const struct vm_stop met = rep->met;
	struct position now;
	int rc, result;

	rep->in_order = false;
	rep->position = at;
	rep->breaks = (struct wanted_breaks){ 0 };
	result = until->is_met(until->context, &met, &at);
	rc = result < 0 || search->visits ? result : 0;
	now = position_now(rep);
	if (!rc && (!rep->loaded || position_compare(&now, &at)))
		rc = replayer_seek(rep, &at, why);
	rep->breaks = breaks;
	rep->in_order = rep->at_break = true;
	return rc ? rc : result;
}

static void meet_break(struct search *search)
{
	struct meeting met = {
		.any = true, .before = position_now(search->rep),
		.stop = { .kind = REPLAY_AT_BREAK },
	};
	guest_addr pc = replayer_reg(search->rep, search->rep->regs->pc);

	while (search->until->breaks[met.stop.index] != pc)
		met.stop.index++;
	met.after = met.before;
	run_take(search, &met);
}

/* ------- looking through a part ------- */

static int find_event(void *context, const struct packet_place *place,
		      const struct packet *packet)
{
	const struct search *search = context;

	if (!packet_is_event(packet->kind))
		return !place->is_told && effect_is_watched(search, packet);
	return is_awaited(search, packet) || call_is_awaited(search, packet);
}

/* Whether anything that is watched may be accessed in a segment. */
static int may_access(const struct search *search, size_t segment, bool *may,
		      struct failure *why)
{
	const struct replay_until *until = search->until;
	struct segment_index index = { 0 };
	int rc = recording_index(search->rep->recording, segment, &index, why);

	for (size_t i = 0; i < until->watch_count && !rc && !*may; i++) {
		const struct replay_watch *watch = &until->watches[i];
		uint64_t first = watch->data.first >> GUEST_PAGE_SHIFT;
		uint64_t last = watch->data.last >> GUEST_PAGE_SHIFT;

		*may = watch->reads ? page_index_may_touch(&index, first, last) :
				      page_index_may_write(&index, first, last);
	}
	segment_index_release(&index);
	return rc;
}

int run_may_meet_event(struct search *search, size_t segment, bool *may,
		       struct failure *why)
{
	const struct replay_until *until = search->until;
	int rc;

	*may = call_may_be_open(search, segment);
	if (*may || (!until->events && !until->calls && !until->returns &&
		     !until->watch_count))
		return 0;
	rc = recording_each_packet(search->rep->recording, segment, find_event,
				   search, why);
	*may = rc > 0;
	return rc > 0 ? 0 : rc;
}

/* Whether anything that is looked for may be met in a segment. */
static int may_meet(struct search *search, size_t segment, bool *may,
		    struct failure *why)
{
	int rc = 0;

	*may = search->until->break_count;
	if (!*may && search->until->watch_count)
		rc = may_access(search, segment, may, why);
	return rc || *may ? rc : run_may_meet_event(search, segment, may, why);
}

/* Runs to a position, through breakpoints, until what is looked for is met. */
static int run_to(struct search *search, const struct segment_position *to,
		  struct failure *why)
{
	struct replayer *rep = search->rep;
	int rc;

	while ((rc = replayer_go(rep, to, why)) == REPLAYER_STOPPED) {
		rc = rep->at_break;
		if (rc && search->until->is_met)
			rc = ask_break(search, why);
		if (rc && (rc < 0 || search->visits))
			return rc;
		if (rc)
			meet_break(search);
		if ((search->found.any && !search->for_last) ||
		    run_is_over(search))
			return 0;
		rep->passes = rep->at_break;
	}
	return rc;
}

/* The next place at which to ask whether to go on. */
static struct segment_position next_place(const struct search *search,
					  const struct segment_position *to)
{
	struct replayer *rep = search->rep;
	const uint64_t most = STEPS_AT_ONCE;
	uint64_t now = replayer_time(rep);
	uint64_t end = recording_time(rep->recording, rep->segment + 1);

	if (rep->segment == to->segment && to->time - now <= most)
		return *to;
	if (rep->segment < to->segment && end - now <= most)
		return (struct segment_position){ rep->segment + 1, end, 0 };
	return (struct segment_position){ rep->segment, now + most,
					  EVENTS_ALL };
}

static bool has_arrived(const struct replayer *rep,
			const struct segment_position *place,
			const struct segment_position *to)
{
	return place->segment == to->segment && place->time == to->time &&
	       place->events == to->events && rep->segment == to->segment;
}

/* From where the replayer stands, in the order of the recording. */
static int run_through(struct search *search, const struct position *end,
		       struct failure *why)
{
	struct replayer *rep = search->rep;
	struct segment_position to, place;
	int rc = recording_place(rep->recording, end, &to, why);

	while (!rc) {
		place = next_place(search, &to);
		rc = run_to(search, &place, why);
		if (search->found.any && !search->for_last)
			break;
		if (has_arrived(rep, &place, &to) ||
		    run_is_over(search))
			break;
	}
	return rc;
}

/* All that is watched is told; on_accessed() chooses. */
static int watch(struct search *search, struct failure *why)
{
	const struct replay_until *until = search->until;
	struct vm_observer *guest = &search->observer.guest;

	search->watched = calloc(until->watch_count + 1,
				 sizeof(*search->watched));
	if (!search->watched)
		return failed(why, ERR_NO_MEMORY, "out of memory");
	guest->accessed = on_accessed;
	guest->parts = search->watched;
	guest->part_count = until->watch_count;
	guest->data = (struct vm_range){ UINT64_MAX, 0 };
	for (size_t i = 0; i < until->watch_count; i++) {
		const struct replay_watch *watch = &until->watches[i];

		guest->accesses |= (watch->reads ? VM_READS : 0) |
				   (watch->writes ? VM_WRITES : 0);
		if (watch->data.first < guest->data.first)
			guest->data.first = watch->data.first;
		if (watch->data.last > guest->data.last)
			guest->data.last = watch->data.last;
		search->watched[i] = watch->data;
	}
	return 0;
}

static int begin(struct search *search, struct failure *why)
{
	const struct replay_until *until = search->until;
	struct replayer *rep = search->rep;
	int rc;

	search->observer = (struct replay_observer) {
		.event = on_event, .event_done = effects_done,
		.turn = call_on_turn, .context = search,
		.guest = { .context = search },
	};
	rc = watch(search, why);
	if (rc)
		return rc;
	search->had = calloc(until->break_count + 1, sizeof(*search->had));
	if (!search->had)
		return failed(why, ERR_NO_MEMORY, "out of memory");
	for (size_t i = 0; i < until->break_count; i++)
		search->had[i] = rep->guest->break_is_set(rep,
							until->breaks[i]);
	for (size_t i = 0; i < until->break_count && !rc; i++)
		if (!search->had[i])
			rc = replayer_break_set(rep, until->breaks[i], why);
	return rc ? rc : replayer_observe(rep, &search->observer, why);
}

static void end(struct search *search)
{
	const struct replay_until *until = search->until;
	struct replayer *rep = search->rep;

	for (size_t i = 0; i < until->break_count && search->had; i++)
		if (!search->had[i])
			replayer_break_clear(rep, until->breaks[i]);
	free(search->had);
	search->had = NULL;
	replayer_unobserve(rep, &search->observer);
	free(search->watched);
	search->watched = NULL;
	effects_end(search);
	rep->halts = rep->passes = rep->at_break = false;
}

/* The same, with breakpoints and whoever watches. */
static int look_through(struct search *search, const struct position *to,
			bool passes, struct failure *why)
{
	struct replayer *rep = search->rep;
	const struct wanted_breaks breaks = rep->breaks;
	bool in_order = rep->in_order;
	int rc = begin(search, why);

	rep->breaks = (struct wanted_breaks) {
		.all = search->visits, .list = search->until->breaks,
		.count = search->until->break_count,
	};
	rep->in_order = true;
	rep->passes = passes;
	search->end = *to;
	call_begin(search);
	if (!rc)
		rc = run_through(search, to, why);
	if (!rc && (!search->found.any || search->for_last))
		call_end(search);
	rep->in_order = in_order;
	rep->breaks = breaks;
	end(search);
	return rc;
}

/* ------- forwards ------- */

int run_begin(struct replayer *rep, struct failure *why)
{
	const struct position start = { recording_start(rep->recording), 0 };

	return rep->loaded ? 0 : replayer_seek(rep, &start, why);
}

void run_stand(struct replayer *rep, struct replay_stop *stop,
		  const struct replay_stop *what)
{
	*stop = *what;
	stop->at = rep->position = position_now(rep);
}

/* How far a replay got that was interrupted, which may be within events. */
static struct position reached(const struct search *search)
{
	const struct position now = { replayer_time(search->rep), 0 };

	if (run_is_before(&now, &search->from))
		return search->from;
	return run_is_before(&now, &search->until->to) ? now :
							 search->until->to;
}

int replayer_run(struct replayer *rep, const struct replay_until *until,
		 struct replay_stop *stop, struct failure *why)
{
	struct search search = { .rep = rep, .until = until };
	struct position now;
	int rc = run_begin(rep, why);

	if (rc)
		return rc;
	now = position_now(rep);
	search.from = now;
	if (run_is_before(&now, &until->to))
		rc = look_through(&search, &until->to, true, why);
	if (!search.found.any && run_is_interrupted(&search, rc)) {
		now = reached(&search);
		run_end_interrupted(stop, &now);
		return 0;
	}
	/* What is told has happened, or is about to. */
	if (!rc && search.found.any && search.found.stop.kind != REPLAY_AT_BREAK)
		rc = replayer_seek(rep, &search.found.after, why);
	if (rc)
		return rc;
	run_stand(rep, stop, search.found.any ? &search.found.stop :
						&run_at_position);
	return 0;
}

/* ------- parts ------- */

int run_may_meet(struct search *search, const struct position *first,
		    bool *may, struct failure *why)
{
	struct segment_position place;
	int rc = recording_place(search->rep->recording, first, &place, why);

	return rc ? rc : may_meet(search, place.segment, may, why);
}

int run_part(struct search *search, const struct position *first,
		const struct position *end, struct failure *why)
{
	int rc = replayer_seek(search->rep, first, why);

	return rc ? rc : look_through(search, end, false, why);
}

/* ------- visits ------- */

int replayer_break_set(struct replayer *rep, guest_addr pc, struct failure *why)
{
	return rep->guest->break_set(rep, pc, why);
}

void replayer_break_clear(struct replayer *rep, guest_addr pc)
{
	rep->guest->break_clear(rep, pc);
}

int replayer_visit(struct replayer *rep, const struct replay_visits *visits,
		   struct failure *why)
{
	const struct replay_until until = {
		.to = visits->to, .is_met = visits->visit,
		.context = visits->context,
	};
	struct search search = { .rep = rep, .until = &until, .visits = true };
	struct position now;
	int rc = run_begin(rep, why);

	if (rc)
		return rc;
	now = position_now(rep);
	if (run_is_before(&now, &visits->to))
		rc = look_through(&search, &visits->to, false, why);
	rep->position = position_now(rep);
	return rc;
}
