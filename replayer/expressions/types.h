/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * types.h - types of values, as debugging information has them
 *
 * A type is read when somebody looks at it: what a pointer points to only when
 * that is asked for, so types may lead back to themselves.
 *
 * Units:      sizes and offsets are bytes.
 * Ownership:  types live as long as their `struct types`; those made of others
 *             (type_pointer() and the like) too.
 * Errors:     NULL without memory.
 */
#ifndef CPREC_REPLAYER_EXPRESSIONS_TYPES_H
#define CPREC_REPLAYER_EXPRESSIONS_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <elfutils/libdw.h>

#include "formats/number_map.h"

enum type_kind {
	TYPE_VOID, TYPE_INT, TYPE_BOOL, TYPE_FLOAT, TYPE_COMPLEX, TYPE_ENUM,
	TYPE_POINTER, TYPE_REFERENCE, TYPE_ARRAY, TYPE_STRUCT, TYPE_UNION,
	TYPE_FUNCTION, TYPE_MEMBER_POINTER, TYPE_UNKNOWN,
};

enum type_language { LANGUAGE_C, LANGUAGE_CXX, LANGUAGE_RUST, LANGUAGE_GO };

struct types;

struct type {
	enum type_kind kind;
	uint64_t size;
	bool is_signed;
	bool is_char;		/* of TYPE_INT: a character */
	bool is_brain;		/* of TYPE_FLOAT with 2 bytes: a bfloat16 */
	char prefix;		/* of its constants: 'L', 'u', 'U'; or 0 */
	enum type_language language;
	const char *name;	/* NULL: as `written` has it */
	bool has_die;
	Dwarf_Die die;		/* behind typedefs and qualifiers */
	Dwarf_Die written;	/* with them */
	struct types *types;
	struct type *target;	/* if `has_target`; see type_target() */
	bool has_target;
	bool has_count;		/* of an array: how many are known */
	uint64_t count;
};

struct type_chunk;

struct types {
	struct number_map by_die;	/* addresses of `struct type` */
	struct type_chunk *chunks;

	/*
	 * Finds the definition of a type that is only declared, and how a type
	 * is called with its scopes.
	 */
	bool (*define)(void *context, Dwarf_Die *die);
	bool (*qualify)(void *context, Dwarf_Die *die, char *text,
			size_t room);
	/* A number that is computed at run time, like how long an array is. */
	bool (*compute)(void *context, Dwarf_Attribute *attribute,
			uint64_t *out);
	void *context;
	unsigned word;		/* bytes of an address */
	bool has_quads;		/* numbers of floating point of 16 bytes are
				   IEEE's of 128 bits; else they are x87's */
	bool aligns_to_words;	/* numbers need no more, as on i386 */
	unsigned depth;		/* of those being read now */
	bool is_computed;	/* something was, of the type just read */
};

void types_release(struct types *types);

/* NULL for the entry is void. */
struct type *type_of_die(struct types *types, Dwarf_Die *die);

/* The type that an entry of a variable, a member or a function says. */
struct type *type_of_entry(struct types *types, Dwarf_Die *entry);

/* "int", "unsigned long", "double", ... of C; NULL if there is none. */
struct type *type_by_words(struct types *types, const char *words);

struct type *type_pointer(struct types *types, struct type *target);
struct type *type_reference(struct types *types, struct type *target);
struct type *type_array(struct types *types, struct type *element,
			uint64_t count);

/* What it points to, is an array of, returns; void if it does not say. */
struct type *type_target(struct type *type);

/* Of a pointer to a member: whose member; NULL if it does not say. */
struct type *type_class(struct type *type);

/* What addresses of such a thing are divisible by. */
uint64_t type_alignment(struct type *type);

/* Whether it has members. */
bool type_is_class(const struct type *type);
bool type_is_scalar(const struct type *type);

/* Whether it is an array that a register of vectors holds. */
bool type_is_vector(struct type *type);

/* As in the language it comes from. */
void type_write(FILE *out, struct type *type);

/* The same; free() it. */
char *type_to_text(struct type *type);

/* With members, as gdb's ptype has it. */
char *type_to_whole_text(struct type *type);

#endif
