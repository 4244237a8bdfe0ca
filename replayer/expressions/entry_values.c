/* SPDX-License-Identifier: GPL-2.0-or-later */
/* entry_values.c - see entry_values.h */
#include "replayer/expressions/entry_values.h"

#include <dwarf.h>

#include "formats/error.h"
#include "replayer/expressions/context.h"
#include "replayer/expressions/location_values.h"
#include "replayer/symbols/symbols.h"

/* Callers that are asked for what their callers passed, in a row and in all. */
#define CALLERS_MOST 32u
#define ASKED_MOST 500u

/* Parameters of a call, and places of a variable: more would be made up. */
#define ENTRIES_MOST 10000u

static int unknown(struct failure *why)
{
	return failed(why, ERR_NOT_FOUND, "what it was when the function was"
		      " entered is not known");
}

/* ------- parameters of a call ------- */

static bool find_attribute(Dwarf_Die *die, unsigned name, unsigned gnu_name,
			   Dwarf_Attribute *out)
{
	return dwarf_attr(die, name, out) || dwarf_attr(die, gnu_name, out);
}

static bool is_on_stack(const struct context *context, const Dwarf_Op *op,
			uint64_t *offset)
{
	const struct reg_table *table = recording_reg_table(context->recording);
	bool is_far = op->atom == DW_OP_bregx;
	uint64_t number = is_far ? op->number :
				   (uint64_t)op->atom - DW_OP_breg0;

	*offset = is_far ? op->number2 : op->number;
	return number < table->dwarf_count &&
	       table->dwarf[number] == table->sp;
}

static bool has_location(const struct context *context, Dwarf_Die *die,
			 const struct entry_wanted *wanted)
{
	Dwarf_Attribute attribute;
	Dwarf_Op *ops;
	uint64_t number;
	size_t count;

	if (!dwarf_location(die, DW_AT_location, &attribute) ||
	    dwarf_getlocation(&attribute, &ops, &count) || count != 1)
		return false;
	return (wanted->kind == ENTRY_REGISTER ?
			location_is_register(ops, &number) :
			is_on_stack(context, ops, &number)) &&
	       number == wanted->number;
}

static bool is_of_parameter(Dwarf_Die *die, const struct entry_wanted *wanted)
{
	Dwarf_Attribute attribute;
	Dwarf_Die parameter;

	return find_attribute(die, DW_AT_call_parameter,
			      DW_AT_abstract_origin, &attribute) &&
	       dwarf_formref_die(&attribute, &parameter) &&
	       parameter.addr == wanted->parameter.addr;
}

static bool is_wanted(const struct context *context, Dwarf_Die *die,
		      const struct entry_wanted *wanted)
{
	int tag = dwarf_tag(die);

	if (tag != DW_TAG_call_site_parameter &&
	    tag != DW_TAG_GNU_call_site_parameter)
		return false;
	return wanted->kind == ENTRY_PARAMETER ?
		       is_of_parameter(die, wanted) :
		       has_location(context, die, wanted);
}

/* The expression for it in the caller. */
static bool find_parameter(const struct context *context, Dwarf_Die *site,
			   const struct entry_wanted *wanted,
			   Dwarf_Attribute *out)
{
	unsigned count = 0;
	Dwarf_Die die;

	if (dwarf_child(site, &die))
		return false;
	do {
		if (!is_wanted(context, &die, wanted))
			continue;
		return wanted->is_pointed ?
			       find_attribute(&die, DW_AT_call_data_value,
					      DW_AT_GNU_call_site_data_value,
					      out) :
			       find_attribute(&die, DW_AT_call_value,
					      DW_AT_GNU_call_site_value, out);
	} while (count++ < ENTRIES_MOST && !die_sibling(&die, &die));
	return false;
}

/* ------- the caller ------- */

/* In the caller's frame. */
static int find_call(struct context *context, const struct entry_wanted *wanted,
		     struct entry_call *call, struct failure *why)
{
	uint64_t t = context->place.at.time, pc = context->code + 1;
	struct call_site *site = call_site_before(context->lines, t, pc);
	struct call_target target;

	if (!site ||
	    (!call_site_leads_to(context->lines, t, pc, call->function,
				 &call->is_computed) && !call->is_computed) ||
	    !find_parameter(context, &site->die, wanted, &call->value))
		return unknown(why);
	call_site_target(site, &target);
	call->target = target.expression;
	return 0;
}

void entry_call_end(struct context *context, struct entry_call *call)
{
	context->callers--;
	context_leave_caller(context, call->callee);
}

int entry_call_begin(struct context *context,
		     const struct entry_wanted *wanted,
		     struct entry_call *out, struct failure *why)
{
	uint64_t t = context->place.at.time;
	const struct reg_file *file;
	int rc = context_registers(context, &file, why);

	if (rc)
		return rc;
	if (!context->callers)
		context->callers_asked = 0;
	if (context->callers == CALLERS_MOST ||
	    context->callers_asked++ == ASKED_MOST ||
	    !call_function_start(context->lines, t, context->code,
				 &out->function) ||
	    tail_calls_come_back(context->lines, t, out->function))
		return unknown(why);
	rc = context_enter_caller(context, &out->callee, why);
	if (rc)
		return rc;
	context->callers++;
	rc = find_call(context, wanted, out, why);
	if (rc)
		entry_call_end(context, out);
	return rc;
}

/* ------- arguments ------- */

/* Its place where the function begins; also one that is left at once. */
static bool find_first_place(Dwarf_Attribute *attribute, uint64_t entry,
			     Dwarf_Op **ops, size_t *count)
{
	Dwarf_Addr base, start, end;
	unsigned entries = 0;
	ptrdiff_t at = 0;

	if (!dwarf_getlocation(attribute, ops, count))
		return true;
	while (entries++ < ENTRIES_MOST &&
	       (at = dwarf_getlocations(attribute, at, &base, &start, &end,
					ops, count)) > 0)
		if (start <= entry && (entry < end || start == end))
			return true;
	return false;
}

int entry_wanted_of(struct context *context, Dwarf_Die *variable,
		    struct entry_wanted *out, struct failure *why)
{
	const struct code_frame *frame;
	Dwarf_Attribute attribute;
	Dwarf_Die function;
	uint64_t entry;
	Dwarf_Op *ops;
	size_t count;
	int rc = context_frame(context, &frame, why);

	if (rc)
		return rc;
	*out = (struct entry_wanted) { .kind = ENTRY_REGISTER };
	function = frame->scopes[0];
	if (!frame->count || !call_entry_of(&function, &entry) ||
	    !dwarf_location(variable, DW_AT_location, &attribute) ||
	    !find_first_place(&attribute, entry, &ops, &count) || count != 1)
		return unknown(why);
	if (ops->atom == DW_OP_fbreg) {
		out->kind = ENTRY_STACK;
		out->number = ops->number;
	} else if (!location_is_register(ops, &out->number)) {
		return unknown(why);
	}
	return 0;
}
