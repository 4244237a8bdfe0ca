/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * print_registers.c - see print_registers.h
 *
 * Source: how gdb 13 prints ("info all-registers"); of vectors, the views that
 * are asked for most.
 */
#include "tools/print_registers.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "tools/print.h"

/* ------- numbers with bits ------- */

static void print_flags(FILE *out, const char *const *names, uint64_t value)
{
	fputc('[', out);
	for (unsigned i = 0; names[i]; i++)
		if (value >> i & 1 && *names[i])
			fprintf(out, " %s", names[i]);
	fputs(" ]", out);
}

static void print_number(FILE *out, const struct reg_info *info,
			 uint64_t value)
{
	char hex[24];

	snprintf(hex, sizeof(hex), "0x%" PRIx64, value);
	fprintf(out, "%-19s ", hex);
	if (info->flags)
		print_flags(out, info->flags, value);
	else if (info->kind == REG_ADDRESS || info->kind == REG_CODE)
		fputs(hex, out);
	else
		fprintf(out, "%" PRId64, (int64_t)value);
}

/* ------- floating point ------- */

static void float_text(char *text, size_t room, long double value,
		       int digits, uint64_t mantissa)
{
	if (isnan(value))
		snprintf(text, room, "%snan(0x%" PRIx64 ")",
			 signbit(value) ? "-" : "", mantissa);
	else
		snprintf(text, room, "%.*Lg", digits, value);
}

static void print_float(FILE *out, const uint8_t *bytes, const char *raw)
{
	long double value = 0;
	uint64_t mantissa;
	char text[64];

	memcpy(&mantissa, bytes, sizeof(mantissa));
	memcpy(&value, bytes, 10);
	float_text(text, sizeof(text), value, LDBL_DECIMAL_DIG, mantissa);
	fprintf(out, "%-19s (raw %s)", text, raw);
}

/* ------- vectors ------- */

static void print_single(FILE *out, const uint8_t *bytes)
{
	uint32_t bits;
	float value;
	char text[64];

	memcpy(&bits, bytes, sizeof(bits));
	memcpy(&value, bytes, sizeof(value));
	float_text(text, sizeof(text), value, FLT_DECIMAL_DIG,
		   bits & 0x7fffff);
	fputs(text, out);
}

static void print_double(FILE *out, const uint8_t *bytes)
{
	uint64_t bits;
	double value;
	char text[64];

	memcpy(&bits, bytes, sizeof(bits));
	memcpy(&value, bytes, sizeof(value));
	float_text(text, sizeof(text), value, DBL_DECIMAL_DIG,
		   bits & 0xfffffffffffff);
	fputs(text, out);
}

static void print_int32(FILE *out, const uint8_t *bytes)
{
	int32_t value;

	memcpy(&value, bytes, sizeof(value));
	fprintf(out, "%" PRId32, value);
}

static void print_int64(FILE *out, const uint8_t *bytes)
{
	int64_t value;

	memcpy(&value, bytes, sizeof(value));
	fprintf(out, "%" PRId64, value);
}

static const struct {
	const char *name;
	unsigned size;
	void (*print)(FILE *out, const uint8_t *bytes);
} views[] = {
	{ "float", 4, print_single },
	{ "double", 8, print_double },
	{ "int32", 4, print_int32 },
	{ "int64", 8, print_int64 },
};

static void print_vector(FILE *out, const uint8_t *bytes, unsigned size,
			 const char *raw)
{
	fputc('{', out);
	for (size_t i = 0; i < sizeof(views) / sizeof(*views); i++) {
		fprintf(out, "v%u_%s = {", size / views[i].size, views[i].name);
		for (unsigned at = 0; at < size; at += views[i].size) {
			fputs(at ? ", " : "", out);
			views[i].print(out, bytes + at);
		}
		fputs("}, ", out);
	}
	fprintf(out, "uint%u = %s}", 8 * size, raw);
}

/* What is part of a vector, and too small for all the views of one. */
static void print_small(FILE *out, const uint8_t *bytes, unsigned size,
			const char *raw)
{
	fprintf(out, "%-19s ", raw);
	if (size == sizeof(float)) {
		print_single(out, bytes);
		fputs(", ", out);
		print_int32(out, bytes);
	}
}

void print_register(FILE *out, const struct reg_info *info,
		    const struct reg_file *file)
{
	const uint8_t *bytes = file->bytes + info->offset;
	uint64_t number = 0;
	char raw[REGISTER_TEXT];

	register_text(raw, info, file);
	if (info->size <= sizeof(number))
		memcpy(&number, bytes, info->size);
	if (info->kind == REG_FLOAT)
		print_float(out, bytes, raw);
	else if (info->kind == REG_VECTOR && info->size < 8)
		print_small(out, bytes, info->size, raw);
	else if (info->kind == REG_VECTOR)
		print_vector(out, bytes, info->size, raw);
	else
		print_number(out, info, number);
}
