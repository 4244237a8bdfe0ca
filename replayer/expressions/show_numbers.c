/* SPDX-License-Identifier: GPL-2.0-or-later */
/* show_numbers.c - numbers, as gdb prints them */
#include <dwarf.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "formats/error.h"
#include "replayer/expressions/dies.h"
#include "replayer/expressions/show_internal.h"

static void write_decimal(FILE *out, __int128 value, bool is_signed)
{
	unsigned __int128 rest = (unsigned __int128)value;
	char digits[48];
	size_t at = sizeof(digits);

	if (is_signed && value < 0) {
		fputc('-', out);
		rest = -rest;
	}
	do {
		digits[--at] = (char)('0' + (int)(rest % 10));
		rest /= 10;
	} while (rest);
	fwrite(digits + at, 1, sizeof(digits) - at, out);
}

/* ------- characters ------- */

void show_escaped(FILE *out, const struct type *type, uint32_t c, char quote)
{
	static const char letters[] = "\aa\bb\ff\nn\rr\tt\vv";

	if (c == (uint32_t)(unsigned char)quote || c == '\\') {
		fprintf(out, "\\%c", (char)c);
		return;
	}
	if (0x20 <= c && c < 0x7f) {
		fputc((int)c, out);
		return;
	}
	for (size_t i = 0; i + 1 < sizeof(letters); i += 2) {
		if (c && c == (uint32_t)letters[i]) {
			fprintf(out, "\\%c", letters[i + 1]);
			return;
		}
	}
	if (c < 0x100 || type->size == 1)
		fprintf(out, "\\%03o", c & 0xff);
	else if (c < 0x800)
		fprintf(out, "%c%c", 0xc0 | c >> 6, 0x80 | (c & 0x3f));
	else if (c < 0x10000 && (c < 0xd800 || c > 0xdfff))
		fprintf(out, "%c%c%c", 0xe0 | c >> 12, 0x80 | (c >> 6 & 0x3f),
			0x80 | (c & 0x3f));
	else if (c < 0x110000 && c >= 0x10000)
		fprintf(out, "%c%c%c%c", 0xf0 | c >> 18,
			0x80 | (c >> 12 & 0x3f), 0x80 | (c >> 6 & 0x3f),
			0x80 | (c & 0x3f));
	else
		fprintf(out, "\\%03o", c);
}

void show_character(struct shower *shower, const struct type *type, uint32_t c)
{
	if (type->prefix)
		fputc(type->prefix, shower->out);
	fputc('\'', shower->out);
	show_escaped(shower->out, type, type->size == 1 ? c & 0xff : c, '\'');
	fputc('\'', shower->out);
}

void show_integer(struct shower *shower, const struct value *value)
{
	const struct type *type = value->type;
	__int128 bits = value_bits(value);

	if (type->kind == TYPE_BOOL && (bits == 0 || bits == 1)) {
		fputs(bits ? "true" : "false", shower->out);
		return;
	}
	write_decimal(shower->out, bits, type->is_signed);
	if (type->is_char) {
		fputc(' ', shower->out);
		show_character(shower, type, (uint32_t)bits);
	}
}

/* ------- floating point ------- */

static void write_nan(FILE *out, const struct type *type, const uint8_t *bytes)
{
	uint64_t bits = 0;
	bool negative;

	memcpy(&bits, bytes, type->size < 8 ? type->size : 8);
	if (type->size == 2) {
		negative = bits >> 15;
		bits &= type->is_brain ? 0x7f : 0x3ff;
	} else if (type->size == 4) {
		negative = bits >> 31;
		bits &= 0x7fffff;
	} else if (type->size == 8) {
		negative = bits >> 63;
		bits &= UINT64_MAX >> 12;
	} else {
		negative = bytes[type->types->has_quads ? 15 : 9] >> 7;
	}
	fprintf(out, "%snan(0x%" PRIx64 ")", negative ? "-" : "", bits);
}

/*
 * Whether 80 bits of the x87 are a number, as gdb has it: the integer bit is set,
 * except in zeroes and denormals.
 * Source: Intel SDM, volume 1, 8.2.2 (unsupported encodings).
 */
