/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cmd_serve.c - cprec serve: questions and answers as JSON lines
 *
 * A request is made a command line, and the command does the rest: what it
 * prints as JSON, and what it says, is handed to functions here.
 */
#include <fcntl.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "formats/error.h"
#include "replayer/session/session.h"
#include "replayer/symbols/symbols.h"
#include "tools/commands.h"
#include "tools/debug_notes.h"
#include "tools/inbox.h"
#include "tools/messages.h"
#include "tools/opened.h"
#include "tools/options.h"
#include "tools/print.h"
#include "tools/request_words.h"
#include "tools/shown_values.h"
#include "tools/vocabulary.h"

#define KEPT 4			/* recordings that are open, if nothing is said */
#define KEPT_MOST 32		/* each may have a guest's memory */
#define MESSAGES_MOST 100	/* of a question; errors are in results, too */

static int run(struct options *options);

enum { OPTION_KEEP = 256 };

const struct command command_serve = {
	.name = "serve",
	.run = run,
	.kind = COMMAND_TAKES_FILES,
	.arguments = "",
	.summary = "answer questions that programs ask",
	.usage = "serve [OPTION...]",
	.about = "Answers all that other commands answer with --json, for"
		 " editors and other programs:\n"
		 "reads requests from standard input, one JSON object per line,"
		 " and writes answers\n"
		 "to standard output.  Recordings stay open between questions,"
		 " so that the next one\n"
		 "is answered sooner.",
	.options = (const struct option_info[]) {
		{ OPTION_KEEP, "keep", "N",
		  "keep so many recordings open, 1 to 32, those that were\n"
		  "asked last; without this 4" },
		{ 0 }
	},
	.notes = "A request has the name of a command, and its options:\n"
		 "\n"
		 "  {\"id\": 1, \"command\": \"last\", \"file\": \"trace.cpr\","
		 " \"addr\": \"counter\"}\n"
		 "\n"
		 "Each line of the answer is the \"result\" of an object with"
		 " this \"id\"; the last\n"
		 "object has \"done\".  {\"command\": \"hello\"} lists"
		 " commands and options;\n"
		 "{\"command\": \"cancel\", \"id\": 1} ends a question.  The"
		 " manual page has it all.",
};

struct server {
	FILE *out;
	struct inbox *inbox;

	/* The request under way. */
	const json_t *id;	/* NULL: it has none */
	char *errors;		/* lines; NULL: none */
	json_t *notes;
	size_t messages;
};

/* ------- answers ------- */

static bool is_cancelled(const struct server *server)
{
	return atomic_load(inbox_cancelled(server->inbox));
}

static json_t *begin_line(const struct server *server)
{
	json_t *line = json_object();

	if (server->id)
		json_object_set(line, "id", (json_t *)server->id);
	return line;
}

static void take_result(void *context, json_t *object)
{
	struct server *server = context;
	json_t *line;

	if (is_cancelled(server)) {
		json_decref(object);
		return;
	}
	line = begin_line(server);
	json_object_set_new(line, "result", object);
	print_json_line(server->out, line);
}

static bool is_over(void *context)
{
	struct server *server = context;

	return is_cancelled(server) || ferror(server->out);
}

static void add_error(struct server *server, const char *text)
{
	char *all;

	if (asprintf(&all, "%s%s%s", server->errors ? server->errors : "",
		     server->errors ? "\n" : "", text) < 0)
		return;
	free(server->errors);
	server->errors = all;
}

static void take_message(void *context, bool is_note, const char *text)
{
	struct server *server = context;

	if (server->messages++ >= MESSAGES_MOST)
		return;
	if (!is_note) {
		add_error(server, text);
		return;
	}
	if (!server->notes)
		server->notes = json_array();
	json_array_append_new(server->notes, json_text(text));
}

static void print_end(struct server *server, int status)
{
	json_t *line = begin_line(server);
	const char *errors = server->errors;

	if (is_cancelled(server)) {
		status = EXIT_FAILED;
		errors = "cancelled";
	}
	json_object_set_new(line, "done", json_true());
	json_object_set_new(line, "status", json_integer(status));
	if (errors)
		json_set_text(line, "error", errors);
	if (server->notes)
		json_object_set(line, "notes", server->notes);
	print_json_line(server->out, line);
}

