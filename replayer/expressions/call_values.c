/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * call_values.c - what functions are called with, and return
 *
 * At a function's first instruction its frame is not there yet, so arguments
 * are where the calling conventions say.  Functions that compilers have changed
 * need not heed them: they are optimized, and debugging information says where
 * their arguments are from the first instruction on.
 */
#include <dwarf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/array.h"
#include "formats/error.h"
#include "replayer/expressions/conventions.h"
#include "replayer/expressions/expressions_internal.h"
#include "replayer/expressions/show.h"
#include "replayer/symbols/symbols.h"

/* More would be made up by a damaged file. */
#define PARAMETERS_MOST 256u

/* Of functions of which nothing is known, the first registers are shown. */
#define UNKNOWN_SHOWN 3u

struct parameter {
	Dwarf_Die die;
	struct type *type;
	bool is_located;	/* debugging information says where it is */
};

struct signature {
	uint64_t entry;
	Dwarf *dwarf;		/* NULL: nothing is known of the function */
	struct code_frame frame;
	struct parameter *list;
	size_t count, room;
	struct type *result;	/* NULL: none */
};

/* ------- signatures ------- */

static void free_signature(struct signature *signature)
{
	if (signature)
		free(signature->list);
	free(signature);
}

void signatures_release(struct signatures *signatures)
{
	for (size_t i = 0; i < signatures->by_entry.room; i++) {
		const struct number_slot *slot = &signatures->by_entry.slots[i];

		if (slot->key != NUMBER_MAP_NONE)
			free_signature((void *)(uintptr_t)slot->value);
	}
	number_map_release(&signatures->by_entry);
}

/* Something that holds from the entry on, and not a place in a frame. */
static bool is_located(Dwarf_Die *die)
{
	Dwarf_Attribute attribute;
	Dwarf_Op *ops;
	size_t count;

	if (dwarf_attr_integrate(die, DW_AT_const_value, &attribute))
		return true;
	if (!dwarf_attr_integrate(die, DW_AT_location, &attribute))
		return false;
	if (dwarf_getlocation(&attribute, &ops, &count))
		return true;
	return count && ops[0].atom != DW_OP_fbreg &&
	       (ops[0].atom < DW_OP_breg0 || ops[0].atom > DW_OP_bregx);
}

static int add_parameter(struct context *context, struct signature *signature,
			 Dwarf_Die *die)
{
	struct parameter parameter = {
		.die = *die, .type = type_of_entry(&context->types, die),
		.is_located = is_located(die),
	};

	if (!parameter.type ||
	    array_room(signature->list, signature->count, signature->room))
		return ERR_NO_MEMORY;
	signature->list[signature->count++] = parameter;
	return 0;
}

static int add_parameters(struct context *context, struct signature *signature,
			  Dwarf_Die *function)
{
	Dwarf_Die die;
	int rc = 0;

	if (dwarf_child(function, &die))
		return 0;
	do {
		if (dwarf_tag(&die) == DW_TAG_formal_parameter)
			rc = add_parameter(context, signature, &die);
	} while (!rc && signature->count < PARAMETERS_MOST &&
		 !die_sibling(&die, &die));
	return rc;
}

/* Debugging information of assembly has functions, but not what they take. */
static bool is_assembly(Dwarf_Die *die)
{
	Dwarf_Die unit;

	return dwarf_diecu(die, &unit, NULL, NULL) &&
	       dwarf_srclang(&unit) == DW_LANG_Mips_Assembler;
}

/* The function that begins there, not one that was inlined into it. */
static bool find_function(struct signature *signature, Dwarf_Die *out)
{
	struct code_frame *frame = &signature->frame;
	uint64_t entry, end;

	for (size_t i = frame->count; i-- > 0;) {
		*out = frame->scopes[i];
		if (dwarf_tag(out) != DW_TAG_subprogram)
			continue;
		frame->count = i + 1;
		return code_part_of_function(out, &entry, &end) &&
		       entry == frame->pc;
	}
	return false;
}

static int describe(struct context *context, struct signature *signature)
{
	Dwarf_Die function, result;
	Dwarf_Attribute attribute;

	context_find_code(context, signature->entry, 0, &signature->frame);
	if (!signature->frame.is_known ||
	    !find_function(signature, &function) || is_assembly(&function))
		return 0;
	signature->dwarf = dwarf_cu_getdwarf(function.cu);
	if (dwarf_attr_integrate(&function, DW_AT_type, &attribute) &&
	    dwarf_formref_die(&attribute, &result)) {
		signature->result = type_of_die(&context->types, &result);
		if (!signature->result)
			return ERR_NO_MEMORY;
	}
	return add_parameters(context, signature, &function);
}

/* Whether it is of what is mapped there now. */
static bool still_holds(struct context *context,
			const struct signature *signature)
{
	const struct context_module *module;
	Dwarf_Die die;

	if (!signature->dwarf)
		return true;
	die = signature->frame.scopes[0];
	module = context_module_of(context, &die);
	return module && signature->frame.pc + module->bias ==
				 signature->entry;
}

static int find_signature(struct expressions *expressions, uint64_t entry,
			  struct signature **out, struct failure *why)
{
	struct context *context = &expressions->context;
	struct number_map *map = &expressions->signatures.by_entry;
	uint64_t *found = number_map_find(map, entry);

	*out = found ? (void *)(uintptr_t)*found : NULL;
	if (*out && still_holds(context, *out))
		return 0;
	number_map_remove(map, entry);
	free_signature(*out);
	*out = calloc(1, sizeof(**out));
	if (!*out)
		return failed(why, ERR_NO_MEMORY, "out of memory");
	(*out)->entry = entry;
	if (describe(context, *out) ||
	    number_map_set(map, entry, (uint64_t)(uintptr_t)*out)) {
		free_signature(*out);
		return failed(why, ERR_NO_MEMORY, "out of memory");
	}
	return 0;
}

