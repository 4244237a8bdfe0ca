/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * evaluate.c - see evaluate.h
 *
 * Reads the text once and computes on the way.  What a condition leaves out
 * ("p && p->next") is read, and nothing of it computed.
 */
#include "replayer/expressions/evaluate.h"

#include <ctype.h>
#include <string.h>

#include "formats/error.h"
#include "replayer/expressions/arithmetic.h"
#include "replayer/expressions/containers.h"
#include "replayer/expressions/members.h"
#include "replayer/expressions/operations.h"
#include "replayer/expressions/reader.h"
#include "replayer/expressions/resolve.h"
#include "replayer/expressions/unknown.h"

#define DEPTH_MOST 100u		/* of parentheses and operators */

static int read_binary(struct reader *reader, unsigned level,
		       struct value *out);
static int read_unary(struct reader *reader, struct value *out);
static int read_choice(struct reader *reader, struct value *out);

/* Takes the mark of a reference off the end of a type. */
static bool cut_reference(char *name)
{
	size_t length = strlen(name), before;

	while (length && name[length - 1] == ' ')
		length--;
	for (before = length; before && name[before - 1] == '&';)
		before--;
	if (before == length || length - before > 2)
		return false;
	while (before && name[before - 1] == ' ')
		before--;
	name[before] = '\0';
	return true;
}

/* The type that stands in parentheses here, or NULL. */
static struct type *read_type(struct reader *reader, char open, char close)
{
	const char *end = reader_brackets(reader->at, open, close);
	struct type *type;
	struct value value;
	bool is_reference;
	char *name;

	if (!end)
		return NULL;
	name = reader_copy(reader, reader->at + 1, end - 1);
	is_reference = name && cut_reference(name);
	if (!name || !*name || strpbrk(name, "[]&|!=\"'.@$?"))
		return NULL;
	/* Multiplication is no type: "(a*b)". */
	type = resolve_type(reader->context, name);
	if (!type)
		return NULL;
	if (is_reference)
		type = type_reference(&reader->context->types, type);
	else if (open == '(' && !strpbrk(name, "* ") &&
		 !resolve_name(reader->context, name, &value, NULL))
		return NULL;	/* a variable of that name */
	reader->at = end;
	return type;
}

/* Why no type stands there. */
static int no_type(struct reader *reader)
{
	const char *start = reader->at + strspn(reader->at, "({< "), *end;
	char *name;
	int rc;

	for (end = start; is_name_part(*end) || *end == ':' || *end == ' ';)
		end++;
	while (end > start && end[-1] == ' ')
		end--;
	name = reader_copy(reader, start, end);
	if (!name)
		return failed(reader->why, ERR_NO_MEMORY, "out of memory");
	if (resolve_type(reader->context, name))
		return failed(reader->why, ERR_INPUT, "'%s' is a type, and has"
			      " no value", name);
	rc = failed(reader->why, ERR_NOT_FOUND, "there is no type '%s'", name);
	if (reader->why)
		unknown_type(reader->context, name, reader->why);
	return rc;
}

static bool take_word(struct reader *reader, const char *word)
{
	size_t length = strlen(word);

	reader_blanks(reader);
	if (strncmp(reader->at, word, length) ||
	    is_name_part(reader->at[length]))
		return false;
	reader->at += length;
	return true;
}

static int cast(struct reader *reader, struct type *type, struct value *of,
		struct value *out)
{
	if (!reader->skipped)
		return value_cast(reader->context, type, of, out, reader->why);
	*out = *of;
	return 0;
}

static int read_parentheses(struct reader *reader, struct value *out)
{
	int rc;

	reader->at++;
	rc = read_choice(reader, out);
	if (!rc && !reader_take(reader, ")"))
		rc = reader_wrong(reader, "a ')' is missing");
	return rc;
}

/* "static_cast<T>(x)" is as "(T)x". */
static bool takes_cast(struct reader *reader)
{
	static const char *const words[] = {
		"static_cast", "reinterpret_cast", "const_cast",
	};
	const char *start = reader->at;

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
		if (!take_word(reader, words[i]))
			continue;
		reader_blanks(reader);
		if (*reader->at == '<')
			return true;
		reader->at = start;
	}
	return false;
}

