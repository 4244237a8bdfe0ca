/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * evaluate.c - see evaluate.h
 *
 * Reads the text once and computes on the way.  What a condition leaves out
 * ("p && p->next") is read, and nothing of it computed.
 */
#include "replayer/expressions/evaluate.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "formats/error.h"
#include "replayer/expressions/arithmetic.h"
#include "replayer/expressions/resolve.h"
#include "replayer/recording/recording.h"

#define DEPTH_MOST 100u		/* of parentheses and operators */
#define NAME_MOST 4096u
#define ENDS_MOST 64u

struct reader {
	struct context *context;
	const char *text, *at;
	unsigned depth;
	unsigned skipped;	/* nothing is computed */
	struct failure *why;
};

static int read_binary(struct reader *reader, unsigned level,
		       struct value *out);
static int read_unary(struct reader *reader, struct value *out);
static int read_choice(struct reader *reader, struct value *out);

static void skip_blanks(struct reader *reader)
{
	reader->at += strspn(reader->at, " \t\r\n");
}

static bool take(struct reader *reader, const char *mark)
{
	skip_blanks(reader);
	if (strncmp(reader->at, mark, strlen(mark)) != 0)
		return false;
	reader->at += strlen(mark);
	return true;
}

static int wrong(struct reader *reader, const char *what)
{
	skip_blanks(reader);
	if (!*reader->at)
		return failed(reader->why, ERR_INPUT, "%s at the end", what);
	return failed(reader->why, ERR_INPUT, "%s before '%.40s'", what,
		      reader->at);
}

/* A value for what is left out. */
static int nothing(struct reader *reader, struct value *out)
{
	return value_of_integer(reader->context, out,
				type_by_words(&reader->context->types, "int"),
				0, reader->why);
}

static bool is_name_start(char c)
{
	return isalpha((unsigned char)c) || c == '_' || (c & 0x80);
}

static bool is_name_part(char c)
{
	return is_name_start(c) || isdigit((unsigned char)c) || c == '$';
}

/* ------- names ------- */

/* Behind the closing bracket; NULL if there is none. */
static const char *skip_brackets(const char *at, char open, char close)
{
	unsigned depth = 0;

	for (; *at; at++) {
		depth += *at == open;
		if (*at == close && !--depth)
			return at + 1;
		if (*at == '\'' || *at == '"')
			return NULL;
	}
	return NULL;
}

static const char *skip_identifier(const char *at)
{
	if (!strncmp(at, "{impl#", 6) || !strncmp(at, "{closure", 8)) {
		at = strchr(at, '}');
		return at ? at + 1 : "";
	}
	at += *at == '~';
	while (is_name_part(*at))
		at++;
	return at;
}

/*
 * All places where a name may end, the shortest first: "a<b>(c)::d" may be a
 * name, or a comparison.
 */
static size_t find_ends(const char *at, const char *ends[ENDS_MOST])
{
	size_t count = 0;

	if (!strncmp(at, "::", 2))
		at += 2;
	while (count + 3 < ENDS_MOST) {
		const char *more;

		more = skip_identifier(at);
		if (more == at || !*(more - 1))
			break;
		at = ends[count++] = more;
		more = *at == '<' ? skip_brackets(at, '<', '>') : NULL;
		if (more)
			at = ends[count++] = more;
		more = *at == '(' ? skip_brackets(at, '(', ')') : NULL;
		if (more)
			at = ends[count++] = more;
		if (!strncmp(at, "::", 2))
			at += 2;
		else if (*at == '.' || (*at == ':' && is_name_part(at[1])))
			at++;
		else if (*at == '/' && is_name_part(at[1]))
			at++;
		else
			break;
	}
	return count;
}

static char *copy_name(struct reader *reader, const char *start,
		       const char *end)
{
	size_t length = (size_t)(end - start);
	char *name = context_take(reader->context, length + 1);

	if (name)
		memcpy(name, start, length);
	return name;
}

