/* SPDX-License-Identifier: GPL-2.0-or-later */
/* backtrace.c - see backtrace.h */
#include "replayer/session/backtrace.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

#include "formats/error.h"
#include "replayer/recording/recording.h"
#include "replayer/replayer.h"

static bool read_memory(void *context, uint64_t addr, void *bytes, size_t size)
{
	uint8_t known[GUEST_READ_MOST];

	assert(size <= sizeof(known));
	return size - 1 <= UINT64_MAX - addr &&
	       !replayer_read(context, addr, bytes, known, size, NULL) &&
	       !memchr(known, 0, size);
}

/* Stacks of programs are where their cores see them. */
static void see_as(struct replayer *replayer, uint32_t stream)
{
	struct address_space space = *replayer_space(replayer);

	space.has_core = stream != replayer_stream(replayer);
	space.core = stream;
	replayer_use_space(replayer, &space);
}

int backtrace_walk(const struct backtrace *backtrace, enum frames_end *end,
		   struct failure *why)
{
	struct replayer *replayer = backtrace->replayer;
	const struct reg_table *table = recording_reg_table(
		names_recording(lines_names(backtrace->lines)));
	const struct frame_walk walk = {
		.lines = backtrace->lines,
		.t = replayer_time(replayer),
		.table = table,
		.memory = { read_memory, replayer, reg_word(table) },
		.known = backtrace->known,
		.at_call = backtrace->at_call,
		.is_tail_call = backtrace->is_tail_call,
		.visit = backtrace->visit,
		.context = backtrace->context,
	};
	const struct address_space before = *replayer_space(replayer);
	struct reg_file file;
	int rc = 0;

	if (backtrace->registers)
		file = *backtrace->registers;
	else
		rc = replayer_thread_registers(replayer, backtrace->stream,
					       &file, why);
	if (rc)
		return rc;
	see_as(replayer, backtrace->stream);
	*end = frames_walk(&walk, &file);
	replayer_use_space(replayer, &before);
	return 0;
}

struct search {
	uint64_t left;		/* frames before it */
	struct frame *out;
	bool is_found;
};

static int visit(void *context, const struct frame *frame)
{
	struct search *search = context;

	if (search->left--)
		return 0;
	*search->out = *frame;
	search->out->registers = NULL;
	search->is_found = true;
	return 1;
}

int backtrace_find(const struct backtrace *backtrace, uint64_t number,
		   struct frame *out, struct failure *why)
{
	struct search search = { .left = number, .out = out };
	struct backtrace all = *backtrace;
	enum frames_end end;
	int rc;

	all.visit = visit;
	all.context = &search;
	rc = backtrace_walk(&all, &end, why);
	if (rc || search.is_found)
		return rc;
	return failed(why, ERR_NOT_FOUND, "there is no frame %" PRIu64
		      ": the outermost is %" PRIu64, number,
		      number - search.left - 1);
}
