/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cmd_dump.c - cprec dump: what is in a recording, as text */
#include <ctype.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "formats/error.h"
#include "replayer/recording/recording.h"
#include "replayer/session/session.h"
#include "tools/commands.h"
#include "tools/damage.h"
#include "tools/dump_packets.h"
#include "tools/dump_replay.h"
#include "tools/messages.h"
#include "tools/opened.h"
#include "tools/options.h"
#include "tools/print.h"

static int run(struct options *options);

#define TEXT_MOST (UINT64_C(64) << 10)	/* bytes of output in a line */

enum { OPTION_SEGMENT = 256, OPTION_KIND, OPTION_JSON, OPTION_THREAD };

const struct command command_dump = {
	.name = "dump",
	.run = run,
	.arguments = "[FILE]",
	.summary = "print what is in a recording as text",
	.usage = "dump [OPTION...] [FILE]",
	.about = "Prints the key frames and packets of a recording, one per"
		 " line: the time, the\n"
		 "kind, and what it says.  Lines without a time are effects of"
		 " the event above.\n"
		 "If there are several threads, lines have the number of"
		 " theirs.",
	.options = (const struct option_info[]) {
		{ OPTION_SEGMENT, "segment", "N",
		  "only this segment; the first is 0" },
		{ OPTION_KIND, "kind", "KIND",
		  "only lines of this kind: SYSCALL, MAP, KEY_FRAME,\n"
		  "...; OUTPUT with its text, FAULT with what was wrong" },
		{ OPTION_THREAD, "thread", "TID",
		  "only what happened to this thread, or 'all'" },
		{ 'v', "verbose", NULL,
		  "also what key frames and indexes list" },
		{ OPTION_JSON, "json", NULL, "one JSON object per line" },
		{ 0 }
	},
};

struct dump {
	struct recording *recording;
	const struct reg_table *table;
	const char *kind;	/* NULL: all */
	bool has_segment;
	uint64_t segment;	/* the only one */
	struct threads_text only;	/* or all, if none are given */
	bool verbose, json;

	uint32_t *tids;		/* of the threads */
	bool has_threads;	/* lines say which */

	/* What only a replay tells, if one kind of lines is asked for. */
	struct dump_replay replay;
	size_t current;		/* segment */
	uint32_t before;	/* events at its start */
	size_t fault_count;	/* in it, so far */
	struct failure *why;
};

static bool is_wanted(const struct dump *dump, const char *kind)
{
	return !dump->kind || !strcasecmp(dump->kind, kind);
}

/* Whether what is only listed is to be printed. */
static bool is_listed(const struct dump *dump, const char *kind)
{
	return is_wanted(dump, kind) && (dump->verbose || dump->kind);
}

/* Lines that follow those with their time, unless only they are printed. */
static void print_listed(const struct dump *dump, json_t *line)
{
	dump_print(line, dump->json, dump->kind != NULL);
}

/* What a key frame lists: its mappings, and the pages that it renews. */
static void print_lists(const struct dump *dump, const struct key_frame *frame)
{
	json_t *line;

	for (size_t i = 0; i < frame->region_count; i++) {
		if (!is_listed(dump, "REGION"))
			break;
		line = dump_line("REGION", frame->time);
		dump_region(line, &frame->regions[i]);
		print_listed(dump, line);
	}
	for (size_t i = 0; i < frame->doubt_count; i++) {
		if (!is_listed(dump, "DOUBTFUL"))
			break;
		line = dump_line("DOUBTFUL", frame->time);
		dump_doubt_range(line, &frame->doubts[i]);
		print_listed(dump, line);
	}
	for (size_t i = 0; i < frame->page_count; i++) {
		if (!is_listed(dump, "SNAPSHOT"))
			break;
		line = dump_line("SNAPSHOT", frame->time);
		dump_page_ref(line, &frame->pages[i]);
		print_listed(dump, line);
	}
}

static bool is_of_thread(const struct dump *dump, uint32_t tid)
{
	return !dump->only.some || dump->only.all || dump->only.tid == tid;
}

/* The number of the thread that a stream performs. */
static uint32_t tid_at(const struct dump *dump, uint32_t stream, uint64_t t)
{
	return dump->tids[recording_thread_of(dump->recording, stream, t)];
}