static int resolve_longest(struct reader *reader, struct value *out,
			   int (*resolve)(struct context *context,
					  const char *name, struct value *out,
					  struct failure *why))
{
	const char *ends[ENDS_MOST];
	size_t count = find_ends(reader->at, ends);
	int rc = ERR_NOT_FOUND;

	while (count-- && rc == ERR_NOT_FOUND) {
		struct failure why = { "" };
		char *name = copy_name(reader, reader->at, ends[count]);

		if (!name)
			return failed(reader->why, ERR_NO_MEMORY,
				      "out of memory");
		rc = resolve(reader->context, name, out, &why);
		/* That it is nowhere now is an answer, too. */
		if (rc == ERR_NOT_FOUND && strstr(why.text, "cannot tell"))
			rc = ERR_INPUT;
		if (rc && *why.text && reader->why)
			*reader->why = why;
		if (!rc)
			reader->at = ends[count];
	}
	return rc;
}

/* As other debuggers take them. */
static bool is_register(struct reader *reader, const char *name, size_t length)
{
	const struct reg_table *table =
		recording_reg_table(reader->context->recording);

	for (unsigned i = 0; i < table->count; i++)
		if (strlen(table->regs[i].name) == length &&
		    !strncasecmp(table->regs[i].name, name, length))
			return true;
	return false;
}

static int read_name(struct reader *reader, struct value *out)
{
	const char *ends[ENDS_MOST];
	size_t count = find_ends(reader->at, ends);
	int rc;

	if (!count)
		return wrong(reader, "a name or a number is missing");
	if (reader->skipped) {
		reader->at = ends[0];
		return nothing(reader, out);
	}
	rc = resolve_longest(reader, out, resolve_name);
	if (rc == ERR_NOT_FOUND)
		rc = resolve_longest(reader, out, resolve_symbol);
	if (rc == ERR_NOT_FOUND &&
	    is_register(reader, reader->at, (size_t)(ends[0] - reader->at)))
		failed(reader->why, rc, "cannot find a symbol '%.*s': the"
		       " register is called '$%.*s'",
		       (int)(ends[0] - reader->at), reader->at,
		       (int)(ends[0] - reader->at), reader->at);
	return rc;
}

/* 'file.c'::name, 'a::b(int)'. */
static int read_quoted(struct reader *reader, struct value *out)
{
	const char *start = reader->at + 1;
	const char *end = strchr(start, '\''), *rest;
	char name[NAME_MOST];
	size_t length;
	int rc;

	if (!end)
		return wrong(reader, "a ' is missing");
	length = (size_t)(end - start);
	rest = end + 1;
	if (!strncmp(rest, "::", 2))
		rest = skip_identifier(rest + 2);
	if (length + (size_t)(rest - end) >= sizeof(name))
		return wrong(reader, "the name is too long");
	memcpy(name, start, length);
	memcpy(name + length, end + 1, (size_t)(rest - end - 1));
	name[length + (size_t)(rest - end - 1)] = '\0';
	reader->at = rest;
	if (reader->skipped)
		return nothing(reader, out);
	rc = resolve_name(reader->context, name, out, reader->why);
	if (rc == ERR_NOT_FOUND)
		rc = resolve_symbol(reader->context, name, out, reader->why);
	return rc;
}

/* "libc.so.6!environ"; NULL if it is none. */
static const char *end_of_library_name(const char *at)
{
	at += strspn(at, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
			 "0123456789_.+-");
	if (*at != '!' || !is_name_start(at[1]))
		return NULL;
	for (at++; is_name_part(*at) || !strncmp(at, "::", 2) ||
	     *at == ':';)
		at++;
	return at;
}

/* ------- constants ------- */

