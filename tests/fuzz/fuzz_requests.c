/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whatever a debugger sends, each message has one answer, nothing is read beside
 * the message or beyond the program, and all of it comes to an end.  The input is
 * a list of messages, one a line; the recording is CPREC_FUZZ_RECORDING.
 */
#include <stdio.h>
#include <stdlib.h>

#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/requests.h"

struct lines {
	const uint8_t *at, *end;
};

static bool next_line(void *context, const char **message, size_t *size)
{
	struct lines *lines = context;
	const uint8_t *line = lines->at;
	const uint8_t *end =
		line == lines->end
			? NULL
			: memchr(line, '\n', (size_t)(lines->end - line));

	if (line == lines->end)
		return false;
	lines->at = end ? end + 1 : lines->end;
	*message = (const char *)line;
	*size = (size_t)((end ? end : lines->end) - line);
	return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static bool is_open;
	struct lines lines = { data, data + size };
	const struct requests requests = {
		.from = "start",
		.next = next_line,
		.context = &lines,
	};

	if (!is_open) {
		const char *path = getenv("CPREC_FUZZ_RECORDING");

		assert(path);
		requests_use(path);
		is_open = true;
	}
	requests_serve(&requests);
	return 0;
}
