/* SPDX-License-Identifier: GPL-2.0-or-later */
/* verbs.c - all commands: what they are called, and what they do */
#include <ctype.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "formats/nearest.h"
#include "tools/debug/session.h"

static int do_help(struct session *session, const char *args,
		   struct cprec_failure *why);

static int do_quit(struct session *session, const char *args,
		   struct cprec_failure *why)
{
	(void)why;
	session->is_over = true;
	if (*args)
		session->status = atoi(args);
	return 0;
}

static int do_source(struct session *session, const char *args,
		     struct cprec_failure *why)
{
	if (!*args)
		return wrong(why, "a file of commands is missing");
	return session_read(session, args, why);
}

static int do_echo(struct session *session, const char *args,
		   struct cprec_failure *why)
{
	(void)session;
	(void)why;
	for (; *args; args++) {
		if (*args == '\\' && (args[1] == 'n' || args[1] == 't')) {
			putchar(*++args == 'n' ? '\n' : '\t');
		} else {
			putchar(*args);
		}
	}
	return 0;
}

/* What gdb is told by scripts, and means nothing here. */
static int do_set(struct session *session, const char *args,
		  struct cprec_failure *why)
{
	static const char *const known[] = {
		"pagination", "confirm", "width", "height", "style",
		"debuginfod",
	};

	(void)session;
	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
		if (is_word(args, known[i]))
			return 0;
	return wrong(why, "nothing can be set here: a recording cannot be"
		     " changed");
}

