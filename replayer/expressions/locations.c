/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * locations.c - see locations.h
 *
 * Source: DWARF 5, 2.5 (expressions), 2.6 (locations); the GNU operators of
 * DWARF 4 that became those of DWARF 5.
 */
#include "replayer/expressions/locations.h"

#include <dwarf.h>
#include <gelf.h>
#include <inttypes.h>
#include <string.h>

#include "formats/error.h"
#include "replayer/expressions/context.h"
#include "replayer/expressions/entry_values.h"
#include "replayer/expressions/location_values.h"
#include "replayer/symbols/symbols.h"

#define STACK_MOST 64u
#define OPS_MOST 10000u		/* executed: expressions can jump */
#define BYTES_MOST (1u << 20)

/* What the top of the stack is, in the end. */
enum place { AT_ADDRESS, AT_REGISTER, AT_VALUE, AT_BYTES,
	     AT_NOWHERE };

struct machine {
	struct context *context;
	const struct context_module *module;
	Dwarf_Attribute *attribute;
	struct location_value stack[STACK_MOST];
	size_t depth;
	enum place place;
	unsigned reg;		/* AT_REGISTER */
	const uint8_t *bytes;	/* AT_BYTES */
	size_t bytes_size;
	const struct pointed *pointed;
	bool has_no_entry;	/* AT_NOWHERE: a caller did not say it */
	bool in_frame_base;	/* one that needs itself makes no sense */
	struct failure *why;
};

static int cannot(struct machine *machine, const char *what)
{
	return failed(machine->why, ERR_NOT_FOUND, "cannot tell where it is:"
		      " %s", what);
}

static int push_value(struct machine *machine, struct location_value value)
{
	if (machine->depth == STACK_MOST)
		return cannot(machine, "its location makes no sense");
	machine->stack[machine->depth++] = value;
	return 0;
}

/* Of the generic type. */
static int push(struct machine *machine, uint64_t bits)
{
	return push_value(machine, (struct location_value) { .bits = bits });
}

static int register_value(struct machine *machine, uint64_t reg, uint64_t *out)
{
	const struct reg_table *table =
		recording_reg_table(machine->context->recording);
	const struct reg_file *file;
	struct reg_bytes bytes;
	int rc;

	if (reg >= table->dwarf_all_count)
		return cannot(machine, "it is in a register that has no name");
	rc = context_register(machine->context, table->dwarf_all[reg], &file,
			      machine->why);
	if (rc)
		return rc;
	bytes = reg_dwarf_bytes(table, reg);
	*out = 0;
	memcpy(out, file->bytes + bytes.offset,
	       bytes.size < sizeof(*out) ? bytes.size : sizeof(*out));
	return 0;
}

static int run(struct machine *machine, const Dwarf_Op *ops, size_t count);

/* ------- the frame's base ------- */

static int frame_base(struct machine *machine, uint64_t *out)
{
	struct machine inner = { .context = machine->context,
				 .module = machine->module,
				 .why = machine->why, .in_frame_base = true };
	const struct code_frame *frame;
	Dwarf_Attribute attribute;
	Dwarf_Op *ops;
	size_t count, i;
	int rc = context_frame(machine->context, &frame, machine->why);

	if (rc)
		return rc;
	for (i = frame->count; i-- > 0;)
		if (dwarf_tag((Dwarf_Die *)&frame->scopes[i]) ==
			    DW_TAG_subprogram)
			break;
	if (machine->in_frame_base || i >= frame->count ||
	    !dwarf_location((Dwarf_Die *)&frame->scopes[i],
				  DW_AT_frame_base, &attribute) ||
	    dwarf_getlocation_addr(&attribute, frame->pc, &ops, &count,
				   1) != 1)
		return cannot(machine, "the function's frame is not known");
	inner.attribute = &attribute;
	rc = run(&inner, ops, count);
	if (rc)
		return rc;
	if (inner.place == AT_REGISTER)
		return register_value(machine, inner.reg, out);
	if (!inner.depth)
		return cannot(machine, "the function's frame is not known");
	*out = inner.stack[inner.depth - 1].bits;
	return 0;
}

