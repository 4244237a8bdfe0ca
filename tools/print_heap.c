/* SPDX-License-Identifier: GPL-2.0-or-later */
/* print_heap.c - see print_heap.h */
#include "tools/print_heap.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "formats/array.h"
#include "formats/error.h"
#include "tools/print.h"
#include "tools/print_frames.h"
#include "vm/linux/abi/names.h"

/* Frames that show how an error came about. */
#define STACK_OF_ERROR 8u

/* ------- calls of the allocator ------- */

/* The code that calls, without its callers, as a borrowed list of frames. */
static json_t *caller_as_json(const struct heap_printing *printing,
			      uint64_t t, guest_addr pc)
{
	struct lines *lines = printing->asking->lines;
	json_t *frames, *frame;
	struct source_line line;
	uint64_t bias;
	const struct symbols *symbols = names_module(lines_names(lines), t, pc,
						     &bias);
	char key[64];

	/* At the same address there may be another module later. */
	snprintf(key, sizeof(key), "%p %" PRIx64, (const void *)symbols, pc);
	frames = json_object_get(printing->callers, key);
	if (frames)
		return frames;
	frames = json_array();
	frame = json_object();
	lines_find(lines, t, pc, &line);
	json_set_count(frame, "frame", 1);
	json_set_text(frame, "kind", "function");
	/* As frames have it, where it goes on. */
	json_set_code(frame, pc + 1, symbols ? symbols->path : NULL, &line);
	json_array_append_new(frames, frame);
	json_object_set_new(printing->callers, key, frames);
	return frames;
}

static int stand_at(const struct heap_printing *printing,
		    const struct position *at, struct replayer **out,
		    struct failure *why)
{
	int rc = query_replayer(printing->asking->query, out, why);

	return rc ? rc : replayer_seek(*out, at, why);
}

/* All that the thread was in then; or what called the function it entered. */
static int set_stack(const struct heap_printing *printing, json_t *object,
		     const struct position *at, uint32_t stream,
		     bool callers, uint64_t count, struct failure *why)
{
	struct frames_question asked = {
		.recording = printing->asking->recording,
		.lines = printing->asking->lines,
		.stream = stream, .limit = count, .callers = callers,
	};
	int rc = stand_at(printing, at, &asked.replayer, why);

	if (!rc)
		rc = json_set_frames(object, &asked, why);
	if (rc)
		return rc;
	json_object_del(object, "path");
	json_object_del(object, "note");
	return 0;
}

static int site_as_json(const struct heap_printing *printing,
			const struct heap_site *site, uint64_t stack,
			json_t **out, struct failure *why)
{
	*out = json_object();
	json_set_text(*out, "function", site->function);
	json_set_position(*out, &site->at);
	json_set_count(*out, "thread", site->tid);
	if (stack > 1)
		return set_stack(printing, *out, &site->at, site->stream,
				 true, stack, why);
	json_object_set(*out, "frames",
			caller_as_json(printing, site->at.time, site->pc));
	return 0;
}

static const char *text_of(const json_t *object, const char *key)
{
	return json_string_value(json_object_get(object, key));
}

static uint64_t count_of(const json_t *object, const char *key)
{
	return (uint64_t)json_integer_value(json_object_get(object, key));
}

/* Of the C library, or where a program begins, before main(). */
static bool is_of_library(const json_t *frame)
{
	const char *module = text_of(frame, "module");
	const char *function = text_of(frame, "function");

	return (module && module_is_c_library(module)) ||
	       (function && !strcmp(function, "_start"));
}

/*
 * Frames of the C library between those of others, in a line: the function that
 * was called; or, outermost, the one that called.
 */
static void print_library(const json_t *frames, size_t first, size_t end)
{
	bool is_outermost = first && end == json_array_size(frames);
	const json_t *last = json_array_get(frames, end - 1);
	const json_t *told = is_outermost ? json_array_get(frames, first) : last;
	const char *module = text_of(told, "module");
	const char *function = text_of(told, "function");

	printf("    #%" PRIu64, count_of(json_array_get(frames, first),
					 "frame"));
	if (end - first > 1)
		printf("-%" PRIu64, count_of(last, "frame"));
	fputs("  ", stdout);
	if (module) {
		print_escaped(stdout, module, strlen(module));
		putchar('!');
	}
	if (!function)
		function = text_of(told, "pc");
	print_escaped(stdout, function, symbol_name_size(function));
	putchar('\n');
}

