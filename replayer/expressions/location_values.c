/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * location_values.c - see location_values.h
 *
 * Source: DWARF 5, 2.5.1.4 (arithmetic) and 2.5.1.6 (types).  Operands of the
 * generic type are signed where it matters, but for DW_OP_mod.
 */
#include "replayer/expressions/location_values.h"

#include <dwarf.h>

bool location_is_register(const Dwarf_Op *op, uint64_t *number)
{
	if (op->atom == DW_OP_regx)
		*number = op->number;
	else
		*number = (uint64_t)op->atom - DW_OP_reg0;
	return op->atom == DW_OP_regx ||
	       (DW_OP_reg0 <= op->atom && op->atom <= DW_OP_reg31);
}

struct location_value location_value_as(struct location_value value,
					struct location_type type)
{
	unsigned cut = type.size ? 64 - 8 * type.size : 0;
	uint64_t bits = value.bits << cut;

	return (struct location_value) {
		.bits = type.is_signed ? (uint64_t)((int64_t)bits >> cut) :
					 bits >> cut,
		.type = type,
	};
}

bool location_unary(unsigned atom, struct location_value *value)
{
	struct location_value result = *value;

	if (value->type.is_float)
		return false;
	switch (atom) {
	case DW_OP_neg:
		result.bits = -value->bits;
		break;
	case DW_OP_not:
		result.bits = ~value->bits;
		break;
	case DW_OP_abs:
		if ((int64_t)value->bits < 0 &&
		    (!value->type.size || value->type.is_signed))
			result.bits = -value->bits;
		break;
	default:
		return false;
	}
	*value = location_value_as(result, value->type);
	return true;
}

static bool divide(unsigned atom, bool is_unsigned, uint64_t a, uint64_t b,
		   uint64_t *out)
{
	int64_t left = (int64_t)a, right = (int64_t)b;

	if (!b || (!is_unsigned && left == INT64_MIN && right == -1))
		return false;
	if (is_unsigned)
		*out = atom == DW_OP_div ? a / b : a % b;
	else
		*out = (uint64_t)(atom == DW_OP_div ? left / right :
						      left % right);
	return true;
}

/* The truth is of the generic type. */
static bool compare(unsigned atom, bool is_unsigned, uint64_t a, uint64_t b,
		    struct location_value *out)
{
	bool is_less = is_unsigned ? a < b : (int64_t)a < (int64_t)b;
	bool is;

	switch (atom) {
	case DW_OP_eq: is = a == b; break;
	case DW_OP_ne: is = a != b; break;
	case DW_OP_lt: is = is_less; break;
	case DW_OP_le: is = is_less || a == b; break;
	case DW_OP_gt: is = !is_less && a != b; break;
	case DW_OP_ge: is = !is_less; break;
	default: return false;
	}
	*out = (struct location_value) { .bits = is };
	return true;
}

bool location_binary(unsigned atom, const struct location_value *left,
		     const struct location_value *right,
		     struct location_value *out)
{
	const struct location_type type = left->type,
				   bare = { .size = type.size };
	bool is_unsigned = type.size && !type.is_signed;
	uint64_t a = left->bits, b = right->bits;
	struct location_value result = { .type = type };

	if (type.is_float)
		return false;
	if (compare(atom, is_unsigned, a, b, out))
		return true;
	switch (atom) {
	case DW_OP_and: result.bits = a & b; break;
	case DW_OP_or: result.bits = a | b; break;
	case DW_OP_xor: result.bits = a ^ b; break;
	case DW_OP_plus: result.bits = a + b; break;
	case DW_OP_minus: result.bits = a - b; break;
	case DW_OP_mul: result.bits = a * b; break;
	case DW_OP_shl: result.bits = b < 64 ? a << b : 0; break;
	case DW_OP_shr:
		a = location_value_as(*left, bare).bits;
		result.bits = b < 64 ? a >> b : 0;
		break;
	case DW_OP_shra:
		result.bits = (uint64_t)((int64_t)a >> (b < 64 ? b : 63));
		break;
	case DW_OP_div:
		if (!divide(atom, is_unsigned, a, b, &result.bits))
			return false;
		break;
	case DW_OP_mod:
		if (!divide(atom, is_unsigned || !type.size, a, b,
			    &result.bits))
			return false;
		break;
	default:
		return false;
	}
	*out = location_value_as(result, type);
	return true;
}