static int read_number(struct reader *reader, struct value *out)
{
	struct types *types = &reader->context->types;
	const char *at = reader->at;
	bool is_hex = at[0] == '0' && (at[1] == 'x' || at[1] == 'X');
	size_t digits = strspn(at, "0123456789");
	bool is_unsigned = false, is_long = false;
	unsigned long long number;
	char *end;

	if (!is_hex && (at[digits] == '.' ||
			(at[digits] | 0x20) == 'e')) {
		long double value = strtold(at, &end);
		bool is_float = *end == 'f';

		reader->at = end + is_float;
		return value_of_double(reader->context, out,
			type_by_words(types, is_float ? "float" : "double"),
			value, reader->why);
	}
	number = strtoull(at, &end, is_hex ? 16 : 10);
	for (; *end && strchr("uUlL", *end); end++) {
		is_unsigned |= (*end | 0x20) == 'u';
		is_long |= (*end | 0x20) == 'l';
	}
	if (is_name_part(*end))
		return wrong(reader, "a number makes no sense");
	reader->at = end;
	is_long |= number > (is_hex || is_unsigned ? UINT32_MAX : INT32_MAX);
	is_unsigned |= number > INT64_MAX ||
		       (is_hex && !is_long && number > INT32_MAX);
	return value_of_integer(reader->context, out, type_by_words(types,
		is_long ? is_unsigned ? "unsigned long" : "long" :
		is_unsigned ? "unsigned int" : "int"), number, reader->why);
}

/* 'a', '\n': else it is a name. */
static bool read_character(struct reader *reader, struct value *out, int *rc)
{
	static const char letters[] = "n\nt\tr\r0\0\\\\''a\ab\bf\fv\v";
	const char *at = reader->at + 1;
	char c = *at;

	if (c == '\\') {
		for (size_t i = 0; i + 1 < sizeof(letters); i += 2)
			if (letters[i] == at[1])
				c = letters[i + 1];
		at++;
	}
	if (!*at || at[1] != '\'' || (at[2] == ':' && at[3] == ':'))
		return false;
	reader->at = at + 2;
	*rc = value_of_integer(reader->context, out,
			       type_by_words(&reader->context->types, "char"),
			       (uint64_t)c, reader->why);
	return true;
}

/* ------- registers ------- */

/* Parts of registers: $eax, $ax, $al; other names: $pc, $sp, $fp. */
struct register_part {
	const char *name, *of;
	unsigned size;
};

static const struct register_part register_parts[] = {
	{ "pc", "rip", 8 }, { "sp", "rsp", 8 }, { "fp", "rbp", 8 },
	{ "eax", "rax", 4 }, { "ebx", "rbx", 4 }, { "ecx", "rcx", 4 },
	{ "edx", "rdx", 4 }, { "esi", "rsi", 4 }, { "edi", "rdi", 4 },
	{ "ebp", "rbp", 4 }, { "esp", "rsp", 4 },
	{ "ax", "rax", 2 }, { "bx", "rbx", 2 }, { "cx", "rcx", 2 },
	{ "dx", "rdx", 2 }, { "si", "rsi", 2 }, { "di", "rdi", 2 },
	{ "al", "rax", 1 }, { "bl", "rbx", 1 }, { "cl", "rcx", 1 },
	{ "dl", "rdx", 1 }, { "sil", "rsi", 1 }, { "dil", "rdi", 1 },
};

static struct type *register_type(struct reader *reader, const char *name,
				  unsigned size)
{
	struct types *types = &reader->context->types;
	struct type *type;

	if (!strcmp(name, "rip"))
		return type_pointer(types, type_by_words(types, "void"));
	if (!strcmp(name, "rsp") || !strcmp(name, "rbp"))
		return type_pointer(types, type_by_words(types, "void"));
	switch (size) {
	case 1:
		type = type_by_words(types, "signed char");
		if (type)
			type->is_char = false;
		return type;
	case 2:
		return type_by_words(types, "short");
	case 4:
		return type_by_words(types, "int");
	case 8:
		return type_by_words(types, "long");
	case 10:
		type = type_by_words(types, "long double");
		return type;
	}
	return type_by_words(types, "__int128");
}

static int value_of_register(struct reader *reader, const char *name,
			     struct value *out)
{
	struct context *context = reader->context;
	const struct reg_table *table = recording_reg_table(context->recording);
	const struct reg_file *file;
	unsigned size = 0;
	int rc = context_registers(context, &file, reader->why);

