/* SPDX-License-Identifier: GPL-2.0-or-later */
/* heap_errors.c - see heap_errors.h */
#include "replayer/session/heap_errors.h"

#include <stdlib.h>

#include "formats/array.h"
#include "formats/error.h"
#include "replayer/session/backtrace.h"
#include "replayer/session/call_functions.h"
#include "replayer/session/heap_functions.h"

void heap_errors_release(struct heap_errors *errors)
{
	free(errors->list);
	*errors = (struct heap_errors) { 0 };
}

/* ------- the list ------- */

/* Another part of a write that is wide or repeated. */
static bool continues(const struct heap_errors *errors,
		      const struct heap_error *error)
{
	const struct heap_error *last = &errors->list[errors->last];

	return errors->count && !error->function && last->count == 1 &&
	       last->kind == error->kind && last->pc == error->pc &&
	       errors->last_end == error->addr &&
	       last->stream == error->stream &&
	       !position_compare(&last->at, &error->at) &&
	       last->block.addr == error->block.addr;
}

static bool is_same(const struct heap_error *a, const struct heap_error *b)
{
	return a->kind == b->kind && a->pc == b->pc &&
	       a->by_kernel == b->by_kernel && a->has_block == b->has_block &&
	       a->block.allocated.pc == b->block.allocated.pc;
}

/*
 * Callers are not known yet.  So each block is kept apart, of so many: a loop may
 * damage many, but few places do.
 */
#define BLOCKS_APART 16

static size_t find(const struct heap_errors *errors,
		   const struct heap_error *error)
{
	size_t found = errors->count, apart = 0;

	for (size_t i = 0; i < errors->count; i++) {
		const struct heap_error *other = &errors->list[i];

		if (!is_same(other, error))
			continue;
		if (other->block.addr == error->block.addr &&
		    !position_compare(&other->block.allocated.at,
				      &error->block.allocated.at))
			return i;
		found = i;
		apart++;
	}
	return apart < BLOCKS_APART ? errors->count : found;
}

int heap_errors_add(struct heap_errors *errors, const struct heap_error *error)
{
	bool is_part = continues(errors, error);
	size_t i = errors->last;

	errors->last_end = error->addr + error->size;
	if (is_part) {
		errors->list[i].size += error->size;
		return 0;
	}
	errors->all++;
	i = find(errors, error);
	if (i == HEAP_ERRORS_MOST)
		return 0;
	errors->last = i;
	if (i < errors->count) {
		errors->list[i].count++;
		return 0;
	}
	if (array_room(errors->list, errors->count, errors->room))
		return ERR_NO_MEMORY;
	errors->list[errors->count++] = *error;
	return 0;
}

/* ------- callers, and what an allocator does by itself ------- */

#define HASH_FACTOR UINT64_C(0x9e3779b97f4a7c15)

struct check {
	struct names *names;
	const struct call_functions *functions;
	uint64_t t;
	bool is_own;
	bool in_library;	/* as far as frames have been visited */
	uint64_t callers, users;
};

static bool is_of_allocator(const struct check *check, guest_addr pc)
{
	uint64_t bias;
	const struct symbols *symbols = names_module(check->names, check->t,
						     pc, &bias);

	for (size_t i = 0; i < check->functions->count; i++) {
		const struct call_function *function =
			check->functions->list[i];

		if (function->symbols == symbols)
			return symbols && !function->is_program;
	}
	return false;
}

static bool is_of_library(const struct check *check, guest_addr pc)
{
	uint64_t bias;
	const struct symbols *symbols = names_module(check->names, check->t,
						     pc, &bias);

	return symbols && module_is_c_library(symbols->path);
}

static int on_frame(void *context, const struct frame *frame)
{
	struct check *check = context;

	check->is_own &= is_of_allocator(check, frame->code);
	check->callers = (check->callers ^ frame->pc) * HASH_FACTOR;
	check->in_library = check->in_library &&
			    is_of_library(check, frame->code);
	if (!check->in_library)
		check->users = (check->users ^ frame->pc) * HASH_FACTOR;
	return 0;
}

/* Who called what has done it; and whether that was the allocator itself. */
static int look_at(struct heap_error *error, struct query *query,
		   struct check *check, bool *is_own, struct failure *why)
{
	struct backtrace backtrace = {
		.lines = check->functions->lines, .stream = error->stream,
		.visit = on_frame, .context = check,
	};
	enum frames_end end = FRAMES_LOST;
	int rc;

	check->t = error->at.time;
	check->is_own = is_of_allocator(check, error->pc);
	check->callers = check->users = 0;
	check->in_library = is_of_library(check, error->pc);
	rc = query_replayer(query, &backtrace.replayer, why);
	if (!rc)
		rc = replayer_seek(backtrace.replayer, &error->at, why);
	if (!rc)
		rc = backtrace_walk(&backtrace, &end, why);
	error->callers = check->callers;
	error->users = is_of_library(check, error->pc) ? check->users : 0;
	*is_own = !rc && check->is_own && end == FRAMES_OUTERMOST;
	return rc;
}

/* Into the first `count` of the list, of which there may be one more then. */
static size_t join(struct heap_errors *errors, size_t count,
		   const struct heap_error *error)
{
	for (size_t i = 0; i < count; i++) {
		struct heap_error *other = &errors->list[i];

		if (!is_same(other, error) ||
		    other->callers != error->callers)
			continue;
		other->count += error->count;
		return count;
	}
	errors->list[count] = *error;
	return count + 1;
}

/*
 * The bytes from the first to the last that was written, where that may be one
 * call's work: it takes no more instructions than so many for each.
 */
#define STEPS_PER_BYTE 4

static void extend(struct heap_error *error, const struct heap_error *other)
{
	uint64_t end = other->addr + other->size;

	if (other->addr < error->addr || other->stream != error->stream ||
	    end - error->addr <= error->size ||
	    other->at.time - error->at.time >
		    STEPS_PER_BYTE * (end - error->addr))
		return;
	error->size = end - error->addr;
}

/* Whether the same code has called the C library, which has written both. */
static bool is_same_call(const struct heap_error *a, const struct heap_error *b)
{
	return a->users && a->users == b->users && !a->function &&
	       !b->function && a->by_kernel == b->by_kernel;
}

/* What the parts of a call have done is told once. */
static void join_calls(struct heap_errors *errors)
{
	size_t left = 0;

	for (size_t i = 0; i < errors->count; i++) {
		const struct heap_error error = errors->list[i];
		struct heap_error *other = errors->list;
		uint64_t count;

		while (other < errors->list + left &&
		       !is_same_call(other, &error))
			other++;
		if (other == errors->list + left) {
			errors->list[left++] = error;
			continue;
		}
		count = other->count > error.count ? other->count :
						     error.count;
		errors->all -= other->count + error.count - count;
		other->count = count;
		extend(other, &error);
	}
	errors->count = left;
}

int heap_errors_check(struct heap_errors *errors, struct query *query,
		      const struct call_functions *functions,
		      struct failure *why)
{
	struct check check = {
		.names = lines_names(functions->lines), .functions = functions,
	};
	size_t left = 0;
	int rc = 0;

	for (size_t i = 0; i < errors->count && !rc; i++) {
		struct heap_error error = errors->list[i];
		bool is_own;

		rc = look_at(&error, query, &check, &is_own, why);
		if (is_own)
			errors->all -= error.count;
		else
			left = join(errors, left, &error);
	}
	errors->count = left;
	if (!rc)
		join_calls(errors);
	return rc;
}
