/* SPDX-License-Identifier: GPL-2.0-or-later */
/* backtrace.c - see backtrace.h */
#include "replayer/session/backtrace.h"

#include <assert.h>
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

int backtrace_walk(const struct backtrace *backtrace, enum frames_end *end,
		   struct failure *why)
{
	struct replayer *replayer = backtrace->replayer;
	const struct frame_walk walk = {
		.lines = backtrace->lines,
		.t = replayer_time(replayer),
		.table = recording_reg_table(names_recording(
			lines_names(backtrace->lines))),
		.memory = { read_memory, replayer },
		.visit = backtrace->visit,
		.context = backtrace->context,
	};
	struct reg_file file;
	int rc = replayer_thread_registers(replayer, backtrace->stream, &file,
					   why);

	if (!rc)
		*end = frames_walk(&walk, &file);
	return rc;
}
