/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * views.h - commands that show a place in a recording
 *
 * What they have in common: times, a thread, a frame of it, and what there is
 * to ask then.  A time that has no answer does not hinder the others.
 *
 * Ownership:  views_run() makes and ends what is asked; texts are borrowed.
 */
#ifndef CPREC_TOOLS_VIEWS_H
#define CPREC_TOOLS_VIEWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tools/opened.h"
#include "tools/options.h"
#include "tools/shown_values.h"

enum {
	VIEW_AT = 256, VIEW_THREAD, VIEW_FRAME, VIEW_DEBUG_DIR, VIEW_JSON,
	VIEW_ELEMENTS, VIEW_RAW,
	VIEW_OWN,		/* options of the command itself, from here on */
};

/* Rows of the table of options. */
#define VIEW_ROW_AT \
	{ VIEW_AT, "at", "T", \
	  "a time, in instructions: as 'cprec query --help'\n" \
	  "says; without this, where a signal ended the\n" \
	  "program, or its end" }
#define VIEW_ROW_THREAD \
	{ VIEW_THREAD, "thread", "TID", \
	  "of this thread; without this, of the one that had\n" \
	  "its turn" }
#define VIEW_ROW_FRAME \
	{ VIEW_FRAME, "frame", "N", \
	  "in this frame, as 'cprec backtrace' counts them:\n" \
	  "0 is the innermost function, 1 its caller" }
#define VIEW_ROW_DEBUG_DIR \
	{ VIEW_DEBUG_DIR, "debug-dir", "DIR", \
	  "where debugging information is looked for, too" }

struct view {
	const char **ats;	/* as they were given */
	size_t at_count;
	struct threads_text threads;
	uint64_t frame;
	bool has_frame;
	bool json;

	struct opened *opened;
	struct recording *recording;	/* these are of it */
	struct lines *lines;
	struct query *query;
	struct expressions *expressions;
	struct replayer *replayer;	/* of the query; stands at: */
	struct position at;

	/* Shows what is there. */
	int (*show)(struct view *view, struct failure *why);

	void *context;		/* the command's */
};

/* An option of those above.  0, or OPTIONS_WRONG. */
int view_take_option(const struct options *options, int id,
		     struct view *view);

/* The same for commands that show one thread: 'all' makes no sense. */
int view_check_thread(const struct options *options, const struct view *view);

/*
 * Ends the command line, where options_next() returned `id`, shows all times,
 * and ends the view.  Returns the exit status.
 */
int views_run(struct view *view, struct options *options, int id);

/* The frame that is meant. */
struct expression_place view_place(const struct view *view);

/*
 * The stream and number of the thread that is meant.  ERR_NOT_FOUND if there
 * is none.
 */
int view_thread(const struct view *view, uint32_t *stream, uint32_t *tid,
		struct failure *why);

/* The frame that is meant, without registers, and its thread. */
int view_find_frame(const struct view *view, struct frame *out, uint32_t *tid,
		    struct failure *why);

/* One word behind FILE, which may be missing. */
int view_take_word(struct options *options, const char **out);

/* The address that an expression names, or is the value of. */
int view_address(const struct view *view, const char *text, uint64_t *out,
		 struct failure *why);

#endif
