/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * machine_checks.c - a kernel of its own, which says what its processor does:
 * exceptions, page tables, registers of the system, timers, interrupts
 *
 * machine_checks.txt has what QEMU says.  Each attempt executes a few
 * instructions at EL1 or EL0, which end by SVC 99 or by something else; a line
 * has the vector that was entered, and the syndrome.
 *
 * Virtual addresses: devices and RAM are where they are; RAM is also at
 * 0x80000000, for EL0; what is tried is in TRIED, by pages, and in UPPER.
 */
#include "machine_head.h"

#define ALIAS UINT64_C(0x40000000)	/* from RAM to where EL0 sees it */
#define TRIED UINT64_C(0xc0000000)
#define NOWHERE UINT64_C(0x100000000)
#define UPPER (UINT64_C(0) - (UINT64_C(1) << 39))
#define PAGE 4096u
#define DONE 0x56000063u	/* SVC 99 */

enum { EL0 = 0x3c0, EL1 = 0x3c5, EL1_OF_SP0 = 0x3c4 };

/* ------- attempts ------- */

/* What an attempt came to. */
volatile struct {
	uint64_t vector, esr, far, elr, spsr, result;
} caught;
uint64_t kept_stack;
uint64_t program_stack[64] __attribute__((aligned(16)));

/*
 * Executes what is at `code`, with x0, in a state; returns when an exception is
 * taken, with all that is not the caller's own.
 */
void attempt(uint64_t code, uint64_t x0, uint64_t spsr, uint64_t sp_el0);
asm("	.text\n"
    "attempt:\n"
    "	stp	x29, x30, [sp, #-96]!\n"
    "	stp	x19, x20, [sp, #16]\n"
    "	stp	x21, x22, [sp, #32]\n"
    "	stp	x23, x24, [sp, #48]\n"
    "	stp	x25, x26, [sp, #64]\n"
    "	stp	x27, x28, [sp, #80]\n"
    "	adrp	x9, kept_stack\n"
    "	mov	x10, sp\n"
    "	str	x10, [x9, :lo12:kept_stack]\n"
    "	msr	elr_el1, x0\n"
    "	msr	spsr_el1, x2\n"
    "	msr	sp_el0, x3\n"
    "	mov	x0, x1\n"
    "	isb\n"
    "	eret\n"
    "taken:\n"
    "	adrp	x2, caught\n"
    "	add	x2, x2, :lo12:caught\n"
    "	mrs	x3, esr_el1\n"
    "	mrs	x4, far_el1\n"
    "	stp	x1, x3, [x2]\n"
    "	mrs	x3, elr_el1\n"
    "	stp	x4, x3, [x2, #16]\n"
    "	mrs	x3, spsr_el1\n"
    "	stp	x3, x0, [x2, #32]\n"
    "	adrp	x9, kept_stack\n"
    "	ldr	x10, [x9, :lo12:kept_stack]\n"
    "	mov	sp, x10\n"
    "	ldp	x19, x20, [sp, #16]\n"
    "	ldp	x21, x22, [sp, #32]\n"
    "	ldp	x23, x24, [sp, #48]\n"
    "	ldp	x25, x26, [sp, #64]\n"
    "	ldp	x27, x28, [sp, #80]\n"
    "	ldp	x29, x30, [sp], #96\n"
    "	ret\n"
    "	.balign	2048\n"
    "vectors:\n"
    "	.set	number, 0\n"
    "	.rept	16\n"
    "	.balign	128\n"
    "	mov	x1, #number\n"
    "	b	taken\n"
    "	.set	number, number + 1\n"
    "	.endr\n");
extern const uint8_t vectors[];

