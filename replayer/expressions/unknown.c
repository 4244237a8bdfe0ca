/* SPDX-License-Identifier: GPL-2.0-or-later */
/* unknown.c - see unknown.h */
#include "replayer/expressions/unknown.h"

#include <dwarf.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "formats/error.h"
#include "formats/nearest.h"
#include "replayer/expressions/candidates.h"
#include "replayer/expressions/resolve.h"
#include "replayer/symbols/symbols.h"

#define DEPTH_MOST 64u

__attribute__((format(printf, 2, 3)))
static void add(struct failure *why, const char *format, ...)
{
	size_t used = strlen(why->text);
	va_list list;

	va_start(list, format);
	vsnprintf(why->text + used, sizeof(why->text) - used, format, list);
	va_end(list);
}

static const char *file_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* ------- variables of other functions ------- */

/* "the thread is in read (libc.so.6)" */
static void add_place(struct context *context, struct failure *why)
{
	uint64_t t = context->place.at.time, bias;
	struct source_line line;
	const char *name;

	lines_find(context->lines, t, context->code, &line);
	name = strchr(line.function, '!');
	name = name ? name + 1 : line.function;
	if (context->place.frame)
		add(why, ": frame %" PRIu64 " is", context->place.frame);
	else
		add(why, ": the thread is in");
	add(why, " %s", *name ? name : "code without a name");
	if (*line.module && names_module(lines_names(context->lines), t,
					 context->code, &bias) !=
			    names_own(lines_names(context->lines), t, &bias))
		add(why, " (%s)", line.module);
}

struct frame_search {
	const char *name, *scope;	/* of a function, or NULL */
	uint64_t number;
	char function[256];
};

static int visit_frame(void *opaque, uint64_t number,
		       const struct code_frame *frame)
{
	struct frame_search *search = opaque;
	const char *function = code_frame_function(frame);
	Dwarf_Die die;

	if (!function || (search->scope && strcmp(function, search->scope)) ||
	    !code_frame_variable(frame, search->name, &die))
		return 0;
	search->number = number;
	snprintf(search->function, sizeof(search->function), "%s", function);
	return 1;
}

static bool is_of_frame(struct context *context, const char *name,
			struct failure *why)
{
	const char *last = name_last(name);
	char scopes[NAME_MOST];
	struct frame_search search = { .name = last };
	const char *option = context->frame_option ? context->frame_option :
						     "--frame=";
	struct failure ignored;

	if (last >= name + 2) {
		snprintf(scopes, sizeof(scopes), "%.*s",
			 (int)(last - 2 - name), name);
		search.scope = name_last(scopes);
	}
	if (!context->has_frame ||
	    context_each_frame(context, visit_frame, &search, &ignored) < 0 ||
	    !*search.function)
		return false;
	add_place(context, why);
	add(why, "; '%s' is a variable of frame %" PRIu64 ", %s", last,
	    search.number, search.function);
	if (*option)
		add(why, ": use %s%" PRIu64, option, search.number);
	return true;
}

/* The function below `parent` that has such a variable. */
static const char *find_function(Dwarf_Die *parent, const char *function,
				 const char *name, unsigned depth)
{
	const char *found = NULL;
	Dwarf_Die die;

	if (depth > DEPTH_MOST || dwarf_child(parent, &die))
		return NULL;
	do {
		int tag = dwarf_tag(&die);
		const char *its = dwarf_diename(&die);

		if (function && its && !strcmp(its, name) &&
		    (tag == DW_TAG_variable || tag == DW_TAG_formal_parameter))
			return function;
		if (tag == DW_TAG_subprogram)
			found = find_function(&die, its, name, depth + 1);
		else if (tag == DW_TAG_lexical_block ||
			 tag == DW_TAG_namespace ||
			 tag == DW_TAG_structure_type ||
			 tag == DW_TAG_class_type)
			found = find_function(&die, function, name, depth + 1);
	} while (!found && !die_sibling(&die, &die));
	return found;
}

/* A variable of a block of the function that it is not in now. */
static bool is_out_of_scope(struct context *context, const char *name,
			    struct failure *why)
{
	const char *its = context->has_frame ?
		code_frame_declares(&context->frame, name) : NULL;

	if (!its)
		return false;
	if (context->trace)
		context->trace->is_unknown = true;
	add(why, ": '%s' is a variable of %s that does not exist at this"
		 " line", name, its);
	return true;
}

static const struct context_module *own_module(const struct context *context)
{
	for (size_t i = 0; i < context->module_count; i++)
		if (context->modules[i].is_program)
			return &context->modules[i];
	return NULL;
}

static bool is_of_function(struct context *context, const char *name,
			   struct failure *why)
{
	const struct context_module *module = own_module(context);
	const char *function = NULL;
	Dwarf_CU *unit = NULL;
	Dwarf_Die die;

	while (module && !function &&
	       !dwarf_get_units(module->dwarf, unit, &unit, NULL, NULL, &die,
				NULL))
		function = find_function(&die, NULL, name, 0);
	if (!function)
		return false;
	if (!context->is_elsewhere)
		add_place(context, why);
	add(why, "; '%s' is a variable in %s", name, function);
	return true;
}

/* ------- other things that are called so ------- */

static bool is_this(struct context *context, const char *name,
		    struct failure *why)
{
	if (strcmp(name, "this") != 0 || !context->has_frame)
		return false;
	add_place(context, why);
	add(why, ", which is no member function");
	return true;
}

static bool is_of_threads(struct context *context, const char *name,
			  struct failure *why)
{
	const char *path = lines_thread_local(context->lines,
					      context->place.at.time, name);

