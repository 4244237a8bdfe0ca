/* SPDX-License-Identifier: GPL-2.0-or-later */
/* info.c - what is to be said of a recording */
#include "tools/info.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "formats/error.h"
#include "replayer/recording/recording.h"
#include "replayer/session/session.h"
#include "tools/damage.h"
#include "tools/family.h"
#include "tools/print.h"
#include "tools/opened.h"
#include "tools/print_crash.h"
#include "tools/print_words.h"

/* What only the end of a recording tells. */
static void set_late(json_t *object, const char *key,
		     const struct summary *summary, uint64_t value)
{
	json_object_set_new(object, key,
			    summary ? json_count(value) : json_null());
}

static json_t *describe_thread(const struct recording_thread *thread)
{
	json_t *object = json_object();

	json_set_count(object, "thread", thread->tid);
	json_set_count(object, "instructions",
		       thread->steps - thread->steps_before);
	json_set_count(object, "first", thread->first);
	json_set_count(object, "last", thread->last);
	json_object_set_new(object, "has_ended", json_boolean(thread->has_ended));
	return object;
}

/* What it was called last; that is looked for where all is to be told. */
static int set_name(json_t *object, struct thread_names *names, uint32_t thread,
		    uint64_t last, struct failure *why)
{
	const struct position at = { last, EVENTS_ALL };
	char name[THREAD_NAME_SIZE];
	int rc = names ? thread_names_find(names, thread, &at, name, why) :
			 ERR_NOT_FOUND;

	if (!rc)
		json_set_text(object, "name", name);
	return rc == ERR_NOT_FOUND ? 0 : rc;
}

static bool is_listed(const struct recording *recording,
		      const struct recording_thread *thread,
		      const struct threads_text *some)
{
	return thread->first <= recording_end(recording) &&
	       (!some->some || some->all || thread->tid == some->tid);
}

static int list_threads(json_t *threads, struct recording *recording,
			struct thread_names *names,
			const struct threads_text *some, struct failure *why)
{
	size_t count = recording_threads(recording);
	int rc = 0;

	for (size_t i = 0; i < count && !rc; i++) {
		struct recording_thread one;
		json_t *object;

		rc = recording_thread(recording, (uint32_t)i, &one, why);
		if (rc || !is_listed(recording, &one, some))
			continue;
		object = describe_thread(&one);
		rc = set_name(object, names, (uint32_t)i, one.last, why);
		json_array_append_new(threads, object);
	}
	return rc;
}

static int describe_threads(json_t *threads, struct recording *recording,
			    const struct threads_text *some, bool verbose,
			    struct failure *why)
{
	struct thread_names *names = NULL;
	uint32_t thread;
	int rc = 0;

	if (verbose && !recording_is_machine(recording))
		rc = thread_names_create(&names, recording, why);
	if (!rc)
		rc = list_threads(threads, recording, names, some, why);
	thread_names_destroy(names);
	if (!rc && !json_array_size(threads))
		rc = recording_find_thread(recording, some->tid,
					   recording_end(recording), &thread,
					   why);
	return rc;
}

static json_t *describe_cache(const struct meta *meta,
			      const struct summary *summary)
{
	json_t *cache = json_object();

	json_set_count(cache, "entries", meta->cache_entries);
	set_late(cache, "hits", summary, summary ? summary->cache_hits : 0);
	set_late(cache, "misses", summary, summary ? summary->cache_misses : 0);
	return cache;
}

static json_t *describe_processor(const struct processor *processor)
{
	json_t *object = json_object();

	json_set_text(object, "model", processor->model);
	json_set_count(object, "behaviour", processor->behaviour);
	return object;
}

static json_t *describe_pages(const struct summary *summary)
{
	json_t *pages = json_object();

	set_late(pages, "touched", summary,
		 summary ? summary->touched_pages : 0);
	set_late(pages, "stored", summary, summary ? summary->stored_pages : 0);
	return pages;
}