/* ------- operators ------- */

static int dereference(struct machine *machine, size_t size)
{
	uint8_t bytes[8] = { 0 };
	uint64_t value;
	int rc;

	if (!machine->depth || size > sizeof(bytes))
		return cannot(machine, "its location makes no sense");
	rc = context_read(machine->context,
			  machine->stack[machine->depth - 1].bits, bytes, size,
			  machine->why);
	memcpy(&value, bytes, sizeof(value));
	machine->stack[machine->depth - 1] =
		(struct location_value) { .bits = value };
	return rc;
}

/* Operators that only move or combine what is on the stack. */
static int compute(struct machine *machine, const Dwarf_Op *op)
{
	struct location_value *stack = machine->stack, value;
	size_t depth = machine->depth;

	switch (op->atom) {
	case DW_OP_dup:
		if (depth)
			return push_value(machine, stack[depth - 1]);
		break;
	case DW_OP_over:
		if (depth > 1)
			return push_value(machine, stack[depth - 2]);
		break;
	case DW_OP_pick:
		if (op->number < depth)
			return push_value(machine,
					  stack[depth - 1 - op->number]);
		break;
	case DW_OP_drop:
		if (depth) {
			machine->depth--;
			return 0;
		}
		break;
	case DW_OP_swap:
		if (depth > 1) {
			value = stack[depth - 1];
			stack[depth - 1] = stack[depth - 2];
			stack[depth - 2] = value;
			return 0;
		}
		break;
	case DW_OP_rot:
		if (depth > 2) {
			value = stack[depth - 1];
			stack[depth - 1] = stack[depth - 2];
			stack[depth - 2] = stack[depth - 3];
			stack[depth - 3] = value;
			return 0;
		}
		break;
	case DW_OP_plus_uconst:
		if (depth) {
			value = stack[depth - 1];
			value.bits += op->number;
			stack[depth - 1] = location_value_as(value, value.type);
			return 0;
		}
		break;
	default:
		if (depth && location_unary(op->atom, &stack[depth - 1]))
			return 0;
		if (depth > 1 && location_binary(op->atom, &stack[depth - 2],
						 &stack[depth - 1], &value)) {
			machine->depth--;
			stack[depth - 2] = value;
			return 0;
		}
	}
	return cannot(machine, "its location is not understood");
}

/* What each thread has of a module. */
static bool thread_part(Elf *elf, GElf_Phdr *out)
{
	size_t count = 0;

	if (!elf || elf_getphdrnum(elf, &count))
		return false;
	for (size_t i = 0; i < count; i++)
		if (gelf_getphdr(elf, (int)i, out) && out->p_type == PT_TLS &&
		    out->p_align && out->p_memsz <= UINT32_MAX)
			return true;
	return false;
}

/* How far from the thread's pointer the program's variables begin. */
static bool own_block(Elf *elf, uint64_t head, uint64_t *out)
{
	GElf_Phdr part;

	if (!thread_part(elf, &part))
		return false;
	*out = head ? head + ((part.p_vaddr - head) & (part.p_align - 1)) :
		      -((part.p_memsz + part.p_align - 1) / part.p_align *
			part.p_align);
	return true;
}

/* In split units, GCC has the address in the file in place of the offset. */
static uint64_t offset_in_part(Elf *elf, uint64_t number)
{
	GElf_Phdr part;

	return thread_part(elf, &part) && number >= part.p_memsz &&
	       number - part.p_vaddr < part.p_memsz ?
		       number - part.p_vaddr : number;
}

