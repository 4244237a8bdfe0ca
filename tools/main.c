/* SPDX-License-Identifier: GPL-2.0-or-later */
/* main.c - finds the command */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "formats/nearest.h"
#include "replayer/replayer.h"
#include "tools/commands.h"
#include "tools/debug_notes.h"
#include "tools/messages.h"
#include "tools/options.h"
#include "tools/programs.h"
#include "vm/vm.h"

static void print_help(FILE *out)
{
	fputs("usage: cprec COMMAND [OPTION...] ...\n"
	      "\n"
	      "Records the execution of a program and answers questions about"
	      " its past.\n"
	      "\n", out);
	for (size_t i = 0; commands[i]; i++)
		if (commands[i]->summary)
			fprintf(out, "  %-11s %-22s  %s\n", commands[i]->name,
				commands[i]->arguments, commands[i]->summary);
	fputs("  help        [COMMAND]               print this text, or that"
	      " of a command\n"
	      "  version                             print versions\n"
	      "\n"
	      "To begin with a program that crashes, compiled with -g:\n"
	      "\n"
	      "  cprec record ./stock                    writes trace.cpr, says"
	      " how it died\n"
	      "  cprec backtrace                         who called whom then\n"
	      "  cprec last --addr='stock->next->next'   who wrote that\n"
	      "  cprec debug                             goes back from there,"
	      " step by step\n"
	      "\n"
	      "Without FILE, the newest *.cpr in this folder is taken.\n"
	      "Times count the program's instructions: 0 is before its first"
	      " one.  Numbers\n"
	      "are decimal or 0x-hex; numbers of instructions also end in k, m"
	      " or g: 5k is\n"
	      "5000.  'cprec COMMAND --help' tells more.\n",
	      out);
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

static int no_command(const char *name)
{
	struct nearest nearest;
	char text[NEAREST_TEXT];

	nearest_begin(&nearest, name, strlen(name));
	for (size_t i = 0; commands[i]; i++)
		nearest_offer(&nearest, commands[i]->name);
	say("there is no command '%s'%s; see 'cprec help'", name,
	    nearest_text(&nearest, text));
	return EXIT_USAGE;
}

static int run_command(const char *name, int argc, char **argv)
{
	const struct command *command = command_find(name);
	struct options options = { .command = command, .argc = argc,
				   .argv = argv };
	int status;

	if (!command)
		return no_command(name);
	/* A program must find closed what was closed. */
	if (command->kind == COMMAND_RUNS_PROGRAM)
		program_share_stderr();
	else
		hold_standard_streams();
	debug_notes_begin();
	replayer_take_faults();
	status = command->run(&options);
	options_release(&options);
	return status;
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
		printf("cprec %s, %s\n", CPREC_RELEASE, vm_engine());
		return finish_output(EXIT_ANSWERED);
	}
	return run_command(argv[1], argc - 1, argv + 1);
}