/* Code to attempt: a function that nobody calls. */
#define CODE(name, text)                                                       \
	extern const uint32_t name[];                                          \
	asm("	.text\n	.balign 8\n" #name ":\n" text "\n	svc	#99\n")

CODE(nothing, "");
CODE(load, "ldr x0, [x0]");
CODE(store, "str x0, [x0]");
CODE(load_pair, "ldp x0, x1, [x0]");
CODE(store_pair, "stp x0, x1, [x0]");
CODE(load_byte, "ldrb w0, [x0]");
CODE(load_signed, "ldrsh x0, [x0]");
CODE(load_exclusive, "ldxr x0, [x0]");
CODE(load_acquire, "ldar x0, [x0]");
CODE(prefetch, "prfm pldl1keep, [x0]");
CODE(post_index, "mov x1, x0\n ldr x0, [x1], #8\n mov x0, x1");
CODE(zero, "dc zva, x0");
CODE(clean, "dc cvac, x0");
CODE(clean_u, "dc cvau, x0");
CODE(invalidate_code, "ic ivau, x0");
CODE(jump, "br x0");
CODE(call_svc, "svc #0x1234");
CODE(break_point, "brk #0xabcd");
CODE(undefined, ".long 0");
CODE(undefined_system, ".long 0xd5381fe0");
CODE(float_add, "fadd d0, d0, d0");
CODE(float_read, "mrs x0, fpcr");
CODE(use_stack, "ldr x1, [sp]");
CODE(of_own_stack, "mov x1, sp\n add x1, x1, #4\n mov sp, x1\n ldr x2, [sp]");
CODE(returns, "eret");
CODE(read_mask, "mrs x0, daif");
CODE(select_stack, "msr spsel, #1");
CODE(wait, "wfi");
CODE(wait_event, "sevl\n wfe");
CODE(read_control, "mrs x0, sctlr_el1");
CODE(write_control, "msr ttbr0_el1, x0");
CODE(read_ctr, "mrs x0, ctr_el0");
CODE(read_dczid, "mrs x0, dczid_el0\n and x0, x0, #16");
CODE(read_count, "mrs x0, cntvct_el0\n mov x0, #0");
CODE(read_physical, "mrs x0, cntpct_el0\n mov x0, #0");
CODE(read_frequency, "mrs x0, cntfrq_el0\n mov x0, #0");
CODE(read_timer, "mrs x0, cntv_ctl_el0");
CODE(read_physical_timer, "mrs x0, cntp_ctl_el0");
CODE(read_thread, "msr tpidr_el0, x0\n mrs x0, tpidr_el0");
CODE(read_thread_only, "mrs x0, tpidrro_el0");
CODE(write_thread_only, "msr tpidrro_el0, x0");
CODE(read_id, "mrs x0, id_aa64isar0_el1\n mov x0, #0");
CODE(read_own_id, "mrs x0, midr_el1\n mov x0, #0");
CODE(read_level, "mrs x0, currentel");
CODE(drop_all, "tlbi vmalle1");
CODE(drop_code, "ic iallu");
CODE(ask, "at s1e0r, x0");

/* ------- the processor, and its console ------- */

static volatile uint32_t *reg(uint64_t addr)
{
	return (volatile uint32_t *)addr;
}

static void print(const char *text)
{
	while (*text)
		*reg(UART) = (uint8_t)*text++;
}

static void print_number(uint64_t value)
{
	unsigned shift = 60;

	print(" ");
	while (shift && !(value >> shift))
		shift -= 4;
	for (;; shift -= 4) {
		*reg(UART) = (uint8_t)"0123456789abcdef"[value >> shift & 15];
		if (!shift)
			break;
	}
}

static void say(const char *what, uint64_t value)
{
	print(what);
	print_number(value);
	print("\n");
}

#define READ(name)                                                             \
	({                                                                     \
		uint64_t value_;                                               \
		asm volatile("mrs %0, " #name : "=r"(value_) :: "memory");     \
		value_;                                                        \
	})
#define WRITE(name, value)                                                     \
	asm volatile("msr " #name ", %0\nisb" ::"r"((uint64_t)(value))         \
		     : "memory")

static void drop(void)
{
	asm volatile("dsb sy\ntlbi vmalle1\ndsb sy\nisb" ::: "memory");
}

/* ------- attempts, in words ------- */

static uint64_t place(const uint32_t *code, unsigned state)
{
	return (uint64_t)code + (state == EL0 ? ALIAS : 0);
}

static void run(const uint32_t *code, uint64_t x0, unsigned state)
{
	attempt(place(code, state), x0, state,
		(uint64_t)program_stack + ALIAS + sizeof(program_stack));
}

static bool is_done(void)
{
	return caught.esr == DONE;
}

static bool has_address(void)
{
	unsigned kind = (unsigned)(caught.esr >> 26);

	return kind == 0x20 || kind == 0x21 || kind == 0x22 || kind == 0x24 ||
	       kind == 0x25;
}

static void tell(const char *what, const uint32_t *code, unsigned state)
{
	uint64_t at = caught.elr - place(code, state);

	print(what);
	print(state == EL0 ? " (0):" : state == EL1 ? " (1):" : " (1t):");
	if (is_done()) {
		print(" done");
		print_number(caught.result);
	} else {
		print_number(caught.vector);
		print_number(caught.esr);
		if (has_address())
			print_number(caught.far);
		if (at < 64) {
			print(" at");
			print_number(at);
		}
	}
	print(" of");
	print_number(caught.spsr);
	print("\n");
}

static void try(const char *what, const uint32_t *code, uint64_t x0,
		unsigned state)
{
	run(code, x0, state);
	tell(what, code, state);
}

static void try_both(const char *what, const uint32_t *code, uint64_t x0)
{
	try(what, code, x0, EL1);
	try(what, code, x0, EL0);
}

#define BOTH(code, x0) try_both(#code, code, x0)

/* ------- page tables ------- */

/* Of the first level; of TRIED; of the upper half; others. */
static uint64_t first[512] __attribute__((aligned(PAGE)));
static uint64_t second[512] __attribute__((aligned(PAGE)));
static uint64_t third[512] __attribute__((aligned(PAGE)));
static uint64_t upper[512] __attribute__((aligned(PAGE)));
static uint64_t other[512] __attribute__((aligned(PAGE)));
static uint64_t zeroth[512] __attribute__((aligned(PAGE)));
static uint64_t wide[8192] __attribute__((aligned(65536)));
static uint64_t wide_third[8192] __attribute__((aligned(65536)));
static uint64_t pages[4][512] __attribute__((aligned(PAGE)));

#define AF (UINT64_C(1) << 10)
#define BLOCK 1u
#define TABLE 3u
#define NORMAL (UINT64_C(1) << 2)
#define SHARED (UINT64_C(3) << 8)
#define AP(n) ((uint64_t)(n) << 6)
#define NOT_GLOBAL (UINT64_C(1) << 11)
#define PXN (UINT64_C(1) << 53)
#define UXN (UINT64_C(1) << 54)
#define USUAL (AF | NORMAL | SHARED)
#define CONTROL UINT64_C(0x280803519)	/* 39 bits, 4 KiB, no upper half */
#define CONTROL_UPPER ((CONTROL & ~(UINT64_C(1) << 23)) | 25 << 16)

static void translate(void)
{
	first[0] = BLOCK | AF | UXN | PXN;
	first[1] = 0x40000000 | BLOCK | USUAL;
	first[2] = 0x40000000 | BLOCK | USUAL | AP(1);
	first[3] = (uint64_t)second | TABLE;
	second[0] = (uint64_t)third | TABLE;
	WRITE(mair_el1, 0xff00);
	WRITE(tcr_el1, CONTROL);
	WRITE(ttbr0_el1, (uint64_t)first);
	drop();
	WRITE(sctlr_el1, READ(sctlr_el1) | 0x1005);
}

/* Its first instructions are all of them "ret"-like: SVC 99. */
static void fill_pages(void)
{
	for (unsigned i = 0; i < 4; i++)
		for (unsigned j = 0; j < 512; j++)
			pages[i][j] = UINT64_C(0xd4000c61d4000c61);
	asm volatile("dsb sy\nic iallu\ndsb sy\nisb" ::: "memory");
}

static void set_page(unsigned number, uint64_t entry)
{
	third[number] = entry;
	drop();
}

static uint64_t ask_translation(uint64_t addr, unsigned how)
{
	switch (how) {
	case 0:
		asm volatile("at s1e1r, %0\nisb" ::"r"(addr) : "memory");
		break;
	case 1:
		asm volatile("at s1e1w, %0\nisb" ::"r"(addr) : "memory");
		break;
	case 2:
		asm volatile("at s1e0r, %0\nisb" ::"r"(addr) : "memory");
		break;
	default:
		asm volatile("at s1e0w, %0\nisb" ::"r"(addr) : "memory");
	}
	return READ(par_el1);
}

/* What can be done at an address, from either level. */
static void probe(const char *what, uint64_t addr)
{
	static const unsigned states[] = { EL1, EL0 };

	print(what);
	for (unsigned i = 0; i < 2; i++)
		for (unsigned how = 0; how < 3; how++) {
			if (how == 0)
				run(load, addr, states[i]);
			else if (how == 1)
				run(store, addr, states[i]);
			else
				attempt(addr, 0, states[i], 0);
			print_number(is_done() ? 0 : caught.esr);
			if (!is_done() && caught.far != addr)
				print("?");
		}
	print(" |");
	for (unsigned how = 0; how < 4; how++) {
		uint64_t par = ask_translation(addr, how);

		print_number(par & 1 ? par & 0x7f : 0);
	}
	print("\n");
	fill_pages();
}

static void rights(void)
{
	static const struct {
		const char *what;
		uint64_t more;
	} rows[] = {
		{ "EL1 only", 0 },
		{ "all", AP(1) },
		{ "EL1 reads", AP(2) },
		{ "all read", AP(3) },
		{ "all, not executable", AP(1) | UXN | PXN },
		{ "EL0 executes", AP(3) | PXN },
		{ "EL1 executes", AP(3) | UXN },
		{ "EL1 only, UXN", UXN },
		{ "EL1 reads, PXN", AP(2) | PXN },
		{ "all, nG", AP(1) | NOT_GLOBAL },
	};

	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		set_page(1, (uint64_t)pages[0] | TABLE | USUAL | rows[i].more);
		probe(rows[i].what, TRIED + PAGE);
	}
	/* Of a whole table. */
	set_page(1, (uint64_t)pages[0] | TABLE | USUAL | AP(1));
	for (unsigned bits = 1; bits < 32; bits <<= 1) {
		second[0] = (uint64_t)third | TABLE | (uint64_t)bits << 59;
		drop();
		say("of the table", bits);
		probe("then", TRIED + PAGE);
	}
	second[0] = (uint64_t)third | TABLE;
}

static void levels(void)
{
	probe("nothing, level 1", NOWHERE);
	probe("nothing, level 2", TRIED + (UINT64_C(5) << 21));
	probe("nothing, level 3", TRIED + 7 * PAGE);
	set_page(3, (uint64_t)pages[0] | BLOCK | USUAL | AP(1));
	probe("no page of level 3", TRIED + 3 * PAGE);
	set_page(3, (uint64_t)pages[0] | TABLE | NORMAL | AP(1));
	probe("not accessed, level 3", TRIED + 3 * PAGE);
	second[2] = 0x40000000 | BLOCK | NORMAL | AP(1);
	second[3] = ((uint64_t)pages & ~UINT64_C(0x1fffff)) | BLOCK | USUAL |
		    AP(3);
	drop();
	probe("not accessed, level 2", TRIED + (UINT64_C(2) << 21));
	probe("a block of level 2", TRIED + (UINT64_C(3) << 21) +
				     ((uint64_t)pages & 0x1fffff));
	probe("too high", UINT64_C(1) << 39);
	probe("higher", UINT64_C(1) << 47);
	probe("in no half", UINT64_C(1) << 55);
	probe("the upper half, without tables", UPPER);
	set_page(3, (uint64_t)pages[0] | TABLE | USUAL | AP(1) |
		    UINT64_C(0xf) << 44);
	/* This ends nothing; what it does depends on what there could be. */
	run(load, TRIED + 3 * PAGE, EL1);
	run(load, TRIED + 3 * PAGE, EL0);
	set_page(3, 0);
}

static void halves(void)
{
	upper[0] = 0x40000000 | BLOCK | USUAL | AP(1);
	upper[511] = 0x40000000 | BLOCK | USUAL | AP(2);
	WRITE(ttbr1_el1, (uint64_t)upper);
	WRITE(tcr_el1, CONTROL_UPPER);
	drop();
	probe("the upper half", UPPER + ((uint64_t)pages - 0x40000000));
	probe("its end", UINT64_C(0) - 0x40000000 +
			 ((uint64_t)pages - 0x40000000));
	probe("behind a hole", UPPER + 0x40000000);
	probe("below it", UPPER - PAGE);
	/* The upper byte is no part of an address. */
	set_page(1, (uint64_t)pages[0] | TABLE | USUAL | AP(1));
	try_both("with a tag", load, UINT64_C(0xab) << 56 | (TRIED + PAGE));
	WRITE(tcr_el1, CONTROL_UPPER | UINT64_C(1) << 37);
	drop();
	try_both("ignored", load, UINT64_C(0xab) << 56 | (TRIED + PAGE));
	try_both("nothing there", load, UINT64_C(0xab) << 56 | NOWHERE);
	WRITE(tcr_el1, CONTROL_UPPER);
	drop();
}

/* Two address spaces; what is dropped, and what need not be. */
static void spaces(void)
{
	uint64_t *const ways[] = { third, other };

	for (unsigned i = 0; i < 4; i++)
		pages[i][1] = i;
	for (unsigned i = 0; i < 2; i++) {
		ways[i][8] = (uint64_t)pages[i] | TABLE | USUAL | NOT_GLOBAL;
		ways[i][9] = (uint64_t)pages[2] | TABLE | USUAL;
	}
	/* The same first table, but for one entry of a second one. */
	for (unsigned i = 0; i < 512; i++)
		zeroth[i] = i == 3 ? (uint64_t)upper | TABLE : first[i];
	for (unsigned i = 0; i < 512; i++)
		upper[i] = second[i];
	upper[0] = (uint64_t)other | TABLE;
	drop();
	for (unsigned i = 0; i < 4; i++) {
		WRITE(ttbr0_el1, (uint64_t)(i & 1 ? zeroth : first) |
				 (uint64_t)(5 + (i & 1)) << 48);
		run(load, TRIED + 8 * PAGE + 8, EL1);
		say("of its space", caught.result);
		run(load, TRIED + 9 * PAGE + 8, EL1);
		say("of all", caught.result);
	}
	third[8] = (uint64_t)pages[3] | TABLE | USUAL | NOT_GLOBAL;
	other[8] = (uint64_t)pages[2] | TABLE | USUAL | NOT_GLOBAL;
	asm volatile("dsb sy\ntlbi aside1, %0\ndsb sy\nisb"
		     ::"r"(UINT64_C(6) << 48) : "memory");
	run(load, TRIED + 8 * PAGE + 8, EL1);
	say("by its number", caught.result);
	asm volatile("dsb sy\ntlbi vae1, %0\ndsb sy\nisb"
		     ::"r"(UINT64_C(5) << 48 | (TRIED + 8 * PAGE) >> 12)
		     : "memory");
	WRITE(ttbr0_el1, (uint64_t)first | UINT64_C(5) << 48);
	run(load, TRIED + 8 * PAGE + 8, EL1);
	say("by its address", caught.result);
	third[9] = other[9] = (uint64_t)pages[1] | TABLE | USUAL;
	asm volatile("dsb sy\ntlbi vaale1is, %0\ndsb sy\nisb"
		     ::"r"((TRIED + 9 * PAGE) >> 12) : "memory");
	run(load, TRIED + 9 * PAGE + 8, EL1);
	say("in all spaces", caught.result);
	WRITE(ttbr0_el1, (uint64_t)first);
	drop();
}

/* Both at once: what is executed is where it is, either way. */
static void set_tables(const uint64_t *table, uint64_t control)
{
	uint64_t before = READ(sctlr_el1);

	WRITE(sctlr_el1, before & ~UINT64_C(1));
	WRITE(ttbr0_el1, (uint64_t)table);
	WRITE(tcr_el1, control);
	drop();
	WRITE(sctlr_el1, before);
}

/* Other sizes of pages, and of addresses. */
static void sizes(void)
{
	uint64_t there = (uint64_t)pages[0];

	for (unsigned i = 0; i < 512; i++)
		zeroth[i] = 0;
	zeroth[0] = (uint64_t)first | TABLE;
	set_tables(zeroth, (CONTROL & ~UINT64_C(0x3f)) | 16);
	probe("48 bits", there);
	probe("level 0", UINT64_C(1) << 39);
	set_tables(first, (CONTROL & ~UINT64_C(0x3f)) | 32);
	probe("32 bits", there);
	probe("no more", NOWHERE);
	wide[0] = BLOCK | AF | UXN | PXN;
	wide[2] = 0x40000000 | BLOCK | USUAL;
	wide[3] = 0x60000000 | BLOCK | USUAL;
	wide[4] = 0x40000000 | BLOCK | USUAL | AP(1);
	wide[6] = (uint64_t)wide_third | TABLE;
	wide_third[1] = ((uint64_t)pages & ~UINT64_C(0xffff)) | TABLE | USUAL |
			AP(3);
	set_tables(wide, (CONTROL & ~UINT64_C(0xc03f)) | 0x4000 | 22);
	probe("64 KiB", TRIED + 0x10000 + (there & 0xffff));
	probe("none of them", TRIED + 0x20000);
	probe("a block of them", there);
	probe("no block", UINT64_C(1) << 35);
	set_tables(first, CONTROL);
}

/* ------- exceptions ------- */

static void exceptions(void)
{
	set_page(1, (uint64_t)pages[0] | TABLE | USUAL | AP(1));
	set_page(2, 0);
	set_page(3, (uint64_t)pages[0] | TABLE | USUAL | AP(3));
	BOTH(nothing, 5);
	try("nothing", nothing, 6, EL1_OF_SP0);
	BOTH(call_svc, 0);
	try("call_svc", call_svc, 0, EL1_OF_SP0);
	BOTH(break_point, 0);
	BOTH(undefined, 0);
	BOTH(undefined_system, 0);
	BOTH(load, TRIED + PAGE);
	BOTH(load, TRIED + 2 * PAGE);
	try("load", load, TRIED + 2 * PAGE, EL1_OF_SP0);
	BOTH(load, TRIED + 2 * PAGE - 4);
	BOTH(store, TRIED + 2 * PAGE - 4);
	BOTH(load_pair, TRIED + 2 * PAGE - 8);
	BOTH(store_pair, TRIED + 2 * PAGE - 8);
	BOTH(load_byte, TRIED + 2 * PAGE);
	BOTH(load_signed, TRIED + 2 * PAGE - 1);
	BOTH(post_index, TRIED + 2 * PAGE);
	BOTH(load_exclusive, TRIED + PAGE + 4);
	BOTH(load_exclusive, TRIED + 2 * PAGE);
	BOTH(load_acquire, TRIED + PAGE + 4);
	BOTH(load_acquire, TRIED + 2 * PAGE);
	BOTH(prefetch, TRIED + 2 * PAGE);
	BOTH(store, TRIED + 3 * PAGE);
	BOTH(clean, TRIED + 2 * PAGE);
	BOTH(jump, TRIED + 2 * PAGE);
	BOTH(jump, TRIED + PAGE + 2);
	BOTH(jump, TRIED + 2 * PAGE - 4);
	try("returns", returns, 0, EL0);
	BOTH(use_stack, 0);
	fill_pages();
}

/* What SCTLR_EL1 allows EL0, and what it checks. */
static void controls(void)
{
	static const struct {
		const char *what;
		const uint32_t *code;
		uint64_t x0;
		unsigned bit;
	} rows[] = {
		{ "zero", zero, TRIED + PAGE, 14 },
		{ "zero nothing", zero, TRIED + 2 * PAGE, 14 },
		{ "zero what is read", zero, TRIED + 3 * PAGE, 14 },
		{ "ctr", read_ctr, 0, 15 },
		{ "read mask", read_mask, 0, 9 },
		{ "wait event", wait_event, 0, 18 },
		{ "clean", clean, TRIED + PAGE, 26 },
		{ "clean_u", clean_u, TRIED + PAGE, 26 },
		{ "invalidate_code", invalidate_code, TRIED + PAGE, 26 },
		{ "dczid", read_dczid, 0, 14 },
	};
	uint64_t before = READ(sctlr_el1);

	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		for (unsigned on = 0; on < 2; on++) {
			uint64_t bit = UINT64_C(1) << rows[i].bit;

			say("bit", on ? rows[i].bit : 0);
			WRITE(sctlr_el1, on ? before | bit : before & ~bit);
			run(rows[i].code, rows[i].x0, EL1);
			if (rows[i].code == read_ctr)
				caught.result = 0;
			tell(rows[i].what, rows[i].code, EL1);
			run(rows[i].code, rows[i].x0, EL0);
			if (rows[i].code == read_ctr)
				caught.result = 0;
			tell(rows[i].what, rows[i].code, EL0);
		}
	WRITE(sctlr_el1, before & ~UINT64_C(0x18));
	try("any stack", of_own_stack, 0, EL0);
	try("any stack", of_own_stack, 0, EL1);
	WRITE(sctlr_el1, before | 0x18);
	try("an even one", of_own_stack, 0, EL0);
	try("an even one", of_own_stack, 0, EL1);
	try("an even one", of_own_stack, 0, EL1_OF_SP0);
	WRITE(sctlr_el1, before & ~(UINT64_C(1) << 16));
	try("no wait", wait, 0, EL0);
	WRITE(sctlr_el1, before);
	fill_pages();
}

static void registers(void)
{
	BOTH(float_add, 0);
	BOTH(float_read, 0);
	for (unsigned allowed = 0; allowed < 2; allowed++) {
		WRITE(cntkctl_el1, allowed ? 0x303 : 0);
		say("timers", allowed);
		BOTH(read_count, 0);
		BOTH(read_physical, 0);
		BOTH(read_frequency, 0);
		WRITE(cntv_ctl_el0, 0);
		WRITE(cntp_ctl_el0, 0);
		BOTH(read_timer, 0);
		BOTH(read_physical_timer, 0);
	}
	BOTH(read_control, 0);
	caught.result = 0;
	try("write_control", write_control, (uint64_t)first, EL0);
	BOTH(read_thread, 0x1234567890);
	WRITE(tpidrro_el0, 77);
	BOTH(read_thread_only, 0);
	try("write_thread_only", write_thread_only, 0, EL0);
	BOTH(read_id, 0);
	BOTH(read_own_id, 0);
	BOTH(read_level, 0);
	BOTH(select_stack, 0);
	BOTH(drop_all, 0);
	BOTH(drop_code, 0);
	BOTH(ask, TRIED);
}

/* What is kept of ones, and of a pattern. */
static void masks(void)
{
#define MASK(name)                                                             \
	do {                                                                   \
		uint64_t before = READ(name), kept;                            \
									       \
		WRITE(name, UINT64_MAX);                                       \
		kept = READ(name);                                             \
		WRITE(name, before);                                           \
		say(#name, kept);                                              \
	} while (0)

	MASK(ttbr1_el1);
	MASK(mair_el1);
	MASK(amair_el1);
	MASK(vbar_el1);
	MASK(esr_el1);
	MASK(far_el1);
	MASK(elr_el1);
	MASK(contextidr_el1);
	MASK(tpidr_el0);
	MASK(tpidr_el1);
	MASK(tpidrro_el0);
	MASK(sp_el0);
	MASK(cntv_cval_el0);
	MASK(cntp_cval_el0);
	MASK(afsr0_el1);
	MASK(afsr1_el1);
	MASK(par_el1);
	say("daif", READ(daif));
	say("currentel", READ(currentel));
	say("spsel", READ(spsel));
	say("midr", READ(midr_el1));
	say("mpidr", READ(mpidr_el1));
	say("mmfr0", READ(id_aa64mmfr0_el1));
	say("isar0", READ(id_aa64isar0_el1));
	say("clidr", READ(clidr_el1) & 7);
}

/* ------- timers and interrupts ------- */

enum { CTL = 0, TYPER = 4, ENABLE = 0x100, DISABLE = 0x180, PENDING = 0x200,
       UNPEND = 0x280, ACTIVE = 0x300, DEACTIVATE = 0x380, PRIORITY = 0x400,
       TARGETS = 0x800, CONFIG = 0xc00, SEND = 0xf00 };
enum { PMR = 4, BPR = 8, IAR = 0xc, EOIR = 0x10, RPR = 0x14, HPPIR = 0x18 };

static void set_priority(unsigned number, uint8_t priority)
{
	*(volatile uint8_t *)(GICD + PRIORITY + number) = priority;
}

static void send(unsigned number)
{
	*reg(GICD + SEND) = 2u << 24 | number;
}

static void timer(unsigned number, bool is_virtual)
{
	uint64_t now;

#define SET(part, value)                                                       \
	do {                                                                   \
		if (is_virtual)                                                \
			WRITE(cntv_##part##_el0, value);                       \
		else                                                           \
			WRITE(cntp_##part##_el0, value);                       \
	} while (0)
#define GET(part)                                                              \
	(is_virtual ? READ(cntv_##part##_el0) : READ(cntp_##part##_el0))

	say("timer", number);
	SET(cval, UINT64_MAX);
	SET(ctl, 1);
	say("far away", GET(ctl));
	say("pending", *reg(GICD + PENDING) >> number & 1);
	SET(cval, 0);
	say("long ago", GET(ctl));
	say("pending", *reg(GICD + PENDING) >> number & 1);
	SET(ctl, 3);
	say("masked", GET(ctl));
	say("pending", *reg(GICD + PENDING) >> number & 1);
	SET(ctl, 0);
	SET(tval, 1000000);
	now = is_virtual ? READ(cntvct_el0) : READ(cntpct_el0);
	say("in a while", GET(cval) > now && GET(cval) - now <= 1000000);
	say("and less", GET(tval) <= 1000000);
	SET(tval, (uint64_t)-5);
	now = is_virtual ? READ(cntvct_el0) : READ(cntpct_el0);
	say("a while ago", GET(cval) < now);
	say("less than none", GET(tval) >> 31);
	say("with an upper half", GET(tval) >> 32);
	*reg(GICD + ENABLE) = 1u << number;
	set_priority(number, 0x80);
	SET(tval, 2000);
	SET(ctl, 1);
	now = GET(cval);
	asm volatile("wfi");
	say("not before", READ(cntpct_el0) >= now);
	say("next", *reg(GICC + HPPIR));
	run(nothing, 0, EL1);
	tell("masked", nothing, EL1);
	/* At once, in either level, before the first instruction. */
	run(nothing, 0, EL1 & ~0x80u);
	tell("taken", nothing, EL1);
	run(nothing, 0, EL0 & ~0x80u);
	print("taken");
	print_number(caught.vector);
	print_number(caught.elr - place(nothing, EL0));
	print("\n");
	say("it is", *reg(GICC + IAR));
	say("priority", *reg(GICC + RPR));
	say("again", *reg(GICC + IAR));
	say("active", *reg(GICD + ACTIVE) >> number & 1);
	*reg(GICC + EOIR) = number;
	say("ended", *reg(GICC + RPR));
	say("still there", *reg(GICC + HPPIR));
	SET(ctl, 2);
	say("no more", *reg(GICC + HPPIR));
	*reg(GICD + DISABLE) = 1u << number;
	SET(ctl, 0);
}

static void interrupts(void)
{
	*reg(GICD + CTL) = 1;
	*reg(GICC + PMR) = 0xff;
	*reg(GICC + CTL) = 1;
	timer(27, true);
	timer(30, false);
	for (unsigned i = 0; i < 16; i++)
		set_priority(i, (uint8_t)(0xf0 - 0x10 * i));
	say("kinds", *reg(GICD + CONFIG));
	say("enabled", *reg(GICD + ENABLE) & 0xffff);
	send(3);
	send(9);
	say("the higher one", *reg(GICC + IAR));
	say("not the lower one", *reg(GICC + IAR));
	send(12);
	say("a still higher one", *reg(GICC + IAR));
	say("priority", *reg(GICC + RPR));
	*reg(GICC + EOIR) = 12;
	say("priority", *reg(GICC + RPR));
	*reg(GICC + EOIR) = 9;
	say("the lower one", *reg(GICC + IAR));
	*reg(GICC + EOIR) = 3;
	say("none", *reg(GICC + IAR));
	*reg(GICC + PMR) = 0x80;
	send(3);
	say("masked by priority", *reg(GICC + IAR));
	*reg(GICC + PMR) = 0xff;
	say("and not", *reg(GICC + IAR));
	*reg(GICC + EOIR) = 3;
	/* Shared ones, by hand. */
	*reg(GICD + ENABLE + 4) = 1u << 8;
	*(volatile uint8_t *)(GICD + TARGETS + 40) = 1;
	set_priority(40, 0x20);
	*reg(GICD + PENDING + 4) = 1u << 8;
	say("set by hand", *reg(GICC + HPPIR));
	*reg(GICD + UNPEND + 4) = 1u << 8;
	say("cleared", *reg(GICC + HPPIR));
	*reg(GICD + PENDING + 4) = 1u << 8;
	say("taken", *reg(GICC + IAR));
	say("active", *reg(GICD + ACTIVE + 4));
	say("pending", *reg(GICD + PENDING + 4) >> 8 & 1);
	*reg(GICC + EOIR) = 40;
	say("active", *reg(GICD + ACTIVE + 4));
	*reg(GICD + CTL) = 0;
	send(5);
	say("switched off", *reg(GICC + HPPIR));
	*reg(GICD + CTL) = 1;
	say("and on", *reg(GICC + IAR));
	*reg(GICC + EOIR) = 5;
	*reg(GICC + CTL) = 0;
	*reg(GICD + CTL) = 0;
}

int main(void)
{
	WRITE(vbar_el1, (uint64_t)vectors);
	WRITE(cpacr_el1, 3u << 20);
	translate();
	fill_pages();
	say("translated", READ(sctlr_el1) & 0x1005);
	exceptions();
	controls();
	rights();
	levels();
	halves();
	spaces();
	sizes();
	registers();
	masks();
	interrupts();
	print("end\n");
	return 0;
}