static void print_key_frame(const struct dump *dump, size_t segment,
			    const struct key_frame *frame)
{
	json_t *line;

	if (!is_of_thread(dump, frame->tid))
		return;
	if (is_wanted(dump, "KEY_FRAME")) {
		line = dump_line("KEY_FRAME", frame->time);
		json_set_count(line, "segment", segment);
		dump_key_frame(line, frame, dump->table);
		dump_print(line, dump->json, true);
	}
	print_lists(dump, frame);
}

/* That of the process, and those of threads. */
static int print_key_frames(const struct dump *dump, size_t segment,
			    struct failure *why)
{
	size_t count;
	const uint32_t *streams = recording_streams(dump->recording, segment,
						    &count);
	int rc = 0;

	for (size_t i = 0; i < count && !rc; i++) {
		struct key_frame frame;

		if (!recording_has_frame(dump->recording, segment, streams[i]))
			continue;
		rc = recording_thread_frame(dump->recording, segment,
					    streams[i], &frame, why);
		if (rc)
			break;
		frame.tid = tid_at(dump, streams[i], frame.time);
		print_key_frame(dump, segment, &frame);
		key_frame_release(&frame);
	}
	return rc;
}

static json_t *begin_packet(const struct dump *dump,
			    const struct packet_place *place,
			    const struct packet *packet)
{
	json_t *line = dump_line(packet_name(packet->kind), place->time);

	if (dump->has_threads)
		json_set_count(line, "thread",
			       tid_at(dump, place->stream, place->time));
	if (packet->kind == PACKET_SLICE)
		json_set_count(line, "slice", place->slice);
	return line;
}

static void end_packet(const struct dump *dump, json_t *line,
		       const struct packet *packet)
{
	dump_print(line, dump->json,
		   dump->kind || packet_is_event(packet->kind));
}

/* Large ones are lines for their parts. */
static int print_output(struct dump *dump, const struct packet_place *place,
			const struct packet *packet)
{
	struct output_part output = {
		.at = { place->time, place->events },
		.addr = packet->addr,
		.size = packet->size,
	};
	struct packet part = *packet;
	int rc = 0;

	if (place->time == recording_time(dump->recording, dump->current))
		output.at.events += dump->before;
	for (uint64_t done = 0; done < packet->size && !rc;
	     done += part.size) {
		json_t *line = begin_packet(dump, place, packet);

		part.addr = packet->addr + done;
		part.size = packet->size - done < TEXT_MOST ?
			    packet->size - done : TEXT_MOST;
		dump_packet(line, &part, dump->table);
		rc = dump_replay_output(&dump->replay, &output, done,
					(size_t)part.size, line, dump->why);
		if (rc)
			json_decref(line);
		else
			end_packet(dump, line, packet);
	}
	return rc;
}

static int print_fault(struct dump *dump, const struct packet_place *place,
		       const struct packet *packet, size_t number)
{
	json_t *line = begin_packet(dump, place, packet);
	int rc;

	dump_packet(line, packet, dump->table);
	rc = dump_replay_fault(&dump->replay, dump->current, number, packet,
			       line, dump->why);
	if (rc)
		json_decref(line);
	else
		end_packet(dump, line, packet);
	return rc;
}

static int print_packet(void *context, const struct packet_place *place,
			const struct packet *packet)
{
	struct dump *dump = context;
	size_t faults = dump->fault_count;
	json_t *line;

	dump->fault_count += packet->kind == PACKET_FAULT;
	if (!is_wanted(dump, packet_name(packet->kind)) ||
	    !is_of_thread(dump, tid_at(dump, place->stream, place->time)))
		return 0;
	if (dump->kind && packet->kind == PACKET_OUTPUT)
		return print_output(dump, place, packet);
	if (dump->kind && packet->kind == PACKET_FAULT)
		return print_fault(dump, place, packet, faults);
	line = begin_packet(dump, place, packet);
	dump_packet(line, packet, dump->table);
	end_packet(dump, line, packet);
	return 0;
}

static int print_index(const struct dump *dump, size_t segment,
		       struct failure *why)
{
	uint64_t start = recording_time(dump->recording, segment);
	struct segment_index index;
	json_t *line;
	int rc = recording_index(dump->recording, segment, &index, why);