	if (rc)
		return rc;
	for (size_t i = 0; i < sizeof(register_parts) /
				       sizeof(*register_parts); i++) {
		if (!strcasecmp(register_parts[i].name, name)) {
			name = register_parts[i].of;
			size = register_parts[i].size;
			break;
		}
	}
	for (unsigned i = 0; i < table->count; i++) {
		const struct reg_info *info = &table->regs[i];

		if (strcasecmp(info->name, name) != 0)
			continue;
		size = size && size < info->size ? size : info->size;
		*out = (struct value) {
			.type = register_type(reader, info->name, size),
			.bytes = context_take(context, 32),
		};
		if (!out->type || !out->bytes)
			return failed(reader->why, ERR_NO_MEMORY,
				      "out of memory");
		memcpy(out->bytes, file->bytes + info->offset, size);
		return 0;
	}
	return failed(reader->why, ERR_NOT_FOUND, "there is no register '$%s'",
		      name);
}

static int read_register(struct reader *reader, struct value *out)
{
	const char *start = reader->at + 1, *end = start;
	char name[32] = "";

	while (isalnum((unsigned char)*end) || *end == '_')
		end++;
	if (end == start || end - start >= (ptrdiff_t)sizeof(name))
		return wrong(reader, "the name of a register is missing");
	memcpy(name, start, (size_t)(end - start));
	reader->at = end;
	if (reader->skipped)
		return nothing(reader, out);
	return value_of_register(reader, name, out);
}

/* ------- casts ------- */

static int cast(struct reader *reader, struct type *type, struct value *from,
		struct value *out)
{
	long double real;
	int64_t number;
	int rc;

	if (reader->skipped) {
		*out = *from;
		return 0;
	}
	if (!type_is_scalar(type)) {	/* the same bytes, seen otherwise */
		*out = *from;
		out->type = type;
		out->bytes = NULL;
		if (!from->has_addr)
			return failed(reader->why, ERR_INPUT,
				      "it cannot be cast to that");
		return 0;
	}
	if (from->type->kind == TYPE_UNKNOWN && from->has_addr) {
		*out = (struct value) { .type = type, .has_addr = true,
					.addr = from->addr };
		return 0;
	}
	if (type->kind == TYPE_FLOAT) {
		rc = value_double(reader->context, from, &real, reader->why);
		return rc ? rc : value_of_double(reader->context, out, type,
						 real, reader->why);
	}
	rc = value_integer(reader->context, from, &number, reader->why);
	if (!rc && type->kind == TYPE_BOOL)
		number = number != 0;
	return rc ? rc : value_of_integer(reader->context, out, type,
					  (uint64_t)number, reader->why);
}

/* The type that stands in parentheses here, or NULL. */
static struct type *read_type(struct reader *reader, char open, char close)
{
	const char *end = skip_brackets(reader->at, open, close);
	struct type *type;
	struct value value;
	char *name;

	if (!end)
		return NULL;
	name = copy_name(reader, reader->at + 1, end - 1);
	if (!name || !*name || strpbrk(name, "[]&|!=\"'.@$?"))
		return NULL;
	/* Multiplication is no type: "(a*b)". */
	type = resolve_type(reader->context, name);
	if (!type)
		return NULL;
	if (open == '(' && !strpbrk(name, "* ") &&
	    !resolve_name(reader->context, name, &value, NULL))
		return NULL;	/* a variable of that name */
	reader->at = end;
	return type;
}

static int read_parentheses(struct reader *reader, struct value *out)
{
	int rc;

	reader->at++;
	rc = read_choice(reader, out);
	if (!rc && !take(reader, ")"))
		rc = wrong(reader, "a ')' is missing");
	return rc;
}

/* ------- primary and postfix ------- */

