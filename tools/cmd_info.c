/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cmd_info.c - cprec info: what was recorded, and how it ended */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "formats/error.h"
#include "replayer/recording.h"
#include "tools/commands.h"
#include "tools/messages.h"
#include "tools/options.h"
#include "tools/print.h"

enum { OPTION_JSON = 256 };

static const struct command_help help = {
	.name = "info",
	.usage = "info [OPTION...] FILE",
	.about = "Tells what was recorded, how it ended, and what takes the"
		 " room in the file.",
	.options = (const struct option_info[]) {
		{ 'v', "verbose", NULL, "also tell of each segment" },
		{ OPTION_JSON, "json", NULL, "one JSON object" },
		{ 0 }
	},
};

/* Bytes in the file; what belongs to no segment counts for the whole only. */
struct sizes {
	uint64_t by_kind[CHUNK_FOOTER + 1];
};

struct info {
	struct recording *recording;
	bool json, verbose;
	uint32_t tid;		/* the thread, if there is no summary */
	struct sizes sizes;
};

static void add_size(struct sizes *sizes, const struct chunk_info *chunk)
{
	if ((unsigned)chunk->kind <= CHUNK_FOOTER)
		sizes->by_kind[chunk->kind] += chunk->stored_size;
}

static void find_sizes(const struct info *info, struct sizes *out)
{
	const struct trace_reader *reader = recording_reader(info->recording);

	for (size_t i = 0; i < trace_reader_count(reader); i++)
		add_size(out, trace_reader_info(reader, i));
}

static bool is_complete(const struct info *info)
{
	return recording_summary(info->recording) &&
	       trace_reader_is_complete(recording_reader(info->recording));
}

/* ------- as JSON ------- */

static json_t *json_program(const struct meta *meta)
{
	json_t *program = json_array();

	for (size_t i = 0; i < meta->argc; i++)
		json_array_append_new(program, json_text(meta->argv[i]));
	return program;
}

static json_t *json_thread(uint32_t tid, uint64_t instructions)
{
	json_t *thread = json_object();

	json_object_set_new(thread, "tid", json_count(tid));
	json_object_set_new(thread, "instructions", json_count(instructions));
	return thread;
}

static json_t *json_threads(const struct info *info)
{
	const struct summary *summary = recording_summary(info->recording);
	json_t *threads = json_array();

	if (!summary)
		json_array_append_new(threads, json_thread(
			info->tid, recording_end(info->recording)));
	for (size_t i = 0; summary && i < summary->thread_count; i++)
		json_array_append_new(threads, json_thread(
			summary->threads[i].tid, summary->threads[i].steps));
	return threads;
}

static json_t *json_exit(const struct summary *summary)
{
	json_t *exit;

	if (!summary)
		return json_null();
	exit = json_object();
	if (summary->exit_signal)
		json_object_set_new(exit, "signal",
				    json_count(summary->exit_signal));
	else
		json_object_set_new(exit, "code",
				    json_count(summary->exit_code));
	return exit;
}

static json_t *json_cache(const struct meta *meta,
			  const struct summary *summary)
{
	json_t *cache = json_object();

	json_object_set_new(cache, "entries", json_count(meta->cache_entries));
	json_object_set_new(cache, "hits", summary ?
			    json_count(summary->cache_hits) : json_null());
	json_object_set_new(cache, "misses", summary ?
			    json_count(summary->cache_misses) : json_null());
	return cache;
}

static json_t *json_pages(const struct summary *summary)
{
	json_t *pages = json_object();

	json_object_set_new(pages, "touched", summary ?
			    json_count(summary->touched_pages) : json_null());
	json_object_set_new(pages, "stored", summary ?
			    json_count(summary->stored_pages) : json_null());
	return pages;
}

static json_t *json_segments(const struct info *info)
{
	json_t *segments = json_array();

	for (size_t i = 0; i < recording_segments(info->recording); i++) {
		uint64_t start = recording_time(info->recording, i);
		uint64_t end = recording_time(info->recording, i + 1);
		json_t *segment = json_object();

		json_object_set_new(segment, "at", json_count(start));
		json_object_set_new(segment, "instructions",
				    json_count(end - start));
		json_array_append_new(segments, segment);
	}
	return segments;
}