/* All frames that were asked for; without, those of the C library are folded. */
static void print_stack(const struct heap_printing *printing,
			const json_t *frames)
{
	size_t count = json_array_size(frames), end;

	for (size_t i = 0; i < count; i = end) {
		end = i;
		while (!printing->stack && end < count &&
		       is_of_library(json_array_get(frames, end)))
			end++;
		if (end > i) {
			print_library(frames, i, end);
			continue;
		}
		end = i + 1;
		fputs("    ", stdout);
		print_frame(stdout, json_array_get(frames, i));
	}
}

/* Behind a call: " from 0x401136 in main at hello.c:5", or a line for each. */
static void print_callers(const struct heap_printing *printing,
			  const json_t *frames, uint64_t stack)
{
	const json_t *frame = json_array_get(frames, 0);

	if (stack <= 1 && frame) {
		printf(" from %s", text_of(frame, "pc"));
		print_frame_place(stdout, frame, printing->program);
	}
	putchar('\n');
	if (stack > 1)
		print_stack(printing, frames);
}

/* "malloc at t=5, thread 12" */
static void print_site(const struct heap_printing *printing, const json_t *site,
		       uint64_t stack)
{
	const struct position at = {
		count_of(site, "at"), (uint32_t)count_of(site, "events"),
	};
	char text[POSITION_TEXT];

	print_escaped(stdout, text_of(site, "function"),
		      symbol_name_size(text_of(site, "function")));
	printf(" at t=%s", position_text(text, &at));
	if (recording_threads(printing->asking->recording) > 1)
		printf(" in thread %" PRIu64, count_of(site, "thread"));
	print_callers(printing, json_object_get(site, "frames"), stack);
}

static const char *plural(uint64_t count)
{
	return count == 1 ? "" : "s";
}

/* ------- blocks ------- */

struct block_list {
	const struct heap_block **list;
	size_t count, room;
};

static int gather(void *context, const struct heap_block *block)
{
	struct block_list *blocks = context;

	if (array_room(blocks->list, blocks->count, blocks->room))
		return ERR_NO_MEMORY;
	blocks->list[blocks->count++] = block;
	return 0;
}

static int compare_times(const void *left, const void *right)
{
	const struct heap_block *a = *(const struct heap_block *const *)left;
	const struct heap_block *b = *(const struct heap_block *const *)right;

	return position_compare(&a->allocated.at, &b->allocated.at);
}

/* In the order of time, so that a replay for their callers only goes on. */
static int each_block(const struct heap_printing *printing,
		      int (*visit)(void *context,
				   const struct heap_block *block,
				   struct failure *why),
		      void *context, struct failure *why)
{
	struct block_list blocks = { 0 };
	int rc = heap_blocks_each(&printing->heap->blocks, gather, &blocks);

	if (rc)
		rc = failed(why, rc, "out of memory");
	if (blocks.count)
		qsort(blocks.list, blocks.count, sizeof(*blocks.list),
		      compare_times);
	for (size_t i = 0; i < blocks.count && !rc; i++)
		rc = visit(context, blocks.list[i], why);
	free(blocks.list);
	return rc;
}

static void set_block(json_t *object, const struct heap_block *block)
{
	json_set_address(object, "addr", block->addr);
	json_set_count(object, "size", block->size);
}

static int print_block(void *context, const struct heap_block *block,
		       struct failure *why)
{
	const struct heap_printing *printing = context;
	json_t *object, *site;
	int rc = site_as_json(printing, &block->allocated, printing->stack,
			      &site, why);

	if (!rc && printing->json) {
		object = json_object();
		json_set_text(object, "kind", "block");
		set_block(object, block);
		json_object_set(object, "allocated", site);
		print_json(object);
	} else if (!rc) {
		printf("0x%" PRIx64 " %" PRIu64 " byte%s, ", block->addr,
		       block->size, plural(block->size));
		print_site(printing, site, printing->stack);
	}
	json_decref(site);
	return rc;
}

int print_heap_blocks(const struct heap_printing *printing, struct failure *why)
{
	struct heap_printing copy = *printing;

	return each_block(printing, print_block, &copy, why);
}

/* ------- sites ------- */

struct sites {
	const struct heap_printing *printing;
	json_t *all;		/* by function and where it was called */
};

/* Where code is, by its frames; free() it. */
static char *key_of(const json_t *site)
{
	const json_t *frames = json_object_get(site, "frames");
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	fputs(text_of(site, "function"), out);
	for (size_t i = 0; i < json_array_size(frames); i++) {
		const char *pc = text_of(json_array_get(frames, i), "pc");

		fprintf(out, " %s", pc ? pc : "");
	}
	return fclose(out) ? NULL : text;
}

static int add_to_site(void *context, const struct heap_block *block,
		       struct failure *why)
{
	struct sites *sites = context;
	json_t *site = NULL, *found;
	int rc = site_as_json(sites->printing, &block->allocated,
			      sites->printing->stack, &site, why);
	char *key = rc ? NULL : key_of(site);