	if (!path)
		return false;
	add(why, ": it is thread-local, and where each thread has its own only"
		 " debugging information of %s tells", file_name(path));
	return true;
}

static bool is_type(struct context *context, const char *name,
		    struct failure *why)
{
	if (!resolve_type(context, name))
		return false;
	add(why, ": it is a type");
	return true;
}

/* The same with other arguments. */
static bool is_overload(struct context *context, const char *name,
			struct failure *why)
{
	char plain[NAME_MOST];
	struct candidate found;
	struct failure others;

	if (!strchr(name, '('))
		return false;
	name_plain(plain, sizeof(plain), name);
	if (!candidates_find(context, plain, false, &found))
		return false;
	candidates_refuse(context, plain, &found, &others);
	add(why, "; there is%s", strrchr(others.text, ':') ?
				 strstr(others.text, ": ") + 1 : "");
	return true;
}

/* Not visible here, it may be meant all the same. */
static bool is_hidden(struct context *context, const char *name,
		      struct failure *why)
{
	struct candidate found;
	uint64_t bias;
	const struct symbols *symbols;
	const char *file;
	Dwarf_Die die;
	bool is;

	if (!context->only_visible)
		return false;
	context->only_visible = false;
	is = candidates_find(context, name, false, &found);
	context->only_visible = true;
	symbols = is ? names_mapped(lines_names(context->lines),
				    context->place.at.time,
				    found.module->number, &bias) : NULL;
	if (!symbols || !candidate_unit(&found, &die))
		return false;
	context->mistake = MISTAKE_NAME;
	file = file_name(dwarf_diename(&die));
	add(why, "; one of %s is only visible there: '%s'::%s",
	    file_name(symbols->path), file, name);
	return true;
}

/* ------- names that are near ------- */

static void offer_variables(struct nearest *nearest,
			    const struct code_frame *frame)
{
	for (size_t i = 0; i < frame->count; i++) {
		Dwarf_Die scope = frame->scopes[i], die;

		if (dwarf_child(&scope, &die))
			continue;
		do {
			int tag = dwarf_tag(&die);

			if ((tag == DW_TAG_variable ||
			     tag == DW_TAG_formal_parameter) &&
			    dwarf_diename(&die))
				nearest_offer(nearest, dwarf_diename(&die));
		} while (!die_sibling(&die, &die));
	}
}

static bool is_somewhere(const struct die_entry *entry, bool types)
{
	Dwarf_Die die = entry->die;

	switch (entry->kind) {
	case DIE_TYPE:
		return types;
	case DIE_FUNCTION:
		return !types && dwarf_hasattr(&die, DW_AT_low_pc);
	case DIE_VARIABLE:
	case DIE_ENUMERATOR:
		return !types;
	default:
		return false;
	}
}

/* All that the program's debugging information names, with scopes or not. */
static void offer_own(struct context *context, bool with_scopes, bool types,
		      struct nearest *nearest)
{
	const struct context_module *module = own_module(context);
	const struct die_index *index = module ?
		context_index(context, module) : NULL;
	char name[NEAREST_MOST + 2];

	for (size_t i = 0; index && i < index->count; i++) {
		const struct die_entry *entry = &index->list[i];

		if (!entry->name || !is_somewhere(entry, types))
			continue;
		if (with_scopes)
			die_qualified_name(index, entry, name, sizeof(name));
		else
			snprintf(name, sizeof(name), "%s", entry->name);
		nearest_offer(nearest, name);
	}
}

static void suggest(struct context *context, const char *name,
		    struct failure *why)
{
	struct names *names = lines_names(context->lines);
	uint64_t t = context->place.at.time;
	struct nearest nearest;
	char text[NEAREST_TEXT];
	const char *path;
	bool is_gone;

	context->mistake = MISTAKE_NAME;
	nearest_begin(&nearest, name, strlen(name));
	if (context->has_frame)
		offer_variables(&nearest, &context->frame);
	offer_own(context, strstr(name, "::") != NULL, false, &nearest);
	names_offer(names, t, true, &nearest);
	if (!*nearest.name) {
		nearest_narrow(&nearest);
		names_offer(names, t, false, &nearest);
	}
	add(why, "%s", nearest_text(&nearest, text));
	if (*nearest.name)
		return;
	path = context_plain_program(context, &is_gone);
	if (path)
		add(why, "; there is no debugging information of '%s'%s: only"
			 " symbols are known", path,
		    is_gone ? ", which is gone" : "");
}

/* ------- all ------- */

void unknown_explain(struct context *context, const char *name,
		     struct failure *why)
{
	context->mistake = MISTAKE_HERE;
	if (!why || context->is_terse || strchr(name, '!'))
		return;
	if ((!context->is_elsewhere && is_of_frame(context, name, why)) ||
	    is_this(context, name, why) ||
	    is_out_of_scope(context, name, why) ||
	    is_of_function(context, name, why) ||
	    is_of_threads(context, name, why) || is_type(context, name, why) ||
	    is_overload(context, name, why) || is_hidden(context, name, why))
		return;
	suggest(context, name, why);
}

void unknown_type(struct context *context, const char *name,
		  struct failure *why)
{
	size_t word = strcspn(name, " ");
	const char *last = name[word] ? name + word + 1 : name;
	struct nearest nearest;

	nearest_begin(&nearest, last, strcspn(last, " *"));
	offer_own(context, strstr(last, "::") != NULL, true, &nearest);
	if (*nearest.name)
		add(why, " (did you mean '%.*s%s'?)", (int)(last - name), name,
		    nearest.name);
}
