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
#include "replayer/expressions/conventions_go.h"
#include "replayer/expressions/expressions_internal.h"
#include "replayer/expressions/location_values.h"
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
	bool is_result;		/* of Go */
	struct go_place place;	/* of Go */
};

struct signature {
	uint64_t entry;
	Dwarf *dwarf;		/* NULL: nothing is known of the function */
	struct code_frame frame;
	struct parameter *list;
	size_t count, room;
	struct type *result;	/* NULL: none */

	bool is_go;		/* results are in the list, behind arguments */
	bool has_gaps;		/* arguments without a name are in no list */
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

/*
 * Whether its place holds at the entry.  A place in a frame does not, nor does a
 * register that functions keep for their callers: code moves an argument there
 * later.
 */
static bool is_located(const struct context *context, Dwarf_Die *die)
{
	const struct reg_table *table = recording_reg_table(context->recording);
	Dwarf_Attribute attribute;
	uint64_t number;
	Dwarf_Op *ops;
	size_t count;

	if (dwarf_attr_integrate(die, DW_AT_const_value, &attribute))
		return true;
	if (!dwarf_location(die, DW_AT_location, &attribute))
		return false;
	if (dwarf_getlocation(&attribute, &ops, &count))
		return true;
	if (count && location_is_register(ops, &number))
		return number >= 64 || !(table->dwarf_kept >> number & 1);
	return count && ops[0].atom != DW_OP_fbreg &&
	       (ops[0].atom < DW_OP_breg0 || ops[0].atom > DW_OP_bregx);
}

/* Functions of Go have them among their parameters. */
static bool is_result(Dwarf_Die *die)
{
	Dwarf_Attribute attribute;
	bool flag;

	return dwarf_attr_integrate(die, DW_AT_variable_parameter,
				    &attribute) &&
	       !dwarf_formflag(&attribute, &flag) && flag;
}

static int add_parameter(struct context *context, struct signature *signature,
			 Dwarf_Die *die)
{
	struct parameter parameter = {
		.die = *die, .type = type_of_entry(&context->types, die),
		.is_located = is_located(context, die),
		.is_result = is_result(die),
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

/* ------- of Go ------- */

static int place_parameters(struct context *context,
			    struct signature *signature,
			    struct go_passing *passing)
{
	bool has_results = false, fits;
	int rc = 0;

	for (size_t i = 0; i < signature->count && !rc; i++) {
		struct parameter *parameter = &signature->list[i];

		if (parameter->is_result && !has_results)
			go_begin_results(context, passing);
		has_results |= parameter->is_result;
		rc = go_place_next(context, passing, parameter->type,
				   &parameter->place, NULL);
		if (rc)
			break;
		if (parameter->is_result) {
			go_result_place_said(&signature->frame,
					     &parameter->die,
					     &parameter->place);
			continue;
		}
		fits = go_place_fits(context, &signature->frame,
				     &parameter->die, &parameter->place);
		signature->has_gaps |= !fits;
	}
	return rc == ERR_NO_MEMORY ? rc : 0;
}

static int describe(struct context *context, struct signature *signature)
{
	Dwarf_Die function, result;
	Dwarf_Attribute attribute;
	struct go_passing passing;
	int rc;

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
	rc = add_parameters(context, signature, &function);
	signature->is_go = go_passing_of(&function, &passing);
	return rc || !signature->is_go ? rc :
		place_parameters(context, signature, &passing);
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

static bool is_known(const struct value *value)
{
	return !value->is_absent && !value->pointed &&
	       (!value->known || !memchr(value->known, 0,
					 (size_t)value->type->size));
}

/* What debugging information does not tell, the convention does. */
static int go_argument(struct context *context,
		       const struct signature *signature,
		       struct parameter *parameter, struct value *out,
		       struct failure *why)
{
	const struct reg_table *table = recording_reg_table(context->recording);
	struct failure ignored;
	int rc = value_of_variable(context, &parameter->die, out, why);

	if (signature->has_gaps || (!rc && is_known(out)))
		return rc;
	return go_value(context, &parameter->place, parameter->type,
			table->arg_stack, out, rc ? why : &ignored);
}

static int visit_go(const struct visiting *visiting,
		    const struct signature *signature)
{
	int rc = 0;

	for (size_t i = 0; i < signature->count && !rc; i++) {
		struct parameter *parameter = &signature->list[i];
		struct failure reason = { "" };
		struct value value = { 0 };

		if (parameter->is_result)
			continue;
		rc = go_argument(visiting->context, signature, parameter,
				 &value, &reason);
		rc = tell(visiting, dwarf_diename(&parameter->die),
			  parameter->type, &value, rc, &reason);
	}
	return rc;
}

static int visit_known(const struct visiting *visiting,
		       const struct signature *signature)
{
	struct context *context = visiting->context;
	struct arguments taken = { 0 };
	struct failure reason = { "" };
	int rc = 0;

	if (signature->is_go)
		return visit_go(visiting, signature);
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

/* ------- results ------- */

static size_t count_results(const struct signature *signature,
			    struct parameter **first)
{
	size_t count = 0;

	for (size_t i = signature->count; i-- > 0; count++) {
		if (!signature->list[i].is_result)
			break;
		*first = &signature->list[i];
	}
	return count;
}

static int go_result(struct context *context,
		     const struct signature *signature,
		     const struct parameter *result, struct value *out,
		     struct failure *why)
{
	if (result->place.is_on_stack && signature->has_gaps &&
	    !result->place.is_said)
		return failed(why, ERR_NOT_FOUND, "where it is depends on"
			      " arguments without a name");
	return go_value(context, &result->place, result->type, 0, out, why);
}

/* Names that the compiler has made say nothing. */
static void write_name(FILE *out, const struct parameter *result)
{
	Dwarf_Die die = result->die;
	const char *name = dwarf_diename(&die);

	if (name && *name != '~')
		fprintf(out, "%s=", name);
}

/* "(3, nil)", "(q=3, r=2)" */
static int write_results(struct context *context,
			 const struct signature *signature,
			 const struct parameter *list, size_t count,
			 FILE *values, FILE *types)
{
	for (size_t i = 0; i < count; i++) {
		struct failure reason = { "" };
		struct value value = { 0 };
		int rc = go_result(context, signature, &list[i], &value,
				   &reason);
		char *text = show_value(context, &value, rc, &reason);

		if (!text)
			return ERR_NO_MEMORY;
		fputs(i ? ", " : "(", values);
		write_name(values, &list[i]);
		fputs(text, values);
		fputs(i ? ", " : "(", types);
		type_write(types, list[i].type);
		free(text);
	}
	fputc(')', values);
	fputc(')', types);
	return 0;
}

static int tell_several(const struct visiting *visiting,
			const struct signature *signature,
			const struct parameter *list, size_t count)
{
	char *value = NULL, *type = NULL;
	size_t value_size, type_size;
	FILE *values = open_memstream(&value, &value_size);
	FILE *types = open_memstream(&type, &type_size);
	int rc = ERR_NO_MEMORY;

	if (values && types)
		rc = write_results(visiting->context, signature, list, count,
				   values, types);
	if (values && fclose(values))
		rc = ERR_NO_MEMORY;
	if (types && fclose(types))
		rc = ERR_NO_MEMORY;
	if (rc)
		rc = failed(visiting->why, rc, "out of memory");
	else
		rc = visiting->visit(visiting->opaque, &(struct call_value) {
			NULL, type, value });
	free(value);
	free(type);
	return rc;
}

static int tell_results(const struct visiting *visiting,
			const struct signature *signature)
{
	struct parameter *list = NULL;
	size_t count = count_results(signature, &list);
	struct failure reason = { "" };
	struct value value = { 0 };
	int rc;

	if (!count)
		return 0;
	if (count > 1)
		return tell_several(visiting, signature, list, count);
	rc = go_result(visiting->context, signature, list, &value, &reason);
	return tell(visiting, NULL, list->type, &value, rc, &reason);
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

	if (!rc && signature->is_go)
		return tell_results(&visiting, signature);
	if (rc || (signature->dwarf && !signature->result))
		return rc;
	if (!signature->dwarf) {
		rc = number_in(context, table->results[0], &value, &reason);
		return tell(&visiting, NULL, NULL, &value, rc, &reason);
	}
	rc = result_of(context, signature->result, &value, &reason);
	return tell(&visiting, NULL, signature->result, &value, rc, &reason);
}
