/* SPDX-License-Identifier: GPL-2.0-or-later */
/* conventions_go.c - see conventions_go.h */
#include "replayer/expressions/conventions_go.h"

#include <dwarf.h>
#include <stdio.h>
#include <string.h>

#include "formats/error.h"
#include "replayer/expressions/location_values.h"
#include "replayer/recording/recording.h"
#include "replayer/symbols/symbols.h"

/* How deep structures may be nested in a file that makes sense. */
#define DEPTH_MOST 32u

#define PARTS_MOST (sizeof(((struct go_place *)0)->parts) / \
		    sizeof(struct go_part))
#define PART_MOST 8u		/* bytes in one register */

/* Registers by their order; those behind the names are numbered from 0 on. */
struct go_registers {
	enum arch arch;
	unsigned number_count, vector_count;
	const char *numbers[16];
	char vector[8];		/* how they are called */
};

static const struct go_registers kinds[] = {
	{ ARCH_X86_64, 9, 15, { "rax", "rbx", "rcx", "rdi", "rsi", "r8", "r9",
				"r10", "r11" }, "xmm" },
	{ ARCH_AARCH64, 16, 16, { "x0", "x1", "x2", "x3", "x4", "x5", "x6",
				  "x7", "x8", "x9", "x10", "x11", "x12", "x13",
				  "x14", "x15" }, "v" },
};

static const struct go_registers none;

static const struct go_registers *
registers_of(const struct context *context, const struct go_passing *passing)
{
	const struct reg_table *table = recording_reg_table(context->recording);

	for (size_t i = 0; passing->by_registers &&
			   i < sizeof(kinds) / sizeof(*kinds); i++)
		if (kinds[i].arch == arch_of_code(table->arch))
			return &kinds[i];
	return &none;
}

bool go_passing_of(Dwarf_Die *function, struct go_passing *out)
{
	Dwarf_Attribute attribute;
	const char *producer = NULL;
	Dwarf_Die unit;

	*out = (struct go_passing) { 0 };
	if (!dwarf_diecu(function, &unit, NULL, NULL) ||
	    dwarf_srclang(&unit) != DW_LANG_Go)
		return false;
	if (dwarf_attr(&unit, DW_AT_producer, &attribute))
		producer = dwarf_formstring(&attribute);
	out->by_registers = producer && strstr(producer, "regabi");
	return true;
}

/* ------- places ------- */

static int add_parts(struct context *context, struct type *type,
		     uint64_t offset, unsigned depth, struct go_place *out,
		     struct failure *why);

static void add_part(struct go_place *out, bool is_vector, uint64_t offset,
		     uint64_t size)
{
	if (out->count == PARTS_MOST || size > PART_MOST ||
	    offset > UINT16_MAX) {
		out->is_on_stack = true;
		return;
	}
	out->parts[out->count++] = (struct go_part) {
		.is_vector = is_vector, .offset = (uint16_t)offset,
		.size = (uint8_t)size,
	};
}

static int add_members(struct context *context, struct type *type,
		       uint64_t offset, unsigned depth, struct go_place *out,
		       struct failure *why)
{
	const struct value of = { .type = type };
	struct member_walk walk = { .context = context, .of = &of,
				    .why = why };
	struct member member;
	int rc = 0;

	while (!out->is_on_stack && (rc = member_next(&walk, &member)) > 0) {
		rc = add_parts(context, member.type, offset + member.offset,
			       depth + 1, out, why);
		if (rc)
			break;
	}
	return rc < 0 ? rc : 0;
}

static int add_array(struct context *context, struct type *type,
		     uint64_t offset, unsigned depth, struct go_place *out,
		     struct failure *why)
{
	struct type *element = type_target(type);

	if (!element)
		return failed(why, ERR_NO_MEMORY, "out of memory");
	if (type->count == 1)
		return add_parts(context, element, offset, depth + 1, out,
				 why);
	out->is_on_stack |= type->count > 1;
	return 0;
}

