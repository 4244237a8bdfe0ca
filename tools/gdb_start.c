/* SPDX-License-Identifier: GPL-2.0-or-later */
/* gdb_start.c - see gdb_start.h */
#include "tools/gdb_start.h"

#include <errno.h>
#include <inttypes.h>
#include <langinfo.h>
#include <locale.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "formats/error.h"
#include "replayer/recording/recording.h"
#include "replayer/session/session.h"
#include "replayer/symbols/symbols.h"
#include "tools/commands.h"
#include "tools/damage.h"
#include "tools/debug_notes.h"
#include "tools/find_program.h"
#include "tools/gdb_find.h"
#include "tools/gdb_scripts.h"
#include "tools/gdb_socket.h"
#include "tools/messages.h"
#include "tools/options.h"

/* As a shell, and gdb, take it for one word. */
static void print_quoted(FILE *out, const char *word)
{
	putc('\'', out);
	for (; *word; word++)
		if (*word == '\'')
			fputs("'\\''", out);
		else
			putc(*word, out);
	putc('\'', out);
}

/* "cprec-connect | exec cprec gdbserver --stdio FILE" */
static char *pipe_text(const struct gdb_start *start)
{
	char self[4096], *text = NULL;
	ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);
	size_t size;
	FILE *out = length > 0 ? open_memstream(&text, &size) : NULL;

	if (!out)
		return NULL;
	self[length] = '\0';
	fprintf(out, "%s exec ",
		start->connect ? start->connect : "cprec-connect |");
	print_quoted(out, self);
	fputs(" gdbserver --stdio", out);
	if (start->from) {
		fputs(" --from=", out);
		print_quoted(out, start->from);
	}
	if (start->path) {
		fputs(" -- ", out);
		print_quoted(out, start->path);
	}
	if (!fclose(out))
		return text;
	free(text);
	return NULL;
}

/* A script connects when it wants to, with a server of its own. */
static char *connect_text(const struct gdb_start *start)
{
	char *socket = NULL, *text = NULL;

	if (start->path && !start->connect)
		socket = gdb_socket_start(start->path, start->from);
	if (!socket)
		return pipe_text(start);
	if (asprintf(&text, "cprec-connect %s", socket) < 0)
		text = NULL;
	free(socket);
	return text;
}

static const char *const settings[] = {
	"set debuginfod enabled off",
	"set unwindonsignal on",
	"set tcp auto-retry off",
};

/*
 * Returns whether there are no letters but ASCII's, as in the locale C: without
 * another setting, gdb's Python fails at names of files that have others.
 */
static bool is_ascii(void)
{
	locale_t locale = newlocale(LC_CTYPE_MASK, "", (locale_t)0);
	bool is = !locale || !strcmp(nl_langinfo_l(CODESET, locale),
				     "ANSI_X3.4-1968");

	if (locale)
		freelocale(locale);
	return is;
}

/* Whether the session can begin there: gdb does not end if it cannot. */
static bool is_place(struct recording *recording, const char *from)
{
	struct position position;
	struct failure why = { "" };
	bool is_time;

	if (!from || !strcmp(from, "main") ||
	    !place_position(&position, &is_time, recording, from, &why))
		return true;
	say("%s", why.text);
	return false;
}

/* "symbol-file": a machine's kernel has moved itself; NULL: there is none. */
static char *own_file_text(struct recording *recording, struct lines *lines)
{
	const struct symbols *own;
	const char *path = NULL;
	uint64_t moved;
	char *text = NULL;
	size_t size;
	FILE *out;

	if (!lines || !recording_is_machine(recording))
		return NULL;
	own = names_own(lines_names(lines), recording_end(recording), &moved);
	if (own)
		path = lines_module_path(lines, own->path);
	out = path ? open_memstream(&text, &size) : NULL;
	if (!out)
		return NULL;
	fprintf(out, "symbol-file -o %#" PRIx64 " ", moved);
	print_quoted(out, path);
	return fclose(out) ? NULL : text;
}

/* Whether gdb may read the files of this machine.  False: it is told. */
static bool look_at(const char *path, const char *from, bool *has_all,
		    char **own_file)
{
	bool can_begin;
	struct recording *recording;
	struct lines *lines = NULL;
	struct failure why = { "" };

	if (recording_open(&recording, path, &why)) {
		say("%s", why.text);
		return false;
	}
	damage_say(recording);
	*has_all = !lines_create(&lines, recording, NULL) &&
		   arch_is_own(recording_reg_table(recording)->arch) &&
		   module_sources_are_here(lines);
	*own_file = own_file_text(recording, lines);
	lines_destroy(lines);
	can_begin = is_place(recording, from);
	recording_close(recording);
	return can_begin;
}

