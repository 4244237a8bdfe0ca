/* SPDX-License-Identifier: GPL-2.0-or-later */
/* resolve.c - see resolve.h */
#include "replayer/expressions/resolve.h"

#include <ctype.h>
#include <dwarf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/error.h"
#include "replayer/expressions/locations.h"
#include "replayer/symbols/symbols.h"

#define NAME_MOST 4096u

/* ------- values of entries ------- */

static int value_of_variable(struct context *context, Dwarf_Die *die,
			     struct value *out, struct failure *why)
{
	struct location location;
	struct type *type = type_of_entry(&context->types, die);
	int rc;

	if (!type)
		return failed(why, ERR_NO_MEMORY, "out of memory");
	rc = location_of(context, die, type->size, &location, why);
	*out = (struct value) {
		.type = type, .has_addr = location.has_addr,
		.addr = location.addr, .is_absent = location.is_absent,
		.bytes = location.has_addr ? NULL : location.bytes,
		.known = location.known, .is_synthetic = location.is_synthetic,
	};
	return rc;
}

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

	if (entry->parent == DIE_NONE ||
	    !dwarf_attr(&die, DW_AT_const_value, &attribute))
		return ERR_NOT_FOUND;
	parent = index->list[entry->parent].die;
	if (dwarf_whatform(&attribute) == DW_FORM_sdata &&
	    !dwarf_formsdata(&attribute, &negative))
		number = (Dwarf_Word)negative;
	else
		dwarf_formudata(&attribute, &number);
	return value_of_integer(context, out,
				type_of_die(&context->types, &parent), number,
				why);
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

/* ------- names ------- */

/* Without blanks, arguments of functions, and anonymous namespaces. */
static void plain_name(char *out, size_t room, const char *name)
{
	size_t used = 0;
	unsigned angles = 0;

	while (*name && used + 1 < room) {
		const char *anonymous = "(anonymous namespace)::";
		unsigned depth = 0;

		if (!strncmp(name, anonymous, strlen(anonymous))) {
			name += strlen(anonymous);
			continue;
		}
		angles += *name == '<';
		angles -= *name == '>' && angles;
		if (*name == '(' && !angles) {
			do {
				depth += *name == '(';
				depth -= *name == ')';
				name++;
			} while (*name && depth);
			continue;
		}
		if (*name != ' ')
			out[used++] = *name;
		name++;
	}
	out[used] = '\0';
}

/* "file.c:name", "file.c::name": the file, and what is behind it. */
struct wanted {
	char file[256];
	char name[NAME_MOST];	/* plain */
	const char *last;
	bool is_global;		/* it began with "::" */
};

static bool cut_file(const char *text, struct wanted *out, const char **rest)
{
	const char *colon = strchr(text, ':');
	const char *point = colon ? memrchr(text, '.', (size_t)(colon - text)) :
				    NULL;

	*out->file = '\0';
	if (!point || memchr(text, '(', (size_t)(colon - text)) ||
	    memchr(text, '<', (size_t)(colon - text)))
		return false;
	snprintf(out->file, sizeof(out->file), "%.*s", (int)(colon - text),
		 text);
	*rest = colon + (colon[1] == ':' ? 2 : 1);
	return true;
}

static void want(const char *text, struct wanted *out)
{
	out->is_global = !strncmp(text, "::", 2);
	if (out->is_global)
		text += 2;
	else
		cut_file(text, out, &text);
	if (out->is_global)
		*out->file = '\0';
	plain_name(out->name, sizeof(out->name), text);
	out->last = die_last_name(out->name);
}

static bool is_of_file(const struct die_entry *entry, const char *file)
{
	Dwarf_Die die = entry->die, unit;
	const char *name;
	size_t length = strlen(file), all;

	if (!*file)
		return true;
	if (!dwarf_diecu(&die, &unit, NULL, NULL))
		return false;
	name = dwarf_diename(&unit);
	all = name ? strlen(name) : 0;
	return all >= length && !strcmp(name + all - length, file) &&
	       (all == length || name[all - length - 1] == '/');
}

/*
 * How well an entry fits: other scopes are around what is wanted; it is as
 * wanted, but only declared; it is as wanted; so it is in the unit that the
 * thread is in.
 */
enum fit { FIT_NOT, FIT_INNER, FIT_DECLARED, FIT_EXACT, FIT_NEAR };

