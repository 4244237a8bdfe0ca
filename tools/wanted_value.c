/* SPDX-License-Identifier: GPL-2.0-or-later */
/* wanted_value.c - see wanted_value.h */
#include "tools/wanted_value.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/error.h"

void wanted_value_release(struct wanted_value *value)
{
	free(value->bytes);
	*value = (struct wanted_value) { 0 };
}

static bool is_floating(const struct expression *found)
{
	return found->type && (strstr(found->type, "float") ||
			       strstr(found->type, "double"));
}

/* "(TYPE)(TEXT)", or without a type the text, as variables are then. */
static int evaluate(struct expressions *expressions,
		    const struct question *what, const char *type,
		    const char *text, struct expression *out,
		    struct failure *why)
{
	const struct request *asked = &what->asked;
	struct expression_question question = {
		.place = { what->at, asked->some_thread, asked->tid,
			   asked->frame },
		.is_value = true,
	};
	char *whole = NULL;
	int rc = asprintf(&whole, type ? "(%s)(%s)" : "%s%s", type ? type : "",
			  text);

	if (rc < 0)
		return failed(why, ERR_NO_MEMORY, "out of memory");
	question.text = whole;
	rc = expressions_find(expressions, &question, out, why);
	free(whole);
	return rc;
}

static int find_number(struct wanted_value *out, const char *text,
		       const struct question *what,
		       struct expressions *expressions, struct failure *why)
{
	struct expression found;
	int rc = evaluate(expressions, what, "long long", text, &found, why);

	if (rc)
		return rc;
	if (found.bytes && found.size == sizeof(out->number))
		memcpy(&out->number, found.bytes, sizeof(out->number));
	else
		rc = failed(why, ERR_INPUT, "'%s' is no number: %s", text,
			    found.no_value ? found.no_value : "--value");
	expression_release(&found);
	return rc;
}

/* False if the variable is of no type that a value can be made of. */
static bool find_bytes(struct wanted_value *out, const char *text,
		       const struct question *what,
		       struct expressions *expressions)
{
	const struct expression *variable = &what->found;
	struct expression found;
	struct failure ignored;

	if (!variable->type || variable->bit_size ||
	    variable->size != what->size ||
	    evaluate(expressions, what, variable->type, text, &found,
		     &ignored))
		return false;
	if (found.bytes && found.size == what->size) {
		out->bytes = found.bytes;
		found.bytes = NULL;
	}
	expression_release(&found);
	return out->bytes;
}

int wanted_value_find(struct wanted_value *out, const char *text,
		      const struct question *what,
		      struct expressions *expressions, struct failure *why)
{
	const char *type = what->found.type;
	struct expression plain;
	bool has_fraction;
	int rc = evaluate(expressions, what, NULL, text, &plain, why);

	*out = (struct wanted_value) { 0 };
	if (rc)
		return rc;
	has_fraction = is_floating(&plain);
	expression_release(&plain);
	if (has_fraction && !is_floating(&what->found))
		return failed(why, ERR_INPUT, "'%s' cannot be %s: it is %s%s",
			      what->asked.addr, text,
			      type ? "of type " : "a number of bytes",
			      type ? type : "");
	if (find_bytes(out, text, what, expressions))
		return 0;
	return find_number(out, text, what, expressions, why);
}

static bool has_bytes(const struct wanted_value *value,
		      const struct history_question *question,
		      const struct history_access *access)
{
	uint64_t before = access->addr - question->addr;
	const uint8_t *bytes, *known;

	if (!access->new)
		return false;
	/* All that was asked for is around what was accessed. */
	bytes = access->new - before;
	known = access->new_known - before;
	return !memchr(known, 0, question->size) &&
	       !memcmp(bytes, value->bytes, question->size);
}

bool wanted_value_is(const struct wanted_value *value,
		     const struct history_question *question,
		     const struct history_access *access)
{
	return value->bytes ? has_bytes(value, question, access) :
			      history_has_value(question, access,
						value->number);
}
