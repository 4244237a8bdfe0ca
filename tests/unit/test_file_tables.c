/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * test_file_tables.c - what tables of symbols and of units have is what libdw
 * finds by going through all of them
 */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include <cmocka.h>

#include "replayer/symbols/symbol_tables.h"
#include "replayer/symbols/units.h"

static const Dwfl_Callbacks callbacks = {
	.find_elf = dwfl_build_id_find_elf,
	.find_debuginfo = dwfl_standard_find_debuginfo,
	.section_address = dwfl_offline_section_address,
};

static Dwfl_Module *open_module(Dwfl *session, const char *path)
{
	Dwfl_Module *module = dwfl_report_elf(session, path, path, -1, 0, true);

	assert_int_equal(dwfl_report_end(session, NULL, NULL), 0);
	return module;
}

/* ------- symbols ------- */

static void compare_at(struct symbol_tables *tables, Dwfl_Module *module,
		       GElf_Addr addr)
{
	GElf_Off offset = 0, expected_offset = 0;
	GElf_Sym symbol, expected;
	const char *name = symbol_tables_find(tables, module, addr, &offset,
					      &symbol);
	const char *expected_name = dwfl_module_addrinfo(
		module, addr, &expected_offset, &expected, NULL, NULL, NULL);

	assert_int_equal(!name, !expected_name);
	if (!name)
		return;
	assert_string_equal(name, expected_name);
	assert_int_equal(offset, expected_offset);
	assert_memory_equal(&symbol, &expected, sizeof(symbol));
}

/* Around where each of some symbols begins and ends. */
static unsigned compare_symbols(const char *path, unsigned most)
{
	Dwfl *session = dwfl_begin(&callbacks);
	Dwfl_Module *module = open_module(session, path);
	int count = module ? dwfl_module_getsymtab(module) : 0;
	int step = count / (int)most + 1;
	struct symbol_tables tables = { 0 };
	unsigned compared = 0;

	for (int i = 1; i < count; i += step, compared++) {
		GElf_Sym symbol;
		GElf_Addr addr;

		dwfl_module_getsym_info(module, i, &symbol, &addr, NULL, NULL,
					NULL);
		compare_at(&tables, module, addr - 1);
		compare_at(&tables, module, addr);
		compare_at(&tables, module, addr + symbol.st_size / 2);
		compare_at(&tables, module, addr + symbol.st_size - 1);
		compare_at(&tables, module, addr + symbol.st_size);
		compare_at(&tables, module, addr + symbol.st_size + 1);
	}
	symbol_tables_release(&tables);
	dwfl_end(session);
	return compared;
}

static void test_symbols_of_this(void **state)
{
	(void)state;
	assert_true(compare_symbols("/proc/self/exe", 2000) > 30);
}

static void test_symbols_of_libraries(void **state)
{
	/* Versions and weak names; hand-written code; names of C++. */
	static const char *const paths[] = {
		"/lib/x86_64-linux-gnu/libc.so.6",
		"/lib64/ld-linux-x86-64.so.2",
		"/lib/x86_64-linux-gnu/libstdc++.so.6",
		"/usr/bin/python3",
	};
	unsigned compared = 0;

	(void)state;
	for (size_t i = 0; i < sizeof(paths) / sizeof(*paths); i++)
		compared += compare_symbols(paths[i], 1000);
	assert_true(compared > 10);
}

/* ------- units ------- */

static Dwarf_Off search(Dwarf *dwarf, uint64_t addr)
{
	Dwarf_CU *unit = NULL;
	Dwarf_Die die;

	while (!dwarf_get_units(dwarf, unit, &unit, NULL, NULL, &die, NULL))
		if (dwarf_haspc(&die, addr) > 0)
			return dwarf_dieoffset(&die);
	return 0;
}

static void test_units(void **state)
{
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	Dwarf *dwarf = dwarf_begin(fd, DWARF_C_READ);
	struct unit_tables tables = { 0 };
	unsigned found = 0;

	(void)state;
	/* One of the builds has no debugging information. */
	if (!dwarf) {
		close(fd);
		return;
	}
	for (uint64_t addr = 0; addr < 0x100000; addr += 13) {
		Dwarf_Die *unit = unit_at(&tables, dwarf, addr);

		found += unit != NULL;
		assert_int_equal(unit ? dwarf_dieoffset(unit) : 0,
				 search(dwarf, addr));
	}
	assert_true(found > 100);
	unit_tables_release(&tables);
	dwarf_end(dwarf);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_symbols_of_this),
		cmocka_unit_test(test_symbols_of_libraries),
		cmocka_unit_test(test_units),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
