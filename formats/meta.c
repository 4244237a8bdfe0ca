/* SPDX-License-Identifier: GPL-2.0-or-later */
/* meta.c - meta data and summaries as bytes; see meta.h */
#include "formats/meta.h"

#include <assert.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "formats/error.h"

/* Smallest coded size of a summary's thread. */
#define THREAD_BYTES 2

/*
 * Number of a ring's generation: those that are not the first belong to
 * FEATURE_RING, which nothing has yet.
 */
#define GENERATION 0

static bool is_cache_entries(uint64_t entries)
{
	return entries == 16384 || entries == 32768 || entries == 65536;
}

static void put_string(struct output *out, const char *string)
{
	size_t size = strlen(string);

	assert(size <= META_TEXT_MAX);
	output_text(out, string, size);
}

/* Takes a text as a string of its own; NULL on failure. */
static char *take_string(struct input *in)
{
	size_t size;
	const char *text = input_text(in, META_TEXT_MAX, &size);
	char *string;

	if (in->error)
		return NULL;
	string = malloc(size + 1);
	if (!string) {
		in->error = ERR_NO_MEMORY;
		return NULL;
	}
	if (size)
		memcpy(string, text, size);
	string[size] = '\0';
	return string;
}

static void put_arguments(struct output *out, char *const *argv, size_t argc)
{
	assert(argc <= META_LIST_MAX);
	output_varint(out, argc);
	for (size_t i = 0; i < argc; i++)
		put_string(out, argv[i]);
}

static void take_arguments(struct input *in, char ***argv, size_t *argc)
{
	uint64_t count = input_count(in, META_LIST_MAX);

	if (!in->error && count > input_left(in))
		in->error = ERR_TRUNCATED;
	if (in->error)
		return;
	*argv = calloc(count + 1, sizeof(**argv));
	if (!*argv) {
		in->error = ERR_NO_MEMORY;
		return;
	}
	*argc = count;
	for (size_t i = 0; i < count && !in->error; i++)
		(*argv)[i] = take_string(in);
}

static void free_arguments(char **argv, size_t argc)
{
	for (size_t i = 0; i < argc; i++)
		free(argv[i]);
	free(argv);
}

/* ------- meta ------- */

/* Nothing is known of a parent that is not recorded. */
static bool is_origin(const struct origin *origin)
{
	return origin->parent || (!origin->thread && !origin->time);
}

static bool is_processor(const struct processor *processor)
{
	return *processor->model && processor->behaviour &&
	       strlen(processor->model) <= PROCESSOR_MODEL_MAX;
}

static bool is_meta(const struct meta *meta)
{
	return is_cache_entries(meta->cache_entries) &&
	       is_origin(&meta->origin) && is_processor(&meta->processor);
}

void meta_encode(struct output *out, const struct meta *meta)
{
	assert(is_meta(meta));
	put_arguments(out, meta->argv, meta->argc);
	put_string(out, meta->path);
	put_string(out, meta->directory);
	put_string(out, meta->host);
	put_string(out, meta->made_by);
	output_varint(out, meta->started);
	output_varint(out, meta->cache_entries);
	put_string(out, meta->processor.model);
	output_varint(out, meta->processor.behaviour);
	output_bytes(out, meta->run, sizeof(meta->run));
	output_varint(out, GENERATION);
	output_varint(out, meta->origin.parent);
	output_varint(out, meta->origin.thread);
	output_varint(out, meta->origin.time);
}

static void take_run(struct input *in, struct meta *meta)
{
	const uint8_t *run = input_bytes(in, sizeof(meta->run));

	if (run)
		memcpy(meta->run, run, sizeof(meta->run));
	if (input_varint(in) != GENERATION && !in->error)
		in->error = ERR_CORRUPT;
}

int meta_decode(struct meta *out, const uint8_t *bytes, size_t size)
{
	struct input in = { bytes, bytes + size, 0 };
	struct meta meta = { 0 };

	take_arguments(&in, &meta.argv, &meta.argc);
	meta.path = take_string(&in);
	meta.directory = take_string(&in);
	meta.host = take_string(&in);
	meta.made_by = take_string(&in);
	meta.started = input_varint(&in);
	meta.cache_entries = (uint32_t)input_count(&in, UINT32_MAX);
	meta.processor.model = take_string(&in);
	meta.processor.behaviour = input_varint(&in);
	take_run(&in, &meta);
	meta.origin.parent = (uint32_t)input_count(&in, UINT32_MAX);
	meta.origin.thread = (uint32_t)input_count(&in, UINT32_MAX);
	meta.origin.time = input_varint(&in);
	if (!in.error && (input_left(&in) || !is_meta(&meta)))
		in.error = ERR_CORRUPT;
	if (in.error) {
		meta_release(&meta);
		return in.error;
	}
	*out = meta;
	return 0;
}

