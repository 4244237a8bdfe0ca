/* SPDX-License-Identifier: GPL-2.0-or-later */
/* frames.c - who called whom: shown, and gone through */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tools/debug/session.h"
#include "tools/print.h"

/* ------- frames ------- */

/* `inner` was inlined into it: it stands in a call, not in a line. */
static void take_frame(struct shown_frame *out, const struct cprec_frame *frame,
		       unsigned hidden, bool inner)
{
	const struct cprec_place *place = frame->place;

	*out = (struct shown_frame) {
		.number = frame->number - hidden, .pc = frame->pc,
		.code = frame->code, .sp = frame->sp, .file = place->file,
		.directory = place->directory, .module = place->module,
		.line = place->line, .is_sure = frame->is_sure,
		.is_signal = frame->is_signal,
		.is_inlined = frame->is_inlined,
		.is_tail_call = frame->is_tail_call, .in_call = inner,
	};
	snprintf(out->function, sizeof(out->function), "%s",
		 place->function ? place->function : "");
}

/* Of several lines at its address, the one that steps see. */
static void find_line(struct session *session, struct shown_frame *frame)
{
	const struct cprec_line *line;

	if (!frame->line || frame->in_call ||
	    cprec_find_line(session->cursor, frame->code, &line, NULL) ||
	    !line->line || !line->file)
		return;
	frame->file = line->file;
	frame->line = line->line;
}

struct search {
	uint64_t number;
	unsigned hidden;
	bool inner;		/* the one before was inlined */
	struct shown_frame *out;
};

static int on_searched(void *context, const struct cprec_frame *frame)
{
	struct search *search = context;

	if (frame->number != search->number) {
		search->inner = frame->is_inlined;
		return 0;
	}
	take_frame(search->out, frame, search->hidden, search->inner);
	return 1;
}

int find_frame(struct session *session, struct shown_frame *out,
	       struct cprec_failure *why)
{
	struct search search = {
		.number = session->frame + session->hidden,
		.hidden = session->hidden, .out = out,
	};
	int rc = cprec_each_frame(session->cursor, on_searched, &search, NULL,
				  why);

	if (rc < 0)
		return rc;
	if (!rc)
		return wrong(why, "there is no frame %" PRIu64,
			     session->frame);
	find_line(session, out);
	return 0;
}

/* ------- arguments ------- */

struct arguments {
	bool any;
};

static int on_argument(void *context, const struct cprec_variable *variable)
{
	struct arguments *arguments = context;

	if (!variable->is_argument)
		return 0;
	if (arguments->any)
		fputs(", ", stdout);
	arguments->any = true;
	print_argument(stdout, &(struct shown_argument) {
			variable->name, variable->value, variable->entry,
			variable->is_scalar ? NULL : variable->brief });
	return 0;
}

/* Whether the frame stands in the middle of a line. */
static bool shows_pc(struct session *session, const struct shown_frame *frame)
{
	const struct cprec_line *line;

	if (!frame->line || frame->number)
		return true;
	return !session->hidden &&
	       (cprec_find_line(session->cursor, frame->pc, &line, NULL) ||
		line->start != frame->pc);
}

static void show_file(const struct session *session,
		      const struct shown_frame *frame)
{
	if (frame->line) {
		fputs(" at ", stdout);
		tint(session, TINT_FILE);
		print_escaped(stdout, frame->file, strlen(frame->file));
		printf(":%" PRIu32, frame->line);
		tint(session, TINT_NONE);
	} else if (frame->module) {
		fputs(" from ", stdout);
		print_escaped(stdout, frame->module, strlen(frame->module));
	}
}

/* The cursor is in it. */
static void show(struct session *session, const struct shown_frame *frame,
		 bool has_number)
{
	struct arguments arguments = { 0 };

	if (has_number)
		printf("#%-3" PRIu64, frame->number);
	if (frame->is_signal) {
		puts("<signal handler called>");
		return;
	}
	if (shows_pc(session, frame)) {
		tint(session, TINT_NUMBER);
		printf("0x%0*" PRIx64, session->address_digits, frame->pc);
		tint(session, TINT_NONE);
		fputs(" in ", stdout);
	}
	tint(session, TINT_NAME);
	if (*frame->function)
		print_escaped(stdout, frame->function,
			      strlen(frame->function));
	else
		fputs("??", stdout);
	tint(session, TINT_NONE);
	fputs(" (", stdout);
	cprec_each_variable(session->cursor, on_argument, &arguments, NULL);
	putchar(')');
	show_file(session, frame);
	puts(frame->is_sure ? "" : "  (a guess)");
}

int show_frame(struct session *session, bool has_number,
	       struct cprec_failure *why)
{
	struct shown_frame frame;
	int rc = find_frame(session, &frame, why);

	if (!rc)
		show(session, &frame, has_number);
	return rc;
}

int show_source_line(struct session *session, struct cprec_failure *why)
{
	struct shown_frame frame;
	const char *text;
	size_t length;
	int rc = find_frame(session, &frame, why);

	if (rc || !frame.line)
		return rc;
	free(session->listed_file);
	free(session->listed_directory);
	session->listed_file = strdup(frame.file);
	session->listed_directory = frame.directory ?
		strdup(frame.directory) : NULL;
	session->listed_line = frame.line > 5 ? frame.line - 5 : 1;
	session->listed_first = session->listed_line;
	printf("%" PRIu32 "\t", frame.line);
	if (find_source_line(session, frame.file, frame.directory, frame.line,
			     &text, &length, NULL)) {
		fputs("in ", stdout);
		print_escaped(stdout, frame.file, strlen(frame.file));
	} else {
		print_source_text(stdout, text, length);
	}
	putchar('\n');
	return 0;
}

