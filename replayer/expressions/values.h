/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * values.h - values of guests' variables, and what is in them
 *
 * Ownership:  bytes are of the context (context_take()).
 * Errors:     ERR_NOT_FOUND (memory that is not known, no such member),
 *             ERR_INPUT (it cannot be done to such a value), those of
 *             context.h.
 */
#ifndef CPREC_REPLAYER_EXPRESSIONS_VALUES_H
#define CPREC_REPLAYER_EXPRESSIONS_VALUES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "replayer/expressions/context.h"
#include "replayer/expressions/trace.h"
#include "replayer/expressions/types.h"

struct failure;
struct pointed;

/* Of larger values, only addresses are known. */
#define VALUE_MOST (1u << 20)

/* Classes that are bases of themselves have members without end. */
#define MEMBERS_MOST 1000000u

struct value {
	struct type *type;
	bool has_addr;
	uint64_t addr;
	uint8_t *bytes;		/* NULL: not read yet */
	unsigned bit_offset, bit_size;	/* a part of the bytes; 0: all */
	const uint8_t *known;	/* of bytes: 1 or 0 each; NULL: all are */
	const char *reg;	/* the register that it is in, or NULL */
	bool is_absent;		/* optimized out */
	const struct pointed *pointed;	/* ... a pointer to that; or NULL */

	/* While somebody traces: what computes the number that it is, and
	 * the address, less an offset; or NULL. */
	const struct trace_node *node, *place;
	uint64_t place_offset;
};

/* A part of a structure, class or union. */
struct member {
	Dwarf_Die die;
	const char *name;	/* NULL: it has none */
	struct type *type;
	uint64_t offset;
	unsigned bit_offset, bit_size;
	bool is_base, is_static, is_artificial;
};

struct member_walk {
	struct context *context;
	const struct value *of;
	bool has_begun;
	Dwarf_Die next;
	struct failure *why;
};

/*
 * The next member of `walk->of`: 1, or 0 behind the last.  One whose place is
 * not known is an error.
 */
int member_next(struct member_walk *walk, struct member *out);

/* The value of a member that is not static. */
struct value value_part(const struct value *of, const struct member *member);

/* What a variable, or a constant, of an entry is. */
int value_of_variable(struct context *context, Dwarf_Die *die,
		      struct value *out, struct failure *why);

/* Reads the bytes of a value. */
int value_fetch(struct context *context, struct value *value,
		struct failure *why);

/* Follows a reference of C++, if it is one. */
int value_strip(struct context *context, struct value *value,
		struct failure *why);

/* Types do not go together, whatever the values are: ERR_INPUT. */
int value_mistake(struct context *context, const char *text,
		  struct failure *why);

/* What a pointer or an array leads to. */
int value_follow(struct context *context, struct value *pointer,
		 struct value *out, struct failure *why);

/* Numbers; a pointer or an address is one. */
int value_integer(struct context *context, struct value *value, int64_t *out,
		  struct failure *why);
int value_double(struct context *context, struct value *value,
		 long double *out, struct failure *why);

/* Numbers as values. */
int value_of_integer(struct context *context, struct value *out,
		     struct type *type, uint64_t number, struct failure *why);
int value_of_double(struct context *context, struct value *out,
		    struct type *type, long double number,
		    struct failure *why);

/* A floating-point number, from its bytes; one as its type can hold it. */
long double value_float(const struct type *type, const uint8_t *bytes);
long double value_rounded(const struct type *type, long double number);

/* A number of at most 16 bytes that its bytes hold, extended. */
__int128 value_bits(const struct value *value);

/* ------- what a trace tells of values; it may be NULL ------- */

/* A value that is the same whenever it is asked for. */
void trace_constant(struct trace *trace, struct value *value);
void trace_register(struct trace *trace, struct value *value, unsigned reg);

/* A number, of which the value says where it was found. */
void trace_number(struct trace *trace, struct value *value);

/* The place of `value` is the number `pointer`, or that of `other`. */
void trace_place(struct value *value, const struct value *pointer);
void trace_address(struct trace *trace, struct value *out,
		   const struct value *of);

/*
 * `out` is computed from others; NULL: there is no right one.  `type` is that in
 * which it is done; of pointers, `scale` is the size of what they point to.
 */
struct trace_step {
	enum trace_operation operation;
	unsigned operator;	/* enum operator */
	const struct type *type;
	uint64_t scale;
	const struct value *left, *right;
};

void trace_compute(struct trace *trace, struct value *out,
		   const struct trace_step *step);

/* What follows was computed because this is true, or not. */
void trace_expect(struct trace *trace, const struct value *value,
		  bool is_true);

#endif
