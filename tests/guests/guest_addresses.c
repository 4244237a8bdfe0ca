/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * guest_addresses.c - accesses to any address of 64 bits, by instructions of
 * many kinds: which signal comes, with which code and address
 *
 * A digest for each kind is printed.  Arguments are how often each is tried,
 * and a number that makes others of the addresses.  After ten thousand faults,
 * cprec asks the TLB about all addresses: more are for several runs.
 */
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <ucontext.h>

#include "tests/guests/guest.h"

#define PAGE 4096u
#define TRIES 30u

/* Where no kind of guest has anything: pages of each permission, apart. */
#define OWN UINT64_C(0x30000000)
#define OWN_PAGES 12u

static void *volatile behind;	/* the instruction that is tried */
static struct {
	int number, code;
	uint64_t addr;
} last;

static void on_signal(int number, siginfo_t *info, void *context)
{
	ucontext_t *state = context;

	last.number = number;
	last.code = info->si_code;
	last.addr = (uint64_t)info->si_addr;
	state->uc_mcontext.gregs[REG_RIP] = (greg_t)behind;
	/* Some virtual hosts cannot resume with an RSP that is not canonical. */
	state->uc_mcontext.gregs[REG_RSP] = state->uc_mcontext.gregs[REG_R12];
}

/* An instruction that accesses what RDI points to.  R12 keeps RSP. */
#define KIND(name, instructions)                                              \
	__attribute__((noinline)) static void name(uint64_t addr)             \
	{                                                                     \
		uint8_t bytes[64] = { 1, 2, 3 }, *at = bytes;                  \
									      \
		__asm__ volatile("mov %%rsp, %%r12\n"                         \
				 "sub $512, %%rsp\n"                          \
				 "and $-64, %%rsp\n"                          \
				 "lea 1f(%%rip), %%rax\n"                     \
				 "mov %%rax, %[behind]\n"                     \
				 "mov $0x81223344, %%eax\n"                   \
				 instructions "\n"                            \
				 "1: mov %%r12, %%rsp\n"                      \
				 "fninit\n"                                   \
				 "cld\n"                                      \
				 : [behind] "=m"(behind), "+D"(addr), "+S"(at)  \
				 :                                            \
				 : "rax", "rbx", "rcx", "rdx", "r12", "xmm0", \
				   "xmm1", "memory", "cc");                   \
	}

KIND(load_8, "mov (%%rdi), %%al")
KIND(load_16, "mov (%%rdi), %%ax")
KIND(load_signed, "movswq (%%rdi), %%rax")
KIND(load_32, "mov (%%rdi), %%eax")
KIND(load_64, "mov (%%rdi), %%rax")
KIND(load_unused, "mov (%%rdi), %%rax\nmov %%rsp, %%rax")
KIND(compare, "cmpl $5, 8(%%rdi)")
KIND(store_8, "mov %%al, (%%rdi)")
KIND(store_16, "mov %%ax, (%%rdi)")
KIND(store_32, "mov %%eax, (%%rdi)")
KIND(store_64, "mov %%rax, (%%rdi)")
KIND(store_constant, "movq $7, -16(%%rdi)")
KIND(change, "add %%rax, (%%rdi)")
KIND(change_locked, "lock xadd %%eax, (%%rdi)")
KIND(exchange, "xchg %%rax, (%%rdi)")
KIND(exchange_pair, "lock cmpxchg16b (%%rdi)")
KIND(push_it, "push (%%rdi)")
KIND(pop_it, "push $9\npop (%%rdi)")
KIND(push_there, "mov %%rdi, %%rsp\npush %%rax")
KIND(call_there, "mov %%rdi, %%rsp\ncall 1f")
KIND(call_it, "call *(%%rdi)")
KIND(vector_load, "movups (%%rdi), %%xmm0")
KIND(vector_store, "movups %%xmm0, (%%rdi)")
KIND(vector_aligned, "movaps (%%rdi), %%xmm0")
KIND(vector_double, "movsd (%%rdi), %%xmm1\naddsd %%xmm1, %%xmm1")
KIND(vector_add, "paddd (%%rdi), %%xmm0")
KIND(copy_to, "mov $5, %%ecx\nrep movsb")
KIND(copy_from, "mov $5, %%ecx\nxchg %%rdi, %%rsi\nrep movsq")
KIND(fill, "mov $9, %%ecx\nrep stosl")
KIND(fill_down, "std\nmov $9, %%ecx\nrep stosb")
KIND(x87_load, "fldt (%%rdi)")
KIND(x87_load_double, "fldl (%%rdi)")
KIND(x87_store, "fld1\nfstpt (%%rdi)")
KIND(x87_environment, "fnstenv (%%rdi)")
KIND(save_all, "fxsave (%%rdi)")
KIND(bit_test, "mov $7, %%eax\nbts %%rax, (%%rdi)")