static void set_sizes(json_t *object, const struct info *info)
{
	const uint64_t *bytes = info->sizes.by_kind;

	json_object_set_new(object, "size_bytes", json_count(
		trace_reader_size(recording_reader(info->recording))));
	json_object_set_new(object, "streams_bytes", json_count(
		bytes[CHUNK_EVENTS] + bytes[CHUNK_READS]));
	json_object_set_new(object, "pages_bytes",
			    json_count(bytes[CHUNK_PAGES]));
	json_object_set_new(object, "key_frames_bytes",
			    json_count(bytes[CHUNK_KEY_FRAME]));
	json_object_set_new(object, "index_bytes",
			    json_count(bytes[CHUNK_INDEX]));
	json_object_set_new(object, "symbols_bytes",
			    json_count(bytes[CHUNK_SYMBOLS]));
}

static void print_info_json(const struct info *info)
{
	const struct summary *summary = recording_summary(info->recording);
	const struct meta *meta = recording_meta(info->recording);
	json_t *object = json_object();

	json_object_set_new(object, "program", json_program(meta));
	json_object_set_new(object, "path", json_text(meta->path));
	json_object_set_new(object, "directory", json_text(meta->directory));
	json_object_set_new(object, "arch", json_string(
		recording_reg_table(info->recording)->name));
	json_object_set_new(object, "host", json_text(meta->host));
	json_object_set_new(object, "made_by", json_text(meta->made_by));
	json_object_set_new(object, "started", json_count(meta->started));
	json_object_set_new(object, "instructions",
			    json_count(recording_end(info->recording)));
	json_object_set_new(object, "threads", json_threads(info));
	json_object_set_new(object, "key_frames",
			    json_count(recording_segments(info->recording)));
	set_sizes(object, info);
	json_object_set_new(object, "complete",
			    json_boolean(is_complete(info)));
	json_object_set_new(object, "exit", json_exit(summary));
	json_object_set_new(object, "cache", json_cache(meta, summary));
	json_object_set_new(object, "pages", json_pages(summary));
	if (info->verbose)
		json_object_set_new(object, "segments", json_segments(info));
	print_json(object);
}

/* ------- for a person ------- */

static void print_text(const char *label, const char *text)
{
	printf("%-14s ", label);
	print_escaped(stdout, text, strlen(text));
	putchar('\n');
}

static void print_program(const struct meta *meta)
{
	printf("%-14s", "program:");
	for (size_t i = 0; i < meta->argc; i++) {
		putchar(' ');
		print_escaped(stdout, meta->argv[i], strlen(meta->argv[i]));
	}
	putchar('\n');
}