static void forget(struct server *server)
{
	free(server->errors);
	json_decref(server->notes);
	server->errors = NULL;
	server->notes = NULL;
	server->messages = 0;
}

/* ------- questions ------- */

static int run_command(const struct request_words *words)
{
	struct options options = {
		.command = words->command, .argc = words->argc,
		.argv = words->argv, .has_file = words->has_file,
	};
	int status;

	optind = 0;	/* getopt_long() begins anew */
	debug_search_folders(NULL);
	debug_notes_begin();
	shown_values_begin();
	status = words->command->run(&options);
	options_release(&options);
	debug_search_folders(NULL);
	return status;
}

static bool is_hello(const json_t *request)
{
	const char *command =
		json_string_value(json_object_get(request, "command"));

	return command && !strcmp(command, "hello");
}

static int ask(struct server *server, const json_t *request)
{
	struct request_words words;
	struct failure why;
	int status = EXIT_USAGE;

	if (is_hello(request)) {
		take_result(server, vocabulary());
		return EXIT_ANSWERED;
	}
	if (request_words_make(&words, request, &why))
		say_failure(&why);
	else
		status = run_command(&words);
	request_words_release(&words);
	return status;
}

static void answer(struct server *server, const struct inbox_item *item)
{
	int status = EXIT_USAGE;

	server->id = json_object_get(item->request, "id");
	if (!item->request)
		say("%s", item->wrong);
	else if (!item->is_cancelled)
		status = ask(server, item->request);
	print_end(server, status);
	forget(server);
}

static void answer_all(struct server *server)
{
	const struct json_sink sink = {
		.context = server, .take = take_result, .is_over = is_over,
	};
	struct inbox_item item;

	print_json_to(&sink);
	say_to(take_message, server);
	opened_cancel_by(inbox_cancelled(server->inbox));
	while (!ferror(server->out) && inbox_take(server->inbox, &item)) {
		answer(server, &item);
		inbox_item_release(&item);
	}
	opened_keep(0);
	opened_cancel_by(NULL);
	say_to(NULL, NULL);
	print_json_to(NULL);
}

/* ------- the command ------- */

/*
 * Takes requests and answers away from standard input and output: no command
 * reads or writes between them.
 */
static int hold_streams(int *in, int *out, struct failure *why)
{
	int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);

	*in = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0);
	*out = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0);
	if (nothing < 0 || *in < 0 || *out < 0 ||
	    dup2(nothing, STDIN_FILENO) < 0 || dup2(nothing, STDOUT_FILENO) < 0)
		return failed(why, ERR_SYSTEM, "cannot use standard input and"
			      " output: %m");
	close(nothing);
	return 0;
}

static int serve(size_t keep, struct failure *why)
{
	struct server server = { 0 };
	int in = -1, out = -1, rc = hold_streams(&in, &out, why);

	if (!rc) {
		server.out = fdopen(out, "w");
		if (!server.out || setvbuf(server.out, NULL, _IOLBF, BUFSIZ))
			rc = failed(why, ERR_SYSTEM,
				    "cannot write answers: %m");
	}
	if (!rc)
		rc = inbox_open(&server.inbox, in, out, why);
	if (!rc) {
		opened_keep(keep);
		answer_all(&server);
		rc = inbox_error(server.inbox, why);
	}
	inbox_close(server.inbox);
	if (server.out && (ferror(server.out) | fclose(server.out)) && !rc)
		rc = failed(why, ERR_SYSTEM, "cannot write the answer");
	if (in >= 0)
		close(in);
	return rc;
}

static int run(struct options *options)
{
	uint64_t keep = KEPT;
	struct failure why;
	size_t count;
	int id;

	while ((id = options_next(options)) >= 0) {
		if (!number_parse(options->value, &keep) || !keep ||
		    keep > KEPT_MOST) {
			options_bad_value(options, id, "1 to 32");
			return EXIT_USAGE;
		}
	}
	if (!options_files(options, id, 0, 0, &count))
		return options->status;
	return serve((size_t)keep, &why) ? say_failure(&why) : EXIT_ANSWERED;
}
