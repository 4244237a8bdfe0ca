/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * expressions.h - what variables and expressions of a program are at a time
 *
 * Variables are called as in the program, and shown as its types say:
 * "head->name", "*argv@argc", "app::counter", "$rsp".  This room asks a query
 * for memory and registers; it never prints, and changes nothing.
 *
 * Ownership:  expressions_destroy() frees; what it was made of is borrowed.
 *             expression_release() frees an answer.
 * Errors:     ERR_INPUT (the text makes no sense), ERR_NOT_FOUND (a name, or
 *             memory that is not known); those of query.h.
 */
#ifndef CPREC_REPLAYER_EXPRESSIONS_EXPRESSIONS_H
#define CPREC_REPLAYER_EXPRESSIONS_EXPRESSIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/registers.h"
#include "replayer/expressions/place.h"
#include "replayer/recording/recording.h"
#include "replayer/session/session.h"

struct expressions;
struct failure;
struct frame;
struct lines;
struct query;

int expressions_create(struct expressions **out, struct lines *lines,
		       struct query *query, struct failure *why);
void expressions_destroy(struct expressions *expressions);

/* What they are made of. */
struct lines *expressions_lines(const struct expressions *expressions);
struct query *expressions_query(const struct expressions *expressions);

/* Letters of formats. */
#define EXPRESSION_FORMATS "xduotcfsa"

/* How values are shown from now on; at first, as zeros say. */
#define EXPRESSIONS_ELEMENTS_MOST 1000000u

struct expressions_shown {
	uint64_t elements;	/* of an array, a container or a text, at most;
				   0: 200 */
	bool is_raw;		/* containers are shown by their members */
};

void expressions_show(struct expressions *expressions,
		      const struct expressions_shown *shown);

struct expression_question {
	const char *text;
	struct expression_place place;
	char format;		/* 0, or a letter */
	uint64_t size;		/* 0, or bytes that are to be seen as numbers */
	bool no_frame;		/* variables of functions are not meant, */
	bool only_begun;	/* or only those that have got a value */
	bool is_raw;		/* bytes are asked for, also of what has a type:
				   "&x" asks for those of x then */
	bool is_value;		/* a number is no address, but itself */
};

struct expression {
	bool has_addr;		/* it is in memory */
	uint64_t addr;
	const char *reg;	/* the register that it is in, or NULL */

	/* A bit-field in memory has no address: so many bits, from the lowest
	 * of the bytes at `addr` on.  0: it is none. */
	unsigned bit_offset, bit_size;
	bool is_signed;
	uint64_t size;		/* of its type; 0: not known, or code */
	bool is_code;		/* a function: `value` is where it is */
	char *type;		/* "struct node *"; NULL: not known */
	char *value;		/* "{id = 3, next = 0x0}"; NULL: not known, and
				   `no_value` says why */
	char *no_value;
	uint8_t *bytes;		/* `size` bytes of what is not in memory; or
				   NULL */
};

/*
 * What stands before the number where users choose a frame, in messages; "":
 * they cannot.  NULL: "--frame=".
 */
void expressions_frame_option(struct expressions *expressions,
			      const char *text);

/*
 * Evaluates.  "NAME+8", with a number and nothing else, is an address: that of
 * NAME, and so many bytes.
 */
int expressions_find(struct expressions *expressions,
		     const struct expression_question *question,
		     struct expression *out, struct failure *why);

/*
 * Whether it makes sense in the code at `pc`, as far as that can be told without
 * its values: ERR_INPUT, and which name, member or word does not.
 */
int expressions_check(struct expressions *expressions, const char *text,
		      const struct expression_place *place, uint64_t pc,
		      struct failure *why);

/* What will be asked whenever a thread comes to points: see log_points.h. */
struct expressions_asked {
	const char *text;
	const struct log_point *points;
	size_t count;
	struct position from, to;
};

/*
 * Whether it makes sense at some place of these points at some time: ERR_INPUT,
 * and why it does not; `*is_elsewhere` if a name means something, but not there, as
 * a caller's variable.  Where there is no such code, all makes sense.
 */
int expressions_check_asked(struct expressions *expressions,
			    const struct expressions_asked *asked,
			    bool *is_elsewhere, struct failure *why);

/*
 * Where the variable at `addr` is declared; false if that is not known.  The
 * file's name lasts as long as the lines.
 */
bool expressions_source(struct expressions *expressions,
			const struct position *at, uint64_t addr,
			const char **file, unsigned *line);

/*
 * Visits what a name that begins so may become: variables and functions that
 * the program's debugging information has; behind '.' or '->', the
 * members of what is before that.  Texts are whole expressions.
 */
void expressions_complete(struct expressions *expressions,
			  const struct position *at, const char *typed,
			  void (*visit)(void *opaque, const char *text),
			  void *opaque);

/*
 * What the data or code at `addr` is called: "stats.factors[1]".  False if
 * nothing covers it.
 */
bool expressions_name(struct expressions *expressions,
		      const struct position *at, uint64_t addr, char *text,
		      size_t room);

