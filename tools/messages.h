/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * messages.h - what cprec says to a person on standard error
 *
 * Each message is one line that starts with "cprec: ", or with "cprec: note: "
 * if nothing failed because of it.  What a name or a question may hold besides
 * printable text is shown as print_escaped() does.
 */
#ifndef CPREC_TOOLS_MESSAGES_H
#define CPREC_TOOLS_MESSAGES_H

#include <stdbool.h>
#include <stddef.h>

struct failure;

/* All lines are then written by `write`, each in one piece. */
void say_through(void (*write)(const char *text, size_t size));

/* All are handed to `take` in place of that, as they were said; NULL: not. */
void say_to(void (*take)(void *context, bool is_note, const char *text),
	    void *context);

/* Prints one line that says why something failed. */
void say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Prints one line that is good to know; it does not change the status. */
void say_note(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Prints why something failed.  Returns EXIT_FAILED. */
int say_failure(const struct failure *why);

/*
 * Ends standard output.  Returns `status`, or EXIT_FAILED after a message if
 * what was printed could not be written.
 */
int finish_output(int status);

#endif