/* Behind an access that may prove something about the address of the next. */
#define BEHIND_OWN "mov $0x30000000, %%ebx\nmov (%%rbx), %%al\n"
KIND(near_index, BEHIND_OWN "sub %%rbx, %%rdi\nmov (%%rbx, %%rdi), %%al")
KIND(near_scaled, BEHIND_OWN "sub %%rbx, %%rdi\nsar $3, %%rdi\n"
		  "mov (%%rbx, %%rdi, 8), %%eax")
KIND(near_narrow, BEHIND_OWN "mov %%edi, %%ecx\nmov (%%rbx, %%rcx, 8), %%rax")
KIND(near_signed, BEHIND_OWN "movslq %%edi, %%rcx\nmov %%rax, (%%rbx, %%rcx)")
KIND(near_far, BEHIND_OWN "mov $1, %%ecx\nshl $46, %%rcx\n"
	       "add %%rcx, %%rbx\nmov (%%rbx), %%al")
KIND(near_difference, BEHIND_OWN "mov %%rbx, %%rcx\nsub %%rdi, %%rcx\n"
		      "sub %%rcx, %%rbx\nmov (%%rbx), %%rax")
KIND(near_other, "mov (%%rdi), %%al\nmov 0x7fffff00(%%rdi), %%al")
KIND(near_page, "mov (%%rdi), %%al\nand $-4096, %%rdi\nmov %%al, (%%rdi)")
KIND(near_stack, "mov %%rdi, %%rsp\npush %%rax\npush %%rax\npop %%rcx")
KIND(narrow, "mov %%edi, %%edi\nmov (%%rdi), %%rax")
KIND(narrow_signed, "movslq %%edi, %%rdi\nmov %%rax, (%%rdi)")

static const struct {
	const char *name;
	void (*try)(uint64_t addr);
	enum {
		LOOSE = 1,	/* only the signal counts */
		KEEPS = 2,	/* its own address, in memory */
	} how;
} kinds[] = {
#define ROW(name) { #name, name, 0 }
#define APART(name, how) { #name, name, how }
	ROW(load_8), ROW(load_16), ROW(load_signed), ROW(load_32),
	ROW(load_64), ROW(load_unused), ROW(compare), ROW(store_8),
	ROW(store_16), ROW(store_32), ROW(store_64), ROW(store_constant),
	APART(change, LOOSE), APART(change_locked, LOOSE),
	APART(exchange, LOOSE), APART(exchange_pair, LOOSE), ROW(push_it),
	ROW(pop_it), ROW(push_there), APART(call_there, KEEPS), ROW(call_it),
	ROW(vector_load), ROW(vector_store), ROW(vector_aligned),
	ROW(vector_double), ROW(vector_add), ROW(copy_to), ROW(copy_from),
	ROW(fill), ROW(fill_down), ROW(x87_load), ROW(x87_load_double),
	APART(x87_store, KEEPS), APART(x87_environment, LOOSE | KEEPS),
	APART(save_all, LOOSE | KEEPS), APART(bit_test, LOOSE),
	ROW(near_index), ROW(near_scaled), ROW(near_narrow), ROW(near_signed),
	ROW(near_far), ROW(near_difference), ROW(near_other), ROW(near_page),
	ROW(near_stack), ROW(narrow), ROW(narrow_signed),
};

static uint64_t seed = UINT64_C(0x9e3779b97f4a7c15);

static uint64_t next(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	return seed ^= seed << 17;
}