/* ------- all of them ------- */

struct listing {
	struct session *session;
	struct shown_frame *list;
	size_t count, room;
	uint64_t most;
	bool inner;
};

static int on_listed(void *context, const struct cprec_frame *frame)
{
	struct listing *listing = context;

	bool inner = listing->inner;

	listing->inner = frame->is_inlined;
	if (frame->number < listing->session->hidden)
		return 0;
	if (listing->count == listing->most)
		return 1;
	if (listing->count == listing->room) {
		size_t room = 2 * listing->room + 16;
		struct shown_frame *more = reallocarray(listing->list, room,
							sizeof(*more));

		if (!more)
			return CPREC_NO_MEMORY;
		listing->list = more;
		listing->room = room;
	}
	take_frame(&listing->list[listing->count++], frame,
		   listing->session->hidden, inner);
	return 0;
}

int do_backtrace(struct session *session, const char *args,
		 struct cprec_failure *why)
{
	struct listing listing = { .session = session };
	uint64_t frame = session->frame;
	const char *end = NULL;
	int rc = take_count(args, UINT64_MAX, &listing.most, why), more = rc;

	if (!rc)
		more = cprec_each_frame(session->cursor, on_listed, &listing,
					&end, why);
	rc = more < 0 ? more : 0;
	for (size_t i = 0; !rc && i < listing.count; i++) {
		rc = session_select(session, session->tid,
				    listing.list[i].number, why);
		find_line(session, &listing.list[i]);
		if (!rc)
			show(session, &listing.list[i], true);
	}
	if (!rc && more > 0)
		puts("(More stack frames follow...)");
	else if (!rc && end)
		printf("%s\n", end);
	free(listing.list);
	return rc ? rc : session_select(session, session->tid, frame, why);
}

/* ------- going through them ------- */

static int go_to(struct session *session, uint64_t frame,
		 struct cprec_failure *why)
{
	int rc = session_select(session, session->tid, frame, why);

	if (!rc)
		rc = show_frame(session, true, why);
	return rc ? rc : show_source_line(session, why);
}

int do_frame(struct session *session, const char *args,
	     struct cprec_failure *why)
{
	uint64_t number;
	int rc = take_count(args, session->frame, &number, why);

	return rc ? rc : go_to(session, number, why);
}

int do_up(struct session *session, const char *args,
	  struct cprec_failure *why)
{
	uint64_t count;
	int rc = take_count(args, 1, &count, why);

	if (!rc)
		rc = go_to(session, session->frame + count, why);
	if (rc == CPREC_NOT_FOUND)
		return wrong(why, "this is the outermost frame");
	return rc;
}

int do_down(struct session *session, const char *args,
	    struct cprec_failure *why)
{
	uint64_t count;
	int rc = take_count(args, 1, &count, why);

	if (!rc && !session->frame)
		return wrong(why, "this is the innermost frame");
	if (count > session->frame)
		count = session->frame;
	return rc ? rc : go_to(session, session->frame - count, why);
}

/* ------- what is in one ------- */

int info_frame(struct session *session, const char *args,
	       struct cprec_failure *why)
{
	struct shown_frame frame;
	struct caller caller;
	uint64_t base;
	int rc = find_frame(session, &frame, why);

	(void)args;
	if (!rc)
		rc = caller_find(session, session->frame + session->hidden,
				 &caller, why);
	if (rc)
		return rc;
	printf("frame %" PRIu64 ": pc = 0x%" PRIx64 ", sp = 0x%" PRIx64 "\n",
	       frame.number, frame.pc, frame.sp);
	printf("  function: %s%s\n", *frame.function ? frame.function : "??",
	       frame.is_inlined ? ", inlined into the next frame" :
	       frame.is_tail_call ? ", which jumped to the one before" : "");
	if (!cprec_find_base(session->cursor, &base, NULL))
		printf("  the stack pointer is 0x%" PRIx64 " when it has"
		       " returned\n", base);
	if (caller.is_known)
		printf("  returns to 0x%" PRIx64 "\n", caller.pc);
	return 0;
}

struct variables {
	bool arguments;
	bool any;
};

static int on_variable(void *context, const struct cprec_variable *variable)
{
	struct variables *variables = context;

	if (variable->is_argument != variables->arguments)
		return 0;
	variables->any = true;
	printf("%s = ", variable->name ? variable->name : "?");
	print_value_text(stdout, variable->value ? variable->value : "?");
	putchar('\n');
	return 0;
}

static int show_variables(struct session *session, bool arguments,
			  struct cprec_failure *why)
{
	struct variables variables = { .arguments = arguments };
	int rc = cprec_each_variable(session->cursor, on_variable, &variables,
				     why);

	if (!rc && !variables.any)
		puts(arguments ? "No arguments." : "No locals.");
	return rc;
}

int info_locals(struct session *session, const char *args,
		struct cprec_failure *why)
{
	(void)args;
	return show_variables(session, false, why);
}

int info_args(struct session *session, const char *args,
	      struct cprec_failure *why)
{
	(void)args;
	return show_variables(session, true, why);
}
