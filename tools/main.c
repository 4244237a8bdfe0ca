/* SPDX-License-Identifier: GPL-2.0-or-later */
/* main.c - finds the command */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tools/commands.h"
#include "tools/messages.h"
#include "tools/programs.h"
#include "vm/vm.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

struct command {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *arguments;
	const char *summary;
	bool runs_program;
};

static const struct command commands[] = {
	{ "record", cmd_record, "PROGRAM [ARGUMENT...]",
	  "run a program and record it", true },
	{ "query",  cmd_query,  "FILE --addr=A --at=T",
	  "what an address held at a time", false },
	{ "info",   cmd_info,   "FILE",
	  "what was recorded, and how it ended", false },
	{ "replay", cmd_replay, "FILE",
	  "execute a recording again, with its output", false },
	{ "verify", cmd_verify, "FILE",
	  "check that the replay equals the recording", false },
	{ "races",  cmd_races,  "FILE",
	  "which source lines race with each other", false },
	{ "dump",   cmd_dump,   "FILE",
	  "print what is in a recording as text", false },
	{ "run",    cmd_run,    "PROGRAM [ARGUMENT...]",
	  "run a program without recording it", true },
};

static void print_help(FILE *out)
{
	fputs("usage: cprec COMMAND [OPTION...] ...\n"
	      "\n"
	      "Records the execution of a program and answers questions about"
	      " its past.\n"
	      "\n", out);
	for (size_t i = 0; i < COUNT(commands); i++)
		fprintf(out, "  %-7s %-22s  %s\n", commands[i].name,
			commands[i].arguments, commands[i].summary);
	fputs("  help    [COMMAND]               print this text, or that of a"
	      " command\n"
	      "  version                         print versions\n"
	      "\n"
	      "To begin with:\n"
	      "\n"
	      "  cprec record ls -l                      writes trace.cpr\n"
	      "  cprec info trace.cpr\n"
	      "  cprec query trace.cpr --addr=environ --at=50%\n"
	      "\n"
	      "Times count the program's instructions: 0 is before its first"
	      " one.  Numbers\n"
	      "are decimal or 0x-hex; numbers of instructions also end in k, m"
	      " or g: 5k is\n"
	      "5000.  'cprec COMMAND --help' tells more.\n",
	      out);
}

static const struct command *find_command(const char *name)
{
	for (size_t i = 0; i < COUNT(commands); i++)
		if (!strcmp(commands[i].name, name))
			return &commands[i];
	return NULL;
}

/*
 * A standard stream that is closed stays unusable, but no file gets its number:
 * to read or write such a descriptor is an error too.
 */
static void hold_standard_streams(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0 && errno == EBADF)
			open("/", O_PATH);
}

static int run_command(const char *name, int argc, char **argv)
{
	const struct command *command = find_command(name);

	if (command) {
		/* A program must find closed what was closed. */
		if (command->runs_program)
			program_share_stderr();
		else
			hold_standard_streams();
		return command->run(argc, argv);
	}
	say("there is no command '%s'; see 'cprec help'", name);
	return EXIT_USAGE;
}

/* "cprec help COMMAND" is "cprec COMMAND --help". */
static int help(int argc, char **argv)
{
	char option[] = "--help";
	char *again[] = { argv[1], option, NULL };

	if (argc > 1)
		return run_command(argv[1], 2, again);
	print_help(stdout);
	return finish_output(EXIT_ANSWERED);
}

static bool is_asked(const char *text, const char *name, const char *letter)
{
	return !strcmp(text, name) || !strcmp(text, letter) ||
	       (!strncmp(text, "--", 2) && !strcmp(text + 2, name));
}

int main(int argc, char **argv)
{
	if (argc < 2) {
		print_help(stderr);
		return EXIT_USAGE;
	}
	if (is_asked(argv[1], "help", "-h"))
		return help(argc - 1, argv + 1);
	if (is_asked(argv[1], "version", "-V")) {
		printf("cprec %s, %s\n", CPREC_VERSION, vm_engine());
		return finish_output(EXIT_ANSWERED);
	}
	return run_command(argv[1], argc - 1, argv + 1);
}
