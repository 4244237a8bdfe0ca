/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_registers.c - the register tables */
#include <stdbool.h>
#include <string.h>

#include "formats/registers.h"
#include "tests/unit/table.h"

struct row {
	const char *name;
	unsigned reg;
	unsigned size;
	const char *gdb_name;
};

static const struct row rows[] = {
	{ "rax", X86_RAX, 8, "rax" },
	{ "rsp", X86_RSP, 8, "rsp" },
	{ "r15", X86_R15, 8, "r15" },
	{ "rip", X86_RIP, 8, "rip" },
	{ "rflags", X86_RFLAGS, 8, "eflags" },
	{ "cs", X86_CS, 2, "cs" },
	{ "gs", X86_GS, 2, "gs" },
	{ "base of fs", X86_FS_BASE, 8, "fs_base" },
	{ "base of gs", X86_GS_BASE, 8, "gs_base" },
	{ "x87 control word", X86_FPCW, 2, "fctrl" },
	{ "x87 status word", X86_FPSW, 2, "fstat" },
	{ "x87 tag word", X86_FPTAG, 2, "ftag" },
	{ "mxcsr", X86_MXCSR, 4, "mxcsr" },
	{ "first x87 register", X86_ST0, 10, "st0" },
	{ "last x87 register", X86_ST7, 10, "st7" },
	{ "first SSE register", X86_XMM0, 16, "xmm0" },
	{ "last SSE register", X86_XMM15, 16, "xmm15" },
	{ "x87 instruction pointer", X86_FIP, 8, "fioff" },
	{ "x87 operand pointer", X86_FDP, 8, "fooff" },
};

static void register_row(void **state)
{
	const struct row *row = *state;
	const struct reg_table *table = reg_table(ARCH_X86_64);

	assert_non_null(table);
	assert_string_equal(table->regs[row->reg].name, row->gdb_name);
	assert_int_equal(table->regs[row->reg].size, row->size);
}

static const enum arch archs[] = { ARCH_X86_64, ARCH_AARCH64,
				     ARCH_I386, ARCH_ARM };

static void file_is_covered_once(void **state)
{
	const struct reg_table *table = reg_table(*(const enum arch *)*state);
	uint8_t used[REG_FILE_MAX] = { 0 };

	assert_true(table->bytes <= REG_FILE_MAX);
	for (unsigned reg = 0; reg < table->count; reg++) {
		const struct reg_info *info = &table->regs[reg];

		assert_non_null(info->name);
		assert_true(info->offset + info->size <= table->bytes);
		for (unsigned i = 0; i < info->size; i++)
			assert_int_equal(used[info->offset + i]++, 0);
	}
	for (unsigned i = 0; i < table->bytes; i++)
		assert_int_equal(used[i], 1);
}

static void names_differ(void **state)
{
	const struct reg_table *table = reg_table(*(const enum arch *)*state);

	for (unsigned a = 0; a < table->count; a++)
		for (unsigned b = 0; b < a; b++)
			assert_string_not_equal(table->regs[a].name,
						table->regs[b].name);
}

static void get_what_was_set(void **state)
{
	const struct reg_table *table = reg_table(*(const enum arch *)*state);
	struct reg_file file = { { 0 } };

	for (unsigned reg = 0; reg < table->count; reg++) {
		const struct reg_info *info = &table->regs[reg];
		struct reg_file before = file;
		uint64_t value = UINT64_C(0x8877665544332211);

		if (info->size > 8)
			continue;
		if (info->size < 8)
			value &= (UINT64_C(1) << 8 * info->size) - 1;
		reg_set(table, &file, reg, UINT64_C(0x8877665544332211));
		assert_true(reg_get(table, &file, reg) == value);
		assert_int_equal(file.bytes[info->offset], 0x11);
		reg_set(table, &file, reg, 0);
		assert_memory_equal(&file, &before, sizeof(file));
	}
}

static void special_registers(void **state)
{
	const struct reg_table *table = reg_table(ARCH_X86_64);

	(void)state;
	assert_string_equal(table->name, "x86_64");
	assert_int_equal(table->count, X86_REG_COUNT);
	assert_int_equal(table->bytes, 534);
	assert_int_equal(table->pc, X86_RIP);
	assert_int_equal(table->sp, X86_RSP);
	assert_int_equal(table->result, X86_RAX);
	assert_null(reg_table(0));
	assert_null(reg_table(5));
	assert_null(reg_table(UINT32_MAX));
}

static void registers_of_arm64(void **state)
{
	const struct reg_table *table = reg_table(ARCH_AARCH64);

	(void)state;
	assert_string_equal(table->name, "aarch64");
	assert_int_equal(table->count, ARM64_REG_COUNT);
	assert_int_equal(table->bytes, 824);
	assert_string_equal(table->regs[ARM64_X0 + 28].name, "x28");
	assert_string_equal(table->regs[table->pc].name, "pc");
	assert_string_equal(table->regs[table->sp].name, "sp");
	assert_string_equal(table->regs[ARM64_V31].name, "v31");
	assert_int_equal(table->regs[ARM64_V31].size, 16);
	/* Source: DWARF for the Arm 64-bit Architecture, 4.1. */
	assert_int_equal(table->dwarf[31], ARM64_SP);
	assert_int_equal(table->dwarf_all[64], ARM64_V0);
	assert_int_equal(table->dwarf_all_count, 96);
}

static void registers_of_arm(void **state)
{
	const struct reg_table *table = reg_table(ARCH_ARM);

	(void)state;
	assert_string_equal(table->name, "arm");
	assert_int_equal(table->count, ARM_REG_COUNT);
	assert_int_equal(table->bytes, 352);
	assert_string_equal(table->regs[ARM_R12].name, "r12");
	assert_string_equal(table->regs[table->pc].name, "pc");
	assert_string_equal(table->regs[table->sp].name, "sp");
	assert_string_equal(table->regs[ARM_D31].name, "d31");
	/* Source: DWARF for the Arm Architecture, 4.1. */
	assert_int_equal(table->dwarf[13], ARM_SP);
	assert_int_equal(table->dwarf_all[256], ARM_D0);
	assert_int_equal(table->dwarf_all_count, 288);
}

int main(void)
{
	static struct test_list list;

	add_rows(&list, rows, register_row);
	for (unsigned i = 0; i < sizeof(archs) / sizeof(archs[0]); i++) {
		add_test(&list, "registers cover the file once",
			 file_is_covered_once, &archs[i]);
		add_test(&list, "names differ", names_differ, &archs[i]);
		add_test(&list, "get what was set", get_what_was_set,
			 &archs[i]);
	}
	add_test(&list, "special registers", special_registers, NULL);
	add_test(&list, "registers of AArch64", registers_of_arm64, NULL);
	add_test(&list, "registers of 32-bit ARM", registers_of_arm, NULL);
	return run_list("registers", &list);
}
