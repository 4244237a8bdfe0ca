/* SPDX-License-Identifier: GPL-2.0-or-later */
/* crash.c - see crash.h */
#include "replayer/session/crash.h"

#include "formats/error.h"
#include "replayer/replayer.h"

/* The last two events of each thread would do; of all, the last ones are. */
struct search {
	struct crash *crash;
	struct packet_place before;	/* of the event before, */
	enum packet_kind kind;		/* and what it is */
	struct packet_place call;	/* of the newest system call */
	uint64_t number;
	bool has_call;
	bool is_found;
};

static void found(struct search *search, const struct packet_place *exit)
{
	struct crash *crash = search->crash;
	const struct packet_place *cause = exit;

	if (search->before.stream == exit->stream &&
	    search->before.time == exit->time &&
	    (search->kind == PACKET_FAULT || search->kind == PACKET_SIGNAL))
		cause = &search->before;
	crash->is_fault = cause != exit && search->kind == PACKET_FAULT;
	crash->at = (struct position){ cause->time, cause->events - 1 };
	crash->stream = exit->stream;
	crash->has_call = search->has_call &&
			  search->call.stream == exit->stream &&
			  search->call.time == exit->time;
	crash->call = search->number;
	search->is_found = true;
}

static int visit(void *context, const struct packet_place *place,
		 const struct packet *packet)
{
	struct search *search = context;

	if (!packet_is_event(packet->kind))
		return 0;
	if (packet->kind == PACKET_EXIT &&
	    packet->result == -(int64_t)search->crash->signal)
		found(search, place);
	if (packet->kind == PACKET_SYSCALL || packet->kind == PACKET_RETURN) {
		search->call = *place;
		search->number = packet->number;
		search->has_call = true;
	}
	search->before = *place;
	search->kind = packet->kind;
	return 0;
}

static int find(struct search *search, struct recording *recording,
		struct failure *why)
{
	size_t segment = recording_segments(recording) - 1;
	struct crash *crash = search->crash;
	uint32_t before = 0;
	int rc = recording_each_packet(recording, segment, visit, search, why);

	if (rc)
		return rc;
	if (!search->is_found)
		return failed(why, ERR_NOT_FOUND,
			      "the recording does not say where the program"
			      " died");
	if (crash->at.time == recording_time(recording, segment))
		rc = recording_events_before(recording, segment, &before, why);
	crash->at.events += before;
	if (!rc)
		rc = recording_tid(recording,
				   recording_thread_of(recording, crash->stream,
						       crash->at.time),
				   &crash->tid, why);
	return rc;
}

int crash_find(struct crash *out, struct recording *recording,
	       struct failure *why)
{
	const struct summary *summary = recording_summary(recording);
	struct search search = { .crash = out };

	*out = (struct crash){ 0 };
	if (!summary || !summary->exit_signal)
		return failed(why, ERR_NOT_FOUND,
			      "no signal ended the program");
	out->signal = summary->exit_signal;
	return find(&search, recording, why);
}

int crash_explain(const struct crash *crash, struct replayer *replayer,
		  struct vm_stop *out, struct failure *why)
{
	struct position behind = crash->at;
	int rc;

	behind.events++;
	rc = replayer_seek(replayer, &behind, why);
	if (!rc && !replayer_last_fault(replayer, out))
		rc = failed(why, ERR_NOT_FOUND,
			    "the recording does not say what was wrong");
	return rc;
}
