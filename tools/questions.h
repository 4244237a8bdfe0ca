/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * questions.h - what an address held at a time: asked and answered as text
 *
 * One question that has no answer does not disturb the others: it keeps the
 * reason, and is printed in its turn.
 *
 * Ownership:  question_release() frees what a question holds; a zeroed one is
 *             empty.  The texts of a request are borrowed.
 * Errors:     ERR_INPUT (the request makes no sense), ERR_NOT_FOUND (no such
 *             symbol), those of query.h; kept in the question.
 */
#ifndef CPREC_TOOLS_QUESTIONS_H
#define CPREC_TOOLS_QUESTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "replayer/races/races.h"
#include "tools/opened.h"
#include "tools/print_races.h"

struct failure;

#define QUESTION_SIZE 8u		/* bytes, if nothing is said */
#define QUESTION_SIZE_DATA 4096u	/* the most that a symbol says */
#define QUESTION_SIZE_MAX (16u << 20)

/* What a wrong text should have been, for messages. */
#define QUESTION_SIZE_WANTED "1 to 16777216 bytes"

/* As on the command line.  A text that is missing is NULL. */
struct request {
	const char *addr, *at;
	const char *size;	/* NULL: that of the symbol, or QUESTION_SIZE */
	char format;		/* 0, one of EXPRESSION_FORMATS, or: */
#define QUESTION_RAW 'r'	/* bytes, also of what has a type */
	bool some_thread;	/* whose variables and registers are meant */
	uint32_t tid;
	uint64_t frame;			/* 0: the innermost */
	bool is_physical;		/* of a machine: what the address is; */
	const char *process;		/* or whose, a number or a name */
	bool has_space;			/* or in which space it is: */
	uint32_t space;			/* its number (ASID) */
};

#define REQUEST_SPACE_WANTED "a number up to 65535"
bool request_take_space(struct request *out, const char *text);

/* ERR_INPUT if these are asked of a program. */
int question_check_space(const struct request *asked,
			 const struct recording *recording,
			 struct failure *why);

struct question {
	struct request asked;
	uint64_t line;			/* of standard input; 0: an option */
	bool is_alone;			/* no need to say which one failed */
	char name[256];			/* of an address that has one */
	bool has_symbol;		/* it was asked for by one, or by an
					   expression */
	bool has_memory;		/* it is at `addr` */
	struct failure unknown;		/* why no file has its bytes; "" */
	struct expression found;
	bool has_addr, has_at;		/* these are known: */
	uint64_t addr;
	struct position at;
	size_t size;
	/* The answer: */
	bool has_failed;		/* there is none, because of: */
	char *error;			/* NULL without memory */
	uint8_t *bytes, *known;
	struct query_answer answer;
	bool is_mapped;			/* or some of it is known */
	bool has_physical;		/* of a machine: where it is */
	uint64_t physical;
	const struct race_question *race;	/* NULL: nobody looked */
	struct race_text *race_texts;	/* of its values */
};

/* Whether a text makes sense, in whatever recording. */
bool question_may_be_size(const char *text);

/* Whether a text may be an address or an expression: says why it is none. */
int question_check_address(const char *text, struct failure *why);

/* Understands what was asked, in a structure with nothing but that. */
void question_find(struct question *question, struct opened *opened);
void question_release(struct question *question);

/* Answers, unless it has failed already. */
void question_answer(struct question *question, struct opened *opened);

/* Says that it has no answer. */
void question_fail(struct question *question, const struct failure *why);

/*
 * Prints the answer.  If there is none, or nothing is mapped there, says so on
 * standard error and returns false.
 */
bool question_print(const struct question *question, bool json);

#endif
