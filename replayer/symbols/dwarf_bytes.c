/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * dwarf_bytes.c - see dwarf_bytes.h
 *
 * Source: DWARF 5, 7.5 and 7.7; for version 4, GCC's wiki, "DebugFission".
 */
#include "replayer/symbols/dwarf_bytes.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "formats/array.h"
#include "formats/error.h"

/* ------- LEB128 ------- */

static uint64_t take_leb(struct input *in, unsigned *shift, uint8_t *last)
{
	uint64_t value = 0;

	*shift = 0;
	do {
		*last = (uint8_t)input_uint(in, 1);
		if (*shift < 64)
			value |= (uint64_t)(*last & 0x7f) << *shift;
		*shift += *shift < 64 ? 7 : 0;
	} while (*last & 0x80 && !in->error);
	return value;
}

uint64_t dwarf_take_uleb(struct input *in)
{
	unsigned shift;
	uint8_t last;

	return take_leb(in, &shift, &last);
}

int64_t dwarf_take_sleb(struct input *in)
{
	unsigned shift;
	uint8_t last;
	uint64_t value = take_leb(in, &shift, &last);

	if (last & 0x40 && shift < 64)
		value |= UINT64_MAX << shift;
	return (int64_t)value;
}

void dwarf_put_sleb(struct output *out, int64_t value)
{
	bool is_last;

	do {
		uint8_t byte = value & 0x7f;

		value >>= 7;
		is_last = value == (byte & 0x40 ? -1 : 0);
		output_uint(out, byte | (is_last ? 0 : 0x80u), 1);
	} while (!is_last);
}

/* ------- abbreviations ------- */

static void take_declaration(struct input *in, struct abbrev *out)
{
	uint64_t name, form;

	out->tag = dwarf_take_uleb(in);
	out->has_children = input_uint(in, 1);
	out->attributes = in->at;
	do {
		name = dwarf_take_uleb(in);
		form = dwarf_take_uleb(in);
		if (form == DW_FORM_implicit_const)
			dwarf_take_sleb(in);
	} while ((name || form) && !in->error);
	out->end = in->at;
}

static int compare(const void *left, const void *right)
{
	const struct abbrev *a = left, *b = right;

	return (a->code > b->code) - (a->code < b->code);
}

int abbrevs_read(struct abbrevs *out, struct input table)
{
	for (;;) {
		struct abbrev one = { .start = table.at };

		one.code = dwarf_take_uleb(&table);
		if (!one.code)
			break;
		take_declaration(&table, &one);
		if (table.error)
			break;
		if (array_room(out->list, out->count, out->room))
			return ERR_NO_MEMORY;
		out->list[out->count++] = one;
	}
	if (out->count)
		qsort(out->list, out->count, sizeof(*out->list), compare);
	for (size_t i = 1; i < out->count; i++)
		if (out->list[i].code == out->list[i - 1].code)
			return ERR_CORRUPT;
	return table.error;
}

const struct abbrev *abbrevs_find(const struct abbrevs *abbrevs, uint64_t code)
{
	const struct abbrev wanted = { .code = code };

	return abbrevs->count ? bsearch(&wanted, abbrevs->list, abbrevs->count,
					sizeof(*abbrevs->list), compare) : NULL;
}

void abbrevs_release(struct abbrevs *abbrevs)
{
	free(abbrevs->list);
	*abbrevs = (struct abbrevs){ 0 };
}

/* ------- values ------- */

