/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_moves.c - which registers instructions move, by their text */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "debugger/moves.h"

/* Register, offset in it and size of each part. */
static const struct row {
	const struct moves *moves;
	const char *text;
	enum move_kind kind;
	const char *parts;
} rows[] = {
	{ &moves_x86_64, "mov qword ptr [rax + 8], rbx", MOVE_STORE, "rbx:0:0" },
	{ &moves_x86_64, "mov eax, dword ptr [rsp]", MOVE_LOAD, "rax:0:0" },
	{ &moves_x86_64, "mov r8d, ecx", MOVE_REGISTER, "r8:0:0 rcx:0:0" },
	{ &moves_x86_64, "movups xmmword ptr [rax], xmm1", MOVE_STORE,
	  "xmm1:0:0" },
	{ &moves_x86_64, "push rbp", MOVE_STORE, "rbp:0:0" },
	{ &moves_x86_64, "pop r12", MOVE_LOAD, "r12:0:0" },
	{ &moves_x86_64, "push qword ptr [rax]", MOVE_MEMORY, "" },
	{ &moves_x86_64, "rep movsb byte ptr [rdi], byte ptr [rsi]",
	  MOVE_MEMORY, "" },
	{ &moves_x86_64, "add eax, ebx", MOVE_NONE, "" },
	{ &moves_i386, "mov dword ptr [esp], al", MOVE_STORE, "eax:0:0" },

	{ &moves_arm64, "str    w0, [x1, #4]", MOVE_STORE, "x0:0:0" },
	{ &moves_arm64, "ldr    q1, [x2], #16", MOVE_LOAD, "v1:0:0" },
	{ &moves_arm64, "stp    x29, x30, [sp, #-0x20]!", MOVE_STORE,
	  "x29:0:8 x30:0:8" },
	{ &moves_arm64, "ldp    w3, w4, [x0]", MOVE_LOAD, "x3:0:4 x4:0:4" },
	{ &moves_arm64, "ldp    q0, q1, [x1, #0x20]", MOVE_LOAD,
	  "v0:0:16 v1:0:16" },
	{ &moves_arm64, "stlxr  w3, x2, [x1]", MOVE_STORE, "x2:0:0" },
	{ &moves_arm64, "mov    w1, w2", MOVE_REGISTER, "x1:0:4 x2:0:4" },
	{ &moves_arm64, "fmov   d0, x1", MOVE_REGISTER, "v0:0:8 x1:0:8" },
	{ &moves_arm64, "mov    x3, #5", MOVE_NONE, "" },
	{ &moves_arm64, "str    xzr, [x0]", MOVE_NONE, "" },
	{ &moves_arm64, "stp    xzr, x1, [x0]", MOVE_NONE, "" },
	{ &moves_arm64, "add    x0, x1, x2", MOVE_NONE, "" },

	{ &moves_arm, "str    r0, [r1]", MOVE_STORE, "r0:0:0" },
	{ &moves_arm, "ldreq  r0, [fp, #-8]", MOVE_LOAD, "r0:0:0" },
	{ &moves_arm, "ldrb.w sb, [r1]", MOVE_LOAD, "r9:0:0" },
	{ &moves_arm, "push   {r4, r5, lr}", MOVE_STORE,
	  "r4:0:4 r5:0:4 lr:0:4" },
	{ &moves_arm, "pop    {r4, pc}", MOVE_LOAD, "r4:0:4 pc:0:4" },
	{ &moves_arm, "ldm    r0!, {r1, r2}", MOVE_LOAD, "r1:0:4 r2:0:4" },
	{ &moves_arm, "stmdb  r4, {r0}", MOVE_STORE, "r0:0:0" },
	{ &moves_arm, "strd   r2, r3, [r1, #8]", MOVE_STORE, "r2:0:4 r3:0:4" },
	{ &moves_arm, "strexd r0, r2, r3, [r1]", MOVE_STORE, "r2:0:4 r3:0:4" },
	{ &moves_arm, "vldr   s3, [r2]", MOVE_LOAD, "d1:4:0" },
	{ &moves_arm, "vstmia r0!, {d2, d3}", MOVE_STORE, "d2:0:8 d3:0:8" },
	{ &moves_arm, "vmov.f32 s0, s3", MOVE_REGISTER, "d0:0:4 d1:4:4" },
	{ &moves_arm, "vmov   d0, r1, r2", MOVE_NONE, "" },
	{ &moves_arm, "mov    r1, r2", MOVE_REGISTER, "r1:0:4 r2:0:4" },
	{ &moves_arm, "movne  r1, r2", MOVE_REGISTER, "r1:0:4 r2:0:4" },
	{ &moves_arm, "movs   r1, #2", MOVE_NONE, "" },
};

static void print(const struct move *move, char *out, size_t room)
{
	size_t length = 0;

	out[0] = 0;
	for (unsigned i = 0; i < move->count; i++)
		length += (size_t)snprintf(
			out + length, room - length, "%s%s:%u:%u",
			i ? " " : "", move->parts[i].name,
			(unsigned)move->parts[i].offset,
			(unsigned)move->parts[i].size);
}

static void texts(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char parts[256];
		struct move move;

		rows[i].moves->read(rows[i].text, &move);
		print_message("%s\n", rows[i].text);
		assert_int_equal(move.kind, rows[i].kind);
		print(&move, parts, sizeof(parts));
		if (move.kind != MOVE_NONE)
			assert_string_equal(parts, rows[i].parts);
	}
}

/* The decoder lists many registers; text may be anything. */
static void long_lists(void **state)
{
	char text[1024] = "vldmia r0, {";
	struct move move;

	(void)state;
	for (unsigned i = 0; i < 100; i++)
		snprintf(text + strlen(text), sizeof(text) - strlen(text),
			 "q%u, ", i % 16);
	moves_arm.read(text, &move);
	assert_true(move.count <= MOVE_PARTS);
	moves_arm.read("", &move);
	assert_int_equal(move.kind, MOVE_NONE);
	moves_arm64.read("ldr", &move);
	assert_int_equal(move.kind, MOVE_NONE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(texts),
		cmocka_unit_test(long_lists),
	};

	return cmocka_run_group_tests_name("moves", tests, NULL, NULL);
}