static int read_primary(struct reader *reader, struct value *out)
{
	const char *end;
	int rc = 0;

	skip_blanks(reader);
	end = end_of_library_name(reader->at);
	if (end && !reader->skipped) {
		char *name = copy_name(reader, reader->at, end);

		if (!name)
			return failed(reader->why, ERR_NO_MEMORY,
				      "out of memory");
		reader->at = end;
		return resolve_symbol(reader->context, name, out, reader->why);
	}
	if (isdigit((unsigned char)*reader->at))
		return read_number(reader, out);
	switch (*reader->at) {
	case '(':
		return read_parentheses(reader, out);
	case '$':
		return read_register(reader, out);
	case '\'':
		return read_character(reader, out, &rc) ? rc :
			read_quoted(reader, out);
	}
	return read_name(reader, out);
}

static int read_index(struct reader *reader, struct value *out)
{
	struct value of = *out, index, place, ignored;
	int rc = read_choice(reader, &index);

	if (!rc && !take(reader, "]"))
		rc = wrong(reader, "a ']' is missing");
	if (rc || reader->skipped)
		return rc;
	rc = value_strip(reader->context, &of, reader->why);
	/* A slice of Rust. */
	if (!rc && of.type->language == LANGUAGE_RUST &&
	    type_is_class(of.type) &&
	    !value_member(reader->context, &of, "data_ptr", &ignored, NULL))
		of = ignored;
	/* An array that is not in memory. */
	if (!rc && of.type->kind == TYPE_ARRAY && !of.has_addr) {
		struct type *element = type_target(of.type);
		int64_t at;

		rc = value_integer(reader->context, &index, &at, reader->why);
		if (!rc && (at < 0 || (uint64_t)at >= of.type->count ||
			    of.type->size > VALUE_MOST))
			rc = failed(reader->why, ERR_INPUT,
				    "there is no such element");
		if (rc)
			return rc;
		*out = (struct value) { .type = element,
			.is_absent = of.is_absent,
			.bytes = of.bytes ? of.bytes +
				(uint64_t)at * element->size : NULL };
		return 0;
	}
	if (!rc && of.type->kind != TYPE_POINTER && of.type->kind != TYPE_ARRAY)
		rc = failed(reader->why, ERR_INPUT, "it is no pointer or"
			    " array");
	if (!rc)
		rc = arithmetic(reader->context, OPERATOR_PLUS, &of, &index,
				&place, reader->why);
	return rc ? rc : value_follow(reader->context, &place, out,
				      reader->why);
}

static int read_member(struct reader *reader, struct value *out)
{
	struct value of = *out;
	const char *start, *end;
	char *name;

	skip_blanks(reader);
	start = reader->at;
	for (end = start; is_name_part(*end) ||
	     (end > start && *end == ':' && end[1] == ':');)
		end += *end == ':' ? 2 : 1;
	if (end == start)
		return wrong(reader, "the name of a member is missing");
	name = copy_name(reader, start, end);
	if (!name)
		return failed(reader->why, ERR_NO_MEMORY, "out of memory");
	reader->at = end;
	if (reader->skipped)
		return 0;
	/* Members of tuples: "__0" is called "0". */
	if (isdigit((unsigned char)*name) &&
	    of.type->language == LANGUAGE_RUST) {
		char *field = context_take(reader->context,
					   strlen(name) + 3);

		if (!field)
			return failed(reader->why, ERR_NO_MEMORY,
				      "out of memory");
		memcpy(field, "__", 2);
		memcpy(field + 2, name, strlen(name) + 1);
		name = field;
	}
	return value_member(reader->context, &of, name, out, reader->why);
}

static int read_postfix(struct reader *reader, struct value *out)
{
	int rc = read_primary(reader, out);

	while (!rc) {
		if (take(reader, "["))
			rc = read_index(reader, out);
		else if (take(reader, "->") || take(reader, "."))
			rc = read_member(reader, out);
		else
			break;
	}
	return rc;
}

/* ------- unary ------- */

int value_address(struct context *context, const struct value *value,
		  struct value *out, struct failure *why)
{
	struct value of = *value;
	int rc = value_strip(context, &of, why);