	found = key ? json_object_get(sites->all, key) : NULL;
	if (!rc && !key)
		rc = failed(why, ERR_NO_MEMORY, "out of memory");
	if (!rc && !found) {
		found = json_object();
		json_set_text(found, "kind", "site");
		json_object_set(found, "function",
				json_object_get(site, "function"));
		json_object_set(found, "frames",
				json_object_get(site, "frames"));
		json_object_set_new(sites->all, key, found);
	}
	if (!rc) {
		json_set_count(found, "blocks", count_of(found, "blocks") + 1);
		json_set_count(found, "total",
			       count_of(found, "total") + block->size);
	}
	free(key);
	json_decref(site);
	return rc;
}

static int compare_sites(const void *left, const void *right)
{
	const json_t *a = *(json_t *const *)left, *b = *(json_t *const *)right;
	uint64_t x = count_of(a, "total"), y = count_of(b, "total");

	return x < y ? 1 : x > y ? -1 : 0;
}

static void print_one_site(const struct heap_printing *printing,
			   const json_t *site)
{
	uint64_t blocks = count_of(site, "blocks");
	uint64_t total = count_of(site, "total");
	const char *function = text_of(site, "function");

	printf("%" PRIu64 " byte%s in %" PRIu64 " block%s, ", total,
	       plural(total), blocks, plural(blocks));
	print_escaped(stdout, function, symbol_name_size(function));
	print_callers(printing, json_object_get(site, "frames"),
		      printing->stack);
}

static int print_sites(const struct heap_printing *printing, json_t *all,
		       struct failure *why)
{
	size_t count = 0;
	json_t **list = malloc(json_object_size(all) * sizeof(*list) + 1);
	json_t *site;
	const char *key;

	if (!list)
		return failed(why, ERR_NO_MEMORY, "out of memory");
	json_object_foreach(all, key, site)
		list[count++] = site;
	if (count)
		qsort(list, count, sizeof(*list), compare_sites);
	for (size_t i = 0; i < count; i++)
		if (printing->json)
			print_json(json_incref(list[i]));
		else
			print_one_site(printing, list[i]);
	free(list);
	return 0;
}

int print_heap_sites(const struct heap_printing *printing, struct failure *why)
{
	struct sites sites = { printing, json_object() };
	int rc = each_block(printing, add_to_site, &sites, why);

	if (!rc)
		rc = print_sites(printing, sites.all, why);
	json_decref(sites.all);
	return rc;
}

/* ------- errors ------- */

static const char *const error_words[] = {
	[HEAP_WRITTEN_BEHIND] = "write_behind",
	[HEAP_WRITTEN_BEFORE] = "write_before",
	[HEAP_WRITTEN_FREED] = "write_freed",
	[HEAP_FREED_TWICE] = "free_twice",
	[HEAP_FREED_INSIDE] = "free_inside",
	[HEAP_FREED_NOTHING] = "free_nothing",
};

static uint64_t stack_of_error(const struct heap_printing *printing)
{
	return printing->stack ? printing->stack : STACK_OF_ERROR;
}

static int set_sites(const struct heap_printing *printing, json_t *object,
		     const struct heap_block *block, struct failure *why)
{
	const struct heap_site *const sites[] = { &block->allocated,
						  &block->freed };
	static const char *const keys[] = { "allocated", "freed" };
	json_t *site;
	int rc = 0;

	for (unsigned i = 0; i < 2 && !rc; i++) {
		if (!sites[i]->function)
			continue;
		rc = site_as_json(printing, sites[i], stack_of_error(printing),
				  &site, why);
		json_object_set_new(object, keys[i], site);
	}
	return rc;
}

static const char *call_of(const struct heap_printing *printing,
			   const struct heap_error *error)
{
	return linux_syscall_name(recording_reg_table(
			printing->asking->recording)->arch, error->number);
}

static int error_as_json(const struct heap_printing *printing,
			 const struct heap_error *error, json_t *object,
			 struct failure *why)
{
	json_t *block;
	int rc;

	json_set_text(object, "kind", error_words[error->kind]);
	json_set_position(object, &error->at);
	json_set_count(object, "thread", error->tid);
	json_set_address(object, "addr", error->addr);
	if (error->function)
		json_set_text(object, "function", error->function);
	else
		json_set_count(object, "size", error->size);
	if (error->by_kernel && call_of(printing, error))
		json_set_text(object, "by", call_of(printing, error));
	json_set_count(object, "count", error->count);
	rc = set_stack(printing, object, &error->at, error->stream,
		       error->function != NULL, stack_of_error(printing), why);
	if (rc || !error->has_block)
		return rc;
	block = json_object();
	set_block(block, &error->block);
	json_object_set_new(object, "block", block);
	return set_sites(printing, block, &error->block, why);
}