/* In the order of help. */
const struct verb verbs[] = {
	{ "step", "s", do_step, "[N]", "to another line, into functions",
	  REPEATS, TAKES_WORDS },
	{ "next", "n", do_next, "[N]", "to another line, over calls",
	  REPEATS, TAKES_WORDS },
	{ "stepi", "si", do_stepi, "[N]", "one instruction", REPEATS,
	  TAKES_WORDS },
	{ "nexti", "ni", do_nexti, "[N]", "one instruction, over calls",
	  REPEATS, TAKES_WORDS },
	{ "finish", "fin", do_finish, NULL, "until the frame returns", REPEATS,
	  TAKES_WORDS },
	{ "until", "u", do_until, "[PLACE]", "to a later line; to a place, or"
	  " the caller", REPEATS, TAKES_PLACE },
	{ "advance", NULL, do_advance, "PLACE", "to a place, or the caller",
	  REPEATS, TAKES_PLACE },
	{ "continue", "c fg", do_continue, "[N]", "until something stops it",
	  REPEATS, TAKES_WORDS },
	{ "run", "r", do_run, NULL, "from the beginning, until something stops"
	  " it", REPEATS_NOT, TAKES_WORDS },
	{ "reverse-step", "rs", do_reverse_step, "[N]", "back to the beginning"
	  " of a line", REPEATS, TAKES_WORDS },
	{ "reverse-next", "rn", do_reverse_next, "[N]", "the same, over calls",
	  REPEATS, TAKES_WORDS },
	{ "reverse-stepi", "rsi", do_reverse_stepi, "[N]", "back one"
	  " instruction", REPEATS, TAKES_WORDS },
	{ "reverse-nexti", "rni", do_reverse_nexti, "[N]", "the same, over"
	  " calls", REPEATS, TAKES_WORDS },
	{ "reverse-finish", "rf", do_reverse_finish, NULL, "back to where the"
	  " frame was called", REPEATS, TAKES_WORDS },
	{ "reverse-continue", "rc", do_reverse_continue, "[N]", "back until"
	  " something stops it", REPEATS, TAKES_WORDS },
	{ "goto", NULL, do_goto, "T", "to a time, as options --at have it, or a"
	  " bookmark; main; output N; +N, -N: from here", REPEATS_NOT,
	  TAKES_TIME },
	{ "last", NULL, do_last, "EXPR", "to the last change before now; again:"
	  " further back", REPEATS_BARE, TAKES_EXPRESSION },
	{ "back", NULL, do_back, "[N]", "to the place visited before", REPEATS,
	  TAKES_WORDS },
	{ "forward", NULL, do_forward, "[N]", "the other way", REPEATS,
	  TAKES_WORDS },
	{ "bookmark", NULL, do_bookmark, "NAME [TEXT]", "give this position"
	  " a name, for goto", REPEATS_NOT, TAKES_WORDS },
	{ "bookmarks", NULL, do_bookmarks, NULL, "list them; 'delete bookmark"
	  " NAME' forgets one", REPEATS_NOT, TAKES_WORDS },
	{ "when", NULL, do_when, NULL, "the time here", REPEATS_NOT,
	  TAKES_WORDS },
	{ "break", "b br brea", do_break, "[PLACE] [if COND]", "stop at"
	  " FILE:LINE, FUNCTION, *ADDRESS", REPEATS_NOT, TAKES_PLACE },
	{ "tbreak", "tb", do_tbreak, "[PLACE] [if COND]", "the same, once",
	  REPEATS_NOT, TAKES_PLACE },
	{ "watch", NULL, do_watch, "EXPR", "stop when memory is changed",
	  REPEATS_NOT, TAKES_EXPRESSION },
	{ "rwatch", NULL, do_rwatch, "EXPR", "stop when memory is read",
	  REPEATS_NOT, TAKES_EXPRESSION },
	{ "awatch", NULL, do_awatch, "EXPR", "stop when it is read or written",
	  REPEATS_NOT, TAKES_EXPRESSION },
	{ "catch", NULL, do_catch, "syscall [NAME...] | signal [NAME]",
	  "stop at system calls, or signals", REPEATS_NOT, TAKES_CAUGHT },
	{ "handle", NULL, do_handle, "SIGNAL stop|nostop", "whether a signal"
	  " stops it", REPEATS_NOT, TAKES_SIGNAL },
	{ "condition", NULL, do_condition, "N [COND]", "stop only if that is"
	  " true", REPEATS_NOT, TAKES_WORDS },
	{ "ignore", NULL, do_ignore, "N COUNT", "do not stop for so many times",
	  REPEATS_NOT, TAKES_WORDS },
	{ "delete", "d", do_delete, "[N...]", "forget breakpoints; all",
	  REPEATS_NOT, TAKES_WORDS },
	{ "enable", "en", do_enable, "[N...]", "let them stop it",
	  REPEATS_NOT, TAKES_WORDS },
	{ "disable", "dis disa", do_disable, "[N...]", "let them not stop it",
	  REPEATS_NOT, TAKES_WORDS },
	{ "print", "p inspect", do_print, "[/F] EXPR", "the value of"
	  " an expression", REPEATS_NOT, TAKES_EXPRESSION },
	{ "whatis", NULL, do_whatis, "EXPR|TYPE", "the type of an expression",
	  REPEATS_NOT, TAKES_EXPRESSION },
	{ "ptype", NULL, do_ptype, "EXPR|TYPE", "the same with its members",
	  REPEATS_NOT, TAKES_EXPRESSION },
	{ "x", NULL, do_examine, "[/NFU] [ADDRESS]", "memory; formats as in"
	  " gdb", REPEATS_BARE, TAKES_EXPRESSION },
	{ "display", NULL, do_display, "[/F] EXPR", "print it at each stop",
	  REPEATS_NOT, TAKES_EXPRESSION },
	{ "undisplay", NULL, do_undisplay, "[N]", "print it no more",
	  REPEATS_NOT, TAKES_WORDS },
	{ "registers", NULL, do_registers, "[NAME...]", "registers of the"
	  " frame", REPEATS_NOT, TAKES_WORDS },
	{ "backtrace", "bt where", do_backtrace, "[N]", "who called whom",
	  REPEATS_NOT, TAKES_WORDS },
	{ "frame", "f", do_frame, "[N]", "look at another frame", REPEATS_NOT,
	  TAKES_WORDS },
	{ "up", NULL, do_up, "[N]", "look at the caller", REPEATS,
	  TAKES_WORDS },
	{ "down", "dow", do_down, "[N]", "the other way", REPEATS,
	  TAKES_WORDS },
	{ "list", "l", do_list, "[PLACE]", "source lines", REPEATS_BARE,
	  TAKES_PLACE },
	{ "disassemble", NULL, do_disassemble, "[/rs] [START,END]",
	  "instructions of the function; with bytes, source", REPEATS_NOT, TAKES_EXPRESSION },
	{ "info", "i inf", do_info, "TOPIC", "'info' alone lists what there is",
	  REPEATS_NOT, TAKES_TOPIC },
	{ "threads", NULL, do_threads, NULL, "all threads, and where they are",
	  REPEATS_NOT, TAKES_WORDS },
	{ "thread", "t", do_thread, "[TID]", "look at another thread",
	  REPEATS_NOT, TAKES_WORDS },
	{ "processes", NULL, do_processes, NULL, "processes that were recorded"
	  " together", REPEATS_NOT, TAKES_WORDS },
	{ "process", NULL, do_process, "[PID|NAME]", "another one, at the same"
	  " moment; of a machine, where breakpoints stop", REPEATS_NOT, TAKES_WORDS },
	{ "output", NULL, do_output, NULL, "what the program has printed so"
	  " far", REPEATS_NOT, TAKES_WORDS },
	{ "history", NULL, do_history, "EXPR", "all changes", REPEATS_NOT,
	  TAKES_EXPRESSION },
	{ "calls", NULL, do_calls, "PATTERN", "calls of functions",
	  REPEATS_NOT, TAKES_PLACE },
	{ "log", NULL, do_log, "PLACE [=> EXPR, ...]", "each time that it was"
	  " there",
	  REPEATS_NOT, TAKES_PLACE },
	{ "strace", NULL, do_strace, "[NAME]", "system calls and signals",
	  REPEATS_NOT, TAKES_WORDS },
	{ "source", NULL, do_source, "FILE", "commands out of a file",
	  REPEATS_NOT, TAKES_FILE },
	{ "echo", NULL, do_echo, "TEXT", "print a text", REPEATS_NOT,
	  TAKES_WORDS },
	{ "set", NULL, do_set, NULL, NULL, REPEATS_NOT, TAKES_WORDS },
	{ "help", "h", do_help, "[COMMAND]", "this list, or one of it",
	  REPEATS_NOT, TAKES_VERB },
	{ "quit", "q exit", do_quit, "[STATUS]", "leave", REPEATS_NOT,
	  TAKES_WORDS },
	{ 0 }
};