/* The same of a library: where it keeps that, the loader has filled it in. */
static bool library_block(struct machine *machine, uint64_t *out)
{
	const struct context_module *module = machine->module;
	uint64_t place, more, filled, called[2];

	if (!lines_thread_block(machine->context->lines,
				machine->context->place.at.time,
				module->number, &place, &more) ||
	    context_read(machine->context, place, (uint8_t *)&filled,
			 sizeof(filled), NULL))
		return false;
	/* The number of the library, and what is inside: for a function. */
	if (!context_read(machine->context, filled, (uint8_t *)called,
			  sizeof(called), NULL) && called[1] == more)
		return false;
	*out = filled - more;
	return true;
}

/* Source: System V ABI, AMD64 supplement; Drepper, "ELF handling for TLS"; ELF
 * for the Arm 64-bit Architecture. */
static int thread_local(struct machine *machine)
{
	const struct reg_table *table =
		recording_reg_table(machine->context->recording);
	const struct context_module *module = machine->module;
	Elf *elf = dwarf_getelf(module->dwarf);
	const struct reg_file *file;
	uint64_t offset = 0, *top;
	int rc;

	if (!machine->depth ||
	    !(module->is_program ?
		      own_block(elf, table->tls_head, &offset) :
		      library_block(machine, &offset)))
		return cannot(machine, "each thread has its own, and a library"
			      " finds it by calling a function");
	top = &machine->stack[machine->depth - 1].bits;
	rc = context_registers(machine->context, &file, machine->why);
	if (!rc)
		*top = offset_in_part(elf, *top) + offset +
		       reg_get(table, file, table->tls);
	return rc;
}

static int push_address(struct machine *machine, const Dwarf_Op *op)
{
	Dwarf_Attribute found;
	Dwarf_Addr addr;

	if (op->atom == DW_OP_addr)
		return push(machine, op->number + machine->module->bias);
	if (dwarf_getlocation_attr(machine->attribute, op, &found) ||
	    dwarf_formaddr(&found, &addr))
		return cannot(machine, "its address is missing");
	return push(machine, addr + machine->module->bias);
}

/* A number that stands with the addresses: an offset in a thread's block. */
static int push_indexed(struct machine *machine, const Dwarf_Op *op)
{
	Dwarf_Attribute found;
	Dwarf_Word number;

	if (dwarf_getlocation_attr(machine->attribute, op, &found) ||
	    dwarf_formudata(&found, &number))
		return cannot(machine, "its offset is missing");
	return push(machine, number);
}

static int push_based(struct machine *machine, uint64_t reg, uint64_t offset)
{
	uint64_t value = 0;
	int rc = register_value(machine, reg, &value);

	return rc ? rc : push(machine, value + offset);
}

static int set_bytes(struct machine *machine, const Dwarf_Op *op)
{
	Dwarf_Block block;

	if (dwarf_getlocation_implicit_value(machine->attribute, op, &block))
		return cannot(machine, "its value is missing");
	machine->place = AT_BYTES;
	machine->bytes = block.data;
	machine->bytes_size = block.length;
	return 0;
}

static int set_pointed(struct machine *machine, const Dwarf_Op *op)
{
	struct pointed *pointed = context_take(machine->context,
					       sizeof(*pointed));

	if (!pointed)
		return failed(machine->why, ERR_NO_MEMORY, "out of memory");
	if (dwarf_getlocation_die(machine->attribute, op, &pointed->variable))
		return cannot(machine, "what it points to is missing");
	pointed->offset = op->number2;
	machine->pointed = pointed;
	machine->place = AT_NOWHERE;
	return 0;
}

/* ------- values with types ------- */

