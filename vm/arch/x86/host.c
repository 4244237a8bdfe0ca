/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * host.c - instructions that the host's own processor executes
 *
 * The engine computes x87's remainders, logarithms, exponentials and
 * trigonometric functions in 53 bits, and some of SSSE3 to SSE4.2 wrongly (see
 * classes.c).  A real processor is at hand: its result is taken, and captured,
 * because processors differ in the last bit of the transcendental ones.
 *
 * Source: Intel 64 SDM volume 1, 10.5 (FXSAVE), 8.3.7; volume 2, PCMPISTRI.
 */
#include "vm/arch/x86/host.h"

#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include "vm/arch/x86/x86.h"

_Static_assert(offsetof(struct fx_image, memory) == HOST_MEMORY, "FXSAVE");

/* One bit a register, from the two of the full tag word. */
static uint8_t short_tag(uint16_t tag)
{
	uint8_t result = 0;

	for (unsigned i = 0; i < 8; i++)
		if ((tag >> (2 * i) & 3) != 3)
			result |= (uint8_t)(1 << i);
	return result;
}

/* The full tag word; the kinds of values are not told apart by the engine. */
static uint16_t full_tag(uint8_t tag)
{
	uint16_t result = 0;

	for (unsigned i = 0; i < 8; i++)
		if (!(tag >> i & 1))
			result |= (uint16_t)(3 << (2 * i));
	return result;
}

void host_load(struct cpu *cpu, struct fx_image *image)
{
	struct reg_file regs;

	memset(image, 0, sizeof(*image));
	x86_registers(cpu, &regs);
	image->control = (uint16_t)reg_get(x86_table(), &regs, X86_FPCW);
	image->status = (uint16_t)reg_get(x86_table(), &regs, X86_FPSW);
	image->tag = short_tag((uint16_t)reg_get(x86_table(), &regs, X86_FPTAG));
	image->mxcsr = (uint32_t)reg_get(x86_table(), &regs, X86_MXCSR);
	for (unsigned i = 0; i < 8; i++)
		memcpy(image->st[i],
		       regs.bytes + x86_table()->regs[X86_ST0 + i].offset, 10);
	for (unsigned i = 0; i < 16; i++)
		memcpy(image->xmm[i],
		       regs.bytes + x86_table()->regs[X86_XMM0 + i].offset, 16);
}

void host_store(struct cpu *cpu, const struct fx_image *image)
{
	struct reg_file regs;

	x86_registers(cpu, &regs);
	reg_set(x86_table(), &regs, X86_FPCW, image->control);
	reg_set(x86_table(), &regs, X86_FPSW, image->status);
	reg_set(x86_table(), &regs, X86_FPTAG, full_tag(image->tag));
	reg_set(x86_table(), &regs, X86_MXCSR, image->mxcsr);
	for (unsigned i = 0; i < 8; i++)
		memcpy(regs.bytes + x86_table()->regs[X86_ST0 + i].offset,
		       image->st[i], 10);
	for (unsigned i = 0; i < 16; i++)
		memcpy(regs.bytes + x86_table()->regs[X86_XMM0 + i].offset,
		       image->xmm[i], 16);
	x86_set_registers(cpu, &regs);
}

/*
 * void f(struct fx_image *image, struct host_regs *regs): the code around
 * the instruction, which gets the guest's state and gives it back.
 */
static const uint8_t code_before[] = {
	0x53,						/* push rbx */
	0x55,						/* push rbp */
	0x48, 0x89, 0xfb,				/* mov rbx, rdi */
	0x48, 0x89, 0xf5,				/* mov rbp, rsi */
	0x48, 0x81, 0xec, 0x08, 0x02, 0x00, 0x00,	/* sub rsp, 520 */
	0x48, 0x0f, 0xae, 0x04, 0x24,			/* fxsave64 [rsp] */
	0x48, 0x0f, 0xae, 0x0b,				/* fxrstor64 [rbx] */
	0x48, 0x8b, 0x45, 0x00,				/* mov rax, [rbp] */
	0x48, 0x8b, 0x4d, 0x08,				/* mov rcx, [rbp+8] */
	0x48, 0x8b, 0x55, 0x10,				/* mov rdx, [rbp+16] */
	0xff, 0x75, 0x18,				/* push [rbp+24] */
	0x9d,						/* popfq */
};

