/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * test_x86_length.c - lengths of instructions, against Capstone
 *
 * All bytes that instructions can begin with, and the code of a large library
 * of the machine.
 */
#include <capstone/capstone.h>
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/table.h"
#include "vm/arch/x86/insn.h"

static size_t length_of(const uint8_t *code, size_t left)
{
	struct x86_parts insn;

	x86_take_apart(false, code, left, &insn);
	return insn.size;
}

static csh decoder, decoder_32;

static size_t expected(const uint8_t *code, size_t size)
{
	static cs_insn *insn;
	uint64_t pc = 0x1000;
	const uint8_t *at = code;

	if (!insn)
		insn = cs_malloc(decoder);
	return cs_disasm_iter(decoder, &at, &size, &pc, insn) ?
		       (size_t)(at - code) : 0;
}

static void differ(const uint8_t *code, size_t found, size_t wanted)
{
	char text[3 * X86_INSN_MOST + 1];

	for (unsigned i = 0; i < X86_INSN_MOST; i++)
		snprintf(text + 3 * i, 4, " %02x", code[i]);
	fail_msg("length %u, not %u:%s", (unsigned)found, (unsigned)wanted,
		 text);
}

/* Capstone 4 is wrong with 66 before F2 or F3, and 67 before REX.W. */
static bool is_misread(const uint8_t *code)
{
	return (code[0] == 0x66 && (code[1] == 0xf2 || code[1] == 0xf3)) ||
	       (code[0] == 0x67 && (code[1] & 0xf8) == 0x48);
}

struct row {
	const char *name;
	const uint8_t start[4];
	unsigned size;
};

static const struct row rows[] = {
	{ "no prefix", { 0 }, 0 },
	{ "operand size", { 0x66 }, 1 },
	{ "address size", { 0x67 }, 1 },
	{ "segment", { 0x64 }, 1 },
	{ "repeated", { 0xf3 }, 1 },
	{ "repeated, the other", { 0xf2 }, 1 },
	{ "locked", { 0xf0 }, 1 },
	{ "wide", { 0x48 }, 1 },
	{ "high registers", { 0x45 }, 1 },
	{ "wide with operand size", { 0x66, 0x48 }, 2 },
	{ "0f", { 0x0f }, 1 },
	{ "66 0f", { 0x66, 0x0f }, 2 },
	{ "f2 0f", { 0xf2, 0x0f }, 2 },
	{ "f3 0f", { 0xf3, 0x0f }, 2 },
	{ "48 0f", { 0x48, 0x0f }, 2 },
	{ "0f 38", { 0x0f, 0x38 }, 2 },
	{ "66 0f 38", { 0x66, 0x0f, 0x38 }, 3 },
	{ "f2 0f 38", { 0xf2, 0x0f, 0x38 }, 3 },
	{ "0f 3a", { 0x0f, 0x3a }, 2 },
	{ "66 0f 3a", { 0x66, 0x0f, 0x3a }, 3 },
};

/* Whatever the decoder knows and is no prefix, with each ModRM and some SIB. */
static void opcodes(void **state)
{
	static const uint8_t sibs[] = { 0x00, 0x25, 0x65, 0xff };
	const struct row *row = *state;
	uint8_t code[X86_INSN_MOST + 1];

	for (unsigned i = 0; i < 256 * 256 * sizeof(sibs); i++) {
		size_t found, wanted;

		memset(code, 0x11, sizeof(code));
		memcpy(code, row->start, row->size);
		code[row->size] = (uint8_t)(i >> 8);
		code[row->size + 1] = (uint8_t)i;
		code[row->size + 2] = sibs[i >> 16];
		wanted = expected(code, X86_INSN_MOST);
		found = length_of(code, X86_INSN_MOST);
		if (found && wanted && found != wanted && !is_misread(code))
			differ(code, found, wanted);
	}
}