/* The type that an operator names; `has_none`: an entry 0 is the generic one. */
static int named_type(struct machine *machine, const Dwarf_Op *op,
		      bool has_none, struct location_type *out)
{
	Dwarf_Attribute encoding;
	Dwarf_Word word = 0;
	Dwarf_Die type;
	int size;

	*out = (struct location_type) { 0 };
	if (has_none && !op->number)
		return 0;
	if (dwarf_getlocation_die(machine->attribute, op, &type) ||
	    (size = dwarf_bytesize(&type)) < 1 || size > 8 ||
	    !dwarf_attr_integrate(&type, DW_AT_encoding, &encoding) ||
	    dwarf_formudata(&encoding, &word))
		return cannot(machine, "its location is not understood");
	out->size = (unsigned)size;
	out->is_float = word == DW_ATE_float || word == DW_ATE_complex_float ||
			word == DW_ATE_decimal_float;
	out->is_signed = word == DW_ATE_signed || word == DW_ATE_signed_char;
	return 0;
}

static int set_type(struct machine *machine, struct location_type type,
		    bool converts)
{
	struct location_value *top = machine->depth ?
		&machine->stack[machine->depth - 1] : NULL;

	if (!top)
		return cannot(machine, "its location makes no sense");
	if (converts && (type.is_float || top->type.is_float))
		return cannot(machine, "it is computed from floating-point"
			      " numbers");
	*top = location_value_as(*top, type);
	return 0;
}

static int push_constant(struct machine *machine, const Dwarf_Op *op)
{
	Dwarf_Attribute found;
	Dwarf_Block block;
	uint64_t bits = 0;

	if (dwarf_getlocation_attr(machine->attribute, op, &found) ||
	    dwarf_formblock(&found, &block) || block.length > sizeof(bits))
		return cannot(machine, "its value is missing");
	memcpy(&bits, block.data, block.length);
	return push(machine, bits);
}

/* Operators that name a type of the program; `*is_one`: it is one of them. */
static int step_typed(struct machine *machine, const Dwarf_Op *op, bool *is_one)
{
	struct location_type type;
	bool converts = false, has_none = false;
	int rc = 0;

	*is_one = true;
	switch (op->atom) {
	case DW_OP_convert: case DW_OP_GNU_convert:
		converts = has_none = true;
		break;
	case DW_OP_reinterpret: case DW_OP_GNU_reinterpret:
		has_none = true;
		break;
	case DW_OP_regval_type: case DW_OP_GNU_regval_type:
		rc = push_based(machine, op->number, 0);
		break;
	case DW_OP_const_type: case DW_OP_GNU_const_type:
		rc = push_constant(machine, op);
		break;
	case DW_OP_deref_type: case DW_OP_GNU_deref_type:
		rc = dereference(machine, op->number);
		break;
	default:
		*is_one = false;
		return 0;
	}
	if (!rc)
		rc = named_type(machine, op, has_none, &type);
	return rc ? rc : set_type(machine, type, converts);
}

/* ------- what callers have passed ------- */

/* A register, as a value of a type if need be, or what it points to: what is
 * asked of an entry. */
static bool find_entry(struct machine *machine, const Dwarf_Op *op,
		       struct entry_wanted *out, struct location_type *type)
{
	Dwarf_Attribute attribute;
	Dwarf_Op *ops;
	size_t count;

	*type = (struct location_type) { 0 };
	*out = (struct entry_wanted) { .kind = ENTRY_PARAMETER };
	if (op->atom == DW_OP_GNU_parameter_ref)
		return !dwarf_getlocation_die(machine->attribute, op,
					      &out->parameter);
	out->kind = ENTRY_REGISTER;
	if (dwarf_getlocation_attr(machine->attribute, op, &attribute) ||
	    dwarf_getlocation(&attribute, &ops, &count) || !count)
		return false;
	if (count == 1 && location_is_register(ops, &out->number))
		return true;
	out->number = ops[0].number;
	if (count == 1 && (ops[0].atom == DW_OP_regval_type ||
			   ops[0].atom == DW_OP_GNU_regval_type))
		return !named_type(machine, &ops[0], false, type);
	out->is_pointed = true;
	out->number = ops[0].atom - DW_OP_breg0;
	return count == 2 && DW_OP_breg0 <= ops[0].atom &&
	       ops[0].atom <= DW_OP_breg31 && !ops[0].number &&
	       (ops[1].atom == DW_OP_deref || ops[1].atom == DW_OP_deref_size);
}

