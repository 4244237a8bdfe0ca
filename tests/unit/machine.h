/* SPDX-License-Identifier: GPL-2.0-or-later */
/* machine.h - for tests that run guest code of their own */
#ifndef CPREC_TESTS_UNIT_MACHINE_H
#define CPREC_TESTS_UNIT_MACHINE_H

#include "tests/unit/table.h"
#include "vm/memory/memory.h"
#include "vm/vm.h"

/* Maps zeros. */
static inline void map(struct vm *vm, guest_addr start, uint64_t size,
		       unsigned prot)
{
	struct region region = {
		.start = start, .end = start + size, .prot = prot,
	};

	assert_int_equal(memory_map(vm_memory(vm), &region, -1, NULL), 0);
}

#endif
