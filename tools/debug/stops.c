/* SPDX-License-Identifier: GPL-2.0-or-later */
/* stops.c - what is said where it has stopped */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tools/debug/session.h"
#include "tools/print.h"

void tint(const struct session *session, enum tint tint)
{
	static const char *const codes[] = {
		[TINT_NONE] = "\033[m", [TINT_NUMBER] = "\033[34m",
		[TINT_NAME] = "\033[33m", [TINT_FILE] = "\033[32m",
		[TINT_DIM] = "\033[2m",
	};

	if (session->has_color)
		fputs(codes[tint], stdout);
}

/* ------- the end ------- */

static void show_end(struct session *session)
{
	const struct cprec_info *info;
	char text[SIGNAL_TEXT];

	fputs("The recording ends here", stdout);
	if (cprec_describe(session->recording, &info, NULL))
		fputs("", stdout);
	else if (!info->is_complete)
		fputs(": it was cut short", stdout);
	else if (info->is_machine)
		fputs(": the machine has ended", stdout);
	else if (info->exit_signal)
		printf(": %s has killed the program",
		       signal_name(text, info->exit_signal));
	else if (info->has_become)
		fputs(": it has become a program of another architecture",
		      stdout);
	else
		printf(": the program has exited with status %" PRIu32,
		       info->exit_code);
	puts(".");
}

/* ------- points ------- */

static void show_values(const struct stop *stop)
{
	const char *old = stop->old_value ? stop->old_value : "?";
	const char *new = stop->new_value ? stop->new_value : "?";

	if (strcmp(old, new) != 0 && stop->point->watch.writes) {
		fputs("Old value = ", stdout);
		print_value_text(stdout, old);
		fputs("\nNew value = ", stdout);
		print_value_text(stdout, new);
	} else {
		fputs("Value = ", stdout);
		print_value_text(stdout, new);
	}
	putchar('\n');
}

/* The same one is told once. */
static void show_problem(struct point *point, const char *problem)
{
	if (!problem || (point->problem && !strcmp(point->problem, problem)))
		return;
	printf("The condition of %u cannot be told: ", point->number);
	print_escaped(stdout, problem, strlen(problem));
	putchar('\n');
	free(point->problem);
	point->problem = strdup(problem);
}

static void show_point(const struct stop *stop)
{
	struct point *point = stop->point;
	char text[SIGNAL_TEXT];

	putchar('\n');
	show_problem(point, stop->problem);
	switch (point->kind) {
	case POINT_BREAK:
		printf("%s %u, ", point->is_temporary ?
		       "Temporary breakpoint" : "Breakpoint", point->number);
		break;
	case POINT_WATCH:
		printf("%s %u: ", !point->watch.writes ? "Read watchpoint" :
		       point->watch.reads ? "Access watchpoint" : "Watchpoint",
		       point->number);
		print_escaped(stdout, point->where, strlen(point->where));
		fputs("\n\n", stdout);
		show_values(stop);
		break;
	case POINT_SYSCALL:
		printf("Catchpoint %u (%s), ", point->number,
		       stop->event ? stop->event : "a system call");
		break;
	case POINT_SIGNAL:
		printf("Catchpoint %u (signal %s), ", point->number,
		       signal_name(text, stop->signal));
		break;
	}
}

static void show_reason(struct session *session, const struct stop *stop)
{
	char text[SIGNAL_TEXT];

	switch (stop->kind) {
	case STOP_AT_POINT:
		show_point(stop);
		break;
	case STOP_AT_SIGNAL:
		printf("\nProgram received signal %s.\n",
		       signal_name(text, stop->signal));
		break;
	case STOP_AT_START:
		puts("\nThe recording begins here.");
		break;
	case STOP_AT_END:
		putchar('\n');
		show_end(session);
		break;
	case STOP_INTERRUPTED:
		puts("\nInterrupted.");
		break;
	default:
		break;
	}
}

/* ------- where ------- */

int show_status(struct session *session, struct cprec_failure *why)
{
	char text[CPREC_POSITION_TEXT], percent[CPREC_PERCENT_TEXT];
	struct cprec_position at = cprec_cursor_position(session->cursor);
	struct shown_frame frame;
	const char *slash;
	int rc = find_frame(session, &frame, why);

	tint(session, TINT_DIM);
	printf("[%s (%s%%) thread %" PRIu32, cprec_position_text(text, at),
	       cprec_percent_text(percent, session->recording, at),
	       session->tid);
	if (!rc && *frame.function) {
		putchar(' ');
		print_escaped(stdout, frame.function, strlen(frame.function));
	}
	if (!rc && frame.line) {
		slash = strrchr(frame.file, '/');
		putchar(' ');
		print_escaped(stdout, slash ? slash + 1 : frame.file,
			      strlen(slash ? slash + 1 : frame.file));
		printf(":%" PRIu32, frame.line);
	}
	putchar(']');
	tint(session, TINT_NONE);
	putchar('\n');
	/* Where there are no frames, there is a position. */
	return rc == CPREC_CANCELLED ? rc : 0;
}

int session_stopped(struct session *session, struct stop *stop,
		    bool shows_frame, struct cprec_failure *why)
{
	struct cprec_failure ignored;
	int rc;

	show_reason(session, stop);
	if (shows_frame)
		show_frame(session, false, &ignored);
	show_source_line(session, &ignored);
	if (stop->returned) {
		fputs("Value returned is ", stdout);
		print_value_text(stdout, stop->returned);
		putchar('\n');
	}
	rc = show_displays(session, why);
	if (!rc)
		rc = show_status(session, why);
	if (stop->point && stop->point->is_temporary) {
		point_delete(session, stop->point);
		stop->point = NULL;
	}
	return rc ? rc : session_visit(session, why);
}
