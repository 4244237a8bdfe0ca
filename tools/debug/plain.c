/* SPDX-License-Identifier: GPL-2.0-or-later */
/* plain.c - see plain.h */
#include "tools/debug/plain.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/commands.h"
#include "tools/debug/session.h"
#include "tools/messages.h"

#define FILES_MOST 32u		/* that read each other */

/* ------- lines ------- */

static void say_notes(struct session *session)
{
	const char *note;

	while ((note = cprec_note(session->recording)))
		say_note("%s", note);
}

/* Returns whether to go on. */
static bool carry_out(struct session *session, const char *line)
{
	struct cprec_failure why;
	int rc = session_do(session, line, &why);

	fflush(stdout);
	say_notes(session);
	if (!rc)
		return true;
	say("%s", why.text);
	if (session->is_batch)
		session->status = EXIT_FAILED;
	return !session->is_batch;
}

static int read_lines(struct session *session, FILE *in, const char *path,
		      struct cprec_failure *why)
{
	char *line = NULL;
	size_t room = 0;
	unsigned number = 0;
	int rc = 0;

	while (!rc && !session->is_over && getline(&line, &room, in) >= 0) {
		line[strcspn(line, "\n")] = '\0';
		number++;
		rc = session_do(session, line, why);
	}
	if (rc) {
		char *text = strdup(why->text);

		snprintf(why->text, sizeof(why->text), "%s:%u: %s", path,
			 number, text ? text : "out of memory");
		free(text);
	}
	free(line);
	return rc;
}

int session_read(struct session *session, const char *path,
		 struct cprec_failure *why)
{
	FILE *in;
	int rc;

	if (session->depth == FILES_MOST)
		return wrong(why, "too many files of commands read each"
			     " other");
	in = fopen(path, "re");
	if (!in)
		return wrong(why, "cannot open '%s': %s", path,
			     strerror(errno));
	session->depth++;
	rc = read_lines(session, in, path, why);
	session->depth--;
	fclose(in);
	return rc;
}

static void read_stdin(struct session *session)
{
	char *line = NULL;
	size_t room = 0;

	while (!session->is_over && getline(&line, &room, stdin) >= 0) {
		line[strcspn(line, "\n")] = '\0';
		if (!carry_out(session, line))
			break;
	}
	free(line);
}

static void read_terminal(struct session *session)
{
	struct editor *editor = editor_begin(session);
	const char *typed = NULL;
	char *line;

	if (!editor) {
		read_stdin(session);
		return;
	}
	while (!session->is_over && (typed = editor_line(editor))) {
		line = strdup(typed[strspn(typed, " \t")] || !session->again ?
				      typed : session->again);
		if (line)
			carry_out(session, line);
		free(line);
	}
	if (!typed)
		putchar('\n');
	editor_end(editor);
}

/* ------- beginning ------- */

static int go_to_begin(struct session *session,
		       const struct plain_options *options,
		       struct cprec_failure *why)
{
	const struct cprec_crash *crash;
	bool found;
	int rc;

	if (options->from && strcmp(options->from, "main") != 0)
		return cprec_cursor_seek(session->cursor, options->from, why);
	if (!options->from &&
	    !cprec_find_crash(session->recording, &crash, NULL)) {
		printf("%s has killed the program: it begins there.\n",
		       crash->signal_name);
		session->at_signal = true;
		return cprec_cursor_move(session->cursor, crash->at, why);
	}
	rc = go_to_main(session, &found, why);
	if (!rc)
		printf("It begins at %s; 'help' lists the commands.\n",
		       found ? "'main'" : "the start");
	return rc;
}

/* Those that gdb does not stop for, either. */
static void pass_signals(struct session *session)
{
	static const unsigned char passed[] = {
		14, 17, 23, 26, 27, 28, 29, 32, 33,
	};

	for (size_t i = 0; i < sizeof(passed); i++)
		session->passed[0] |= UINT64_C(1) << passed[i];
}

static int open_it(struct session *session, const struct plain_options *options,
		   struct cprec_failure *why)
{
	const struct cprec_info *info;
	int rc = cprec_open(&session->recording, options->path, NULL, why);

	if (!rc)
		rc = cprec_describe(session->recording, &info, why);
	if (rc)
		return rc;
	session->start = info->start;
	session->address_digits = 2 * (int)info->address_size;
	/* Behind all events of the last time. */
	rc = cprec_find_position(session->recording, "end", &session->end,
				 why);
	return rc ? rc : cprec_cursor_create(&session->cursor, session->recording,
					     "start", why);
}

static int begin(struct session *session, const struct plain_options *options,
		 struct cprec_failure *why)
{
	struct stop stop = { .kind = STOP_MOVED };
	const struct cprec_state *state;
	bool was_cancelled;
	int rc;

	search_listen(session->recording);
	search_begin(session, false);
	rc = go_to_begin(session, options, why);
	if (!rc)
		rc = cprec_cursor_describe(session->cursor, &state, why);
	was_cancelled = search_end(session);
	if (rc)
		return was_cancelled ? wrong(why, "interrupted") : rc;
	rc = session_select(session, state->tid, 0, why);
	return rc ? rc : session_stopped(session, &stop, true, why);
}

static void end(struct session *session)
{
	points_forget(session);
	for (size_t i = 0; i < session->display_count; i++)
		free(session->displays[i].command);
	free(session->displays);
	free(session->visited);
	free(session->listed_file);
	free(session->listed_directory);
	free(session->looked_for);
	free(session->looked_shown);
	free(session->again);
	cprec_close(session->recording);
}

static bool do_commands(struct session *session,
			const struct plain_options *options)
{
	bool goes_on = true;

	for (size_t i = 0; goes_on && !session->is_over &&
			   i < options->command_count; i++) {
		const struct plain_command *command = &options->commands[i];
		struct cprec_failure why;

		if (!command->is_file) {
			goes_on = carry_out(session, command->text);
		} else if (session_read(session, command->text, &why)) {
			fflush(stdout);
			say("%s", why.text);
			session->status = session->is_batch ? EXIT_FAILED :
							      session->status;
			goes_on = !session->is_batch;
		}
	}
	return goes_on;
}

int plain_run(const struct plain_options *options)
{
	struct session session = {
		.path = options->path, .is_batch = options->is_batch,
		.has_color = options->has_color,
		.is_terminal = isatty(STDIN_FILENO) && isatty(STDERR_FILENO) &&
			       !options->is_batch,
	};
	struct cprec_failure why;
	int rc = open_it(&session, options, &why);

	pass_signals(&session);
	if (!rc)
		rc = begin(&session, options, &why);
	if (rc) {
		say("%s", why.text);
		end(&session);
		return EXIT_FAILED;
	}
	if (do_commands(&session, options) && !session.is_over &&
	    !options->is_batch) {
		if (isatty(STDIN_FILENO))
			read_terminal(&session);
		else
			read_stdin(&session);
	}
	end(&session);
	return finish_output(session.status);
}