/* Addresses of all kinds: anywhere, and close to where something changes. */
static uint64_t next_address(void)
{
	uint64_t near = next() % 64 - 32;

	switch (next() % 8) {
	case 0:
		return next();
	case 1:
		return next() >> 17;
	case 2:
		return (UINT64_C(1) << next() % 64) + near;
	case 3:
		return (UINT64_C(1) << (46 + next() % 3)) + near;
	case 4:
		return (next() & UINT32_MAX) - (UINT64_C(1) << 31);
	case 5:
		return -(UINT64_C(1) << next() % 64) + near;
	default:
		return OWN + next() % (OWN_PAGES + 1) * PAGE + near;
	}
}

/* What is mapped in this process by chance, but for its own pages. */
static int is_taken(uint64_t addr)
{
	void *page = (void *)(addr & ~(uint64_t)(PAGE - 1));

	return addr >> 47 == 0 &&
	       addr - (OWN - PAGE) > (uint64_t)(OWN_PAGES + 2) * PAGE &&
	       (!msync(page, PAGE, MS_ASYNC) ||
		!msync((char *)page + PAGE, PAGE, MS_ASYNC));
}

/*
 * An access that begins where programs can have memory and goes on where they
 * cannot: the processor does not say where it was, cprec does.
 */
static int is_at_end(uint64_t addr)
{
	return addr - ((UINT64_C(1) << 47) - 64) < 128;
}

/* New ones, which hold zeros: every fifth is missing. */
static void map_own(void)
{
	static const int prots[] = {
		PROT_READ | PROT_WRITE, PROT_READ, PROT_NONE,
		PROT_READ | PROT_WRITE,
	};

	for (unsigned i = 0; i < OWN_PAGES; i++) {
		uint8_t *at = (uint8_t *)(uintptr_t)OWN + i * PAGE;

		if (i % 5 == 4)
			continue;
		CHECK(mmap(at, PAGE, prots[i % 5],
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) ==
		      at);
	}
}

/* Also what the pages hold that can be read. */
static uint64_t digest_pages(uint64_t digest)
{
	for (unsigned i = 0; i < OWN_PAGES; i++) {
		const volatile uint8_t *at =
			(uint8_t *)(uintptr_t)OWN + i * PAGE;

		for (unsigned j = 0; i % 5 != 2 && i % 5 != 4 && j < PAGE; j++)
			digest = (digest ^ at[j]) * UINT64_C(0x100000001b3);
	}
	return digest;
}

static void try_kind(size_t kind, unsigned tries)
{
	uint64_t digest = 0;
	unsigned faults = 0;

	map_own();
	for (unsigned i = 0; i < tries; i++) {
		uint64_t addr = next_address();

		if (is_taken(addr) || is_at_end(addr))
			continue;
		memset(&last, 0, sizeof(last));
		kinds[kind].try(addr);
		faults += last.number != 0;
		digest ^= (uint64_t)last.number << 40;
		if (!(kinds[kind].how & LOOSE))
			digest ^= (uint64_t)(unsigned)last.code << 32 ^
				  last.addr;
		digest = digest * UINT64_C(0x100000001b3) + 1;
		if (getenv("GUEST_ADDRESSES"))
			printf("%s %llx: signal %d, code %d, %llx\n",
			       kinds[kind].name, (unsigned long long)addr,
			       last.number, last.code,
			       (unsigned long long)last.addr);
	}
	printf("%s: %u faults, %016llx\n", kinds[kind].name, faults,
	       (unsigned long long)(kinds[kind].how & KEEPS ?
					    digest : digest_pages(digest)));
}

int main(int argc, char **argv)
{
	unsigned tries = argc > 1 ? (unsigned)atoi(argv[1]) : TRIES;
	unsigned others = argc > 2 ? (unsigned)atoi(argv[2]) : 0;
	static uint8_t room[1 << 16];
	stack_t stack = { .ss_sp = room, .ss_size = sizeof(room) };
	struct sigaction action = {
		.sa_sigaction = on_signal,
		.sa_flags = SA_SIGINFO | SA_ONSTACK,
	};

	seed += others * UINT64_C(0x94d049bb133111eb);
	CHECK(!sigaltstack(&stack, NULL));
	CHECK(!sigaction(SIGSEGV, &action, NULL));
	CHECK(!sigaction(SIGBUS, &action, NULL));
	CHECK(!sigaction(SIGILL, &action, NULL));
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		try_kind(i, tries);
	return guest_end();
}