static bool is_valid_float(const struct type *type, const uint8_t *bytes)
{
	bool has_exponent, has_integer;

	if (type->size < 10 || (type->types && type->types->has_quads))
		return true;
	has_exponent = bytes[8] || bytes[9] & 0x7f;
	has_integer = bytes[7] >> 7;
	return has_exponent == has_integer;
}

/* So many tell all numbers of a type apart. */
static int float_digits(const struct type *type)
{
	switch (type->size) {
	case 2:
		return type->is_brain ? 4 : 5;
	case 4:
		return 9;
	case 8:
		return 17;
	default:
		return 21;
	}
}

static void write_float(FILE *out, const struct type *type,
			const uint8_t *bytes)
{
	long double large = value_float(type, bytes);

	if (!is_valid_float(type, bytes))
		fputs("<invalid float value>", out);
	else if (isnan(large))
		write_nan(out, type, bytes);
	else
		fprintf(out, "%.*Lg", float_digits(type), large);
}

void show_float(struct shower *shower, const struct value *value)
{
	const struct type *type = value->type;
	struct type half = { .kind = TYPE_FLOAT, .size = type->size / 2,
			     .types = type->types };

	if (type->kind != TYPE_COMPLEX) {
		write_float(shower->out, type, value->bytes);
		return;
	}
	write_float(shower->out, &half, value->bytes);
	fputs(" + ", shower->out);
	write_float(shower->out, &half, value->bytes + half.size);
	fputc('i', shower->out);
}

/* ------- enumerations ------- */

struct enumerators {
	Dwarf_Die child;
	bool has_begun;
};

static bool next_enumerator(struct enumerators *walk, const struct type *type,
			    Dwarf_Die *out, __int128 *value)
{
	Dwarf_Attribute attribute;
	Dwarf_Sword negative;
	Dwarf_Word number;

	for (;;) {
		if (!walk->has_begun ?
			    dwarf_child((Dwarf_Die *)&type->die, out) :
			    die_sibling(&walk->child, out))
			return false;
		walk->has_begun = true;
		walk->child = *out;
		if (dwarf_tag(out) != DW_TAG_enumerator ||
		    !dwarf_attr(out, DW_AT_const_value, &attribute))
			continue;
		if (type->is_signed && !dwarf_formsdata(&attribute, &negative))
			*value = negative;
		else if (!dwarf_formudata(&attribute, &number))
			*value = number;
		else
			continue;
		return true;
	}
}

static void write_enumerator(struct shower *shower, const struct type *type,
			     Dwarf_Die *enumerator)
{
	struct types *types = type->types;
	char text[1024];

	if (type->language != LANGUAGE_C && types->qualify &&
	    types->qualify(types->context, enumerator, text, sizeof(text)))
		fputs(text, shower->out);
	else
		fputs(dwarf_diename(enumerator), shower->out);
}

/* Each value is some neighbouring bits, or nothing.  gdb takes one with the
 * highest of 64 bits for negative. */
static bool is_flags(const struct type *type)
{
	struct enumerators walk = { 0 };
	Dwarf_Die die;
	__int128 value;
	bool any = false;

	while (next_enumerator(&walk, type, &die, &value)) {
		uint64_t bits = (uint64_t)value;

		if (value < 0 || value > INT64_MAX)
			return false;
		if (!bits)
			continue;
		bits >>= __builtin_ctzll(bits);
		if (bits & (bits + 1))
			return false;
		any = true;
	}
	return any;
}

static void show_flags(struct shower *shower, const struct type *type,
		       uint64_t bits)
{
	struct enumerators walk = { 0 };
	Dwarf_Die die;
	__int128 value;
	bool any = false;

	while (next_enumerator(&walk, type, &die, &value)) {
		uint64_t flag = (uint64_t)value;

		if (!flag || (bits & flag) != flag)
			continue;
		fputs(any ? " | " : "(", shower->out);
		write_enumerator(shower, type, &die);
		bits &= ~flag;
		any = true;
	}
	if (bits)
		fprintf(shower->out, "%sunknown: 0x%" PRIx64,
			any ? " | " : "(", bits);
	if (any || bits)
		fputc(')', shower->out);
	else
		fputc('0', shower->out);
}

