/* SPDX-License-Identifier: GPL-2.0-or-later */
/* machines.c - see machines.h */
#include "tools/machines.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/error.h"
#include "formats/meta.h"
#include "tools/commands.h"
#include "tools/messages.h"
#include "tools/print.h"
#include "tools/progress.h"
#include "tools/questions.h"

const char *machine_end_text(uint64_t code)
{
	static _Thread_local char text[64];

	if (code >= MACHINE_EXITED) {
		snprintf(text, sizeof(text), "its program exited with status"
			 " %" PRIu64, code - MACHINE_EXITED);
		return text;
	}
	switch (code) {
	case MACHINE_OFF:
		return "it switched itself off";
	case MACHINE_RESET:
		return "it reset itself";
	case MACHINE_STOPPED:
		return "it was stopped";
	case MACHINE_IDLE:
		return "it waits for what can never come";
	case MACHINE_LOCKED:
		return "it locked up";
	default:
		return "not known";
	}
}

/* ------- all of it ------- */

static void write_byte(void *context, uint8_t byte)
{
	(void)context;
	putchar(byte);
}

/* Goes on by segments, to be able to tell how far it is. */
static int go_to(struct machine_replay *replay, struct recording *recording,
		 const struct position *to, struct progress *progress,
		 struct failure *why)
{
	size_t segments = recording_segments(recording);
	int rc = 0;

	for (size_t i = 1; i < segments && !rc; i++) {
		struct position next = { recording_time(recording, i), 0 };

		if (next.time >= to->time)
			break;
		rc = machine_replay_seek(replay, &next, true, why);
		progress_show(progress, next.time);
		fflush(stdout);
	}
	return rc ? rc : machine_replay_seek(replay, to, true, why);
}

static int run_through(struct machine_replay *replay,
		       struct recording *recording, const struct position *to,
		       const char *doing, bool quiet, struct failure *why)
{
	struct progress progress;
	int rc;

	progress_start(&progress, doing, recording_start(recording), to->time);
	progress.is_terminal &= quiet;
	rc = go_to(replay, recording, to, &progress, why);
	progress_end(&progress);
	return rc;
}

int machine_replay(struct recording *recording, const char *to, bool quiet,
		   struct failure *why)
{
	struct machine_replay *replay = NULL;
	struct position at;
	bool is_time;
	int rc = place_position(&at, &is_time, recording, to, why);

	if (!rc)
		rc = machine_replay_create(&replay, recording, why);
	if (rc)
		return rc;
	if (!quiet)
		machine_replay_tell(replay, write_byte, NULL);
	rc = run_through(replay, recording, &at, "replaying", quiet, why);
	machine_replay_destroy(replay);
	if (!rc && (fflush(stdout) || ferror(stdout)))
		rc = failed(why, ERR_SYSTEM, "cannot write the output");
	return rc;
}

int machine_verify(struct recording *recording, bool quiet, struct failure *why)
{
	const struct position end = { recording_end(recording), EVENTS_ALL };
	size_t frames = recording_segments(recording);
	struct machine_replay *replay;
	int rc = machine_replay_create(&replay, recording, why);

	if (rc)
		return rc;
	machine_replay_check(replay);
	rc = run_through(replay, recording, &end, "verifying", true, why);
	machine_replay_destroy(replay);
	if (!rc && !quiet)
		printf("verified %" PRIu64 " instructions, %zu key frame%s\n",
		       recording_end(recording) - recording_start(recording),
		       frames, frames == 1 ? "" : "s");
	return rc;
}

int machine_seek(struct opened *opened, const char *at, struct position *out,
		 struct failure *why)
{
	bool is_time;
	int rc = place_position(out, &is_time, opened->recording,
				at ? at : "end", why);

	if (!rc)
		rc = opened_machine(opened, why);
	return rc ? rc : machine_replay_seek(opened->machine, out, false, why);
}

/* ------- memory ------- */

struct found {
	uint64_t addr, physical;	/* the latter of the first byte */
	bool is_mapped;
	size_t size;
	uint8_t *bytes, *known;
	struct position at;
};