static void cut(void **state)
{
	static const uint8_t code[][X86_INSN_MOST + 1] = {
		{ 1, 0xc3 }, { 5, 0xe8, 1, 2, 3, 4 },
		{ 10, 0x48, 0xb8, 1, 2, 3, 4, 5, 6, 7, 8 },
		{ 11, 0x48, 0x81, 0x84, 0x24, 1, 2, 3, 4, 1, 2, 3 + 1 },
		{ 4, 0xf3, 0x0f, 0x1e, 0xfa },
		{ 6, 0x66, 0x0f, 0x3a, 0x0f, 0xc1, 8 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(code); i++) {
		size_t length = code[i][0] + (i == 3);

		assert_int_equal(length_of(code[i] + 1, length), length);
		for (size_t left = 0; left < length; left++)
			assert_int_equal(length_of(code[i] + 1, left), 0);
	}
}

/* What is left to a disassembler. */
static void rare(void **state)
{
	static const uint8_t code[][X86_INSN_MOST] = {
		{ 0xc5, 0xf8, 0x77 }, { 0xc4, 0xe2, 0x79, 0x18, 0 },
		{ 0x62, 0xf1, 0x7c, 0x48, 0x58, 0xc0 }, { 0x06 },
		{ 0x48, 0xf0, 0x0f, 0xb1, 0x11 }, { 0x66, 0xe8, 0, 0, 0, 0 },
		{ 0x0f, 0x0f, 0xc0, 0x9e }, { 0x8f, 0xe8, 0x78, 0xa2 },
		{ 0xa1, 1, 2, 3, 4, 5, 6, 7, 8 }, { 0x0f, 0xff },
		{ 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66,
		  0x66, 0x66, 0x66, 0x66, 0x66 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(code); i++)
		assert_int_equal(length_of(code[i], X86_INSN_MOST), 0);
}

static uint8_t *load(const char *path, size_t *size)
{
	FILE *file = fopen(path, "rb");
	uint8_t *bytes;

	assert_non_null(file);
	fseek(file, 0, SEEK_END);
	*size = (size_t)ftell(file);
	rewind(file);
	bytes = calloc(1, *size + X86_INSN_MOST);
	assert_non_null(bytes);
	assert_int_equal(fread(bytes, 1, *size, file), *size);
	fclose(file);
	return bytes;
}

/* The file of the C library that the test itself uses. */
static const char *c_library(void)
{
	static char line[4096];
	FILE *maps = fopen("/proc/self/maps", "r");
	char *path = NULL;

	assert_non_null(maps);
	while (!path && fgets(line, sizeof(line), maps))
		if (strstr(line, "/libc.so"))
			path = strchr(line, '/');
	fclose(maps);
	assert_non_null(path);
	path[strcspn(path, "\n")] = 0;
	return path;
}

/* All its executable bytes, one instruction after another. */
static void whole_program(void **state)
{
	size_t size, seen = 0, known = 0;
	uint8_t *bytes = load(c_library(), &size);
	Elf64_Ehdr header;
	Elf64_Phdr segment;

	(void)state;
	memcpy(&header, bytes, sizeof(header));
	for (unsigned i = 0; i < header.e_phnum; i++) {
		memcpy(&segment, bytes + header.e_phoff + i * sizeof(segment),
		       sizeof(segment));
		if (segment.p_type != PT_LOAD || !(segment.p_flags & PF_X))
			continue;
		for (size_t at = 0; at < segment.p_filesz;) {
			const uint8_t *code = bytes + segment.p_offset + at;
			size_t wanted = expected(code, X86_INSN_MOST);
			size_t found = length_of(code, X86_INSN_MOST);

			if (found && wanted && found != wanted)
				differ(code, found, wanted);
			seen += wanted != 0;
			known += found != 0 && wanted != 0;
			at += wanted ? wanted : 1;
		}
	}
	assert_true(seen > 100000);
	/* The rest is AVX, mostly. */
	assert_true(known > seen * 85 / 100);
	free(bytes);
}

/* All opcodes, behind no prefix and some, with some bytes behind them. */
static void code_of_32_bits(void **state)
{
	static const uint8_t prefixes[] = { 0, 0x65, 0x66, 0xf3, 0x67 };
	static const uint8_t behind[] = { 0x00, 0x05, 0x44, 0x84, 0x85, 0xc1 };
	cs_insn *insn = cs_malloc(decoder_32);
	unsigned known = 0;

	(void)state;
	for (unsigned i = 0; i < 2 * 256 * COUNT(prefixes) * COUNT(behind);
	     i++) {
		uint8_t code[X86_INSN_MOST + 2] = { 0 }, *put = code;
		const uint8_t *at = code;
		size_t left = X86_INSN_MOST;
		uint64_t pc = 0x1000;
		struct x86_parts parts;

		if (prefixes[i / 512 % COUNT(prefixes)])
			*put++ = prefixes[i / 512 % COUNT(prefixes)];
		if (i & 256)
			*put++ = 0x0f;
		*put++ = (uint8_t)i;
		*put++ = behind[i / 512 / COUNT(prefixes)];
		*put++ = 0x24;
		x86_take_apart(true, code, left, &parts);
		if (!parts.size || is_misread(code) ||
		    !cs_disasm_iter(decoder_32, &at, &left, &pc, insn))
			continue;
		known++;
		if ((size_t)(at - code) != parts.size)
			differ(code, parts.size, (size_t)(at - code));
	}
	cs_free(insn, 1);
	assert_true(known > 5000);
}

int main(void)
{
	static struct test_list list;
	int rc;

	if (cs_open(CS_ARCH_X86, CS_MODE_64, &decoder) ||
	    cs_open(CS_ARCH_X86, CS_MODE_32, &decoder_32))
		return 1;
	add_rows(&list, rows, opcodes);
	add_test(&list, "cut", cut, NULL);
	add_test(&list, "rare", rare, NULL);
	add_test(&list, "a whole program", whole_program, NULL);
	add_test(&list, "code of 32 bits", code_of_32_bits, NULL);
	rc = run_list("x86_length", &list);
	cs_close(&decoder);
	cs_close(&decoder_32);
	return rc;
}
