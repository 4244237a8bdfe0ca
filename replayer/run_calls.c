/* SPDX-License-Identifier: GPL-2.0-or-later */
/* run_calls.c - system calls that a run waits for, where they begin and end */
#include "replayer/replayer_internal.h"
#include "replayer/run_internal.h"

static bool is_call(enum packet_kind kind)
{
	return kind == PACKET_SYSCALL || kind == PACKET_RETURN ||
	       kind == PACKET_FIXED_CALL;
}

static bool is_wanted_call(const struct replay_until *until, uint64_t number)
{
	bool is_wanted = !until->call_number_count;

	for (size_t i = 0; i < until->call_number_count && !is_wanted; i++)
		is_wanted = until->call_numbers[i] == number;
	return is_wanted;
}

bool call_is_awaited(const struct search *search, const struct packet *packet)
{
	const struct replay_until *until = search->until;

	return (until->calls || until->returns) && is_call(packet->kind) &&
	       is_wanted_call(until, packet->number);
}

/* Before the instruction that has retired last. */
static struct position before_last(const struct search *search)
{
	const struct replayer *rep = search->rep;
	struct position at = { replayer_time(rep) - 1, 0 };
	uint32_t others = 0;

	/* In the segment before: if it began there, it has been told. */
	if (at.time < rep->start)
		at.events = at.time == search->from.time ?
				    search->from.events : EVENTS_ALL;
	for (size_t i = rep->next; i-- > 0 && at.time >= rep->start;) {
		const struct script_event *event = &rep->script.events[i];

		if (rep->start + event->time < at.time)
			break;
		at.events += rep->start + event->time == at.time &&
			     position_counts(event->packet.kind);
	}
	if (at.time == rep->start)
		recording_events_before(rep->recording, rep->segment, &others,
					NULL);
	at.events += others;
	return at;
}

/* Backwards, of what is over there. */
static bool is_inside(const struct search *search, const struct position *at)
{
	int order = position_compare(at, &search->end);

	return order < 0 || (!order && search->has_end);
}

static void meet_call_at(struct search *search, enum replay_stop_kind kind,
			 const struct position *at, uint64_t number,
			 int64_t result)
{
	const struct replay_until *until = search->until;
	const struct meeting met = {
		.any = true, .before = *at, .after = *at,
		.stop = { .kind = kind, .number = number, .result = result },
	};

	if (!(kind == REPLAY_AT_CALL ? until->calls : until->returns) ||
	    !is_wanted_call(until, number))
		return;
	if (search->for_last ? is_inside(search, at) :
	    kind == REPLAY_AT_CALL ? run_is_ahead(search, at) :
				     run_is_before(&search->from, at))
		run_take(search, &met);
}

/* The thread has called to end. */
static bool ends_thread(const struct replayer *rep, const struct packet *packet)
{
	for (size_t i = rep->next; i < rep->script.event_count; i++) {
		const struct packet *next = &rep->script.events[i].packet;

		if (next != packet)
			return next->kind == PACKET_EXIT && !next->steps;
	}
	return false;
}

/* Its instruction has retired, and the kernel has the thread. */
static void meet_entry(struct search *search, uint64_t number)
{
	const struct position at = before_last(search);

	meet_call_at(search, REPLAY_AT_CALL, &at, number, 0);
}

/* The call is about to take effect: then it is over. */
void call_meet(struct search *search, const struct packet *packet)
{
	struct position at;

	if (!is_call(packet->kind))
		return;
	at = position_now(search->rep);
	if (packet->kind == PACKET_SYSCALL)
		meet_entry(search, packet->number);
	else if (packet->kind == PACKET_FIXED_CALL)
		meet_call_at(search, REPLAY_AT_CALL, &at, packet->number, 0);
	at.events += position_counts(packet->kind);
	if (!ends_thread(search->rep, packet))
		meet_call_at(search, REPLAY_AT_RETURN, &at, packet->number,
			     packet->result);
	search->was_in_call = false;
}

static bool is_in_call(const struct search *search)
{
	unsigned size;

	return replayer_in_call(search->rep, &size);
}

void call_begin(struct search *search)
{
	search->was_in_call = is_in_call(search);
}

/* A thread that gives its turn away may be in a call that comes back later. */
void call_end(struct search *search)
{
	struct replayer *rep = search->rep;

	if (search->until->calls && !search->was_in_call && is_in_call(search))
		meet_entry(search, (uint32_t)replayer_reg(
					   rep, rep->regs->call_number));
	search->was_in_call = true;
}

void call_on_turn(void *context, bool after)
{
	if (after)
		call_begin(context);
	else
		call_end(context);
}

/* Calls that come back later are in no packet of their segment. */
bool call_may_be_open(const struct search *search, size_t segment)
{
	struct recording *recording = search->rep->recording;

	return search->until->calls &&
	       (recording_threads(recording) > 1 ||
		segment + 1 == recording_segments(recording));
}