/* In the caller's frame; ERR_NOT_FOUND also if it has called another one. */
static int compute_entry(struct context *context, struct entry_call *call,
			 struct location_value *out, struct failure *why)
{
	int rc = call->is_computed ?
		location_value_of(context, &call->target, NULL, out, why) : 0;

	if (!rc && call->is_computed && out->bits != call->function)
		rc = failed(why, ERR_NOT_FOUND, "who called this is not known");
	return rc ? rc : location_value_of(context, &call->value, NULL, out,
					   why);
}

static int entry_value(struct context *context,
		       const struct entry_wanted *wanted,
		       struct location_value *out, struct failure *why)
{
	struct entry_call call;
	int rc = entry_call_begin(context, wanted, &call, why);

	if (rc)
		return rc;
	rc = compute_entry(context, &call, out, why);
	entry_call_end(context, &call);
	return rc;
}

static int push_entry(struct machine *machine, const Dwarf_Op *op)
{
	struct location_value value;
	struct entry_wanted wanted;
	struct location_type type;
	int rc = ERR_NOT_FOUND;

	if (find_entry(machine, op, &wanted, &type))
		rc = entry_value(machine->context, &wanted, &value,
				 machine->why);
	if (rc == ERR_NOT_FOUND) {
		machine->has_no_entry = true;
		machine->place = AT_NOWHERE;
		return 0;
	}
	if (!rc && type.size)
		value = location_value_as(value, type);
	return rc ? rc : push_value(machine, value);
}

static int step(struct machine *machine, const Dwarf_Op *op)
{
	bool is_typed;
	unsigned atom = op->atom;
	uint64_t value;
	int rc;

	if (DW_OP_lit0 <= atom && atom <= DW_OP_lit31)
		return push(machine, atom - DW_OP_lit0);
	if (location_is_register(op, &value)) {
		machine->place = AT_REGISTER;
		machine->reg = value < 1024 ? (unsigned)value : 1024;
		return 0;
	}
	if (DW_OP_breg0 <= atom && atom <= DW_OP_breg31)
		return push_based(machine, atom - DW_OP_breg0, op->number);
	switch (atom) {
	case DW_OP_nop:
		return 0;
	case DW_OP_addr:
	case DW_OP_addrx:
	case DW_OP_GNU_addr_index:
		return push_address(machine, op);
	case DW_OP_constx:
	case DW_OP_GNU_const_index:
		return push_indexed(machine, op);
	case DW_OP_const1u: case DW_OP_const1s: case DW_OP_const2u:
	case DW_OP_const2s: case DW_OP_const4u: case DW_OP_const4s:
	case DW_OP_const8u: case DW_OP_const8s: case DW_OP_constu:
	case DW_OP_consts:
		return push(machine, op->number);
	case DW_OP_bregx:
		return push_based(machine, op->number, op->number2);
	case DW_OP_fbreg:
		rc = frame_base(machine, &value);
		return rc ? rc : push(machine, value + op->number);
	case DW_OP_call_frame_cfa:
		rc = context_frame_address(machine->context, &value,
					   machine->why);
		return rc ? rc : push(machine, value);
	case DW_OP_deref:
		return dereference(machine, reg_word(
			recording_reg_table(machine->context->recording)));
	case DW_OP_deref_size:
		return dereference(machine, op->number);
	case DW_OP_stack_value:
		machine->place = AT_VALUE;
		return 0;
	case DW_OP_implicit_value:
		return set_bytes(machine, op);
	case DW_OP_form_tls_address:
	case DW_OP_GNU_push_tls_address:
		return thread_local(machine);
	case DW_OP_implicit_pointer:
	case DW_OP_GNU_implicit_pointer:
		return set_pointed(machine, op);
	case DW_OP_GNU_parameter_ref:
	case DW_OP_entry_value:
	case DW_OP_GNU_entry_value:
		return push_entry(machine, op);
	}
	rc = step_typed(machine, op, &is_typed);
	return rc || is_typed ? rc : compute(machine, op);
}

