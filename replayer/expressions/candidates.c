/* SPDX-License-Identifier: GPL-2.0-or-later */
/* candidates.c - see candidates.h */
#include "replayer/expressions/candidates.h"

#include <dwarf.h>
#include <stdio.h>
#include <string.h>

#include "formats/error.h"
#include "replayer/expressions/signatures.h"

/* "file.c:name", "file.c::name": the file, and what is behind it. */
struct wanted {
	char file[256];
	char name[NAME_MOST];	/* plain */
	const char *last;
	const char *text;	/* with arguments */
	bool is_global;		/* it began with "::" */
};

static bool cut_file(const char *text, struct wanted *out, const char **rest)
{
	const char *colon = strchr(text, ':');
	size_t size = colon ? (size_t)(colon - text) : 0;

	*out->file = '\0';
	if (!size || !memchr(text, '.', size) || memchr(text, '(', size) ||
	    memchr(text, '<', size))
		return false;
	snprintf(out->file, sizeof(out->file), "%.*s", (int)size, text);
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
	out->text = text;
	name_plain(out->name, sizeof(out->name), text);
	out->last = name_last(out->name);
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
 * How well an entry fits: as wanted, but static in another module; other scopes
 * are around what is wanted; it is as wanted, but only declared; a library's;
 * static in the program; it is as wanted; so it is in the unit that the thread
 * is in.
 */
enum fit { FIT_NOT, FIT_HIDDEN, FIT_INNER, FIT_DECLARED, FIT_OTHER, FIT_STATIC,
	   FIT_EXACT, FIT_NEAR };

/* Then, whether its arguments are; then, whether it is somewhere. */
#define FIT_STEP 4u
#define FIT_ARGUMENTS 2u
#define FIT_PLACE 1u

static const struct code_frame *frame_of(const struct context *context)
{
	return context->has_frame && context->frame.is_known ?
		       &context->frame : NULL;
}

/*
 * The module that the code is in, if its names are meant as the language has
 * them.  A thread is in a library by chance: then those of the program are
 * meant first.
 */
static const struct context_module *home_of(const struct context *context)
{
	const struct code_frame *frame = frame_of(context);

	return frame && (frame->module->is_program || context->only_visible) ?
		       frame->module : NULL;
}

/* Whether everybody may use it by its name. */
static bool is_external(const struct die_entry *entry)
{
	Dwarf_Die die = entry->die;

	return (entry->kind != DIE_VARIABLE && entry->kind != DIE_FUNCTION) ||
	       dwarf_hasattr_integrate(&die, DW_AT_external);
}

static enum fit fit_of_same(struct context *context,
			    const struct context_module *module,
			    const struct die_entry *entry)
{
	const struct code_frame *frame = frame_of(context);

	if (entry->kind == DIE_VARIABLE && entry->is_declaration)
		return FIT_DECLARED;
	if (frame && frame->unit.cu == entry->die.cu)
		return FIT_NEAR;
	if (is_external(entry))
		return module->is_program || home_of(context) ? FIT_EXACT :
								FIT_OTHER;
	return module->is_program ? FIT_STATIC : FIT_HIDDEN;
}

static enum fit fit_of(struct context *context, const struct candidate *found,
		       const struct wanted *wanted)
{
	const struct die_index *index = found->index;
	const struct die_entry *entry = found->entry;
	char full[NAME_MOST], plain[NAME_MOST];
	size_t length = strlen(wanted->name), all;

	if (!is_of_file(entry, wanted->file))
		return FIT_NOT;
	die_qualified_name(index, entry, full, sizeof(full));
	name_plain(plain, sizeof(plain), full);
	if (!strcmp(plain, wanted->name))
		return *wanted->file ? FIT_EXACT :
				       fit_of_same(context, found->module,
						   entry);
	all = strlen(plain);
	if (wanted->is_global || all < length + 2 ||
	    strcmp(plain + all - length, wanted->name) ||
	    memcmp(plain + all - length - 2, "::", 2))
		return FIT_NOT;
	/* Of functions' variables, the name alone is not enough. */
	if (!strstr(wanted->name, "::") && entry->parent != DIE_NONE &&
	    index->list[entry->parent].kind == DIE_FUNCTION)
		return FIT_NOT;
	return FIT_INNER;
}

/* Names in the index may have blanks: "Box<int, 3>". */
static bool is_named(const struct die_entry *entry, const char *last)
{
	char plain[NAME_MOST];

	if (!strchr(entry->name, ' '))
		return !strcmp(entry->name, last);
	name_plain(plain, sizeof(plain), entry->name);
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

/* Two are as good if one is only nearer, or has a place. */
static unsigned class_of(const struct candidate *found)
{
	unsigned fit = found->fit / FIT_STEP;

	return 2 * (fit < FIT_EXACT ? fit : FIT_EXACT) +
	       (found->fit & FIT_ARGUMENTS ? 1 : 0);
}

static bool is_other(struct context *context, const struct candidate *a,
		     const struct candidate *b)
{
	char first[NAME_MOST], second[NAME_MOST];

	signature_write(context, a->index, a->entry, first, sizeof(first));
	signature_write(context, b->index, b->entry, second, sizeof(second));
	return strcmp(first, second) != 0;
}

/* The program's modules come first: what others have is another matter. */
static void weigh(struct context *context, const struct candidate *found,
		  void *opaque)
{
	struct candidate *best = opaque;
	bool is_several = best->is_several;

	if (!best->entry || class_of(found) > class_of(best)) {
		*best = *found;
		return;
	}
	if (class_of(found) < class_of(best) || found->module != best->module)
		return;
	if (found->entry->kind != DIE_TYPE)
		is_several |= is_other(context, best, found);
	if (found->fit > best->fit)
		*best = *found;
	best->is_several = is_several;
}

/* The name as it is wanted, with all that it says. */
static bool fit_in(struct context *context, const struct wanted *wanted,
		   struct candidate *found)
{
	bool is_exact;

	/* Scopes may be left out only of what is the program's. */
	found->fit = FIT_STEP * fit_of(context, found, wanted);
	if (found->fit / FIT_STEP == FIT_INNER && !found->module->is_program)
		return false;
	if (found->fit / FIT_STEP == FIT_HIDDEN && context->only_visible &&
	    found->module != home_of(context))
		return false;
	if (!found->fit || !signature_fits(context, found->index, found->entry,
					   wanted->text, &is_exact))
		return false;
	found->fit += (is_exact ? FIT_ARGUMENTS : 0) +
		      (has_place(found->entry) ? FIT_PLACE : 0);
	return true;
}

/* Visits what may be called so. */
static void each_in(struct context *context,
		    const struct context_module *module,
		    const struct wanted *wanted, bool types,
		    void (*visit)(struct context *context,
				  const struct candidate *found, void *opaque),
		    void *opaque)
{
	const struct die_index *index = context_index(context, module);
	bool is_loose;

	if (!index)
		return;
	for (size_t i = first_of(index, wanted->last, &is_loose);
	     i < index->named; i++) {
		struct candidate found = {
			module, index, &index->list[index->by_name[i]],
		};

		if (is_loose ? !is_same_start(found.entry->name,
					      wanted->last) :
			       strcmp(found.entry->name, wanted->last) != 0)
			break;
		if (is_wanted_kind(found.entry, types) &&
		    is_named(found.entry, wanted->last) &&
		    fit_in(context, wanted, &found))
			visit(context, &found, opaque);
	}
}

bool candidate_unit(const struct candidate *found, Dwarf_Die *unit)
{
	Dwarf_Die die = found->entry->die;

	return dwarf_diecu(&die, unit, NULL, NULL) && dwarf_diename(unit);
}

bool candidates_find(struct context *context, const char *name, bool types,
		     struct candidate *out)
{
	struct wanted wanted;

	const struct context_module *home = home_of(context);

	*out = (struct candidate) { 0 };
	want(name, &wanted);
	if (home)
		each_in(context, home, &wanted, types, weigh, out);
	for (size_t i = 0; i < context->module_count &&
			   out->fit < FIT_STEP * FIT_EXACT; i++)
		if (&context->modules[i] != home)
			each_in(context, &context->modules[i], &wanted, types,
				weigh, out);
	return out->fit || (context_complete(context) &&
			    candidates_find(context, name, types, out));
}

/* ------- several ------- */

struct listing {
	const struct candidate *best;
	struct failure names;	/* as much as there is room for */
	size_t used;
};

static void list(struct context *context, const struct candidate *found,
		 void *opaque)
{
	struct listing *listing = opaque;
	char name[NAME_MOST];
	size_t left = sizeof(listing->names.text) / 2 - listing->used;

	if (class_of(found) != class_of(listing->best))
		return;
	signature_write(context, found->index, found->entry, name,
			sizeof(name));
	if (strlen(name) + 8 > left ||
	    strstr(listing->names.text, name))
		return;
	listing->used += (size_t)snprintf(
		listing->names.text + listing->used, left, "%s'%s'",
		listing->used ? ", " : "", name);
}

int candidates_refuse(struct context *context, const char *name,
		      const struct candidate *several, struct failure *why)
{
	struct listing listing = { .best = several };
	struct wanted wanted;

	want(name, &wanted);
	each_in(context, several->module, &wanted, false, list, &listing);
	return failed(why, ERR_INPUT, "cannot tell which '%.80s' is meant: %s",
		      name + 2 * !strncmp(name, "::", 2), listing.names.text);
}