static int read_named_cast(struct reader *reader, struct value *out)
{
	struct type *type = read_type(reader, '<', '>');
	struct value of;
	int rc;

	if (!type)
		return no_type(reader);
	reader_blanks(reader);
	if (*reader->at != '(')
		return reader_wrong(reader, "a '(' is missing");
	rc = read_parentheses(reader, &of);
	return rc ? rc : cast(reader, type, &of, out);
}

/* ------- primary and postfix ------- */

static int read_primary(struct reader *reader, struct value *out)
{
	reader_blanks(reader);
	if (isdigit((unsigned char)*reader->at) &&
	    !reader_library_name(reader->at))
		return read_number(reader, out);
	switch (*reader->at) {
	case '(':
		return read_parentheses(reader, out);
	case '$':
		return read_register(reader, out);
	case '\'':
		return read_quoted(reader, out);
	case '"':
		return read_string(reader, out);
	}
	if (takes_cast(reader))
		return read_named_cast(reader, out);
	return read_name(reader, out);
}

static int read_index(struct reader *reader, struct value *out)
{
	struct value of = *out, index;
	int rc = read_choice(reader, &index);

	if (!rc && !reader_take(reader, "]"))
		rc = reader_wrong(reader, "a ']' is missing");
	if (rc || reader->skipped)
		return rc;
	return value_index(reader->context, &of, &index, out, reader->why);
}

/* What "->" leads to, of a smart pointer. */
static int follow_smart(struct reader *reader, struct value *of)
{
	struct value pointed;
	bool is_one;
	int rc;

	if (reader->skipped)
		return 0;
	rc = container_follow(reader->context, of, &pointed, &is_one,
			      reader->why);
	if (!rc && is_one)
		*of = pointed;
	return rc;
}

/*
 * "name(argument)" behind a container, of functions that only look; `*is_one` is
 * false, and nothing is read, if it is no such function.
 */
static int read_question(struct reader *reader, struct value *of,
			 const char *name, struct value *out, bool *is_one)
{
	struct value argument, *asked = NULL, pointed;
	const char *start = reader->at;
	int rc = 0;

	*is_one = false;
	if (!reader_take(reader, "("))
		return 0;
	if (!reader_take(reader, ")")) {
		asked = &argument;
		rc = read_choice(reader, &argument);
		if (!rc && !reader_take(reader, ")"))
			rc = reader_wrong(reader, "a ')' is missing");
	}
	*is_one = reader->skipped;
	if (rc || reader->skipped)
		return rc;
	rc = container_ask(reader->context, of, name, asked, out, is_one,
			   reader->why);
	if (!rc && !*is_one && of->type->kind == TYPE_POINTER &&
	    !value_follow(reader->context, of, &pointed, NULL))
		rc = container_ask(reader->context, &pointed, name, asked, out,
				   is_one, reader->why);
	if (!*is_one)
		reader->at = start;
	return rc;
}

static int read_member(struct reader *reader, bool is_arrow, struct value *out)
{
	struct value of = *out;
	const char *start, *end;
	bool is_question;
	char *name;
	int rc;

	reader_blanks(reader);
	start = reader->at;
	for (end = start; is_name_part(*end) ||
	     (end > start && *end == ':' && end[1] == ':');)
		end += *end == ':' ? 2 : 1;
	if (end == start)
		return reader_wrong(reader, "the name of a member is missing");
	name = reader_copy(reader, start, end);
	if (!name)
		return failed(reader->why, ERR_NO_MEMORY, "out of memory");
	reader->at = end;
	rc = is_arrow ? follow_smart(reader, &of) : 0;
	if (!rc)
		rc = read_question(reader, &of, name, out, &is_question);
	if (rc || is_question || reader->skipped)
		return rc;
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
	rc = value_member(reader->context, &of, name, out, reader->why);
	/* Rust has no "->". */
	if (rc == ERR_NOT_FOUND && of.type->language == LANGUAGE_RUST) {
		struct value inner = of;

		if (!follow_smart(reader, &inner) && inner.type != of.type &&
		    !value_member(reader->context, &inner, name, out, NULL))
			return 0;
	}
	reader_blanks(reader);
	if (rc == ERR_NOT_FOUND && *reader->at == '(')
		return failed(reader->why, ERR_INPUT, "functions are not"
			      " called, but for some that only look at a"
			      " container, as size()");
	return rc;
}