	if (rc)
		return rc;
	if (index.steps && is_wanted(dump, "INDEX")) {
		line = dump_line("INDEX", start);
		json_set_count(line, "instructions", index.steps);
		json_set_count(line, "page_count", index.page_count);
		print_listed(dump, line);
	}
	for (size_t i = 0; i < index.page_count; i++) {
		if (!is_listed(dump, "PAGE"))
			break;
		line = dump_line("PAGE", start);
		dump_page_touch(line, &index.pages[i]);
		print_listed(dump, line);
	}
	segment_index_release(&index);
	return 0;
}

static int print_segment(struct dump *dump, size_t segment,
			 struct failure *why)
{
	int rc = print_key_frames(dump, segment, why);

	dump->current = segment;
	dump->fault_count = 0;
	dump->why = why;
	if (!rc)
		rc = recording_events_before(dump->recording, segment,
					     &dump->before, why);
	if (!rc)
		rc = recording_each_packet(dump->recording, segment,
					   print_packet, dump, why);
	if (!rc && (!dump->only.some || dump->only.all))
		rc = print_index(dump, segment, why);
	return rc;
}

static int find_threads(struct dump *dump, struct failure *why)
{
	size_t count = recording_threads(dump->recording);
	uint32_t thread;
	int rc = 0;

	dump->has_threads = count > 1;
	dump->tids = calloc(count, sizeof(*dump->tids));
	if (!dump->tids)
		return failed(why, ERR_NO_MEMORY, "out of memory");
	for (size_t i = 0; i < count && !rc; i++)
		rc = recording_tid(dump->recording, (uint32_t)i,
				   &dump->tids[i], why);
	if (!rc && dump->only.some && !dump->only.all)
		rc = recording_find_thread(dump->recording, dump->only.tid,
					   recording_end(dump->recording),
					   &thread, why);
	return rc;
}

static int dump_file(struct dump *dump, const char *path, struct failure *why)
{
	struct opened *opened;
	size_t count;
	int rc = opened_begin_any(&opened, path, why);

	if (rc)
		return rc;
	dump->recording = opened->recording;
	dump->table = recording_reg_table(dump->recording);
	dump->replay.recording = dump->recording;
	count = recording_segments(dump->recording);
	if (dump->has_segment && dump->segment >= count)
		rc = failed(why, ERR_INPUT, "cannot dump segment %" PRIu64
			    ": '%s' has %zu, counted from 0", dump->segment,
			    path, count);
	if (!rc)
		rc = find_threads(dump, why);
	for (size_t i = 0; i < count && !rc && !print_is_over(); i++)
		if (!dump->has_segment || dump->segment == i)
			rc = print_segment(dump, i, why);
	if (!rc)
		damage_say(dump->recording);
	free(dump->tids);
	dump_replay_release(&dump->replay);
	opened_end(opened);
	return rc;
}

static bool is_kind(const char *kind)
{
	const char *known;

	for (size_t i = 0; (known = dump_kind(i)); i++)
		if (!strcasecmp(kind, known))
			return true;
	return false;
}

/* Says which kinds there are. */
static int no_kind(const struct options *options, int id)
{
	char text[300] = "one of";
	const char *kind;

	for (size_t i = 0; (kind = dump_kind(i)); i++) {
		size_t size = strlen(text);

		snprintf(text + size, sizeof(text) - size, " %s", kind);
	}
	return options_bad_value(options, id, text);
}

static int take_option(const struct options *options, int id,
		       struct dump *dump)
{
	switch (id) {
	case OPTION_SEGMENT:
		dump->has_segment = true;
		if (!number_parse(options->value, &dump->segment))
			return options_bad_value(options, id, "a number");
		break;
	case OPTION_THREAD:
		if (!number_parse_threads(options->value, &dump->only))
			return options_bad_value(options, id,
						 NUMBER_THREADS_WANTED);
		break;
	case OPTION_KIND:
		dump->kind = options->value;
		if (!is_kind(dump->kind))
			return no_kind(options, id);
		break;
	case OPTION_JSON:
		dump->json = true;
		break;
	case 'v':
		dump->verbose = true;
		break;
	}
	return 0;
}

static int run(struct options *options)
{
	struct dump dump = { 0 };
	struct failure why;
	const char *path;
	int id;

	while ((id = options_next(options)) >= 0)
		if (take_option(options, id, &dump))
			return EXIT_USAGE;
	path = options_recording(options, id);
	if (!path)
		return options->status;
	if (dump_file(&dump, path, &why)) {
		fflush(stdout);
		return say_failure(&why);
	}
	return finish_output(EXIT_ANSWERED);
}