/* Where a jump of `ops[at]` leads; `count` if nowhere. */
static size_t jump(const Dwarf_Op *ops, size_t count, size_t at)
{
	uint64_t to = ops[at].offset + 3 + (uint64_t)(int16_t)ops[at].number;

	for (size_t i = 0; i < count; i++)
		if (ops[i].offset == to)
			return i;
	return count;
}

static int run(struct machine *machine, const Dwarf_Op *ops, size_t count)
{
	unsigned executed = 0;
	int rc = 0;

	for (size_t i = 0; i < count && !rc; i++) {
		bool jumps = ops[i].atom == DW_OP_skip;

		if (executed++ == OPS_MOST)
			return cannot(machine, "its location makes no sense");
		if (machine->place == AT_NOWHERE)
			return 0;
		if (ops[i].atom == DW_OP_bra) {
			if (!machine->depth)
				return cannot(machine, "its location makes no"
					      " sense");
			jumps = machine->stack[--machine->depth].bits != 0;
		} else if (!jumps) {
			rc = step(machine, &ops[i]);
		}
		if (jumps)
			i = jump(ops, count, i) - 1;
	}
	return rc;
}

/* ------- where it is ------- */

static int take_register(struct machine *machine, uint8_t *to, size_t size)
{
	struct context *context = machine->context;
	const struct reg_table *table = recording_reg_table(context->recording);
	const struct reg_file *file;
	struct reg_bytes bytes;
	int rc;

	if (machine->reg >= table->dwarf_all_count)
		return cannot(machine, "it is in a register that has no name");
	rc = context_register(context, table->dwarf_all[machine->reg], &file,
			      machine->why);
	if (rc)
		return rc;
	bytes = reg_dwarf_bytes(table, machine->reg);
	memcpy(to, file->bytes + bytes.offset,
	       size < bytes.size ? size : bytes.size);
	return 0;
}

/* One whose bytes were taken has a name. */
static const char *register_name(const struct machine *machine)
{
	const struct reg_table *table =
		recording_reg_table(machine->context->recording);

	return table->regs[table->dwarf_all[machine->reg]].name;
}

/* Bytes of what the machine has found, or of what is at its address. */
static int take_bytes(struct machine *machine, uint8_t *to, size_t size)
{
	uint64_t value = machine->depth ?
				 machine->stack[machine->depth - 1].bits : 0;

	switch (machine->place) {
	case AT_REGISTER:
		return take_register(machine, to, size);
	case AT_VALUE:
		memcpy(to, &value, size < sizeof(value) ? size :
							  sizeof(value));
		return 0;
	case AT_BYTES:
		memcpy(to, machine->bytes, size < machine->bytes_size ?
						   size : machine->bytes_size);
		return 0;
	case AT_ADDRESS:
		return context_read(machine->context, value, to, size,
				    machine->why);
	case AT_NOWHERE:
		break;
	}
	return 0;
}

static bool is_piece(const Dwarf_Op *op)
{
	return op->atom == DW_OP_piece || op->atom == DW_OP_bit_piece;
}

/* A variable of which parts are in different places. */
static int gather(struct machine *machine, const Dwarf_Op *ops, size_t count,
		  size_t size, struct location *out)
{
	size_t from = 0, at = 0;
	int rc = 0;

	out->is_absent = true;
	out->known = context_take(machine->context, size + 1);
	if (!out->known)
		return failed(machine->why, ERR_NO_MEMORY, "out of memory");
	for (size_t i = 0; i < count && !rc; i++) {
		size_t part = ops[i].number < size - at ?
				      (size_t)ops[i].number : size - at;

		if (!is_piece(&ops[i]))
			continue;
		if (ops[i].atom == DW_OP_bit_piece)
			return cannot(machine, "it is in bits of registers");
		machine->depth = 0;
		machine->place = AT_ADDRESS;
		rc = run(machine, ops + from, i - from);
		if (!rc && i > from && machine->place != AT_NOWHERE) {
			out->is_absent = false;
			memset(out->known + at, 1, part);
			rc = take_bytes(machine, out->bytes + at, part);
		}
		at += part;
		from = i + 1;
	}
	/* Of a value that callers must tell, gdb shows no part. */
	out->is_absent |= machine->has_no_entry;
	return rc;
}