static int add_parts(struct context *context, struct type *type,
		     uint64_t offset, unsigned depth, struct go_place *out,
		     struct failure *why)
{
	const unsigned word = reg_word(recording_reg_table(context->recording));

	if (depth > DEPTH_MOST) {
		out->is_on_stack = true;
		return 0;
	}
	switch (type->kind) {
	case TYPE_STRUCT:
		return add_members(context, type, offset, depth, out, why);
	case TYPE_ARRAY:
		return add_array(context, type, offset, depth, out, why);
	case TYPE_FLOAT:
		add_part(out, true, offset, type->size);
		return 0;
	case TYPE_COMPLEX:
		add_part(out, true, offset, type->size / 2);
		add_part(out, true, offset + type->size / 2, type->size / 2);
		return 0;
	case TYPE_FUNCTION:		/* a pointer to a closure */
		add_part(out, false, offset, word);
		return 0;
	default:
		add_part(out, false, offset, type->size);
		return 0;
	}
}

static uint64_t align(uint64_t offset, uint64_t to)
{
	return to ? (offset + to - 1) / to * to : offset;
}

/* Behind where the function returns to, if a register has that. */
static uint64_t stack_begin(const struct reg_table *table)
{
	return table->arg_stack ? 0 : reg_word(table);
}

static void take_stack(struct context *context, struct go_passing *passing,
		       struct type *type, struct go_place *out)
{
	const struct reg_table *table = recording_reg_table(context->recording);
	bool is_function = type->kind == TYPE_FUNCTION;
	uint64_t size = is_function ? reg_word(table) : type->size;
	uint64_t alignment = is_function ? size : type_alignment(type);

	passing->taken.stack = align(passing->taken.stack, alignment);
	*out = (struct go_place) {
		.is_on_stack = true,
		.offset = stack_begin(table) + passing->taken.stack,
	};
	passing->taken.stack += size;
}

int go_place_next(struct context *context, struct go_passing *passing,
		  struct type *type, struct go_place *out, struct failure *why)
{
	const struct go_registers *registers = registers_of(context, passing);
	struct arguments taken = passing->taken;
	int rc;

	*out = (struct go_place) { 0 };
	rc = add_parts(context, type, 0, 0, out, why);
	for (unsigned i = 0; i < out->count; i++)
		out->parts[i].index = (uint8_t)(out->parts[i].is_vector ?
			taken.vectors++ : taken.numbers++);
	if (rc)
		return rc;
	if (out->is_on_stack || taken.numbers > registers->number_count ||
	    taken.vectors > registers->vector_count)
		take_stack(context, passing, type, out);
	else
		passing->taken = taken;
	return 0;
}

void go_begin_results(struct context *context, struct go_passing *passing)
{
	const unsigned word = reg_word(recording_reg_table(context->recording));

	passing->taken = (struct arguments) {
		.stack = align(passing->taken.stack, word),
	};
}

/* ------- what debugging information says of places ------- */

/* At the first instruction. */
static bool find_said(const struct code_frame *frame, Dwarf_Die *parameter,
		      Dwarf_Op *out)
{
	Dwarf_Attribute attribute;
	Dwarf_Op *ops;
	size_t count;

	if (!dwarf_location(parameter, DW_AT_location, &attribute) ||
	    dwarf_getlocation_addr(&attribute, frame->pc, &ops, &count, 1) !=
		    1 || !count)
		return false;
	*out = ops[0];
	return true;
}

static bool is_of_frame(const Dwarf_Op *said, int64_t *offset)
{
	*offset = said->atom == DW_OP_fbreg ? (int64_t)said->number : 0;
	return said->atom == DW_OP_fbreg ||
	       said->atom == DW_OP_call_frame_cfa;
}

