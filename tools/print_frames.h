/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * print_frames.h - backtraces, as text and as JSON
 *
 * Errors:     those of backtrace.h.
 */
#ifndef CPREC_TOOLS_PRINT_FRAMES_H
#define CPREC_TOOLS_PRINT_FRAMES_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <jansson.h>

#include "replayer/expressions/expressions.h"
#include "replayer/session/session.h"

/*
 * A backtrace as members of an object: "path", of the program that the process
 * was then; "frames"; "note", if they do not end well.
 */
struct frames_question {
	struct recording *recording;
	struct replayer *replayer;
	struct lines *lines;
	uint32_t stream;
	uint64_t limit;		/* frames; a note says that there are more */
	bool is_outermost;	/* the last ones, rather than the first */
	bool only;		/* the frame of `place`, without the others */
	bool callers;		/* those of the function that is entered,
				   without it and what is inlined in it; the
				   first is 1 */

	/* For arguments, with the replayer of its query; NULL: without. */
	struct expressions *expressions;
	struct expression_place place;	/* of the thread */
	bool locals;		/* these, too */
};

/*
 * Sets the members; the object is the caller's.  ERR_NOT_FOUND if there is no
 * such frame.
 */
int json_set_frames(json_t *object, const struct frames_question *asked,
		    struct failure *why);

/* What json_set_frames() has set, a line for each frame and local variable. */
void print_frames(FILE *out, const json_t *object, const char *indent);

/* One of them, with "frame", "pc" and so on. */
void print_frame(FILE *out, const json_t *frame);

/*
 * " in main at hello.c:5": where it is.  `program` is the path of the one whose
 * functions need no module, or NULL.
 */
void print_frame_place(FILE *out, const json_t *frame, const char *program);

/*
 * Sets "pc", "function", "offset", "module", "file" and "line" of code, as
 * far as they are known.
 */
void json_set_code(json_t *object, uint64_t addr, const char *module,
		   const struct source_line *line);

#endif