/* ------- values as text ------- */

static char *show_value(struct context *context, struct value *value,
			int failed_before, struct failure *reason)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	context->members = 0;
	if (failed_before || show_listed(context, value, out, reason))
		fprintf(out, "<%s>", reason->text);
	if (!fclose(out))
		return text;
	free(text);
	return NULL;
}

struct visiting {
	struct context *context;
	call_visit *visit;
	void *opaque;
	struct failure *why;
};

static int tell(const struct visiting *visiting, const char *name,
		struct type *type, struct value *value, int rc,
		struct failure *reason)
{
	char *text = show_value(visiting->context, value, rc, reason);
	char *type_name = type ? type_to_text(type) : NULL;
	const struct call_value told = { name, type_name, text };

	if (!text || (type && !type_name))
		rc = failed(visiting->why, ERR_NO_MEMORY, "out of memory");
	else
		rc = visiting->visit(visiting->opaque, &told);
	free(text);
	free(type_name);
	return rc;
}

/* ------- arguments ------- */

static int visit_known(const struct visiting *visiting,
		       const struct signature *signature)
{
	struct context *context = visiting->context;
	struct arguments taken = { 0 };
	struct failure reason = { "" };
	int rc = 0;

	if (signature->result)
		argument_of_result(context, &taken, signature->result,
				   &reason);
	for (size_t i = 0; i < signature->count && !rc; i++) {
		struct parameter *parameter = &signature->list[i];
		struct value value = { 0 };
		struct failure ignored;

		reason = (struct failure) { "" };
		rc = argument_next(context, &taken, parameter->type, &value,
				   parameter->is_located ? &ignored : &reason);
		if (parameter->is_located)
			rc = value_of_variable(context, &parameter->die, &value,
					      &reason);
		rc = tell(visiting, dwarf_diename(&parameter->die),
			  parameter->type, &value, rc, &reason);
	}
	return rc;
}

/* Of no type that is known: it may be an address. */
static int plain_number(struct context *context, uint64_t number,
			struct value *out, struct failure *why)
{
	struct types *types = &context->types;

	return value_of_integer(context, out,
				type_pointer(types, type_by_words(types,
								  "long")),
				number, why);
}

static int number_in(struct context *context, unsigned reg, struct value *out,
		     struct failure *why)
{
	const struct reg_table *table = recording_reg_table(context->recording);
	const struct reg_file *file;
	int rc = context_register(context, reg, &file, why);

	return rc ? rc : plain_number(context, reg_get(table, file, reg), out,
				      why);
}

/* An argument that is on the stack, behind where the function returns to. */
static int number_at(struct context *context, unsigned index,
		     struct value *out, struct failure *why)
{
	const struct reg_table *table = recording_reg_table(context->recording);
	const unsigned word = reg_word(table);
	const struct reg_file *file;
	uint64_t value = 0;
	int rc = context_register(context, table->sp, &file, why);

	if (!rc)
		rc = context_read(context, reg_get(table, file, table->sp) +
				  table->arg_stack + index * word,
				  (uint8_t *)&value, word, why);
	return rc ? rc : plain_number(context, value, out, why);
}

static int visit_unknown(const struct visiting *visiting)
{
	struct context *context = visiting->context;
	const struct reg_table *table = recording_reg_table(context->recording);
	int rc = 0;

	for (unsigned i = 0; i < UNKNOWN_SHOWN && !rc; i++) {
		struct failure reason = { "" };
		struct value value = { 0 };

		rc = reg_has_stack_args(table) ?
			     number_at(context, i, &value, &reason) :
			     number_in(context, table->args[i], &value,
				       &reason);
		rc = tell(visiting, NULL, NULL, &value, rc, &reason);
	}
	return rc;
}

static int begin(struct expressions *expressions, const struct position *at,
		 uint64_t entry, struct signature **out, struct failure *why)
{
	const struct expression_place place = { .at = *at };
	int rc = context_set(&expressions->context, &place, why);

	return rc ? rc : find_signature(expressions, entry, out, why);
}

int expressions_arguments(struct expressions *expressions,
			  const struct position *at, uint64_t entry,
			  call_visit *visit, void *opaque, struct failure *why)
{
	struct context *context = &expressions->context;
	const struct visiting visiting = { context, visit, opaque, why };
	struct signature *signature;
	Dwarf_Die die;
	int rc = begin(expressions, at, entry, &signature, why);

	if (rc)
		return rc;
	if (!signature->dwarf)
		return visit_unknown(&visiting);
	/* It is known where the thread stands. */
	die = signature->frame.scopes[0];
	context->frame = signature->frame;
	context->frame.module = context_module_of(context, &die);
	context->has_frame = true;
	rc = visit_known(&visiting, signature);
	context->has_frame = false;
	return rc;
}

int expressions_returned(struct expressions *expressions,
			 const struct position *at, uint64_t entry,
			 call_visit *visit, void *opaque, struct failure *why)
{
	struct context *context = &expressions->context;
	const struct reg_table *table = recording_reg_table(context->recording);
	const struct visiting visiting = { context, visit, opaque, why };
	struct failure reason = { "" };
	struct value value = { 0 };
	struct signature *signature;
	int rc = begin(expressions, at, entry, &signature, why);

	if (rc || (signature->dwarf && !signature->result))
		return rc;
	if (!signature->dwarf) {
		rc = number_in(context, table->results[0], &value, &reason);
		return tell(&visiting, NULL, NULL, &value, rc, &reason);
	}
	rc = result_of(context, signature->result, &value, &reason);
	return tell(&visiting, NULL, signature->result, &value, rc, &reason);
}