static const uint8_t code_after[] = {
	0x9c,						/* pushfq */
	0x8f, 0x45, 0x18,				/* pop [rbp+24] */
	0x48, 0x89, 0x45, 0x00,				/* mov [rbp], rax */
	0x48, 0x89, 0x4d, 0x08,				/* mov [rbp+8], rcx */
	0x48, 0x89, 0x55, 0x10,				/* mov [rbp+16], rdx */
	0x48, 0x0f, 0xae, 0x03,				/* fxsave64 [rbx] */
	0x48, 0x0f, 0xae, 0x0c, 0x24,			/* fxrstor64 [rsp] */
	0xfc,						/* cld */
	0x48, 0x81, 0xc4, 0x08, 0x02, 0x00, 0x00,	/* add rsp, 520 */
	0x5d, 0x5b, 0xc3,				/* pop rbp, rbx; ret */
};

typedef void host_function(struct fx_image *image, struct host_regs *regs);

/* Functions made before, by what they execute. */
#define FUNCTIONS 512u
#define FUNCTION_SIZE 128u

struct x86_host {
	uint8_t *code;
	struct {
		uint8_t insn[16];
		unsigned size;
	} made[FUNCTIONS];
};

_Static_assert(sizeof(code_before) + sizeof(code_after) + 15 < FUNCTION_SIZE,
	       "a function fits");

static unsigned slot_of(const uint8_t *insn, unsigned size)
{
	uint32_t hash = size;

	for (unsigned i = 0; i < size; i++)
		hash = hash * 31 + insn[i];
	return hash % FUNCTIONS;
}

static void write_function(uint8_t *at, const uint8_t *insn, unsigned size)
{
	memcpy(at, code_before, sizeof(code_before));
	at += sizeof(code_before);
	memcpy(at, insn, size);
	at += size;
	memcpy(at, code_after, sizeof(code_after));
}

#define CODE_ROOM ((size_t)FUNCTIONS * FUNCTION_SIZE)

static struct x86_host *create(void)
{
	struct x86_host *host = calloc(1, sizeof(*host));

	if (!host)
		return NULL;
	host->code = mmap(NULL, CODE_ROOM, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (host->code == MAP_FAILED) {
		free(host);
		return NULL;
	}
	return host;
}

void host_release(struct cpu *cpu)
{
	struct x86_host *host = x86_of(cpu)->host;

	if (!host)
		return;
	munmap(host->code, CODE_ROOM);
	free(host);
}

static host_function *make_function(struct cpu *cpu, const uint8_t *insn,
				    unsigned size)
{
	unsigned slot = slot_of(insn, size);
	struct x86_host *host = x86_of(cpu)->host;
	uint8_t *code;

	if (!host)
		host = x86_of(cpu)->host = create();
	if (!host)
		return NULL;
	code = host->code + slot * FUNCTION_SIZE;
	if (host->made[slot].size != size ||
	    memcmp(host->made[slot].insn, insn, size) != 0) {
		host->made[slot].size = 0;
		if (mprotect(host->code, CODE_ROOM, PROT_READ | PROT_WRITE))
			return NULL;
		write_function(code, insn, size);
		if (mprotect(host->code, CODE_ROOM, PROT_READ | PROT_EXEC))
			return NULL;
		memcpy(host->made[slot].insn, insn, size);
		host->made[slot].size = size;
	}
	return (host_function *)(uintptr_t)code;
}

/* ------- traps of SSE ------- */

static _Thread_local struct {
	bool is_awaited, happened, foreign;
	siginfo_t info;		/* of a foreign one */
	unsigned skip;		/* bytes of the instruction */
} trap;

/* One thread at a time has the handler; and who had it before. */
static pthread_mutex_t handler_lock = PTHREAD_MUTEX_INITIALIZER;
static struct sigaction before;

/* Another thread's, which runs no instruction of a guest's. */
static void pass_on(int number, siginfo_t *info, void *context)
{
	if (before.sa_flags & SA_SIGINFO)
		before.sa_sigaction(number, info, context);
	else if (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN)
		before.sa_handler(number);
	else
		signal(number, SIG_DFL);
}

static void on_trap(int number, siginfo_t *info, void *context)
{
	ucontext_t *state = context;

	if (!trap.is_awaited) {
		pass_on(number, info, context);
		return;
	}
	if (info->si_code <= 0 || info->si_code == SI_KERNEL) {
		trap.foreign = true;
		trap.info = *info;
		return;
	}
	trap.happened = true;
	state->uc_mcontext.gregs[REG_RIP] += (greg_t)trap.skip;
}

/* A trap is a signal, which the guest may have blocked or may handle. */
static void run_trapping(host_function *function, struct fx_image *image,
			 struct host_regs *regs, unsigned size)
{
	struct sigaction mine = { .sa_sigaction = on_trap,
				  .sa_flags = SA_SIGINFO | SA_ONSTACK };
	sigset_t mask, old;