	if (rc)
		return rc;
	if (of.is_absent)
		return failed(why, ERR_NOT_FOUND, "it was optimized out");
	if (!of.has_addr)
		return failed(why, ERR_INPUT, "it is not in memory, but in a"
			      " register or a number");
	if (of.bit_size)
		return failed(why, ERR_INPUT, "a part of a byte has no"
			      " address");
	return value_of_integer(context, out,
				type_pointer(&context->types, of.type), of.addr,
				why);
}

static int negate(struct reader *reader, char mark, struct value *of,
		  struct value *out)
{
	struct context *context = reader->context;
	struct value other;
	long double real;
	int rc;

	if (mark == '!') {
		rc = value_double(context, of, &real, reader->why);
		return rc ? rc : value_of_integer(context, out,
			type_by_words(&context->types,
				      of->type->language == LANGUAGE_C ?
					      "int" : "bool"),
			real == 0, reader->why);
	}
	rc = value_of_integer(context, &other,
			      type_by_words(&context->types, "int"),
			      mark == '~' ? UINT64_MAX : 0, reader->why);
	if (rc)
		return rc;
	return arithmetic(context, mark == '~' ? OPERATOR_XOR : OPERATOR_MINUS,
			  &other, of, out, reader->why);
}

static int read_sizeof(struct reader *reader, struct value *out)
{
	struct type *type = NULL;
	struct value value;
	int rc = 0;

	skip_blanks(reader);
	if (*reader->at == '(')
		type = read_type(reader, '(', ')');
	if (!type) {
		rc = read_unary(reader, &value);
		if (!rc && !reader->skipped)
			rc = value_strip(reader->context, &value, reader->why);
		type = value.type;
	}
	return rc ? rc : value_of_integer(reader->context, out,
		type_by_words(&reader->context->types, "unsigned long"),
		type->size, reader->why);
}

static bool take_word(struct reader *reader, const char *word)
{
	size_t length = strlen(word);

	skip_blanks(reader);
	if (strncmp(reader->at, word, length) ||
	    is_name_part(reader->at[length]))
		return false;
	reader->at += length;
	return true;
}

static int apply(struct reader *reader, char mark, struct value *of,
		 struct value *out)
{
	if (reader->skipped) {
		*out = *of;
		return 0;
	}
	if (mark == '*')
		return value_follow(reader->context, of, out, reader->why);
	if (mark == '&')
		return value_address(reader->context, of, out, reader->why);
	if (mark == '+') {
		*out = *of;
		return 0;
	}
	return negate(reader, mark, of, out);
}

static int read_operand(struct reader *reader, struct value *out)
{
	struct type *type = NULL;
	struct value of;
	char mark;
	int rc;

	skip_blanks(reader);
	mark = *reader->at;
	if (mark && strchr("*&-+!~", mark)) {
		reader->at++;
		rc = read_unary(reader, &of);
		return rc ? rc : apply(reader, mark, &of, out);
	}
	if (take_word(reader, "sizeof"))
		return read_sizeof(reader, out);
	if (mark == '(')
		type = read_type(reader, '(', ')');
	else if (mark == '{')		/* {int}0x1000 */
		type = read_type(reader, '{', '}');
	if (!type)
		return read_postfix(reader, out);
	rc = read_unary(reader, &of);
	if (rc || mark == '(')
		return rc ? rc : cast(reader, type, &of, out);
	rc = reader->skipped ? 0 :
		cast(reader, type_pointer(&reader->context->types, type), &of,
		     &of);
	return rc ? rc : apply(reader, '*', &of, out);
}

static int read_unary(struct reader *reader, struct value *out)
{
	int rc;

	if (reader->depth++ == DEPTH_MOST)
		return failed(reader->why, ERR_INPUT,
			      "the expression is too deep");
	rc = read_operand(reader, out);
	reader->depth--;
	return rc;
}

/* ------- binary ------- */

struct binary {
	const char *mark;
	enum operator operator;
	unsigned level;
};