static int place(struct machine *machine, const Dwarf_Op *ops, size_t count,
		 size_t size, struct location *out)
{
	int rc;

	if (size > BYTES_MOST)
		size = BYTES_MOST;
	out->bytes = context_take(machine->context, size + 32);
	if (!out->bytes)
		return failed(machine->why, ERR_NO_MEMORY, "out of memory");
	if (count && is_piece(&ops[count - 1]))
		return gather(machine, ops, count, size, out);
	rc = run(machine, ops, count);
	if (rc)
		return rc;
	if (!count || machine->place == AT_NOWHERE) {
		out->is_absent = true;
		out->pointed = machine->pointed;
		return 0;
	}
	if (machine->place != AT_ADDRESS)
		rc = take_bytes(machine, out->bytes, size);
	if (!rc && machine->place == AT_REGISTER)
		out->reg = register_name(machine);
	if (rc || machine->place != AT_ADDRESS)
		return rc;
	if (!machine->depth)
		return cannot(machine, "its location makes no sense");
	out->has_addr = true;
	out->addr = machine->stack[machine->depth - 1].bits;
	return 0;
}

/* A variable that is a constant has its value in the entry. */
static int constant(struct machine *machine, Dwarf_Attribute *attribute,
		    size_t size, struct location *out)
{
	Dwarf_Block block;
	Dwarf_Word word;
	Dwarf_Sword negative;
	const char *text;

	if (size > BYTES_MOST)
		size = BYTES_MOST;
	out->bytes = context_take(machine->context, size + 32);
	if (!out->bytes)
		return failed(machine->why, ERR_NO_MEMORY, "out of memory");
	if (!dwarf_formblock(attribute, &block)) {
		memcpy(out->bytes, block.data,
		       size < block.length ? size : block.length);
		return 0;
	}
	text = dwarf_formstring(attribute);
	if (text) {
		strncpy((char *)out->bytes, text, size);
		return 0;
	}
	if (dwarf_whatform(attribute) == DW_FORM_sdata &&
	    !dwarf_formsdata(attribute, &negative)) {
		memcpy(out->bytes, &negative, sizeof(negative));
		if (size > 8 && negative < 0)
			memset(out->bytes + 8, 0xff, size - 8);
		return 0;
	}
	if (dwarf_formudata(attribute, &word))
		return cannot(machine, "its value is not understood");
	memcpy(out->bytes, &word, sizeof(word));
	return 0;
}

/*
 * Compilers for AArch64 do not say where variables of each thread are: symbols
 * do.
 */
static bool is_of_threads(struct machine *machine, Dwarf_Die *variable,
			  uint64_t *inside)
{
	struct context *context = machine->context;
	const struct die_index *index = context_index(context, machine->module);
	const char *name = lines_linkage_name(variable);

	/* One that has no place in a function is not there. */
	return index && name && die_index_entry(index, variable) &&
	       lines_thread_symbol(context->lines, context->place.at.time,
				   machine->module->number, name, inside);
}

static int find_without(struct machine *machine, Dwarf_Die *variable,
			struct location *out)
{
	uint64_t inside;
	int rc;

	out->is_absent = true;
	if (!is_of_threads(machine, variable, &inside))
		return 0;
	rc = push(machine, inside);
	if (!rc)
		rc = thread_local(machine);
	if (!rc)
		*out = (struct location) {
			.has_addr = true, .addr = machine->stack[0].bits,
		};
	return rc;
}