/* How many bytes one has of a form; -1 if they say it themselves. */
static int size_of(uint64_t form, const struct dwarf_shape *shape)
{
	switch (form) {
	case DW_FORM_flag_present:
	case DW_FORM_implicit_const:
		return 0;
	case DW_FORM_data1:
	case DW_FORM_ref1:
	case DW_FORM_flag:
	case DW_FORM_strx1:
	case DW_FORM_addrx1:
		return 1;
	case DW_FORM_data2:
	case DW_FORM_ref2:
	case DW_FORM_strx2:
	case DW_FORM_addrx2:
		return 2;
	case DW_FORM_strx3:
	case DW_FORM_addrx3:
		return 3;
	case DW_FORM_data4:
	case DW_FORM_ref4:
	case DW_FORM_strx4:
	case DW_FORM_addrx4:
	case DW_FORM_strp:
	case DW_FORM_line_strp:
	case DW_FORM_sec_offset:
	case DW_FORM_ref_addr:
	case DW_FORM_strp_sup:
	case DW_FORM_ref_sup4:
	case DW_FORM_GNU_ref_alt:
	case DW_FORM_GNU_strp_alt:
		return 4;
	case DW_FORM_data8:
	case DW_FORM_ref8:
	case DW_FORM_ref_sig8:
	case DW_FORM_ref_sup8:
		return 8;
	case DW_FORM_data16:
		return 16;
	case DW_FORM_addr:
		return (int)shape->word;
	default:
		return -1;
	}
}

static void pass_value(struct input *in, uint64_t form,
		       const struct dwarf_shape *shape)
{
	int size = size_of(form, shape);

	if (size >= 0) {
		input_bytes(in, (uint64_t)size);
		return;
	}
	switch (form) {
	case DW_FORM_block1:
		input_bytes(in, input_uint(in, 1));
		break;
	case DW_FORM_block2:
		input_bytes(in, input_uint(in, 2));
		break;
	case DW_FORM_block4:
		input_bytes(in, input_uint(in, 4));
		break;
	case DW_FORM_block:
	case DW_FORM_exprloc:
		input_bytes(in, dwarf_take_uleb(in));
		break;
	case DW_FORM_string:
		while (input_uint(in, 1) && !in->error)
			;
		break;
	case DW_FORM_sdata:
	case DW_FORM_udata:
	case DW_FORM_ref_udata:
	case DW_FORM_strx:
	case DW_FORM_addrx:
	case DW_FORM_loclistx:
	case DW_FORM_rnglistx:
	case DW_FORM_GNU_addr_index:
	case DW_FORM_GNU_str_index:
		dwarf_take_uleb(in);
		break;
	default:
		in->error = ERR_CORRUPT;
	}
}

void dwarf_each_attribute(struct input *in, const struct abbrev *abbrev,
			  const struct dwarf_shape *shape,
			  void (*visit)(void *context,
					const struct dwarf_attribute *attribute),
			  void *context)
{
	struct input list = { abbrev->attributes, abbrev->end, 0 };

	for (;;) {
		struct dwarf_attribute one = { .name = dwarf_take_uleb(&list) };

		one.form = dwarf_take_uleb(&list);
		if (one.form == DW_FORM_implicit_const)
			one.constant = dwarf_take_sleb(&list);
		if (!one.name && !one.form)
			return;
		if (one.form == DW_FORM_indirect)
			one.form = dwarf_take_uleb(in);
		one.bytes = in->at;
		pass_value(in, one.form, shape);
		if (in->error)
			return;
		one.size = (size_t)(in->at - one.bytes);
		visit(context, &one);
	}
}

bool dwarf_constant(const struct dwarf_attribute *attribute, uint64_t *out)
{
	struct input in = { attribute->bytes,
			    attribute->bytes + attribute->size, 0 };

	switch (attribute->form) {
	case DW_FORM_data1:
	case DW_FORM_data2:
	case DW_FORM_data4:
	case DW_FORM_data8:
	case DW_FORM_sec_offset:
	case DW_FORM_flag:
		*out = input_uint(&in, (unsigned)attribute->size);
		return true;
	case DW_FORM_udata:
	case DW_FORM_loclistx:
		*out = dwarf_take_uleb(&in);
		return true;
	case DW_FORM_implicit_const:
		*out = (uint64_t)attribute->constant;
		return true;
	case DW_FORM_flag_present:
		*out = 1;
		return true;
	default:
		return false;
	}
}

/* ------- expressions ------- */

