/* SPDX-License-Identifier: GPL-2.0-or-later */
/* resolve.c - see resolve.h */
#include "replayer/expressions/resolve.h"

#include <ctype.h>
#include <dwarf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/error.h"
#include "replayer/expressions/begun.h"
#include "replayer/expressions/candidates.h"
#include "replayer/expressions/locations.h"
#include "replayer/expressions/members.h"
#include "replayer/symbols/symbols.h"

/* ------- values of entries ------- */

static int value_of_function(struct context *context,
			     const struct context_module *module,
			     Dwarf_Die *die, struct value *out,
			     struct failure *why)
{
	Dwarf_Addr entry;

	if (dwarf_entrypc(die, &entry))
		return ERR_NOT_FOUND;
	*out = (struct value) {
		.type = type_of_die(&context->types, die), .has_addr = true,
		.addr = entry + module->bias,
	};
	if (!out->type)
		return failed(why, ERR_NO_MEMORY, "out of memory");
	return 0;
}

static int value_of_enumerator(struct context *context,
			       const struct die_index *index,
			       const struct die_entry *entry,
			       struct value *out, struct failure *why)
{
	Dwarf_Die die = entry->die, parent;
	Dwarf_Attribute attribute;
	Dwarf_Word number = 0;
	Dwarf_Sword negative;
	int rc;

	if (entry->parent == DIE_NONE ||
	    !dwarf_attr(&die, DW_AT_const_value, &attribute))
		return ERR_NOT_FOUND;
	parent = index->list[entry->parent].die;
	if (dwarf_whatform(&attribute) == DW_FORM_sdata &&
	    !dwarf_formsdata(&attribute, &negative))
		number = (Dwarf_Word)negative;
	else
		dwarf_formudata(&attribute, &number);
	rc = value_of_integer(context, out,
			      type_of_die(&context->types, &parent), number,
			      why);
	if (!rc)
		trace_constant(context->trace, out);
	return rc;
}

static int value_of_entry(struct context *context,
			  const struct context_module *module,
			  const struct die_index *index,
			  const struct die_entry *entry, struct value *out,
			  struct failure *why)
{
	Dwarf_Die die = entry->die;

	switch (entry->kind) {
	case DIE_VARIABLE:
		return value_of_variable(context, &die, out, why);
	case DIE_FUNCTION:
		return value_of_function(context, module, &die, out, why);
	case DIE_ENUMERATOR:
		return value_of_enumerator(context, index, entry, out, why);
	default:
		return ERR_NOT_FOUND;
	}
}

/* What is called so in all that is known; ERR_INPUT if that is not clear. */
static int value_of_name(struct context *context, const char *name,
			 struct value *out, struct failure *why)
{
	struct candidate found;

	if (!candidates_find(context, name, false, &found))
		return ERR_NOT_FOUND;
	if (found.is_several)
		return candidates_refuse(context, name, &found, why);
	return value_of_entry(context, found.module, found.index, found.entry,
			      out, why);
}

/* ------- locals ------- */

/*
 * Whoever asks in a function for a name that it has means that variable, also
 * where there is none yet.
 */
static int no_local(struct context *context, const struct code_frame *frame,
		    const char *name, struct failure *why)
{
	const char *function = context->only_begun ?
		code_frame_declares(frame, name) : NULL;

	if (!function)
		return ERR_NOT_FOUND;
	if (context->trace)
		context->trace->is_unknown = true;
	return failed(why, ERR_INPUT, "'%s' is a variable of %s that does not"
		      " exist at this line", name, function);
}

static int find_local(struct context *context, const char *name,
		      struct value *out, struct failure *why)
{
	const struct code_frame *frame;
	Dwarf_Die found;
	int rc = context_frame(context, &frame, why);

	if (rc || !frame->is_known)
		return rc ? rc : ERR_NOT_FOUND;
	if (!code_frame_variable(frame, name, &found))
		return no_local(context, frame, name, why);
	if (context->only_begun && !variable_has_begun(context, frame, &found)) {
		if (context->trace)
			context->trace->is_unknown = true;
		return failed(why, ERR_INPUT, "'%s' has no value yet", name);
	}
	rc = value_of_variable(context, &found, out, why);
	/* Others of that name are not meant. */
	return rc == ERR_NOT_FOUND ? ERR_INPUT : rc;
}

/* The scopes of the function that the thread is in, from the innermost. */
static int find_in_scopes(struct context *context, const char *name,
			  struct value *out, struct failure *why)
{
	const struct code_frame *frame = &context->frame;
	char scope[NAME_MOST], full[NAME_MOST];
	char *mark;
	int rc;