static json_t *describe_segments(const struct recording *recording)
{
	json_t *segments = json_array();

	for (size_t i = 0; i < recording_segments(recording); i++) {
		uint64_t start = recording_time(recording, i);
		json_t *segment = json_object();

		json_set_count(segment, "at", start);
		json_set_count(segment, "instructions",
			  recording_time(recording, i + 1) - start);
		json_array_append_new(segments, segment);
	}
	return segments;
}

static json_t *describe_image(const struct recording_program *program)
{
	const struct program_image *image = &program->image;
	json_t *object = json_object();

	json_set_count(object, "at", program->time);
	json_set_text(object, "path", image->path);
	json_object_set_new(object, "program",
			    json_arguments(image->argv, image->argc));
	json_set_text(object, "directory", image->directory);
	return object;
}

static int describe_images(json_t *images, struct recording *recording,
			   struct failure *why)
{
	const struct recording_program *list;
	size_t count;
	int rc = recording_programs(recording, &list, &count, why);

	for (size_t i = 0; i < count && !rc; i++)
		json_array_append_new(images, describe_image(&list[i]));
	return rc;
}

/* What belongs to no part counts for the whole only. */
static void set_sizes(json_t *object, const struct trace_reader *reader)
{
	uint64_t bytes[CHUNK_KINDS] = { 0 };

	for (size_t i = 0; i < trace_reader_count(reader); i++) {
		const struct chunk_info *chunk = trace_reader_info(reader, i);

		bytes[chunk->kind] += chunk->stored_size;
	}
	json_set_count(object, "size", trace_reader_size(reader));
	json_set_count(object, "streams_bytes",
		  bytes[CHUNK_EVENTS] + bytes[CHUNK_READS]);
	json_set_count(object, "pages_bytes",
		       bytes[CHUNK_PAGES] + bytes[CHUNK_MEMBER]);
	json_set_count(object, "key_frames_bytes",
		       bytes[CHUNK_KEY_FRAME] + bytes[CHUNK_SNAPSHOT]);
	json_set_count(object, "index_bytes", bytes[CHUNK_INDEX]);
	json_set_count(object, "symbols_bytes",
		       bytes[CHUNK_SYMBOLS] + bytes[CHUNK_SYMBOLS_AT] +
			       bytes[CHUNK_MODULE_FILES] +
			       bytes[CHUNK_MODULE_SUMS]);
	json_set_count(object, "kept_bytes", bytes[CHUNK_PIECE]);
}

/* ------- modules ------- */

/* Whose recording has them is said of the module's own file. */
static int set_kept(json_t *object, struct recording *recording,
		    const struct module_files *module, struct failure *why)
{
	const struct kept_file *own = &module->files[MODULE_FILE_OWN];
	uint64_t bytes, all = 0;
	uint32_t pid = recording_kept_by(recording, own);
	int rc = 0;

	for (unsigned i = 0; i < MODULE_FILES && own->size && !rc; i++) {
		if (!module->files[i].size)
			continue;
		rc = recording_kept_bytes(recording, &module->files[i], &bytes,
					  why);
		all += bytes;
	}
	if (!own->size)
		return 0;
	json_set_count(object, "kept_bytes", all);
	json_object_set_new(object, "kept_by",
			    pid ? json_count(pid) : json_null());
	return rc;
}

static json_t *describe_module(struct recording *recording,
			       const struct module_files *module)
{
	const char *slash = strrchr(module->path, '/');
	char build_id[BUILD_ID_TEXT];
	json_t *object = json_object();
	struct failure why;

	json_set_text(object, "module", slash ? slash + 1 : module->path);
	json_set_text(object, "module_path", module->path);
	if (module->build_id.size)
		json_set_text(object, "build_id",
			      build_id_text(build_id, &module->build_id));
	else
		json_object_set_new(object, "build_id", json_null());
	if (set_kept(object, recording, module, &why))
		json_set_text(object, "error", why.text);
	return object;
}

static int set_modules(json_t *info, struct recording *recording,
		       struct failure *why)
{
	const struct module_list *modules;
	json_t *list;
	int rc = recording_modules(recording, &modules, why);

