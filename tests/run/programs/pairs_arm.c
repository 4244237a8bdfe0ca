/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An instruction that makes several accesses, and faults at the second one, has
 * not taken place: its registers, also those that it would load and those that
 * its address is of, are as before.  Executed again, it does all.
 */
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <ucontext.h>

#define PAGE 4096u

static unsigned char *second;		/* cannot be read, at first */
static volatile uint32_t base;		/* r2 when it faulted */
static volatile void *fault;
static volatile int faults;

static void on_fault(int number, siginfo_t *info, void *context)
{
	ucontext_t *at = context;

	(void)number;
	base = at->uc_mcontext.arm_r2;
	fault = info->si_addr;
	if (faults++ || mprotect(second, PAGE, PROT_READ | PROT_WRITE))
		_Exit(3);
}

/*
 * `words` executes with r2 and r3, which are what it loads, too; r4 is an
 * offset and r5 what else it loads.
 */
#define INSTRUCTION(name, code, words)                                         \
	__attribute__((naked, noinline, target(code))) static void             \
	name(uint32_t *registers)                                              \
	{                                                                      \
		__asm__("push {r4, r5, lr}\n\t"                                \
			"mov r1, r0\n\t"                                       \
			"ldm r1, {r2, r3, r4, r5}\n\t"                         \
			words "\n\t"                                           \
			"stm r1, {r2, r3, r4, r5}\n\t"                         \
			"pop {r4, r5, pc}");                                   \
	}

INSTRUCTION(arm_base, "arm", "ldrd r2, r3, [r2]")
INSTRUCTION(arm_offset, "arm", "ldrd r2, r3, [r2, #16]")
INSTRUCTION(arm_register, "arm", "ldrd r2, r3, [r4, r2]")
INSTRUCTION(arm_less, "arm", "ldrd r2, r3, [r2, #-8]")
INSTRUCTION(arm_other, "arm", "ldrd r4, r5, [r2]")
INSTRUCTION(arm_list, "arm", "ldm r2, {r2, r3}")
INSTRUCTION(thumb_base, "thumb", "ldrd r2, r3, [r2]")
INSTRUCTION(thumb_offset, "thumb", "ldrd r2, r5, [r2, #16]")
INSTRUCTION(thumb_other, "thumb", "ldrd r5, r3, [r2, #-8]")
INSTRUCTION(thumb_list, "thumb", "ldm r2, {r2, r3}")

static const struct row {
	const char *name;
	void (*execute)(uint32_t *registers);
	int offset;		/* of its address from r2 */
	unsigned first, last;	/* of r2 to r5: what is loaded */
} rows[] = {
	{ "ldrd of its base", arm_base, 0, 0, 1 },
	{ "ldrd of its base, with an offset", arm_offset, 16, 0, 1 },
	{ "ldrd of its index", arm_register, 0, 0, 1 },
	{ "ldrd of its base, below it", arm_less, -8, 0, 1 },
	{ "ldrd of others", arm_other, 0, 2, 3 },
	{ "ldm of its base", arm_list, 0, 0, 1 },
	{ "thumb: ldrd of its base", thumb_base, 0, 0, 1 },
	{ "thumb: ldrd of its base, with an offset", thumb_offset, 16, 0, 3 },
	{ "thumb: ldrd of others", thumb_other, -8, 3, 1 },
	{ "thumb: ldm of its base", thumb_list, 0, 0, 1 },
};

/* What is loaded can be read, too, if it is taken for an address. */
static int execute(const struct row *row)
{
	uint32_t *pair = (uint32_t *)(second - 4);
	uint32_t start = (uint32_t)(uintptr_t)pair - (uint32_t)row->offset;
	uint32_t registers[4] = { start, 3, 0, 5 };
	uint32_t loaded[2] = { (uint32_t)(uintptr_t)(second - 64), 77 };

	faults = 0;
	pair[0] = loaded[0];
	if (mprotect(second, PAGE, PROT_READ | PROT_WRITE))
		return 0;
	pair[1] = loaded[1];
	if (mprotect(second, PAGE, PROT_NONE))
		return 0;
	row->execute(registers);
	return faults == 1 && fault == second && base == start &&
	       registers[row->first] == loaded[0] &&
	       registers[row->last] == loaded[1];
}

int main(void)
{
	struct sigaction action = { .sa_sigaction = on_fault,
				    .sa_flags = SA_SIGINFO };
	unsigned char *pages = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE,
				    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int failed = 0;

	if (pages == MAP_FAILED || sigaction(SIGSEGV, &action, NULL))
		return 2;
	second = pages + PAGE;
	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		int good = execute(&rows[i]);

		printf("%sok %u - %s\n", good ? "" : "not ", i + 1,
		       rows[i].name);
		failed |= !good;
	}
	printf("1..%u\n", (unsigned)(sizeof(rows) / sizeof(rows[0])));
	return failed;
}