/* "8 bytes inside a block of 24 bytes" */
static void print_distance(uint64_t distance, const char *where,
			   const struct heap_block *block)
{
	printf("%" PRIu64 " byte%s %s a %sblock of %" PRIu64 " byte%s",
	       distance, plural(distance), where,
	       block->freed.function ? "freed " : "", block->size,
	       plural(block->size));
}

static void print_what(const struct heap_error *error)
{
	const struct heap_block *block = &error->block;
	const uint64_t inside = error->addr - block->addr;

	switch (error->kind) {
	case HEAP_WRITTEN_BEHIND:
		print_distance(inside - block->size, "behind", block);
		break;
	case HEAP_WRITTEN_BEFORE:
		print_distance(-inside, "before", block);
		break;
	case HEAP_WRITTEN_FREED:
	case HEAP_FREED_INSIDE:
		print_distance(inside, "inside", block);
		break;
	case HEAP_FREED_TWICE:
		printf("a block of %" PRIu64 " byte%s that is freed",
		       block->size, plural(block->size));
		break;
	case HEAP_FREED_NOTHING:
		fputs("where no block begins", stdout);
		break;
	}
}

static void print_error_head(const struct heap_printing *printing,
			     const struct heap_error *error)
{
	char text[POSITION_TEXT];

	printf("t=%s", position_text(text, &error->at));
	if (recording_threads(printing->asking->recording) > 1)
		printf(" thread %" PRIu32, error->tid);
	fputs(": ", stdout);
	if (error->function) {
		print_escaped(stdout, error->function,
			      symbol_name_size(error->function));
		printf(" of 0x%" PRIx64 ", ", error->addr);
	} else {
		printf("write of %" PRIu64 " byte%s at 0x%" PRIx64,
		       error->size, plural(error->size), error->addr);
		if (error->by_kernel && call_of(printing, error))
			printf(" by %s()", call_of(printing, error));
		fputs(", ", stdout);
	}
	print_what(error);
	if (error->count > 1)
		printf("; %" PRIu64 " times", error->count);
	putchar('\n');
}

static void print_error(const struct heap_printing *printing,
			const struct heap_error *error, const json_t *object)
{
	const json_t *block = json_object_get(object, "block");
	const json_t *freed = json_object_get(block, "freed");

	print_error_head(printing, error);
	print_stack(printing, json_object_get(object, "frames"));
	if (!block)
		return;
	fputs("  allocated by ", stdout);
	print_site(printing, json_object_get(block, "allocated"), 2);
	if (!freed)
		return;
	fputs("  freed by ", stdout);
	print_site(printing, freed, 2);
}

int print_heap_errors(const struct heap_printing *printing, struct failure *why)
{
	const struct heap_errors *errors = &printing->heap->errors;
	int rc = 0;

	for (size_t i = 0; i < errors->count && !rc; i++) {
		json_t *object = json_object();

		rc = error_as_json(printing, &errors->list[i], object, why);
		if (!rc && printing->json)
			print_json(json_incref(object));
		else if (!rc)
			print_error(printing, &errors->list[i], object);
		json_decref(object);
	}
	return rc;
}

/* ------- all ------- */

static void print_summary_object(const struct heap_printing *printing)
{
	const struct heap *heap = printing->heap;
	json_t *object = json_object();

	json_set_text(object, "kind", "summary");
	json_set_count(object, "blocks", heap->blocks.count);
	json_set_count(object, "total", heap->blocks.bytes);
	json_set_count(object, "allocations", heap->allocations);
	json_set_count(object, "frees", heap->frees);
	if (printing->errors)
		json_set_count(object, "errors", heap->errors.all);
	print_json(object);
}

void print_heap_summary(const struct heap_printing *printing)
{
	const struct heap *heap = printing->heap;

	if (printing->json) {
		print_summary_object(printing);
		return;
	}
	printf("%" PRIu64 " block%s, %" PRIu64 " byte%s; %" PRIu64
	       " allocation%s, %" PRIu64 " free%s",
	       heap->blocks.count, plural(heap->blocks.count),
	       heap->blocks.bytes, plural(heap->blocks.bytes),
	       heap->allocations, plural(heap->allocations), heap->frees,
	       plural(heap->frees));
	if (printing->errors)
		printf("; %" PRIu64 " error%s", heap->errors.all,
		       plural(heap->errors.all));
	putchar('\n');
}
