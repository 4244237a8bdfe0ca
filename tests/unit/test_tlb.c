/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_tlb.c - the engine's TLB becomes as large as the guest needs */
#include <stdlib.h>
#include <string.h>

#include "formats/error.h"
#include "tests/unit/engine.h"
#include "tests/unit/machine.h"
#include "tests/unit/table.h"
#include "vm/processor/processor.h"

#define CODE 0x10000u
#define DATA 0x1000000u

/* RBX times a word of each of RBP pages, one after the other. */
static const uint8_t walk[] = {
	0xbe, 0, 0, 0, 1,			/* 1: mov $DATA, %esi */
	0x89, 0xe9,				/* mov %ebp, %ecx */
	0x01, 0x0e,				/* 2: add %ecx, (%rsi) */
	0x81, 0xc6, 0, 0x10, 0, 0,		/* add $4096, %esi */
	0xff, 0xc9,				/* dec %ecx */
	0x75, 0xf4,				/* jnz 2b */
	0xff, 0xcb,				/* dec %ebx */
	0x75, 0xe9,				/* jnz 1b */
	0xf4,					/* hlt */
};

struct row {
	const char *name;
	unsigned pages, rounds;
	uint64_t most;		/* misses, with those while it grows */
};

static const struct row rows[] = {
	{ "fits from the start", 100, 500, 300 },
	{ "grows four times", 2500, 40, 20000 },
	{ "grows to the largest", 10000, 40, 90000 },
	{ "does not fit at all", 40000, 5, 250000 },
};

static struct vm *machine(uint64_t pages)
{
	struct vm *vm;
	struct failure why;

	if (vm_create(&vm, ARCH_X86_64, false, NULL, &why))
		fail_msg("%s", why.text);
	map(vm, CODE, GUEST_PAGE, MAY_READ | MAY_EXEC);
	map(vm, DATA, pages * GUEST_PAGE, MAY_READ | MAY_WRITE);
	assert_int_equal(memory_poke(vm_memory(vm), CODE, walk, sizeof(walk)),
			 0);
	return vm;
}

static void run(struct vm *vm, uint64_t pages, uint64_t rounds)
{
	struct vm_stop stop;
	struct failure why;

	vm_set_reg(vm, X86_RIP, CODE);
	vm_set_reg(vm, X86_RBP, pages);
	vm_set_reg(vm, X86_RBX, rounds);
	assert_int_equal(vm_run(vm, UINT64_C(1) << 40, true, &stop, &why), 0);
	assert_int_equal(stop.kind, VM_STOP_FAULT);
	assert_int_equal(stop.fault, FAULT_PRIVILEGE);
}

static void misses(void **state)
{
	const struct row *row = *state;
	struct vm *vm = machine(row->pages);
	uint32_t word;

	run(vm, row->pages, row->rounds);
	assert_true(vm->tlb.total >= row->pages);
	if (vm->tlb.total > row->most)
		fail_msg("%u misses", (unsigned)vm->tlb.total);
	for (uint64_t i = 0; i < row->pages; i++) {
		memory_read(vm_memory(vm), DATA + i * GUEST_PAGE, &word, 4);
		assert_int_equal(word, (row->pages - i) * row->rounds);
	}
	vm_destroy(vm);
}

/* Flushes while little is used make it small, then it grows anew. */
static void grows_again(void **state)
{
	struct vm *vm = machine(8000);
	uint64_t before;

	(void)state;
	for (unsigned i = 0; i < 3; i++) {
		before = vm->tlb.total;
		run(vm, 8000, 40);
		assert_true(vm->tlb.total - before < 90000);
		for (unsigned j = 0; j < 20; j++) {
			tlb_flush(vm, true);
			run(vm, 10, 1);
		}
		assert_int_equal(vm->tlb.room, 256);
	}
	vm_destroy(vm);
}

int main(void)
{
	static struct test_list list;

	add_rows(&list, rows, misses);
	add_test(&list, "grows again", grows_again, NULL);
	return run_list("tlb", &list);
}