static int take_address(const char *text, uint64_t *out, struct failure *why)
{
	struct address_text address;
	const char *wrong;

	if (!number_parse_address(text, &address, &wrong))
		return failed(why, ERR_INPUT, "cannot take '%s' for an address:"
			      " %s", text, wrong);
	if (address.symbol)
		return failed(why, ERR_INPUT, "'%s' is no number: of machines,"
			      " names are not known yet", text);
	return number_add_offset(&address, address.number, out) ? 0 :
		       failed(why, ERR_INPUT, "there is no address '%s'", text);
}

static int take_size(const char *text, size_t *out)
{
	uint64_t size = QUESTION_SIZE;

	if (text)
		number_parse_scaled(text, 1024, &size);
	*out = (size_t)size;
	return 0;
}

/* Copies bytes, page by page: each may be elsewhere, or nowhere. */
static void copy_bytes(const struct board *board, bool physical,
		       struct found *found)
{
	for (size_t done = 0; done < found->size;) {
		uint64_t addr = found->addr + done, place = addr;
		size_t part = GUEST_PAGE - addr % GUEST_PAGE;
		const uint8_t *bytes = NULL;

		if (part > found->size - done)
			part = found->size - done;
		if (physical || board_translate(board, addr, &place))
			bytes = board_bytes(board, place, part);
		if (bytes) {
			memcpy(found->bytes + done, bytes, part);
			memset(found->known + done, 1, part);
			found->is_mapped = true;
		}
		if (!done)
			found->physical = place;
		done += part;
	}
}

static void print_found(const struct found *found, bool physical, bool json)
{
	char at[POSITION_TEXT], *bytes;
	json_t *object;

	if (!json) {
		printf("0x%" PRIx64, found->addr);
		if (!physical)
			printf(" (physical 0x%" PRIx64 ")", found->physical);
		printf(" at t=%s, %zu byte%s, source: replay\n",
		       position_text(at, &found->at), found->size,
		       found->size == 1 ? "" : "s");
		print_memory(stdout, found->addr, found->bytes, found->known,
			     found->size);
		return;
	}
	bytes = memory_text(found->bytes, found->known, found->size);
	object = json_object();
	json_set_address(object, "addr", found->addr);
	json_set_address(object, "physical", found->physical);
	json_set_position(object, &found->at);
	json_set_count(object, "size", found->size);
	json_object_set_new(object, "bytes", bytes ? json_string(bytes) : NULL);
	json_set_text(object, "source", "replay");
	print_json(object);
	free(bytes);
}

static int answer_one(struct opened *opened,
		      const struct machine_question *asked, const char *addr,
		      const char *at, struct failure *why)
{
	struct found found = { 0 };
	char text[POSITION_TEXT];
	int rc = take_address(addr, &found.addr, why);

	if (!rc)
		rc = take_size(asked->size, &found.size);
	if (!rc)
		rc = machine_seek(opened, at, &found.at, why);
	if (rc)
		return rc;
	found.bytes = calloc(found.size, 2);
	if (!found.bytes)
		return failed(why, ERR_NO_MEMORY, "out of memory");
	found.known = found.bytes + found.size;
	copy_bytes(machine_replay_board(opened->machine), asked->physical,
		   &found);
	if (found.is_mapped)
		print_found(&found, asked->physical, asked->json);
	else
		rc = failed(why, ERR_NOT_FOUND, "0x%" PRIx64 " is not %s at"
			    " t=%s", found.addr,
			    asked->physical ? "memory" : "mapped",
			    position_text(text, &found.at));
	free(found.bytes);
	return rc;
}

static void say_unanswered(const struct machine_question *asked,
			   const char *addr, const char *at,
			   const struct failure *why)
{
	if (asked->json) {
		json_t *object = json_object();

		json_set_text(object, "asked_addr", addr);
		json_set_text(object, "asked_at", at ? at : "end");
		json_set_text(object, "error", why->text);
		print_json(object);
	}
	say_failure(why);
}

int machine_query(struct opened *opened, const struct machine_question *asked,
		  int *status, struct failure *why)
{
	size_t times = asked->at_count ? asked->at_count : 1;
	int rc = opened_machine(opened, why);

	for (size_t i = 0; i < times && !rc; i++) {
		const char *at = asked->at_count ? asked->ats[i] : NULL;

		for (size_t j = 0; j < asked->addr_count; j++) {
			struct failure own;

			if (!answer_one(opened, asked, asked->addrs[j], at,
					&own))
				continue;
			say_unanswered(asked, asked->addrs[j], at, &own);
			*status = EXIT_FAILED;
		}
	}
	return rc;
}
