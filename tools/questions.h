/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * questions.h - what an address held at a time: asked and answered as text
 *
 * Ownership:  question_release() frees what a question holds; a zeroed one is
 *             empty.  The texts of a request are borrowed.
 * Errors:     ERR_INPUT (the request makes no sense), ERR_NOT_FOUND (no such
 *             symbol), those of query.h.
 */
#ifndef CPREC_TOOLS_QUESTIONS_H
#define CPREC_TOOLS_QUESTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "replayer/query.h"

struct failure;

#define QUESTION_SIZE 8u		/* bytes, if nothing is said */
#define QUESTION_SIZE_MAX (16u << 20)

/* As on the command line. */
struct request {
	const char *addr, *at;
	const char *size;		/* NULL: QUESTION_SIZE */
};

struct question {
	const char *symbol;		/* as asked; NULL if it was a number */
	uint64_t addr, at;
	size_t size;
	/* The answer: */
	uint8_t *bytes, *known;
	enum query_source source;
	bool is_mapped;			/* or some of it is known */
};

/* Makes a time of text, at most the recording's end. */
int question_time(uint64_t *out, struct recording *recording, const char *text,
		  struct failure *why);

/* Makes a question of a request. */
int question_init(struct question *out, struct recording *recording,
		  const struct request *request, struct failure *why);
void question_release(struct question *question);

int question_answer(struct question *question, struct query *query,
		    struct recording *recording, struct failure *why);

/* Prints the answer; says on standard error if nothing is mapped there. */
void question_print(const struct question *question, bool json);

/* Warns of a recording without an end: what was answered may not be all. */
void question_warn_if_cut(const struct recording *recording);

#endif
