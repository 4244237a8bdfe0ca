/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which bytes before a return address are a call, as objdump reads them. */
#include "tests/unit/table.h"

#include <stdbool.h>

#include "formats/registers.h"
#include "formats/stacks.h"

struct row {
	const char *name;
	bool is_call;
	size_t size;
	uint8_t bytes[CALL_MOST];
};

static const struct row rows[] = {
	{ "call rel32", true, 5, { 0xe8, 1, 2, 3, 4 } },
	{ "behind others", true, 8, { 0x90, 0x90, 0x90, 0xe8, 1, 2, 3, 4 } },
	{ "call *%rax", true, 2, { 0xff, 0xd0 } },
	{ "call *%r12", true, 3, { 0x41, 0xff, 0xd4 } },
	{ "call *(%rax)", true, 2, { 0xff, 0x10 } },
	{ "call *8(%rbx)", true, 3, { 0xff, 0x53, 8 } },
	{ "call *(%rsp)", true, 3, { 0xff, 0x14, 0x24 } },
	{ "call *0x100(%rax)", true, 6, { 0xff, 0x90, 0, 1, 0, 0 } },
	{ "call *0x100(%rip)", true, 6, { 0xff, 0x15, 0, 1, 0, 0 } },
	{ "call *0x100(,%rax,8)", true, 7,
	  { 0xff, 0x14, 0xc5, 0, 1, 0, 0 } },
	{ "jmp *%rax", false, 2, { 0xff, 0xe0 } },
	{ "push (%rax)", false, 2, { 0xff, 0x30 } },
	{ "jmp rel32", false, 5, { 0xe9, 1, 2, 3, 4 } },
	{ "nop", false, 4, { 0x0f, 0x1f, 0x40, 0 } },
	{ "nothing", false, 0, { 0 } },
	{ "half a call", false, 4, { 1, 2, 3, 4 } },
};

static void is_call(void **state)
{
	const struct row *row = *state;

	assert_int_equal(stack_table(ARCH_X86_64)->is_call(row->bytes,
							   row->size),
			 row->is_call);
}

static void no_architecture_has_no_table(void **state)
{
	(void)state;
	assert_null(stack_table(0));
}

static void code_of_returns_is_short(void **state)
{
	static const unsigned archs[] = { ARCH_X86_64, ARCH_AARCH64,
					  ARCH_I386 };

	(void)state;
	for (size_t i = 0; i < sizeof(archs) / sizeof(*archs); i++)
		for (unsigned n = 0; n < STACK_RETURNS; n++)
			assert_true(stack_table(archs[i])->returns[n].size <=
				    SIGRETURN_MOST);
}

int main(void)
{
	static struct test_list list;

	add_rows(&list, rows, is_call);
	add_test(&list, "no architecture", no_architecture_has_no_table, NULL);
	add_test(&list, "returns", code_of_returns_is_short, NULL);
	return run_list("stacks", &list);
}