void show_enum(struct shower *shower, const struct value *value)
{
	const struct type *type = value->type;
	struct enumerators walk = { 0 };
	__int128 bits = value_bits(value), number;
	Dwarf_Die die;

	while (next_enumerator(&walk, type, &die, &number)) {
		if (number != bits)
			continue;
		write_enumerator(shower, type, &die);
		return;
	}
	if (is_flags(type))
		show_flags(shower, type, (uint64_t)bits);
	else
		write_decimal(shower->out, bits, type->is_signed);
}

/* ------- as asked for ------- */

/* Digits of one bit are binary, of three octal. */
static void write_digits(FILE *out, unsigned __int128 bits, unsigned each)
{
	char digits[128];
	size_t at = sizeof(digits);

	do {
		digits[--at] = (char)('0' + ((unsigned)bits &
					     ((1u << each) - 1)));
		bits >>= each;
	} while (bits);
	fwrite(digits + at, 1, sizeof(digits) - at, out);
}

static void write_hexadecimal(FILE *out, unsigned __int128 bits)
{
	if (bits >> 64)
		fprintf(out, "0x%" PRIx64 "%016" PRIx64, (uint64_t)(bits >> 64),
			(uint64_t)bits);
	else
		fprintf(out, "0x%" PRIx64, (uint64_t)bits);
}

/* The bits of the value, without its sign; of some bits, as in its type. */
static unsigned __int128 plain_bits(const struct value *value)
{
	size_t size = value->type->size * 8;
	unsigned __int128 bits = (unsigned __int128)value_bits(value);

	return size < 128 ? bits & (((unsigned __int128)1 << size) - 1) : bits;
}

static __int128 signed_bits(const struct value *value)
{
	unsigned __int128 bits = plain_bits(value);
	size_t size = value->type->size * 8;

	if (!size || size >= 128)
		return (__int128)bits;
	return (__int128)(bits << (128 - size)) >> (128 - size);
}

/* As a number of 8 bytes; a floating-point number is rounded to zero. */
static int64_t whole_bits(const struct value *value)
{
	long double real;

	if (value->type->kind != TYPE_FLOAT)
		return (int64_t)value_bits(value);
	real = value_float(value->type, value->bytes);
	if (real >= 0x1p63L)
		return INT64_MAX;
	return real > -0x1p63L ? (int64_t)real : INT64_MIN;
}

/* The lowest byte, with the sign that the type has. */
static void show_byte(struct shower *shower, const struct value *value)
{
	struct type type = { .kind = TYPE_INT, .size = 1, .is_char = true,
			     .is_signed = value->type->is_signed ||
					  value->type->kind == TYPE_FLOAT };
	uint8_t byte = (uint8_t)whole_bits(value);
	struct value low = { .type = &type, .bytes = &byte };

	show_integer(shower, &low);
}

static void show_place(struct shower *shower, const struct value *value)
{
	uint64_t addr = (uint64_t)whole_bits(value);

	write_hexadecimal(shower->out, addr);
	show_symbol(shower, addr, " ");
}

static void write_as_float(struct shower *shower, const struct value *value)
{
	struct type type = { .kind = TYPE_FLOAT, .size = value->type->size };
	struct value real = { .type = &type, .bytes = value->bytes };

	if (value->bit_size || (type.size != 4 && type.size != 8 &&
				type.size != 16 && type.size != 10))
		show_integer(shower, value);
	else
		show_float(shower, &real);
}

int show_formatted(struct shower *shower, const struct value *value)
{
	FILE *out = shower->out;
	unsigned __int128 bits = plain_bits(value);

	if (strchr("ca", shower->format) && value->type->size > 8 &&
	    value->type->kind != TYPE_FLOAT)
		return failed(shower->why, ERR_INPUT, "the format '%c' is for"
			      " numbers of at most 8 bytes", shower->format);
	switch (shower->format) {
	case 'x':
		write_hexadecimal(out, bits);
		break;
	case 't':
		write_digits(out, bits, 1);
		break;
	case 'o':
		fputs(bits ? "0" : "", out);
		write_digits(out, bits, 3);
		break;
	case 'u':
		write_decimal(out, (__int128)bits, false);
		break;
	case 'd':
		write_decimal(out, signed_bits(value), true);
		break;
	case 'c':
		show_byte(shower, value);
		break;
	case 'a':
		show_place(shower, value);
		break;
	case 'f':
		write_as_float(shower, value);
		break;
	}
	return 0;
}