/* ------- words ------- */

int wrong(struct cprec_failure *why, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(why->text, sizeof(why->text), format, args);
	va_end(args);
	return CPREC_INPUT;
}

int no_memory(struct cprec_failure *why)
{
	wrong(why, "out of memory");
	return CPREC_NO_MEMORY;
}

int take_count(const char *args, uint64_t otherwise, uint64_t *out,
	       struct cprec_failure *why)
{
	static const char letters[] = "kmg";
	const char *letter;
	char *end;

	*out = otherwise;
	if (!*args)
		return 0;
	*out = strtoull(args, &end, 0);
	letter = *end ? strchr(letters, tolower((unsigned char)*end)) : NULL;
	for (const char *at = letters; letter && at <= letter; at++)
		*out = *out > UINT64_MAX / 1000 ? UINT64_MAX : *out * 1000;
	if (!isdigit((unsigned char)*args) || end[letter != NULL])
		return wrong(why, "'%s' is no number", args);
	return 0;
}

char *take_word(const char **args)
{
	size_t length = strcspn(*args, " \t");
	char *word = strndup(*args, length);

	*args += length;
	*args += strspn(*args, " \t");
	return word;
}

bool is_word(const char *args, const char *word)
{
	size_t length = strlen(word);

	return !strncmp(args, word, length) &&
	       (!args[length] || isspace((unsigned char)args[length]));
}

/* ------- finding one ------- */