static int find_place(struct context *context, Dwarf_Die *variable, size_t size,
		      struct location *out, struct failure *why)
{
	struct machine machine = {
		.context = context, .why = why,
		.module = context_module_of(context, variable),
	};
	const struct code_frame *frame;
	Dwarf_Attribute attribute;
	Dwarf_Op *ops;
	size_t count;
	int rc = 0;

	*out = (struct location) { 0 };
	if (!machine.module)
		return cannot(&machine, "its module is not mapped");
	if (dwarf_attr_integrate(variable, DW_AT_const_value, &attribute))
		return constant(&machine, &attribute, size, out);
	if (!dwarf_location(variable, DW_AT_location, &attribute))
		return find_without(&machine, variable, out);
	if (dwarf_fixed_address(variable, &out->addr)) {
		out->has_addr = true;
		out->addr += machine.module->bias;
		return 0;
	}
	machine.attribute = &attribute;
	if (!dwarf_getlocation(&attribute, &ops, &count))
		return place(&machine, ops, count, size, out);
	rc = context_frame(context, &frame, why);
	if (rc)
		return rc;
	if (dwarf_getlocation_addr(&attribute, frame->pc, &ops, &count, 1) != 1)
		out->is_absent = true;
	else
		rc = place(&machine, ops, count, size, out);
	return rc;
}

/* ------- what other modules know, too ------- */

static bool is_external(Dwarf_Die *variable)
{
	Dwarf_Attribute attribute;
	bool flag;

	return dwarf_attr_integrate(variable, DW_AT_external, &attribute) &&
	       !dwarf_formflag(&attribute, &flag) && flag;
}

/*
 * A library's variable is where the program has its copy (R_X86_64_COPY).  One
 * that is only declared, or has another name elsewhere, is where its symbol is.
 */
static void find_external(struct context *context, Dwarf_Die *variable,
			  struct location *out)
{
	const char *name = lines_linkage_name(variable);
	uint64_t t = context->place.at.time, addr, size;

	if (!name || !is_external(variable))
		return;
	if (!lines_own_variable(context->lines, t, name, &addr)) {
		if (!out->is_absent ||
		    names_find(lines_names(context->lines), t, name, &addr,
			       &size, NULL))
			return;
	}
	*out = (struct location) { .has_addr = true, .addr = addr };
}

int location_of(struct context *context, Dwarf_Die *variable, size_t size,
		struct location *out, struct failure *why)
{
	int rc = find_place(context, variable, size, out, why);

	if (!rc && (out->has_addr || (out->is_absent && !out->pointed)))
		find_external(context, variable, out);
	return rc;
}

int location_value_of(struct context *context, Dwarf_Attribute *attribute,
		      const uint64_t *start, struct location_value *out,
		      struct failure *why)
{
	struct machine machine = {
		.context = context, .why = why, .attribute = attribute,
		.module = context_module_with(context, dwarf_cu_getdwarf(
							       attribute->cu)),
	};
	Dwarf_Op *ops;
	size_t count;
	int rc;

	*out = (struct location_value) { 0 };
	if (!machine.module || dwarf_getlocation(attribute, &ops, &count))
		return cannot(&machine, "it is not understood");
	if (start)
		push(&machine, *start);
	rc = run(&machine, ops, count);
	if (!rc && (!machine.depth || machine.place == AT_NOWHERE))
		rc = cannot(&machine, "it is not understood");
	if (!rc)
		*out = machine.stack[machine.depth - 1];
	return rc;
}

int location_at_entry(struct context *context, Dwarf_Die *variable,
		      struct location_value *out, struct failure *why)
{
	struct entry_wanted wanted;
	int rc = entry_wanted_of(context, variable, &wanted, why);

	return rc ? rc : entry_value(context, &wanted, out, why);
}