static bool is_call(struct reader *reader, const struct value *of)
{
	reader_blanks(reader);
	return *reader->at == '(' && (of->type->kind == TYPE_FUNCTION ||
				      of->type->kind == TYPE_UNKNOWN);
}

static int read_postfix(struct reader *reader, struct value *out)
{
	int rc = read_primary(reader, out);

	while (!rc) {
		if (reader_take(reader, "["))
			rc = read_index(reader, out);
		else if (reader_take(reader, "->"))
			rc = read_member(reader, true, out);
		else if (reader_take(reader, "."))
			rc = read_member(reader, false, out);
		else if (!reader->skipped && is_call(reader, out))
			rc = value_mistake(reader->context,
					   "functions are not called",
					   reader->why);
		else
			break;
	}
	return rc;
}

/* ------- unary ------- */

static int read_sizeof(struct reader *reader, struct value *out)
{
	struct type *type = NULL;
	struct value value;
	int rc = 0;

	reader_blanks(reader);
	if (*reader->at == '(')
		type = read_type(reader, '(', ')');
	if (!type) {
		rc = read_unary(reader, &value);
		if (!rc && !reader->skipped)
			rc = value_strip(reader->context, &value, reader->why);
		type = value.type;
	}
	if (!rc && type->kind == TYPE_REFERENCE)
		type = type_target(type);
	if (!rc)
		rc = value_of_integer(reader->context, out,
			type_by_words(&reader->context->types,
				      "unsigned long"),
			type->size, reader->why);
	if (!rc)
		trace_constant(reader->context->trace, out);
	return rc;
}

/* alignof is of types alone, as in C++. */
static bool takes_alignof(struct reader *reader)
{
	const char *start = reader->at;

	if (!take_word(reader, "alignof") && !take_word(reader, "_Alignof"))
		return false;
	reader_blanks(reader);
	if (*reader->at == '(')
		return true;
	reader->at = start;
	return false;
}

static int read_alignof(struct reader *reader, struct value *out)
{
	struct type *type = read_type(reader, '(', ')');
	int rc;

	if (!type)
		return no_type(reader);
	rc = value_of_integer(reader->context, out,
		type_by_words(&reader->context->types, "unsigned long"),
		type_alignment(type->kind == TYPE_REFERENCE ?
				       type_target(type) : type),
		reader->why);
	if (!rc)
		trace_constant(reader->context->trace, out);
	return rc;
}

static int follow(struct reader *reader, struct value *of, struct value *out)
{
	bool is_smart;
	int rc = container_follow(reader->context, of, out, &is_smart,
				  reader->why);

	if (rc || is_smart)
		return rc;
	return value_follow(reader->context, of, out, reader->why);
}

static int apply(struct reader *reader, char mark, struct value *of,
		 struct value *out)
{
	if (reader->skipped) {
		*out = *of;
		return 0;
	}
	if (mark == '*')
		return follow(reader, of, out);
	if (mark == '&')
		return value_address(reader->context, of, out, reader->why);
	if (mark == '+') {
		*out = *of;
		return 0;
	}
	return value_negate(reader->context, mark, of, out, reader->why);
}

/* "struct node": whatever follows, it is no value. */
static bool begins_with_tag(const char *at)
{
	static const char *const tags[] = { "struct", "union", "enum",
					    "class" };

	at += strspn(at, " ");
	for (size_t i = 0; i < sizeof(tags) / sizeof(*tags); i++) {
		size_t length = strlen(tags[i]);

		if (!strncmp(at, tags[i], length) && at[length] == ' ')
			return true;
	}
	return false;
}