void expression_release(struct expression *expression);

/*
 * What type an expression has, or a type's name means, as gdb's whatis says; with
 * `whole`, as its ptype: with members, and typedefs resolved.  free() it.
 */
int expressions_type(struct expressions *expressions,
		     const struct expression_question *question, bool whole,
		     char **out, struct failure *why);

/* Bytes that a part of something may have held. */
struct part_bytes {
	uint64_t addr;
	const uint8_t *bytes;
	size_t size;
};

/*
 * Shows them as the part's type would: a part of what a question asks for, or of
 * the variable there if that is an address.  False if nobody knows of such a
 * part; else the texts are the caller's to free().
 */
bool expressions_show_part(struct expressions *expressions,
			   const struct expression_question *question,
			   const struct part_bytes *part, char **type,
			   char **value);

/* ------- what is in a frame ------- */

struct variable {
	const char *name;
	bool is_argument;
	bool is_scalar;		/* it has no parts, nor refers to what has some */
	const char *type;
	const char *value;	/* as in gdb's lists of variables, also if it
				   has none: "<optimized out>" */
	const char *entry;	/* of an argument, what it was when the function
				   was called, if the caller tells; or NULL */
	const char *brief;	/* the same, as gdb shows arguments of frames:
				   "..." for what has parts, and of containers
				   only what they are */
};

struct variables_question {
	struct expression_place place;

	/* What a backtrace visits now: the frame of that number. */
	const struct frame *frame;
	bool locals;		/* not only arguments */

	/* A result other than 0 ends it.  Texts last as long as the call. */
	int (*visit)(void *context, const struct variable *variable);
	void *context;
};

/*
 * Visits arguments in their order, and the variables of blocks around the
 * frame's code, the innermost first.  `*is_known` is false if no debugging
 * information tells of it.
 */
int expressions_variables(struct expressions *expressions,
			  const struct variables_question *question,
			  bool *is_known, struct failure *why);

/* Registers of a frame. */
#define FRAME_REGISTERS_MOST 128u
struct frame_registers {
	struct reg_file file;
	bool is_lost[FRAME_REGISTERS_MOST];	/* nobody knows what was in it */
	uint64_t code;		/* in the instruction that the frame executes */
};

int expressions_registers(struct expressions *expressions,
			  const struct expression_place *place,
			  struct frame_registers *out, struct failure *why);

/* ------- when a condition became true ------- */

/*
 * It was false, or not known, right before, and is true now.  What is behind an
 * instruction or event is told as an access to memory is, with nothing of what
 * was accessed; of code, what has not been executed yet.
 */
struct when_met {
	struct history_access access;
	bool is_place;		/* control came to `pc`: it is true there */
	struct position old_at, new_at;	/* when it was not, and is */
	bool has_old;
	uint32_t tid;
};

struct when_question {
	const char *text;	/* the condition */

	/*
	 * The code in which it is asked: a function, or FILE:LINE.  NULL: where
	 * the variables in it are declared, or everywhere.
	 */
	const char *place;
	struct position from, to;
	bool some_thread;	/* only what this one does */
	uint32_t tid;
	bool last;		/* only the last time is told */
	uint64_t limit;		/* else the first ones; 0: all */

	/* A result other than 0 ends the search.  WHEN_ENOUGH is no error. */
	int (*met)(void *context, const struct when_met *met,
		   struct failure *why);
	void *context;
};
#define WHEN_ENOUGH 1

struct when_result {
	bool was_true;		/* already at the start */
	bool is_of_memory;	/* variables of functions were not meant */
	struct inlined_copies copies;	/* of the function, of `place` */
};

/*
 * Finds these times.  ERR_NOT_FOUND: it was never known, and why; ERR_INPUT:
 * several functions have such variables.
 */
int expressions_when(struct expressions *expressions,
		     const struct when_question *question,
		     struct when_result *out, struct failure *why);

/* Visits what operators of an expression combine, without numbers. */
void expressions_operands(struct expressions *expressions, const char *text,
			  const struct expression_question *place,
			  void (*visit)(void *context, const char *text,
					size_t size),
			  void *context);

/* ------- calls ------- */

struct call_value {
	const char *name;	/* NULL: it has none */
	const char *type;	/* NULL: it is not known */
	const char *value;	/* in brackets, why there is none: "<...>" */
};

/* A result other than 0 ends it.  Texts last as long as the call. */
typedef int call_visit(void *context, const struct call_value *value);

/*
 * Visits the arguments of the function at `entry`, its first instruction, which
 * the thread whose turn it is stands at; of a function of which nothing is
 * known, what may be some: the registers for the first ones.
 */
int expressions_arguments(struct expressions *expressions,
			  const struct position *at, uint64_t entry,
			  call_visit *visit, void *context,
			  struct failure *why);

/*
 * Visits what that function has returned, where the thread stands behind the
 * call; if it returns nothing, there is no visit.
 */
int expressions_returned(struct expressions *expressions,
			 const struct position *at, uint64_t entry,
			 call_visit *visit, void *context, struct failure *why);

#endif