	if (!frame->is_known || !frame->count ||
	    !resolve_qualified(context, (Dwarf_Die *)&frame->scopes[0], scope,
			       sizeof(scope)))
		return ERR_NOT_FOUND;
	for (;;) {
		if ((size_t)snprintf(full, sizeof(full), "::%s::%s", scope,
				     name) < sizeof(full)) {
			rc = value_of_name(context, full, out, why);
			if (rc != ERR_NOT_FOUND)
				return rc;
		}
		mark = (char *)name_last(scope);
		if (mark < scope + 2)
			return ERR_NOT_FOUND;
		mark[-2] = '\0';
	}
}

/* "function::variable", of the function that the thread is in. */
static int find_of_function(struct context *context, const char *name,
			    struct value *out, struct failure *why)
{
	const char *last = name_last(name);
	const struct code_frame *frame;
	char scope[NAME_MOST], plain[NAME_MOST], wanted[NAME_MOST];
	int rc = context_frame(context, &frame, why);

	if (rc)
		return rc;
	if (last < name + 3)
		return ERR_NOT_FOUND;
	name_plain(wanted, sizeof(wanted), name);
	*strrchr(wanted, ':') = '\0';
	wanted[strlen(wanted) - 1] = '\0';
	for (size_t i = frame->count; i-- > 0;) {
		const char *its = dwarf_diename((Dwarf_Die *)&frame->scopes[i]);

		if (!its)
			continue;
		if (!resolve_qualified(context, (Dwarf_Die *)&frame->scopes[i],
				       scope, sizeof(scope)))
			snprintf(scope, sizeof(scope), "%s", its);
		name_plain(plain, sizeof(plain), scope);
		if (!strcmp(plain, wanted) || !strcmp(its, wanted))
			return find_local(context, last, out, why);
	}
	return ERR_NOT_FOUND;
}

static bool is_identifier(const char *name)
{
	for (; *name; name++)
		if (!isalnum((unsigned char)*name) && *name != '_' &&
		    *name != '$')
			return false;
	return true;
}

int resolve_name(struct context *context, const char *name, struct value *out,
		 struct failure *why)
{
	struct value object;
	int rc = ERR_NOT_FOUND;

	if (strlen(name) >= NAME_MOST ||
	    (!context->module_count && !context_complete(context)))
		return rc;
	if (is_identifier(name))
		rc = find_local(context, name, out, why);
	if (rc == ERR_NOT_FOUND && is_identifier(name) &&
	    strcmp(name, "this") && context->has_frame) {
		struct failure ignored;

		if (!find_local(context, "this", &object, &ignored))
			rc = value_member(context, &object, name, out,
					  &ignored);
		if (rc && rc != ERR_NO_MEMORY)
			rc = ERR_NOT_FOUND;
	}
	if (rc == ERR_NOT_FOUND && context->has_frame && strncmp(name, "::", 2))
		rc = find_in_scopes(context, name, out, why);
	if (rc == ERR_NOT_FOUND && strstr(name, "::"))
		rc = find_of_function(context, name, out, why);
	if (rc != ERR_NOT_FOUND)
		return rc;
	return value_of_name(context, name, out, why);
}

/* ------- symbols ------- */

/* "libc.so.6!main_arena" that only a file with debugging information has. */
struct symbol_search {
	const char *name;
	uint64_t addr, size;
};

static int compare_symbol(void *opaque, const struct lines_symbol *symbol)
{
	struct symbol_search *search = opaque;

	if (strcmp(symbol->name, search->name) != 0)
		return 0;
	search->addr = symbol->addr;
	search->size = symbol->type == SYMBOL_OBJECT ? symbol->size : 0;
	return 1;
}

static bool find_in_file(struct context *context, const char *name,
			 uint64_t *addr, uint64_t *size)
{
	const char *mark = strchr(name, '!');
	struct symbol_search search = { .name = mark ? mark + 1 : NULL };
	struct names *names = lines_names(context->lines);
	uint64_t t = context->place.at.time, bias;
	const struct symbols *symbols;
	char library[256];
	int rc = 0;

	if (!mark || (size_t)(mark - name) >= sizeof(library))
		return false;
	snprintf(library, sizeof(library), "%.*s", (int)(mark - name), name);
	for (size_t i = 0; !rc &&
	     (symbols = names_mapped(names, t, i, &bias)); i++) {
		const char *slash = strrchr(symbols->path, '/');

		if (module_is_called(slash ? slash + 1 : symbols->path,
				     library))
			rc = lines_each_symbol_of(context->lines, t, i,
						  compare_symbol, &search,
						  NULL);
	}
	*addr = search.addr;
	*size = search.size;
	return rc > 0;
}

int resolve_symbol(struct context *context, const char *name,
		   struct value *out, struct failure *why)
{
	struct type *type = type_by_words(&context->types, "char");
	uint64_t addr, size;
	int rc = names_find(lines_names(context->lines), context->place.at.time,
			    name, &addr, &size, why);