static enum fit fit_of(struct context *context, const struct die_index *index,
		       const struct die_entry *entry,
		       const struct wanted *wanted)
{
	const struct code_frame *frame = context->has_frame ? &context->frame : NULL;
	char full[NAME_MOST], plain[NAME_MOST];
	size_t length = strlen(wanted->name), all;

	if (!is_of_file(entry, wanted->file))
		return FIT_NOT;
	die_qualified_name(index, entry, full, sizeof(full));
	plain_name(plain, sizeof(plain), full);
	if (!strcmp(plain, wanted->name)) {
		if (entry->kind == DIE_VARIABLE && entry->is_declaration)
			return FIT_DECLARED;
		return frame && frame->is_known &&
		       frame->unit.cu == entry->die.cu ? FIT_NEAR : FIT_EXACT;
	}
	all = strlen(plain);
	if (wanted->is_global || all < length + 2 ||
	    strcmp(plain + all - length, wanted->name) ||
	    memcmp(plain + all - length - 2, "::", 2))
		return FIT_NOT;
	return FIT_INNER;
}

/* Names in the index may have blanks: "Box<int, 3>". */
static bool is_named(const struct die_entry *entry, const char *last)
{
	char plain[NAME_MOST];

	if (!strchr(entry->name, ' '))
		return !strcmp(entry->name, last);
	plain_name(plain, sizeof(plain), entry->name);
	return !strcmp(plain, last);
}