static int read_operand(struct reader *reader, struct value *out)
{
	struct type *type = NULL;
	struct value of;
	char mark;
	int rc;

	reader_blanks(reader);
	mark = *reader->at;
	if (mark && strchr("*&-+!~", mark)) {
		reader->at++;
		rc = read_unary(reader, &of);
		return rc ? rc : apply(reader, mark, &of, out);
	}
	if (take_word(reader, "sizeof"))
		return read_sizeof(reader, out);
	if (takes_alignof(reader))
		return read_alignof(reader, out);
	if (mark == '(')
		type = read_type(reader, '(', ')');
	else if (mark == '{')		/* {int}0x1000 */
		type = read_type(reader, '{', '}');
	if (!type && begins_with_tag(reader->at + (mark == '(' ||
						   mark == '{')))
		return no_type(reader);
	if (!type)
		return read_postfix(reader, out);
	rc = read_unary(reader, &of);
	if (rc || mark == '(')
		return rc ? rc : cast(reader, type, &of, out);
	rc = cast(reader, type_pointer(&reader->context->types, type), &of,
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
	reader_blanks(reader);
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
	if (!rc)
		trace_expect(reader->context->trace, left, value != 0);
	return rc;
}

/* Of what is in parentheses, the operands in there are told. */
static int read_told(struct reader *reader, struct value *out)
{
	const char *start, *end, *inside;
	int rc;

	reader_blanks(reader);
	start = reader->at;
	rc = read_unary(reader, out);
	if (rc || !reader->operand)
		return rc;
	for (end = reader->at; end > start && end[-1] == ' ';)
		end--;
	inside = *start == '(' ? reader_brackets(start, '(', ')') : NULL;
	if (inside != end && !isdigit((unsigned char)*start))
		reader->operand(reader->opaque, start, (size_t)(end - start));
	return rc;
}

static int read_binary(struct reader *reader, unsigned level,
		       struct value *out)
{
	const struct binary *binary;
	int rc;

	if (level >= LEVEL_UNARY)
		return read_told(reader, out);
	rc = read_told(reader, out);
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

	if (rc || !reader_take(reader, "?"))
		return rc;
	if (reader->depth++ == DEPTH_MOST)
		return failed(reader->why, ERR_INPUT,
			      "the expression is too deep");
	if (!reader->skipped)
		rc = value_double(reader->context, out, &chosen, reader->why);
	if (!rc && !reader->skipped)
		trace_expect(reader->context->trace, out, chosen != 0);
	reader->skipped += chosen == 0;
	if (!rc)
		rc = read_choice(reader, chosen != 0 ? out : &other);
	reader->skipped -= chosen == 0;
	if (!rc && !reader_take(reader, ":"))
		rc = reader_wrong(reader, "a ':' is missing");
	reader->skipped += chosen != 0;
	if (!rc)
		rc = read_choice(reader, chosen != 0 ? &other : out);
	reader->skipped -= chosen != 0;
	reader->depth--;
	return rc;
}

static int read_all(struct reader *reader, struct value *out)
{
	int rc = read_choice(reader, out);

	reader_blanks(reader);
	if (!rc && *reader->at)
		rc = failed(reader->why, ERR_INPUT, "'%.40s' is not understood"
			    "%s", reader->at, reader->at[0] == '=' ?
			    ": to compare, write '=='" : "");
	return rc;
}

int evaluate(struct context *context, const char *text, struct value *out,
	     struct failure *why)
{
	struct reader reader = { .context = context, .text = text,
				 .at = text, .why = why };

	return read_all(&reader, out);
}

int evaluate_syntax(struct context *context, const char *text,
		    void (*visit)(void *opaque, const char *text, size_t size),
		    void *opaque, struct failure *why)
{
	struct reader reader = { .context = context, .text = text,
				 .at = text, .why = why, .skipped = 1,
				 .operand = visit, .opaque = opaque };
	struct value value;

	return read_all(&reader, &value);
}

void evaluate_operands(struct context *context, const char *text,
		       void (*visit)(void *opaque, const char *text,
				     size_t size),
		       void *opaque)
{
	struct failure ignored;
	struct value value;
	struct reader reader = { .context = context, .text = text,
				 .at = text, .why = &ignored,
				 .operand = visit, .opaque = opaque };

	read_choice(&reader, &value);
}