	sigfillset(&mine.sa_mask);
	sigemptyset(&mask);
	sigaddset(&mask, SIGFPE);
	trap.happened = trap.foreign = false;
	trap.skip = size;
	trap.is_awaited = true;
	pthread_mutex_lock(&handler_lock);
	sigaction(SIGFPE, &mine, &before);
	pthread_sigmask(SIG_UNBLOCK, &mask, &old);
	function(image, regs);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	sigaction(SIGFPE, &before, NULL);
	pthread_mutex_unlock(&handler_lock);
	trap.is_awaited = false;
	if (trap.foreign)
		syscall(SYS_rt_tgsigqueueinfo, getpid(), gettid(), SIGFPE,
			&trap.info);
}

#define MASK_ALL_X87 0x3f
#define MASK_ALL_SSE 0x1f80

bool host_run(struct cpu *cpu, const uint8_t *insn, unsigned size,
	      struct fx_image *image, struct host_regs *regs)
{
	host_function *function = make_function(cpu, insn, size);

	if (!function)
		return false;
	if ((image->mxcsr & MASK_ALL_SSE) == MASK_ALL_SSE)
		function(image, regs);
	else
		run_trapping(function, image, regs, size);
	return true;
}

#define STATUS_UNMASKED 0x8080	/* ES, B */
#define FLAGS_ARITHMETIC UINT64_C(0x8d5)

static bool execute(struct cpu *cpu, struct fx_image *image,
		    const uint8_t *insn, unsigned size)
{
	uint64_t flags = x86_read_reg(cpu, X86_RFLAGS);
	uint16_t control = image->control;
	uint32_t masks = image->mxcsr & MASK_ALL_SSE;
	struct host_regs regs = {
		x86_read_reg(cpu, X86_RAX),
		x86_read_reg(cpu, X86_RCX),
		x86_read_reg(cpu, X86_RDX),
		(flags & FLAGS_ARITHMETIC) | 0x202,
	};

	image->control |= MASK_ALL_X87;
	image->status &= (uint16_t)~STATUS_UNMASKED;
	image->mxcsr |= MASK_ALL_SSE;
	if (!host_run(cpu, insn, size, image, &regs))
		return false;
	image->control = control;
	image->mxcsr = (image->mxcsr & ~(uint32_t)MASK_ALL_SSE) | masks;
	host_store(cpu, image);
	x86_write_reg(cpu, X86_RAX, regs.rax);
	x86_write_reg(cpu, X86_RCX, regs.rcx);
	x86_write_reg(cpu, X86_RDX, regs.rdx);
	x86_write_reg(cpu, X86_RFLAGS, (flags & ~FLAGS_ARITHMETIC) |
				   (regs.flags & FLAGS_ARITHMETIC));
	return true;
}

/*
 * A string comparison with one operand in memory becomes one of registers, with
 * a register lent for it.
 */
static bool execute_memory(struct cpu *cpu, struct fx_image *image,
			   const struct x86_parts *insn, const uint8_t *operand)
{
	unsigned reg = insn_reg(insn), lent = reg == 15 ? 14 : 15;
	const uint8_t made[] = {
		0x66, (uint8_t)(0x40 | (insn->rex & 0xc) | 1), 0x0f, 0x3a,
		insn->opcode, (uint8_t)(0xc0 | (reg & 7) << 3 | (lent & 7)),
		insn->code[insn->immediate_at],
	};
	uint8_t saved[16];

	memcpy(saved, image->xmm[lent], 16);
	memcpy(image->xmm[lent], operand, 16);
	if (!execute(cpu, image, made, sizeof(made)))
		return false;
	memcpy(image->xmm[lent], saved, 16);
	host_store(cpu, image);
	return true;
}

bool x86_on_host(struct cpu *cpu, const struct vm_stop *stop)
{
	struct fx_image image;
	struct x86_code code;
	uint8_t operand[16];
	guest_addr addr;
	unsigned size;

	x86_fetch(cpu, stop->pc, &code);
	host_load(cpu, &image);
	if (code.insn.map != MAP_0F3A || insn_names_register(&code.insn))
		return execute(cpu, &image, code.bytes, stop->size);
	return x86_operand(cpu, &code, &addr, &size) &&
	       !memory_load(cpu->memory, addr, operand, sizeof(operand)) &&
	       execute_memory(cpu, &image, &code.insn, operand);
}
