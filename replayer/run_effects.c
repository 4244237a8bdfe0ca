/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * run_effects.c - what the kernel changes of what is watched
 *
 * Of pages that it may have written, or not, only what they hold before and
 * behind the event can tell.
 */
#include <stdlib.h>
#include <string.h>

#include "replayer/replayer_internal.h"
#include "replayer/run_internal.h"

/* Of more bytes than these it is not asked whether they have changed. */
#define COMPARED_MOST (UINT64_C(1) << 20)

/* What a watch had before an event that may write it. */
struct event_watch {
	bool may_change;
	struct meeting met;	/* if it does */
	uint8_t *old;		/* see look() */
};

void effects_place(struct replayer *rep, enum packet_kind kind,
		   struct meeting *met)
{
	struct position now = position_now(rep);

	if (position_counts(kind)) {
		met->before = now;
		met->after = (struct position){ now.time, now.events + 1 };
	} else {
		met->before = (struct position){ now.time - 1, EVENTS_ALL };
		met->after = (struct position){ now.time, now.events };
	}
}

/* ------- which effects count ------- */

static bool overlap(const struct vm_range *range, guest_addr addr,
		    uint64_t size)
{
	return size && addr <= range->last && addr + size - 1 >= range->first;
}

/* An effect is told with the guest's own addresses, or with their home. */
static bool concerns(const struct replay_watch *watch,
		     const struct packet *effect, bool target)
{
	const struct vm_range own = {
		watch->addr,
		watch->addr + (watch->data.last - watch->data.first),
	};
	guest_addr addr;
	uint64_t size;

	return watch->writes &&
	       packet_changes(effect, target, &addr, &size) &&
	       (overlap(&watch->data, addr, size) ||
		overlap(&own, addr, size));
}

static bool changes(const struct replay_watch *watch,
		    const struct packet *effect)
{
	return concerns(watch, effect, false) || concerns(watch, effect, true);
}

bool effect_is_watched(const struct search *search,
		       const struct packet *effect)
{
	const struct replay_until *until = search->until;

	for (size_t i = 0; i < until->watch_count; i++)
		if (changes(&until->watches[i], effect))
			return true;
	return false;
}

/* ------- before and behind ------- */

/* What is watched, and behind that which bytes of it are known; or NULL. */
static uint8_t *look(struct search *search, const struct replay_watch *watch)
{
	uint64_t size = watch->data.last - watch->data.first + 1;
	uint8_t *bytes = size - 1 < COMPARED_MOST ? calloc(2, size) : NULL;

	if (bytes && replayer_read(search->rep, watch->addr, bytes,
				   bytes + size, size, NULL)) {
		free(bytes);
		bytes = NULL;
	}
	return bytes;
}

static bool has_changed(struct search *search,
			const struct replay_watch *watch, const uint8_t *old)
{
	uint64_t size = watch->data.last - watch->data.first + 1;
	uint8_t *now = old ? look(search, watch) : NULL;
	bool same = now && !memcmp(now, old, 2 * size);

	free(now);
	return !same;
}

/* ------- events ------- */

/* Of shared memory, the recorder only says that others may have written. */
static bool is_shared(const struct search *search,
		      const struct replay_watch *watch)
{
	const struct region *region =
		memory_region_at(search->rep->memory, watch->addr);

	return region && region->kind == REGION_SHARED;
}

/* To be compared when the event has taken effect. */
static void keep(struct search *search, size_t index,
		 const struct meeting *met)
{
	const struct replay_watch *watch = &search->until->watches[index];
	struct event_watch *before;

	if (is_shared(search, watch))
		return;
	if (!search->before)
		search->before = calloc(search->until->watch_count,
					sizeof(*search->before));
	before = search->before ? &search->before[index] : NULL;
	if (!before || before->may_change)
		return;
	*before = (struct event_watch) {
		.may_change = true, .met = *met, .old = look(search, watch),
	};
}

/* True if it is clear that a watch is met. */
static bool meet_effect(struct search *search,
			const struct replay_event *event,
			const struct packet *effect)
{
	const struct replay_until *until = search->until;
	struct meeting met = {
		.any = true,
		.stop = { .kind = REPLAY_AT_WATCH, .by_event = true,
			  .access = ACCESS_WRITE },
	};

	for (size_t i = 0; i < until->watch_count; i++) {
		const struct replay_watch *watch = &until->watches[i];
		bool target = !concerns(watch, effect, false);

		if (target && !concerns(watch, effect, true))
			continue;
		packet_changes(effect, target, &met.stop.addr, &met.stop.size);
		met.stop.index = i;
		effects_place(search->rep, event->packet->kind, &met);
		if (effect->kind != PACKET_DOUBT) {
			run_take(search, &met);
			return true;
		}
		keep(search, i, &met);
	}
	return false;
}

static void forget(struct search *search)
{
	for (size_t i = 0; i < search->until->watch_count && search->before;
	     i++) {
		free(search->before[i].old);
		search->before[i] = (struct event_watch){ 0 };
	}
}

void effects_meet(struct search *search, const struct replay_event *event)
{
	bool is_met = false;

	for (size_t i = 0; i < event->count && !is_met; i++)
		is_met = meet_effect(search, event,
				     replay_event_effect(event, i));
	if (is_met)
		forget(search);
}

void effects_done(void *context, const struct replay_event *event)
{
	struct search *search = context;
	const struct replay_until *until = search->until;
	bool is_met = false;

	(void)event;
	for (size_t i = 0; i < until->watch_count && search->before && !is_met;
	     i++) {
		const struct event_watch *before = &search->before[i];

		is_met = before->may_change &&
			 has_changed(search, &until->watches[i], before->old);
		if (is_met)
			run_take(search, &before->met);
	}
	forget(search);
}

void effects_end(struct search *search)
{
	forget(search);
	free(search->before);
	search->before = NULL;
}