/* One of its short forms. */
static bool is_other(const struct verb *verb, const char *word, size_t length)
{
	const char *at = verb->others;

	while (at && *at) {
		size_t size = strcspn(at, " ");

		if (size == length && !strncmp(at, word, length))
			return true;
		at += size;
		at += strspn(at, " ");
	}
	return false;
}

static int no_verb(const char *word, size_t length, struct cprec_failure *why)
{
	struct nearest nearest;
	char text[NEAREST_TEXT];

	nearest_begin(&nearest, word, length);
	for (const struct verb *verb = verbs; verb->name; verb++)
		nearest_offer(&nearest, verb->name);
	return wrong(why, "there is no command '%.*s'%s; see 'help'",
		     (int)length, word, nearest_text(&nearest, text));
}

int verb_find(const char *word, size_t length, const struct verb **out,
	      struct cprec_failure *why)
{
	const struct verb *found = NULL, *other = NULL;

	for (const struct verb *verb = verbs; verb->name; verb++) {
		bool begins = !strncmp(verb->name, word, length);

		if ((begins && !verb->name[length]) ||
		    is_other(verb, word, length)) {
			*out = verb;
			return 0;
		}
		if (begins && found)
			other = verb;
		else if (begins)
			found = verb;
	}
	if (!found)
		return no_verb(word, length, why);
	if (other)
		return wrong(why, "'%.*s' can be several: '%s', '%s' and maybe"
			     " others", (int)length, word, found->name,
			     other->name);
	*out = found;
	return 0;
}

/* ------- carrying out ------- */

/* What an empty line does then. */
static void keep(struct session *session, const struct verb *verb,
		 const char *line)
{
	char *again = NULL;

	if (verb->repeats == REPEATS)
		again = strdup(line);
	else if (verb->repeats == REPEATS_BARE)
		again = strdup(verb->name);
	free(session->again);
	session->again = again;
}

/* Letters and what names have; so a format is behind it. */
static size_t word_length(const char *line)
{
	size_t length = 0;

	while (isalnum((unsigned char)line[length]) || line[length] == '-' ||
	       line[length] == '_')
		length++;
	return length ? length : strcspn(line, " \t/");
}

int session_do(struct session *session, const char *line,
	       struct cprec_failure *why)
{
	const struct verb *verb;
	size_t length;
	char *args;
	int rc;

	line += strspn(line, " \t");
	if (!*line || *line == '#')
		return 0;
	if (*line == '+' || *line == '-')
		return do_by(session, line, why);
	length = word_length(line);
	rc = verb_find(line, length, &verb, why);
	if (rc)
		return rc;
	args = strdup(line + length + strspn(line + length, " \t"));
	if (!args)
		return no_memory(why);
	length = strlen(args);
	while (length && isspace((unsigned char)args[length - 1]))
		args[--length] = '\0';
	rc = verb->run(session, args, why);
	keep(session, verb, line);
	free(args);
	return rc;
}

/* ------- help ------- */

static void show_verb(const struct verb *verb)
{
	char left[64];

	if (!verb->summary)
		return;
	snprintf(left, sizeof(left), "%s %s", verb->name,
		 verb->arguments ? verb->arguments : "");
	printf("%-28s %s", left, verb->summary);
	if (verb->others)
		printf(" (%s)", verb->others);
	putchar('\n');
}

static int do_help(struct session *session, const char *args,
		   struct cprec_failure *why)
{
	const struct verb *verb;
	int rc;

	(void)session;
	/* `help cprec` is what lists commands in gdb. */
	if (*args && strcmp(args, "cprec")) {
		rc = verb_find(args, strlen(args), &verb, why);
		if (!rc)
			show_verb(verb);
		return rc;
	}
	for (verb = verbs; verb->name; verb++)
		show_verb(verb);
	puts("\nBeginnings of names do, too, where they are clear.  An empty"
	     " line repeats a\ncommand that moves.  Expressions are those of"
	     " 'cprec query'.");
	return 0;
}