static void print_started(const struct meta *meta)
{
	time_t started = (time_t)meta->started;
	struct tm tm;
	char text[64];

	if (gmtime_r(&started, &tm) &&
	    strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S UTC", &tm))
		print_text("started:", text);
}

static void print_exit(const struct summary *summary)
{
	const char *name;

	if (!summary) {
		print_text("exit:", "not known: the recording was cut short");
		return;
	}
	if (!summary->exit_signal) {
		printf("%-14s status %" PRIu32 "\n", "exit:",
		       summary->exit_code);
		return;
	}
	name = sigabbrev_np((int)summary->exit_signal);
	printf("%-14s signal %" PRIu32 "%s%s\n", "exit:", summary->exit_signal,
	       name ? ", SIG" : "", name ? name : "");
}

static void print_threads(const struct info *info)
{
	const struct summary *summary = recording_summary(info->recording);

	for (size_t i = 0; summary && i < summary->thread_count; i++)
		printf("%-14s %" PRIu32 ": %" PRIu64 " instructions\n",
		       i ? "" : "threads:", summary->threads[i].tid,
		       summary->threads[i].steps);
}

static void print_sizes(const struct info *info)
{
	static const struct {
		const char *label;
		enum chunk_kind kinds[2];
	} parts[] = {
		{ "  streams:", { CHUNK_EVENTS, CHUNK_READS } },
		{ "  pages:", { CHUNK_PAGES, 0 } },
		{ "  key frames:", { CHUNK_KEY_FRAME, 0 } },
		{ "  index:", { CHUNK_INDEX, 0 } },
		{ "  symbols:", { CHUNK_SYMBOLS, 0 } },
	};
	uint64_t size = trace_reader_size(recording_reader(info->recording));
	uint64_t end = recording_end(info->recording);

	printf("%-14s %" PRIu64 " bytes", "size:", size);
	if (end)
		printf(", %.3f bits per instruction",
		       8 * (double)size / (double)end);
	putchar('\n');
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		printf("%-14s %" PRIu64 " bytes\n", parts[i].label,
		       info->sizes.by_kind[parts[i].kinds[0]] +
		       info->sizes.by_kind[parts[i].kinds[1]]);
}

static void print_statistics(const struct info *info)
{
	const struct summary *summary = recording_summary(info->recording);
	const struct meta *meta = recording_meta(info->recording);

	printf("%-14s %" PRIu32 " entries", "cache:", meta->cache_entries);
	if (summary)
		printf(", %" PRIu64 " hits, %" PRIu64 " misses\n"
		       "%-14s %" PRIu64 " touched, %" PRIu64 " stored",
		       summary->cache_hits, summary->cache_misses, "pages:",
		       summary->touched_pages, summary->stored_pages);
	putchar('\n');
}

static void print_segments(const struct info *info)
{
	printf("%-14s %10s %20s %20s\n", "segments:", "number", "at",
	       "instructions");
	for (size_t i = 0; i < recording_segments(info->recording); i++) {
		uint64_t start = recording_time(info->recording, i);
		uint64_t end = recording_time(info->recording, i + 1);

		printf("%-14s %10zu %20" PRIu64 " %20" PRIu64 "\n", "", i,
		       start, end - start);
	}
}

static void print_info(const struct info *info)
{
	const struct meta *meta = recording_meta(info->recording);

	print_program(meta);
	print_text("file:", meta->path);
	print_text("directory:", meta->directory);
	print_text("machine:", recording_reg_table(info->recording)->name);
	print_text("host:", meta->host);
	print_text("made by:", meta->made_by);
	print_started(meta);
	printf("%-14s %" PRIu64 "\n", "instructions:",
	       recording_end(info->recording));
	print_threads(info);
	print_exit(recording_summary(info->recording));
	print_text("complete:", is_complete(info) ? "yes" : "no");
	printf("%-14s %zu\n", "key frames:",
	       recording_segments(info->recording));
	print_sizes(info);
	print_statistics(info);
	if (info->verbose)
		print_segments(info);
}

/* ------- the command ------- */

static int find_thread(struct info *info, struct failure *why)
{
	struct key_frame frame;
	int rc;

	if (recording_summary(info->recording))
		return 0;
	rc = recording_key_frame(info->recording, 0, &frame, why);
	if (rc)
		return rc;
	info->tid = frame.tid;
	key_frame_release(&frame);
	return 0;
}

static int info_file(struct info *info, const char *path, struct failure *why)
{
	int rc = recording_open(&info->recording, path, why);

	if (rc)
		return rc;
	rc = find_thread(info, why);
	if (!rc) {
		find_sizes(info, &info->sizes);
		if (info->json)
			print_info_json(info);
		else
			print_info(info);
	}
	recording_close(info->recording);
	return rc;
}

int cmd_info(int argc, char **argv)
{
	struct options options = OPTIONS(help, argc, argv);
	struct info info = { 0 };
	struct failure why;
	const char *path;
	int id;

	while ((id = options_next(&options)) >= 0) {
		if (id == OPTION_JSON)
			info.json = true;
		else
			info.verbose = true;
	}
	if (id == OPTIONS_HELP)
		return finish_output(EXIT_ANSWERED);
	path = id == OPTIONS_END ? options_file(&options) : NULL;
	if (!path)
		return EXIT_USAGE;
	if (info_file(&info, path, &why))
		return say_failure(&why);
	return finish_output(EXIT_ANSWERED);
}