/* Operands of an operation, which is not one with an offset. */
static void pass_operands(struct input *in, unsigned operation,
			  const struct dwarf_shape *shape)
{
	switch (operation) {
	case DW_OP_addr:
		input_bytes(in, shape->word);
		break;
	case DW_OP_const1u:
	case DW_OP_const1s:
	case DW_OP_pick:
	case DW_OP_deref_size:
	case DW_OP_xderef_size:
		input_bytes(in, 1);
		break;
	case DW_OP_const2u:
	case DW_OP_const2s:
	case DW_OP_skip:
	case DW_OP_bra:
	case DW_OP_call2:
		input_bytes(in, 2);
		break;
	case DW_OP_const4u:
	case DW_OP_const4s:
	case DW_OP_call4:
	case DW_OP_GNU_parameter_ref:
		input_bytes(in, 4);
		break;
	case DW_OP_const8u:
	case DW_OP_const8s:
		input_bytes(in, 8);
		break;
	case DW_OP_regval_type:
	case DW_OP_GNU_regval_type:
	case DW_OP_bregx:
	case DW_OP_bit_piece:
		dwarf_take_uleb(in);
		dwarf_take_uleb(in);
		break;
	case DW_OP_deref_type:
	case DW_OP_GNU_deref_type:
	case DW_OP_xderef_type:
		input_bytes(in, 1);
		dwarf_take_uleb(in);
		break;
	case DW_OP_const_type:
	case DW_OP_GNU_const_type:
		dwarf_take_uleb(in);
		input_bytes(in, input_uint(in, 1));
		break;
	case DW_OP_implicit_value:
		input_bytes(in, dwarf_take_uleb(in));
		break;
	/* What these two hold is an expression, too. */
	case DW_OP_entry_value:
	case DW_OP_GNU_entry_value:
	case DW_OP_constu:
	case DW_OP_consts:
	case DW_OP_plus_uconst:
	case DW_OP_regx:
	case DW_OP_fbreg:
	case DW_OP_piece:
	case DW_OP_addrx:
	case DW_OP_GNU_addr_index:
	case DW_OP_constx:
	case DW_OP_GNU_const_index:
	case DW_OP_convert:
	case DW_OP_GNU_convert:
	case DW_OP_reinterpret:
	case DW_OP_GNU_reinterpret:
		dwarf_take_uleb(in);
		break;
	default:
		if (operation >= DW_OP_breg0 && operation <= DW_OP_breg31)
			dwarf_take_uleb(in);
	}
}

/* Whether it has no operands, or those that are known. */
static bool is_known(unsigned operation)
{
	return (operation >= DW_OP_addr && operation <= DW_OP_reinterpret) ||
	       operation == DW_OP_GNU_push_tls_address ||
	       operation == DW_OP_GNU_uninit ||
	       (operation >= DW_OP_GNU_entry_value &&
		operation <= DW_OP_GNU_parameter_ref) ||
	       operation == DW_OP_GNU_addr_index ||
	       operation == DW_OP_GNU_const_index;
}

static bool has_offset(unsigned operation)
{
	return operation == DW_OP_call_ref ||
	       operation == DW_OP_implicit_pointer ||
	       operation == DW_OP_GNU_implicit_pointer ||
	       operation == DW_OP_GNU_variable_value;
}

void dwarf_each_offset(struct input in, const struct dwarf_shape *shape,
		       void (*visit)(void *context, const uint8_t *offset),
		       void *context)
{
	while (input_left(&in) && !in.error) {
		unsigned operation = (unsigned)input_uint(&in, 1);
		const uint8_t *offset;

		if (!has_offset(operation)) {
			if (!is_known(operation))
				return;
			pass_operands(&in, operation, shape);
			continue;
		}
		offset = input_bytes(&in, 4);
		if (offset)
			visit(context, offset);
		if (operation == DW_OP_implicit_pointer ||
		    operation == DW_OP_GNU_implicit_pointer)
			dwarf_take_sleb(&in);
	}
}