/* gdb's command line. */
struct words {
	const char **list;	/* NULL-ended */
	size_t count, room;
	bool is_short;		/* of memory */
};

static void add(struct words *words, const char *word)
{
	if (words->count + 2 > words->room) {
		size_t room = 2 * words->room + 32;
		const char **more = reallocarray(words->list, room,
						 sizeof(*more));

		if (!more) {
			words->is_short = true;
			return;
		}
		words->list = more;
		words->room = room;
	}
	words->list[words->count++] = word;
	words->list[words->count] = NULL;
}

static void add_pair(struct words *words, const char *option,
		     const char *value)
{
	add(words, option);
	add(words, value);
}

/* Ours before those of the user; false, which is told, without a script. */
static bool add_all(struct words *words, const struct gdb_start *start,
		    const char *connect, const char *own_file, bool gives_files)
{
	const char *const *name = start->scripts;

	add(words, start->gdb);
	add(words, "-q");
	if (start->interpreter)
		add_pair(words, "-i", start->interpreter);
	/* A search may take long before it answers. */
	add_pair(words, "-l", "10000");
	for (size_t i = 0; i < sizeof(settings) / sizeof(*settings); i++)
		add_pair(words, "-iex", settings[i]);
	if (is_ascii())
		add_pair(words, "-iex", "set host-charset UTF-8");
	add_pair(words, "-iex", gives_files ? "set sysroot target:" :
					      "set sysroot /");
	for (; name && *name; name++) {
		const char *command = gdb_script_command(*name);

		if (!command) {
			say("gdb cannot get '%s': %s", *name, strerror(errno));
			return false;
		}
		add_pair(words, "-ex", command);
	}
	if (own_file)
		add_pair(words, "-ex", own_file);
	add_pair(words, "-ex", connect);
	if (start->then)
		add_pair(words, "-ex", start->then);
	if (start->commands)
		add_pair(words, "-x", start->commands);
	for (size_t i = 0; i < start->more_count; i++)
		add(words, start->more[i]);
	return true;
}

void gdb_allow_one_dash(struct options *options)
{
	static char name[] = "--ex";

	for (int i = 1; i < options->argc && strcmp(options->argv[i], "--");
	     i++)
		if (!strcmp(options->argv[i], "-ex"))
			options->argv[i] = name;
}

char **gdb_take_words(struct options *options, size_t *count)
{
	const char *first = options->first < options->argc ?
				    options->argv[options->first] : NULL;

	options->has_file |= first && *first != '-';
	return options_take_words(options, count);
}

/* The server that gdb is connected with looks there, too. */
static void take_folders(const char *folders)
{
	debug_folders_take(folders);
	setenv("CPREC_DEBUG_DIR", folders, true);
}

bool gdb_take_option(struct gdb_start *start, int id, const char *value)
{
	if (id == 'g')
		start->from = value;
	else if (id == 'e')
		start->from = "end";
	else if (id == 'x')
		start->commands = value;
	else if (id == OPTION_GDB)
		start->gdb = value;
	else if (id == OPTION_FOLDERS)
		take_folders(value);
	else
		return false;
	return true;
}

/* Returns only if it does not start: a status to exit with, and it is told why. */
static int become(const struct words *words)
{
	char path[PATH_MAX];
	int rc = find_program(path, words->list[0]);

	if (!rc) {
		execvp(path, (char *const *)words->list);
		rc = errno;
	}
	say("cannot start %s: %s", words->list[0], strerror(rc));
	return rc == ENOENT ? EXIT_NO_PROGRAM : EXIT_UNUSABLE;
}

int gdb_start(const struct gdb_start *start)
{
	struct words words = { 0 };
	bool has_all = false, gives_files;
	char *connect, *own_file = NULL;

	if (start->path &&
	    !look_at(start->path, start->from, &has_all, &own_file))
		return EXIT_FAILED;
	/* Read from this machine, they are there sooner; but only if they are
	   those that were recorded. */
	gives_files = !has_all;
	connect = connect_text(start);
	if (connect && !add_all(&words, start, connect, own_file, gives_files))
		return EXIT_CPREC;
	if (!connect || words.is_short) {
		say("out of memory");
		return EXIT_CPREC;
	}
	return become(&words);
}