/* Longer ones before those that they begin with. */
static const struct binary binaries[] = {
	{ "||", OPERATOR_OR_ELSE, 1 }, { "&&", OPERATOR_AND_THEN, 2 },
	{ "|", OPERATOR_OR, 3 }, { "^", OPERATOR_XOR, 4 },
	{ "&", OPERATOR_AND, 5 }, { "==", OPERATOR_EQUAL, 6 },
	{ "!=", OPERATOR_UNEQUAL, 6 }, { "<<", OPERATOR_LEFT, 8 },
	{ ">>", OPERATOR_RIGHT, 8 }, { "<=", OPERATOR_AT_MOST, 7 },
	{ ">=", OPERATOR_AT_LEAST, 7 }, { "<", OPERATOR_LESS, 7 },
	{ ">", OPERATOR_GREATER, 7 }, { "@", OPERATOR_REPEAT, 9 },
	{ "+", OPERATOR_PLUS, 10 }, { "-", OPERATOR_MINUS, 10 },
	{ "*", OPERATOR_TIMES, 11 }, { "/", OPERATOR_DIVIDE, 11 },
	{ "%", OPERATOR_MODULO, 11 },
};

#define LEVEL_UNARY 12u

static const struct binary *find_binary(struct reader *reader, unsigned level)
{
	skip_blanks(reader);
	for (size_t i = 0; i < sizeof(binaries) / sizeof(*binaries); i++) {
		const struct binary *binary = &binaries[i];

		if (strncmp(reader->at, binary->mark, strlen(binary->mark)))
			continue;
		return binary->level >= level ? binary : NULL;
	}
	return NULL;
}

/* Whether the left side decides. */
static int decides(struct reader *reader, const struct binary *binary,
		   struct value *left, bool *out)
{
	long double value;
	int rc;

	*out = false;
	if (reader->skipped || binary->level > 2)
		return 0;
	rc = value_double(reader->context, left, &value, reader->why);
	*out = !rc && (value != 0) == (binary->operator == OPERATOR_OR_ELSE);
	return rc;
}

static int read_binary(struct reader *reader, unsigned level,
		       struct value *out)
{
	const struct binary *binary;
	int rc;

	if (level >= LEVEL_UNARY)
		return read_unary(reader, out);
	rc = read_unary(reader, out);
	while (!rc && (binary = find_binary(reader, level))) {
		struct value left = *out, right;
		bool decided;

		reader->at += strlen(binary->mark);
		rc = decides(reader, binary, &left, &decided);
		if (rc)
			break;
		reader->skipped += decided;
		rc = read_binary(reader, binary->level + 1, &right);
		reader->skipped -= decided;
		if (rc || reader->skipped)
			continue;
		rc = arithmetic(reader->context, binary->operator, &left,
				decided ? &left : &right, out, reader->why);
	}
	return rc;
}

/* "a ? b : c" */
static int read_choice(struct reader *reader, struct value *out)
{
	struct value other;
	long double chosen = 1;
	int rc = read_binary(reader, 1, out);

	if (rc || !take(reader, "?"))
		return rc;
	if (reader->depth++ == DEPTH_MOST)
		return failed(reader->why, ERR_INPUT,
			      "the expression is too deep");
	if (!reader->skipped)
		rc = value_double(reader->context, out, &chosen, reader->why);
	reader->skipped += chosen == 0;
	if (!rc)
		rc = read_choice(reader, chosen != 0 ? out : &other);
	reader->skipped -= chosen == 0;
	if (!rc && !take(reader, ":"))
		rc = wrong(reader, "a ':' is missing");
	reader->skipped += chosen != 0;
	if (!rc)
		rc = read_choice(reader, chosen != 0 ? &other : out);
	reader->skipped -= chosen != 0;
	reader->depth--;
	return rc;
}

int evaluate(struct context *context, const char *text, struct value *out,
	     struct failure *why)
{
	struct reader reader = { .context = context, .text = text,
				 .at = text, .why = why };
	int rc = read_choice(&reader, out);

	skip_blanks(&reader);
	if (!rc && *reader.at)
		rc = failed(why, ERR_INPUT, "'%.40s' is not understood",
			    reader.at);
	return rc;
}