bool go_place_fits(const struct context *context,
		   const struct code_frame *frame, Dwarf_Die *parameter,
		   const struct go_place *place)
{
	const struct reg_table *table = recording_reg_table(context->recording);
	Dwarf_Op said;
	int64_t offset;
	uint64_t number;
	unsigned reg;

	if (!find_said(frame, parameter, &said))
		return true;
	if (is_of_frame(&said, &offset))
		return place->is_on_stack && place->offset == (uint64_t)offset;
	return !location_is_register(&said, &number) ||
	       (place->count && number < table->dwarf_all_count &&
		go_register(context, &place->parts[0], &reg) &&
		table->dwarf_all[number] == reg);
}

void go_result_place_said(const struct code_frame *frame, Dwarf_Die *result,
			  struct go_place *place)
{
	Dwarf_Op said;
	int64_t offset;

	/* Below, it is no more when the function has returned. */
	if (find_said(frame, result, &said) && is_of_frame(&said, &offset) &&
	    offset >= 0)
		*place = (struct go_place) {
			.is_on_stack = true, .is_said = true,
			.offset = (uint64_t)offset,
		};
}

/* ------- values ------- */

bool go_register(const struct context *context, const struct go_part *part,
		 unsigned *out)
{
	const struct reg_table *table = recording_reg_table(context->recording);
	const struct go_passing passing = { .by_registers = true };
	const struct go_registers *registers = registers_of(context, &passing);
	struct reg_named named;
	char name[16];

	if (part->index >= (part->is_vector ? registers->vector_count :
					      registers->number_count))
		return false;
	if (part->is_vector)
		snprintf(name, sizeof(name), "%s%u", registers->vector,
			 part->index);
	else
		snprintf(name, sizeof(name), "%s",
			 registers->numbers[part->index]);
	if (!reg_find(table, name, &named))
		return false;
	*out = named.reg;
	return true;
}

static int take_part(struct context *context, const struct go_part *part,
		     uint8_t *bytes, struct failure *why)
{
	const struct reg_table *table = recording_reg_table(context->recording);
	const struct reg_file *file;
	unsigned reg;
	int rc;

	if (!go_register(context, part, &reg))
		return failed(why, ERR_NOT_FOUND, "no register is known for"
			      " it");
	rc = context_register(context, reg, &file, why);
	if (!rc)
		memcpy(bytes + part->offset,
		       file->bytes + table->regs[reg].offset, part->size);
	return rc;
}

static int value_on_stack(struct context *context,
			  const struct go_place *place, struct type *type,
			  uint64_t above, struct value *out,
			  struct failure *why)
{
	const struct reg_table *table = recording_reg_table(context->recording);
	const struct reg_file *file;
	int rc = context_register(context, table->sp, &file, why);

	*out = (struct value) { .type = type, .has_addr = true };
	if (!rc)
		out->addr = reg_get(table, file, table->sp) + above +
			    place->offset;
	return rc;
}

int go_value(struct context *context, const struct go_place *place,
	     struct type *type, uint64_t above, struct value *out,
	     struct failure *why)
{
	uint64_t end = 0;
	int rc = 0;

	if (place->is_on_stack)
		return value_on_stack(context, place, type, above, out, why);
	for (unsigned i = 0; i < place->count; i++)
		if (end < place->parts[i].offset + place->parts[i].size)
			end = place->parts[i].offset + place->parts[i].size;
	if (type->size > UINT16_MAX + PART_MOST)
		return failed(why, ERR_NOT_FOUND, "it is too large");
	*out = (struct value) {
		.type = type,
		.bytes = context_take(context, (end > type->size ?
				end : type->size) + 32),
	};
	if (!out->bytes)
		return failed(why, ERR_NO_MEMORY, "out of memory");
	for (unsigned i = 0; i < place->count && !rc; i++)
		rc = take_part(context, &place->parts[i], out->bytes, why);
	if (!rc && type->kind == TYPE_FUNCTION) {
		memcpy(&out->addr, out->bytes, sizeof(out->addr));
		out->has_addr = true;
		out->bytes = NULL;
	}
	return rc;
}