	if (rc)
		return rc;
	list = json_array();
	for (size_t i = 0; i < modules->count; i++)
		json_array_append_new(list, describe_module(
			recording, &modules->list[i]));
	json_object_set_new(info, "modules", list);
	return 0;
}

/* A process is what it was in the end. */
static void set_program(json_t *info, const json_t *images)
{
	static const char *const keys[] = { "program", "path", "directory" };
	const json_t *last =
		json_array_get(images, json_array_size(images) - 1);

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		json_object_set(info, keys[i], json_object_get(last, keys[i]));
}

/* What the ends of the file say, and what was found between them. */
static json_t *describe_all(const struct recording *recording, json_t *threads,
			    json_t *images)
{
	const struct trace_reader *reader = recording_reader(recording);
	const struct summary *summary = recording_summary(recording);
	const struct meta *meta = recording_meta(recording);
	char *damage = damage_describe(recording);
	json_t *info = json_object();

	set_program(info, images);
	json_set_text(info, "arch", recording_reg_table(recording)->name);
	json_object_set_new(info, "processor",
			    describe_processor(&meta->processor));
	json_set_text(info, "host", meta->host);
	json_set_text(info, "made_by", meta->made_by);
	json_set_count(info, "started", meta->started);
	json_set_count(info, "start", recording_start(recording));
	json_set_count(info, "instructions", recording_end(recording) -
						     recording_start(recording));
	json_object_set_new(info, "parent", parent_describe(recording));
	json_object_set_new(info, "threads", threads);
	json_set_count(info, "key_frames", recording_segments(recording));
	set_sizes(info, reader);
	json_object_set_new(info, "complete", json_boolean(
		summary && trace_reader_is_complete(reader)));
	if (trace_reader_is_growing(reader))
		json_object_set_new(info, "writing", json_true());
	if (damage)
		json_set_text(info, "note", damage);
	json_object_set_new(info, "exit", exit_describe(recording));
	json_object_set_new(info, "cache", describe_cache(meta, summary));
	json_object_set_new(info, "pages", describe_pages(summary));
	json_object_set_new(info, "images", images);
	free(damage);
	return info;
}

static int set_crash(json_t *info, struct opened *opened, struct failure *why)
{
	json_t *crash;
	int rc = crash_describe(&crash, opened, why);

	if (!rc && crash)
		json_object_set_new(info, "crash", crash);
	return rc;
}

/*
 * A status other than 0 is no crash, but what the program said then tells why
 * it ended.  Without that, the rest is worth something too.
 */
static void set_words(json_t *info, struct opened *opened)
{
	struct recording *recording = opened->recording;
	const struct summary *summary = recording_summary(recording);
	const struct position end = { recording_end(recording), UINT32_MAX };
	json_t *words;

	if (!summary || summary->exit_signal || !summary->exit_code ||
	    summary->exit_code == SUMMARY_BECAME ||
	    opened_ask(opened, NULL))
		return;
	words = words_describe(recording, opened->query, opened->lines, &end);
	if (words)
		json_object_set_new(info, "stderr", words);
}

int info_describe(json_t **out, struct opened *opened,
		  const struct threads_text *some, bool verbose,
		  struct failure *why)
{
	struct recording *recording = opened->recording;
	json_t *threads = json_array(), *images = json_array();
	int rc = describe_threads(threads, recording, some, verbose, why);

	if (!rc)
		rc = describe_images(images, recording, why);
	if (rc) {
		json_decref(threads);
		json_decref(images);
		return rc;
	}
	*out = describe_all(recording, threads, images);
	json_object_set_new(*out, "family", family_describe(recording));
	if (verbose)
		json_object_set_new(*out, "segments",
				    describe_segments(recording));
	set_words(*out, opened);
	rc = set_modules(*out, recording, why);
	if (!rc)
		rc = set_crash(*out, opened, why);
	if (rc)
		json_decref(*out);
	return rc;
}