void meta_release(struct meta *meta)
{
	free_arguments(meta->argv, meta->argc);
	free(meta->path);
	free(meta->directory);
	free(meta->host);
	free(meta->made_by);
	free((char *)(uintptr_t)meta->processor.model);
	*meta = (struct meta){ 0 };
}

/* ------- what a process becomes ------- */

void program_image_encode(struct output *out,
			  const struct program_image *image)
{
	put_arguments(out, image->argv, image->argc);
	put_string(out, image->path);
	put_string(out, image->directory);
}

int program_image_decode(struct program_image *out, const uint8_t *bytes,
			 size_t size)
{
	struct input in = { bytes, bytes + size, 0 };
	struct program_image image = { 0 };

	take_arguments(&in, &image.argv, &image.argc);
	image.path = take_string(&in);
	image.directory = take_string(&in);
	if (!in.error && input_left(&in))
		in.error = ERR_CORRUPT;
	if (in.error) {
		program_image_release(&image);
		return in.error;
	}
	*out = image;
	return 0;
}

void program_image_release(struct program_image *image)
{
	free_arguments(image->argv, image->argc);
	free(image->path);
	free(image->directory);
	*image = (struct program_image){ 0 };
}

/* ------- summary ------- */

/* How a program ended has one form: a signal, or a code. */
static bool is_ending(const struct summary *summary)
{
	if (summary->exit_signal > 255 || summary->exit_code > MACHINE_END_MOST)
		return false;
	return !summary->exit_signal || !summary->exit_code;
}

void summary_encode(struct output *out, const struct summary *summary)
{
	assert(is_ending(summary));
	assert(summary->thread_count <= META_LIST_MAX);
	output_varint(out, summary->time);
	output_varint(out, summary->exit_signal);
	output_varint(out, summary->exit_code);
	output_varint(out, summary->thread_count);
	for (size_t i = 0; i < summary->thread_count; i++) {
		output_varint(out, summary->threads[i].tid);
		output_varint(out, summary->threads[i].steps);
	}
	output_varint(out, summary->cache_hits);
	output_varint(out, summary->cache_misses);
	output_varint(out, summary->touched_pages);
	output_varint(out, summary->stored_pages);
}

static void take_threads(struct input *in, struct summary *summary)
{
	uint64_t count = input_count(in, META_LIST_MAX);

	if (!in->error && count > input_left(in) / THREAD_BYTES)
		in->error = ERR_TRUNCATED;
	if (in->error || count == 0)
		return;
	summary->threads = calloc(count, sizeof(*summary->threads));
	if (!summary->threads) {
		in->error = ERR_NO_MEMORY;
		return;
	}
	summary->thread_count = count;
	for (size_t i = 0; i < count; i++) {
		summary->threads[i].tid =
			(uint32_t)input_count(in, UINT32_MAX);
		summary->threads[i].steps = input_varint(in);
	}
}

int summary_decode(struct summary *out, const uint8_t *bytes, size_t size)
{
	struct input in = { bytes, bytes + size, 0 };
	struct summary summary = { 0 };

	summary.time = input_varint(&in);
	summary.exit_signal = (uint32_t)input_count(&in, 255);
	summary.exit_code = (uint32_t)input_count(&in, MACHINE_END_MOST);
	take_threads(&in, &summary);
	summary.cache_hits = input_varint(&in);
	summary.cache_misses = input_varint(&in);
	summary.touched_pages = input_varint(&in);
	summary.stored_pages = input_varint(&in);
	if (!in.error && (input_left(&in) || !is_ending(&summary)))
		in.error = ERR_CORRUPT;
	if (in.error) {
		summary_release(&summary);
		return in.error;
	}
	*out = summary;
	return 0;
}

void summary_release(struct summary *summary)
{
	free(summary->threads);
	*summary = (struct summary){ 0 };
}