/* The first of `by_name` that may be called so. */
static size_t first_of(const struct die_index *index, const char *last,
		       bool *has_blanks)
{
	char start[NAME_MOST];
	size_t low = 0, high = index->named, length = strcspn(last, "<");

	*has_blanks = last[length] == '<';
	if (!*has_blanks)
		return die_index_find(index, last);
	snprintf(start, sizeof(start), "%.*s<", (int)length, last);
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		uint32_t number = index->by_name[middle];

		if (strcmp(index->list[number].name, start) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

struct found {
	const struct context_module *module;
	const struct die_index *index;
	const struct die_entry *entry;
	unsigned fit;
};

static bool is_wanted_kind(const struct die_entry *entry, bool types)
{
	Dwarf_Die die = entry->die;

	if (types)
		return entry->kind == DIE_TYPE && !entry->is_declaration;
	if (entry->kind == DIE_FUNCTION)
		return dwarf_hasattr(&die, DW_AT_low_pc) ||
		       dwarf_hasattr(&die, DW_AT_ranges);
	return entry->kind == DIE_VARIABLE || entry->kind == DIE_ENUMERATOR;
}

/* A variable may have been optimized out of one unit. */
static bool has_place(const struct die_entry *entry)
{
	Dwarf_Die die = entry->die;

	return entry->kind != DIE_VARIABLE ||
	       dwarf_hasattr_integrate(&die, DW_AT_location) ||
	       dwarf_hasattr_integrate(&die, DW_AT_const_value);
}

static bool is_same_start(const char *name, const char *last)
{
	return !strncmp(name, last, strcspn(last, "<"));
}

static void find_in(struct context *context,
		    const struct context_module *module,
		    const struct wanted *wanted, bool types,
		    struct found *best)
{
	const struct die_index *index = context_index(context, module);
	bool is_loose;

	if (!index)
		return;
	for (size_t i = first_of(index, wanted->last, &is_loose);
	     i < index->named; i++) {
		const struct die_entry *entry =
			&index->list[index->by_name[i]];
		unsigned fit;

		if (is_loose ? !is_same_start(entry->name, wanted->last) :
			       strcmp(entry->name, wanted->last) != 0)
			break;
		if (!is_wanted_kind(entry, types) ||
		    !is_named(entry, wanted->last))
			continue;
		fit = 2 * fit_of(context, index, entry, wanted);
		if (fit)
			fit += has_place(entry);
		if (fit > best->fit)
			*best = (struct found) { module, index, entry, fit };
	}
}

static bool find(struct context *context, const char *name, bool types,
		 struct found *out)
{
	struct wanted wanted;

	*out = (struct found) { 0 };
	want(name, &wanted);
	for (size_t i = 0; i < context->module_count && out->fit < 2 * FIT_EXACT; i++)
		find_in(context, &context->modules[i], &wanted, types, out);
	return out->fit;
}

/* ------- locals ------- */

static int find_local(struct context *context, const char *name,
		      struct value *out, struct failure *why)
{
	const struct code_frame *frame;
	int rc = context_frame(context, &frame, why);

	if (rc || !frame->is_known)
		return rc ? rc : ERR_NOT_FOUND;
	for (size_t i = frame->count; i-- > 0;) {
		Dwarf_Die scope = frame->scopes[i], die, found;
		bool any = false;

		if (dwarf_child(&scope, &die))
			continue;
		/* Of several in one block, the last one shadows (Rust). */
		do {
			int tag = dwarf_tag(&die);
			const char *its = tag == DW_TAG_variable ||
					  tag == DW_TAG_formal_parameter ?
						  dwarf_diename(&die) : NULL;

			if (its && !strcmp(its, name)) {
				found = die;
				any = true;
			}
		} while (!die_sibling(&die, &die));
		if (any) {
			rc = value_of_variable(context, &found, out, why);
			/* Others of that name are not meant. */
			return rc == ERR_NOT_FOUND ? ERR_INPUT : rc;
		}
		/* What it was inlined into is a frame of its own. */
		if (dwarf_tag(&scope) == DW_TAG_inlined_subroutine)
			break;
	}
	return ERR_NOT_FOUND;
}

/* The scopes of the function that the thread is in, from the innermost. */
static int find_in_scopes(struct context *context, const char *name,
			  struct value *out, struct failure *why)
{
	const struct code_frame *frame = &context->frame;
	char scope[NAME_MOST], full[NAME_MOST];
	struct found found;
	char *mark;

	if (!frame->is_known || !frame->count ||
	    !resolve_qualified(context, (Dwarf_Die *)&frame->scopes[0], scope,
			       sizeof(scope)))
		return ERR_NOT_FOUND;
	for (;;) {
		if ((size_t)snprintf(full, sizeof(full), "::%s::%s", scope,
				     name) < sizeof(full) &&
		    find(context, full, false, &found))
			return value_of_entry(context, found.module,
					      found.index, found.entry, out,
					      why);
		mark = (char *)die_last_name(scope);
		if (mark < scope + 2)
			return ERR_NOT_FOUND;
		mark[-2] = '\0';
	}
}

/* "function::variable", of the function that the thread is in. */
static int find_of_function(struct context *context, const char *name,
			    struct value *out, struct failure *why)
{
	const char *last = die_last_name(name);
	const struct code_frame *frame;
	char scope[NAME_MOST], plain[NAME_MOST], wanted[NAME_MOST];
	int rc = context_frame(context, &frame, why);

	if (rc)
		return rc;
	if (last < name + 3)
		return ERR_NOT_FOUND;
	plain_name(wanted, sizeof(wanted), name);
	*strrchr(wanted, ':') = '\0';
	wanted[strlen(wanted) - 1] = '\0';
	for (size_t i = frame->count; i-- > 0;) {
		const char *its = dwarf_diename((Dwarf_Die *)&frame->scopes[i]);

		if (!its)
			continue;
		if (!resolve_qualified(context, (Dwarf_Die *)&frame->scopes[i],
				       scope, sizeof(scope)))
			snprintf(scope, sizeof(scope), "%s", its);
		plain_name(plain, sizeof(plain), scope);
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
	struct found found;
	int rc = ERR_NOT_FOUND;

	if (strlen(name) >= NAME_MOST || !context->module_count)
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
	if (!find(context, name, false, &found))
		return ERR_NOT_FOUND;
	return value_of_entry(context, found.module, found.index, found.entry,
			      out, why);
}

int resolve_static(struct context *context, Dwarf_Die *member,
		   struct value *out, struct failure *why)
{
	char name[NAME_MOST], full[NAME_MOST + 2];
	struct found found;

	if (dwarf_hasattr(member, DW_AT_const_value) ||
	    dwarf_hasattr(member, DW_AT_location))
		return value_of_variable(context, member, out, why);
	*out = (struct value) {
		.type = type_of_entry(&context->types, member),
		.is_absent = true,
	};
	if (!out->type)
		return failed(why, ERR_NO_MEMORY, "out of memory");
	if (!resolve_qualified(context, member, name, sizeof(name)))
		return 0;
	snprintf(full, sizeof(full), "::%s", name);
	if (!find(context, full, false, &found))
		return 0;
	return value_of_entry(context, found.module, found.index, found.entry,
			      out, why);
}

/* ------- symbols ------- */

int resolve_symbol(struct context *context, const char *name,
		   struct value *out, struct failure *why)
{
	struct type *type = type_by_words(&context->types, "char");
	uint64_t addr, size;
	int rc = names_find(lines_names(context->lines), context->place.at.time,
			    name, &addr, &size, why);

	if (rc)
		return rc;
	if (!type)
		return failed(why, ERR_NO_MEMORY, "out of memory");
	type->kind = TYPE_UNKNOWN;
	type->size = size;
	type->name = size ? "<data variable, no debug info>" :
			    "<text variable, no debug info>";
	*out = (struct value) { .type = type, .has_addr = true, .addr = addr };
	if (context->module_count)
		return resolve_address(context, addr, out, why);
	return 0;
}

int resolve_address(struct context *context, uint64_t addr,
		    struct value *out, struct failure *why)
{
	char name[NAME_MOST];
	struct value value;
	struct found found;
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
	if (!find(context, strchr(name, '!') ? strchr(name, '!') + 1 : name,
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
	struct found found;
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
	if (!find(context, name, true, &found))
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
	struct found found;

	if (!resolve_qualified(context, die, name, sizeof(name)))
		return false;
	snprintf(full, sizeof(full), "::%s", name);
	if (!find(context, full, true, &found) ||
	    dwarf_tag((Dwarf_Die *)&found.entry->die) == DW_TAG_typedef)
		return false;
	*die = found.entry->die;
	return true;
}
