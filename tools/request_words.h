/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * request_words.h - a request as a JSON object, and as a command line
 *
 *	{"command": "last", "file": "a.cpr", "addr": "counter", "changes": true}
 *	last --json --addr=counter --changes -- a.cpr
 *
 * Keys are names of options, and "command", "file", "arguments" and "id".
 *
 * Ownership:  request_words_release() frees; what was handed in is borrowed.
 * Errors:     ERR_INPUT: the request makes no sense; ERR_NO_MEMORY.
 */
#ifndef CPREC_TOOLS_REQUEST_WORDS_H
#define CPREC_TOOLS_REQUEST_WORDS_H

#include <stdbool.h>

#include <jansson.h>

struct command;
struct failure;

struct request_words {
	const struct command *command;
	char **argv;		/* ended by NULL; its own name first */
	int argc;
	bool has_file;		/* FILE is the first word behind the options */
};

/* Whether a command answers requests: those that can answer in JSON do. */
bool request_may_ask(const struct command *command);

/* Also to be released if it fails. */
int request_words_make(struct request_words *out, const json_t *request,
		       struct failure *why);
void request_words_release(struct request_words *words);

#endif