	if (!rc && context->only_visible && !strchr(name, '!') &&
	    lines_is_hidden(context->lines, context->place.at.time, addr))
		rc = failed(why, ERR_NOT_FOUND, "cannot find a symbol '%s'",
			    name);
	if (rc && (rc != ERR_NOT_FOUND ||
		   !find_in_file(context, name, &addr, &size)))
		return rc;
	if (!type)
		return failed(why, ERR_NO_MEMORY, "out of memory");
	type->kind = TYPE_UNKNOWN;
	type->size = size;
	type->name = size ? "<data variable, no debug info>" :
			    "<text variable, no debug info>";
	*out = (struct value) { .type = type, .has_addr = true, .addr = addr };
	if (context->module_count || context_complete(context))
		return resolve_address(context, addr, out, why);
	return 0;
}

int resolve_address(struct context *context, uint64_t addr,
		    struct value *out, struct failure *why)
{
	char name[NAME_MOST];
	struct value value;
	struct candidate found;
	Dwarf_Die die;
	int rc;

	if (context_variable_at(context, addr, &die)) {
		rc = value_of_variable(context, &die, out, why);
		/* A library's own, of which the program has a copy. */
		out->addr = addr;
		return rc;
	}
	/* By its name without the module: the same place must come out. */
	if (!names_of(lines_names(context->lines), context->place.at.time, addr,
		      name, sizeof(name)))
		return 0;
	if (!candidates_find(context, strchr(name, '!') ? strchr(name, '!') + 1 : name,
		  false, &found) ||
	    value_of_entry(context, found.module, found.index, found.entry,
			   &value, NULL) ||
	    !value.has_addr || value.addr != addr)
		return 0;
	*out = value;
	return 0;
}

/* ------- types ------- */

/* Cuts the word off the front, if it is there. */
static bool cut_word(const char **text, const char *word)
{
	size_t length = strlen(word);

	if (strncmp(*text, word, length) ||
	    isalnum((unsigned char)(*text)[length]) ||
	    (*text)[length] == '_')
		return false;
	*text += length;
	*text += strspn(*text, " \t");
	return true;
}

/* One blank between words, none at the ends. */
static void squeeze(char *text)
{
	char *to = text;

	for (const char *from = text; *from; from++) {
		if (isspace((unsigned char)*from)) {
			if (to > text && to[-1] != ' ')
				*to++ = ' ';
		} else {
			*to++ = *from;
		}
	}
	while (to > text && to[-1] == ' ')
		to--;
	*to = '\0';
}

static struct type *find_type(struct context *context, const char *name)
{
	bool is_tag = false;
	struct type *type;
	struct candidate found;
	Dwarf_Die die;

	while (cut_word(&name, "const") || cut_word(&name, "volatile"))
		continue;
	is_tag = cut_word(&name, "struct") || cut_word(&name, "union") ||
		 cut_word(&name, "enum") || cut_word(&name, "class");
	if (!*name)
		return NULL;
	type = is_tag ? NULL : type_by_words(&context->types, name);
	if (type)
		return type;
	if (!candidates_find(context, name, true, &found))
		return NULL;
	die = found.entry->die;
	type = type_of_die(&context->types, &die);
	if (!type || (!is_tag && type->language == LANGUAGE_C &&
		      dwarf_tag(&die) != DW_TAG_typedef &&
		      dwarf_tag(&die) != DW_TAG_base_type))
		return NULL;	/* C needs the word */
	return type;
}

struct type *resolve_type(struct context *context, const char *name)
{
	char text[NAME_MOST];
	size_t length = strlen(name), stars = 0;
	struct type *type;

	if (length >= sizeof(text))
		return NULL;
	memcpy(text, name, length + 1);
	while (length && strchr(" \t*", text[length - 1])) {
		stars += text[--length] == '*';
		text[length] = '\0';
	}
	squeeze(text);
	if (!*text)
		return NULL;
	type = find_type(context, text + strspn(text, " "));
	for (; type && stars; stars--)
		type = type_pointer(&context->types, type);
	return type;
}

bool resolve_qualified(struct context *context, Dwarf_Die *die, char *text,
		       size_t room)
{
	const struct context_module *module = context_module_of(context, die);
	const struct die_index *index = module ?
		context_index(context, module) : NULL;
	const struct die_entry *entry = index ? die_index_entry(index, die) :
						NULL;

	if (!entry)
		return false;
	die_qualified_name(index, entry, text, room);
	return true;
}

bool resolve_definition(struct context *context, Dwarf_Die *die)
{
	char name[NAME_MOST], full[NAME_MOST + 2];
	struct candidate found;

	if (!resolve_qualified(context, die, name, sizeof(name)))
		return false;
	snprintf(full, sizeof(full), "::%s", name);
	if (!candidates_find(context, full, true, &found) ||
	    dwarf_tag((Dwarf_Die *)&found.entry->die) == DW_TAG_typedef)
		return false;
	*die = found.entry->die;
	return true;
}
