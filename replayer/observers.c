/* SPDX-License-Identifier: GPL-2.0-or-later */
/* observers.c - telling observers what a replay executes */
#include "replayer/replayer_internal.h"

#include "formats/array.h"
#include "formats/error.h"
#include "replayer/guests.h"

static bool is_of_guest(const struct replay_observer *observer)
{
	return observer->guest.instruction || observer->guest.accesses;
}

int replayer_observe(struct replayer *rep,
		     const struct replay_observer *observer,
		     struct failure *why)
{
	int rc = 0;

	if (array_room(rep->observers, rep->observer_count,
		       rep->observer_room))
		return failed(why, ERR_NO_MEMORY, "out of memory");
	if (is_of_guest(observer))
		rc = rep->guest->observe(rep, &observer->guest, why);
	if (!rc)
		rep->observers[rep->observer_count++] = observer;
	return rc;
}

void replayer_unobserve(struct replayer *rep,
			const struct replay_observer *observer)
{
	size_t left = 0;

	if (is_of_guest(observer))
		rep->guest->unobserve(rep, &observer->guest);
	for (size_t i = 0; i < rep->observer_count; i++)
		if (rep->observers[i] != observer)
			rep->observers[left++] = rep->observers[i];
	rep->observer_count = left;
}

const struct packet *replay_event_effect(const struct replay_event *event,
					 size_t number)
{
	return &event->effects[number].packet;
}

void observers_tell(struct replayer *rep, const struct replay_event *told,
		    bool done)
{
	for (size_t i = 0; i < rep->observer_count; i++) {
		const struct replay_observer *observer = rep->observers[i];

		if (!done && observer->event)
			observer->event(observer->context, told);
		if (done && observer->event_done)
			observer->event_done(observer->context, told);
	}
}

void observers_event(struct replayer *rep, const struct script_event *event,
		     bool done)
{
	const struct replay_event told = {
		.packet = &event->packet, .count = event->count,
		.effects = event->count ? rep->script.effects + event->first :
					  NULL,
	};

	observers_tell(rep, &told, done);
}

struct position replayer_now(const struct replayer *rep)
{
	return position_now(rep);
}

void observers_turn(struct replayer *rep, bool after)
{
	for (size_t i = 0; i < rep->observer_count; i++)
		if (rep->observers[i]->turn)
			rep->observers[i]->turn(rep->observers[i]->context,
						after);
}

void observers_tables(struct replayer *rep, uint64_t time,
		      const struct page_tables *tables)
{
	for (size_t i = 0; i < rep->observer_count; i++)
		if (rep->observers[i]->tables)
			rep->observers[i]->tables(rep->observers[i]->context,
						  time, tables);
}

static void tell_output(struct replayer *rep, int stream, const uint8_t *bytes,
			size_t size)
{
	for (size_t i = 0; i < rep->observer_count; i++)
		if (rep->observers[i]->output)
			rep->observers[i]->output(rep->observers[i]->context,
						  stream, bytes, size);
}

void observers_output(struct replayer *rep, const struct packet *packet)
{
	guest_addr addr = packet->addr;
	uint64_t left = packet->size;
	uint8_t bytes[8192];

	while (rep->observer_count && left) {
		size_t span = left < sizeof(bytes) ? left : sizeof(bytes);

		if (memory_read(rep->memory, addr, bytes, span))
			return;
		tell_output(rep, (int)packet->number, bytes, span);
		addr += span;
		left -= span;
	}
}
