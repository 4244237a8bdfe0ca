/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * selftest.c - whether the engine that was linked in is the one that is known
 *
 * Code runs in the engine that needs each function that cprec replaces; a
 * breakpoint on each tells whether the engine has called it.  The same code
 * runs on this processor, and must leave the same.  What cprec assumes of the
 * engine's structures and of the code that it generates is looked at on the
 * way.  Code of AArch64 must leave what is written here.  Prints a line for each
 * thing that is not so; also for a crash, with what was being tested.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unicorn/unicorn.h>
#include <unistd.h>

#include "formats/error.h"
#include "tests/unit/engine.h"
#include "vm/engine/build/operations.h"
#include "vm/processor/processor.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* ------- breakpoints on what is replaced ------- */

#define REPLACED(group, name) extern uint8_t name[], engine_##name[];
#define REDIRECTED(group, name) extern uint8_t our_##name[];
#include "vm/engine/build/manifest.inc"

#define BREAKPOINT 0xcc

static struct replaced {
	const char *group, *name;
	uint8_t *ours;
	const uint8_t *engines;
	uint8_t byte;		/* that the breakpoint stands in for */
	bool is_called;
} replaced[] = {
#define REPLACED(group, name) { #group, #name, name, engine_##name, 0, false },
#define REDIRECTED(group, name) { #group, #name, our_##name, NULL, 0, false },
#include "vm/engine/build/manifest.inc"
};

static unsigned failures;

__attribute__((format(printf, 1, 2))) static void
failure(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	fputs("the engine: ", stdout);
	vprintf(format, arguments);
	putchar('\n');
	va_end(arguments);
	failures++;
}

/* ------- crashes ------- */

/* What is being tested, and the function of cprec's that was called last. */
static const char *part_tested = "the start";
static const struct replaced *called_last;

/* Adds a text to a line. */
static void add(char *line, size_t size, const char *text)
{
	size_t length = strlen(line);

	while (*text && length < size - 1)
		line[length++] = *text++;
	line[length] = 0;
}

static void on_crash(int number, siginfo_t *info, void *context)
{
	char line[400] = "the engine: ";

	(void)info;
	(void)context;
	add(line, sizeof(line), part_tested);
	add(line, sizeof(line), ": SIG");
	add(line, sizeof(line), sigabbrev_np(number));
	if (called_last) {
		add(line, sizeof(line), ", behind the first call of ");
		add(line, sizeof(line), called_last->name);
		add(line, sizeof(line), " (");
		add(line, sizeof(line), called_last->group);
		add(line, sizeof(line), ")");
	}
	add(line, sizeof(line), "\n");
	_exit(write(STDOUT_FILENO, line, strlen(line)) < 0 ? 2 : EXIT_FAILURE);
}

static void report_crashes(void)
{
	static const int signals[] = {
		SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGALRM,
	};
	const unsigned most = 300;	/* seconds; it takes one or two */
	struct sigaction action = {
		.sa_sigaction = on_crash,
		.sa_flags = SA_SIGINFO | SA_ONSTACK,
	};

	for (size_t i = 0; i < COUNT(signals); i++)
		sigaction(signals[i], &action, NULL);
	setvbuf(stdout, NULL, _IOLBF, 0);
	alarm(most);
}

/* ------- breakpoints ------- */

/* The first address of the block that is to be translated first. */
static guest_addr first_block;
static const struct vm *guest;

/* Its arguments are the processor, the block and a number. */
static void check_block(const ucontext_t *context)
{
	const void *block = (void *)context->uc_mcontext.gregs[REG_RSI];
	guest_addr pc;

	memcpy(&pc, block, sizeof(pc));
	if (pc != first_block)
		failure("a block does not begin with its address");
}

/* The engine hands its state to the functions that compute. */
static void check_state(const ucontext_t *context)
{
	const void *state = (void *)context->uc_mcontext.gregs[REG_RDI];

	if (state != engine_x86(guest->engine)->general)
		failure("its state is not where it was found");
}

/* Where translated code goes back to the engine, and how often it did. */
static uint8_t *way_out;
static unsigned ways_out;

static const uint8_t zero_rax[] = { 0x33, 0xc0 };	/* xor %eax, %eax */

static void on_breakpoint(int number, siginfo_t *info, void *opaque)
{
	ucontext_t *context = opaque;
	uintptr_t at = (uintptr_t)context->uc_mcontext.gregs[REG_RIP] - 1;

	(void)number;
	(void)info;
	if (at == (uintptr_t)way_out) {
		ways_out++;
		context->uc_mcontext.gregs[REG_RAX] = 0;
		context->uc_mcontext.gregs[REG_RIP] += sizeof(zero_rax) - 1;
		return;
	}
	for (size_t i = 0; i < COUNT(replaced); i++) {
		struct replaced *it = &replaced[i];

		if ((uintptr_t)it->ours != at)
			continue;
		*it->ours = it->byte;
		it->is_called = true;
		called_last = it;
		context->uc_mcontext.gregs[REG_RIP]--;
		if (!strncmp(it->name, "gen_intermediate_code_", 22))
			check_block(context);
		else if (!strcmp(it->group, "sse") || !strcmp(it->group, "x87"))
			check_state(context);
		return;
	}
	abort();
}

static void set_breakpoints(void)
{
	const uintptr_t page = GUEST_PAGE;
	struct sigaction action = {
		.sa_sigaction = on_breakpoint,
		.sa_flags = SA_SIGINFO | SA_ONSTACK,
	};

	sigaction(SIGTRAP, &action, NULL);
	for (size_t i = 0; i < COUNT(replaced); i++) {
		struct replaced *it = &replaced[i];
		uint8_t *at = (uint8_t *)((uintptr_t)it->ours & ~(page - 1));

		if (it->ours == it->engines) {
			failure("%s: nothing replaces %s", it->group, it->name);
			continue;
		}
		if (mprotect(at, page, PROT_READ | PROT_WRITE | PROT_EXEC)) {
			perror("mprotect");
			exit(1);
		}
		it->byte = *it->ours;
		*it->ours = BREAKPOINT;
	}
}

/*
 * What no code of a program's leads to: which instruction accesses a device,
 * machines want to know (tests/run/cortex_m.py).
 */
static bool is_out_of_reach(const char *group)
{
	return !strcmp(group, "access");
}

static void check_calls(void)
{
	for (size_t i = 0; i < COUNT(replaced); i++)
		if (!replaced[i].is_called &&
		    !is_out_of_reach(replaced[i].group))
			failure("%s: %s is not called any more",
				replaced[i].group, replaced[i].name);
}

/* ------- code that needs it all ------- */

/* RDI: numbers; RSI: room for results, which moves on. */
#define CODE(name, text)                                                       \
	extern const uint8_t name[], name##_end[];                             \
	__asm__(".pushsection .rodata\n" #name ":\n" text                      \
		"\n" #name "_end: .popsection")

/* Each on pairs of `numbers`: usual ones, strange ones, and NaNs. */
#define PAIRS                                                                  \
	".macro sse op:vararg\n"                                               \
	".irp at, 0, 32, 64, 96, 128, 160\n"                                   \
	"movups \\at(%rdi), %xmm0\n movups \\at+16(%rdi), %xmm1\n"             \
	"\\op %xmm1, %xmm0\n"                                                  \
	"movups %xmm0, (%rsi)\n stmxcsr 16(%rsi)\n add $20, %rsi\n"            \
	".endr\n .endm\n"

CODE(sse_code,
     PAIRS
     ".irp op, add, sub, mul, div, min, max, sqrt, cmpeq, cmplt, cmple,"
     "cmpunord, cmpneq, cmpnlt, cmpnle, cmpord\n"
     ".irp form, ps, pd, ss, sd\n sse \\op\\form\n .endr\n .endr\n"
     ".irp op, addsubps, addsubpd, haddps, haddpd, hsubps, hsubpd,"
     "cvtsd2ss, cvtpd2ps, cvtss2sd, cvtps2pd\n sse \\op\n .endr\n"
     ".irp op, roundss, roundps, roundsd, roundpd\n"
     "sse \\op $1,\n sse \\op $12,\n .endr\n"
     ".irp op, comiss, comisd, ucomiss, ucomisd\n"
     ".irp at, 0, 32, 64, 96, 128, 160\n"
     "movups \\at(%rdi), %xmm0\n \\op \\at+16(%rdi), %xmm0\n"
     "lahf\n mov %ah, (%rsi)\n inc %rsi\n .endr\n .endr\n"
     "movl $0x3f80, -64(%rsi)\n ldmxcsr -64(%rsi)\n sse addps\n"
     "movl $0x1f80, -64(%rsi)\n ldmxcsr -64(%rsi)\n");

/* All that is generated without a call. */
CODE(vectors_code,
     ".irp op, paddb, paddw, paddd, paddq, psubb, psubw, psubd, psubq,"
     "pmullw, pmulld, paddsb, paddsw, paddusb, paddusw, psubsb, psubsw,"
     "psubusb, psubusw, pminsb, pminsw, pminsd, pminub, pminuw, pminud,"
     "pmaxsb, pmaxsw, pmaxsd, pmaxub, pmaxuw, pmaxud, pabsb, pabsw, pabsd,"
     "pand, por, pxor, pandn, psllw, pslld, psllq, psrlw, psrld, psrlq,"
     "psraw, psrad, pcmpeqb, pcmpeqw, pcmpeqd, pcmpeqq, pcmpgtb, pcmpgtw,"
     "pcmpgtd, pcmpgtq, punpcklbw, punpcklwd, punpckldq, punpcklqdq,"
     "punpckhbw, punpckhwd, punpckhdq, punpckhqdq, packsswb, packssdw,"
     "packuswb, packusdw, pmulhw, pmulhuw, pmuludq, pmaddwd, pmaddubsw,"
     "psadbw, pavgb, pavgw, pshufb, aesenc, aesenclast, aesdec, aesdeclast,"
     "pmovzxbw, pmovzxbd, pmovzxbq, pmovzxwd, pmovzxwq,"
     "pmovzxdq, pmovsxbw, pmovsxbd, pmovsxbq, pmovsxwd, pmovsxwq, pmovsxdq\n"
     "sse \\op\n .endr\n"
     ".irp op, pshufd, shufps, shufpd, pshuflw, pshufhw, pblendw, blendps,"
     "blendpd, palignr, pclmulqdq\n sse \\op $0x1b,\n .endr\n"
     "movups (%rdi), %xmm0\n ptest 16(%rdi), %xmm0\n"
     "lahf\n mov %ah, (%rsi)\n inc %rsi\n"
     "pslldq $5, %xmm0\n psrldq $3, %xmm0\n psllw $3, %xmm0\n"
     "psrad $2, %xmm0\n psrlq $7, %xmm0\n movups %xmm0, (%rsi)\n"
     "add $16, %rsi\n"
     "movups 64(%rdi), %xmm0\n pmovmskb %xmm0, %eax\n mov %rax, (%rsi)\n"
     "movd %eax, %xmm0\n movups %xmm0, 8(%rsi)\n"
     "movq %rdi, %xmm0\n psubq %xmm0, %xmm0\n movups %xmm0, 24(%rsi)\n"
     "add $40, %rsi\n");

/* What is left to the maker of a processor is not compared; nor are lengths
 * that the engine does not survive. */
CODE(estimates_code,
     "movups (%rdi), %xmm1\n"
     "rcpss %xmm1, %xmm0\n rcpps %xmm1, %xmm0\n"
     "rsqrtss %xmm1, %xmm0\n rsqrtps %xmm1, %xmm0\n"
     "mov $0x80000000, %eax\n mov %eax, %edx\n"
     "pcmpestri $0, %xmm1, %xmm0\n pcmpestrm $0, %xmm1, %xmm0\n"
     /* Of several NaNs. */
     "dpps $0x71, %xmm1, %xmm0\n dppd $0x31, %xmm1, %xmm0\n");

#define STORE "fnstsw 10(%rsi)\n fstpt (%rsi)\n add $12, %rsi\n"

CODE(x87_code,
     "fninit\n"
     ".irp op, add, sub, subr, mul, div, divr\n"
     "fldl (%rdi)\n f\\op\\()s 16(%rdi)\n" STORE
     "fldl (%rdi)\n f\\op\\()l 8(%rdi)\n" STORE
     "fldl (%rdi)\n fi\\op\\()l 16(%rdi)\n" STORE
     "fldl (%rdi)\n fldl 8(%rdi)\n f\\op %st(1), %st\n" STORE STORE
     "fldl (%rdi)\n fldl 8(%rdi)\n f\\op %st, %st(1)\n" STORE STORE
     ".endr\n"
     ".irp op, fld1, fldz, fldpi, fldl2e, fldl2t, fldlg2, fldln2\n"
     "\\op\n" STORE ".endr\n"
     ".irp op, fsqrt, frndint, fabs, fchs\n fldl 8(%rdi)\n \\op\n" STORE
     ".endr\n"
     "flds 16(%rdi)\n" STORE "fildl 16(%rdi)\n" STORE "fildll 8(%rdi)\n" STORE
     "fildl 16(%rdi)\n fbstp (%rsi)\n fbld (%rsi)\n" STORE
     "fldl (%rdi)\n fstpt (%rsi)\n fldt (%rsi)\n" STORE
     ".irp op, fstps, fstpl, fistps, fistpl, fistpll, fisttps, fisttpl,"
     "fisttpll\n"
     "movq $0, (%rsi)\n fldl (%rdi)\n \\op (%rsi)\n fnstsw 8(%rsi)\n"
     "add $10, %rsi\n .endr\n"
     "fldl (%rdi)\n fldl 8(%rdi)\n fxch\n fst %st(1)\n fld %st(1)\n"
     STORE STORE STORE
     ".irp op, fcom, fucom\n"
     "fldl (%rdi)\n fldl 8(%rdi)\n \\op %st(1)\n" STORE STORE
     "fldl (%rdi)\n fldl 8(%rdi)\n \\op\\()i %st(1), %st\n lahf\n"
     "mov %ah, (%rsi)\n inc %rsi\n" STORE STORE ".endr\n"
     "fldl (%rdi)\n fcoms 16(%rdi)\n fcoml 8(%rdi)\n ftst\n fxam\n" STORE);

/* It stores where it stands. */
CODE(environment_code,
     "fldl (%rdi)\n fnstenv (%rsi)\n fninit\n fxsave (%rsi)\n fxrstor (%rsi)\n");

/* The only store of single bytes by a function. */
CODE(masked_code,
     "movups (%rdi), %xmm0\n pcmpeqd %xmm1, %xmm1\n mov %rsi, %rdi\n"
     "maskmovdqu %xmm1, %xmm0\n");

#define HALVES "mov $-1, %rax\n mov $-2, %rcx\n mov $-3, %rdx\n"
#define STORE_HALVES                                                           \
	"mov %rax, (%rsi)\n mov %rcx, 8(%rsi)\n mov %rdx, 16(%rsi)\n"          \
	"add $24, %rsi\n"

CODE(halves_code,
     "movl $-1, 32(%rsi)\n"
     HALVES "lock cmpxchg %ecx, 32(%rsi)\n" STORE_HALVES
     HALVES "lock cmpxchg %ecx, 32(%rsi)\n" STORE_HALVES
     HALVES "cmpxchg %ecx, %edx\n" STORE_HALVES
     HALVES "mov %rax, %rdx\n cmpxchg %ecx, %edx\n" STORE_HALVES
     "xor %r8d, %r8d\n"
     HALVES "bsf %r8d, %eax\n bsr %r8d, %ecx\n bsf %edx, %edx\n" STORE_HALVES
     HALVES "bsf %ecx, %eax\n bsr %ecx, %edx\n" STORE_HALVES);

/* Blocks that are entered often, by direct and by indirect jumps. */
CODE(jumps_code,
     "mov $1000, %r8d\n"
     "1: lea 2f(%rip), %rax\n jmp *%rax\n"
     "2: call 3f\n dec %r8d\n jne 1b\n jmp 4f\n"
     "3: incq (%rsi)\n ret\n"
     "4: add $8, %rsi\n");

/* Blocks end without a jump: before an operand that must be aligned, and before
 * and behind an instruction over the end of a page. */
CODE(ends_code,
     "mov $1000, %r8d\n"
     "1: lea 16(%rdi), %rax\n movaps (%rax), %xmm0\n"
     "movups %xmm0, (%rsi)\n jmp 2f\n"
     ".org ends_code + 4092\n"
     "2: nop\n mov $5, %eax\n add %rax, 16(%rsi)\n dec %r8d\n jne 1b\n");

static const struct part {
	const char *name;
	const uint8_t *code, *end;
	bool is_compared;
} parts[] = {
	{ "SSE", sse_code, sse_code_end, true },
	{ "vectors", vectors_code, vectors_code_end, true },
	{ "estimates", estimates_code, estimates_code_end, false },
	{ "x87", x87_code, x87_code_end, true },
	{ "the environment of x87", environment_code, environment_code_end,
	  false },
	{ "stores of chosen bytes", masked_code, masked_code_end, true },
	{ "halves of registers", halves_code, halves_code_end, true },
	{ "jumps", jumps_code, jumps_code_end, true },
};
static const struct part ends = {
	"ends of blocks", ends_code, ends_code_end, true,
};

static const _Alignas(16) struct {
	double d[12];
	float f[24];
} numbers = {
	.d = {
		1.5, -2.25, 0x1.8p+1, 0x1.234567p-3,
		0x1p-1074, -0.0, __builtin_inf(), 0x1.fffffffffffffp1023,
		__builtin_nan("1"), __builtin_nans("2"), -1.0, 0x1p-1022,
	},
	.f = {
		1.5f, -2.25f, 3.0f, 0x1.2346p-3f, 0.3f, 7.0f, -1e9f, 1e-9f,
		0x1p-149f, -0.0f, 0x1p-126f, __builtin_inff(),
		0x1.fffffep127f, 1.0f, __builtin_nansf("3"), -1.0f,
		__builtin_nanf("1"), __builtin_nansf("2"), -1.0f, 4.0f,
		2.0f, 0x1p-126f, __builtin_nanf("4"), 0x1p-149f,
	},
};

/* ------- running it, here and there ------- */

#define CODE_AT 0x10000u
#define NUMBERS_AT 0x20000u
#define RESULTS_AT 0x30000u
#define STACK_AT 0x50000u
#define ROOM 0x10000u
#define SMALL_PAGE 1024u
#define CODE_ROOM 0x8000u

/* Runs the part on this processor; the code is followed by RET. */
static void run_here(const struct part *part, uint8_t *results)
{
	typedef void run_fn(const void *numbers, uint8_t *results);
	size_t size = (size_t)(part->end - part->code);
	uint8_t *code = mmap(NULL, CODE_ROOM,
			     PROT_READ | PROT_WRITE | PROT_EXEC,
			     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	memcpy(code, part->code, size);
	code[size] = 0xc3;
	((run_fn *)(uintptr_t)code)(&numbers, results);
	munmap(code, CODE_ROOM);
	__asm__ volatile("fninit");
}

static void map(struct vm *vm, guest_addr start, uint64_t size, unsigned prot)
{
	struct region region = {
		.start = start, .end = start + size, .prot = prot,
	};

	if (memory_map(vm_memory(vm), &region, -1, NULL))
		abort();
}

/* Runs it as a guest; there HLT follows, which a program must not use. */
static bool run_there(struct vm *vm, const struct part *part, guest_addr at,
		      uint8_t *results)
{
	size_t size = (size_t)(part->end - part->code);
	static uint8_t zeros[ROOM];
	struct failure why;
	struct vm_stop stop;

	memory_poke(vm->memory, at, part->code, size);
	memory_poke(vm->memory, at + size, "\xf4", 1);
	memory_poke(vm->memory, RESULTS_AT, zeros, ROOM);
	vm_set_reg(vm, X86_RIP, at);
	vm_set_reg(vm, X86_RDI, NUMBERS_AT);
	vm_set_reg(vm, X86_RSI, RESULTS_AT);
	vm_set_reg(vm, X86_RSP, STACK_AT + ROOM / 2);
	if (vm_run(vm, UINT64_C(1) << 40, true, &stop, &why)) {
		failure("%s: %s", part->name, why.text);
		return false;
	}
	if (stop.kind != VM_STOP_FAULT || stop.pc != at + size) {
		failure("%s: the guest stopped at 0x%llx of 0x%zx", part->name,
			(unsigned long long)(stop.pc - at), size);
		return false;
	}
	memory_read(vm->memory, RESULTS_AT, results, ROOM);
	return true;
}

static void compare(struct vm *vm, const struct part *part, guest_addr at)
{
	static uint8_t here[ROOM], there[ROOM];
	unsigned i = 0;

	part_tested = part->name;
	memset(here, 0, sizeof(here));
	if (part->is_compared)
		run_here(part, here);
	if (!run_there(vm, part, at, there) || !part->is_compared)
		return;
	while (i < ROOM && here[i] == there[i])
		i++;
	if (i < ROOM)
		failure("%s: byte %u of the results is 0x%02x and not 0x%02x",
			part->name, i, there[i], here[i]);
}

/* The code that the engine generates, and what is written into it. */
static void check_inlining(struct vm *vm)
{
	const uint64_t misses = 100;

	if (!engine_inlines(vm->engine))
		failure("the call of the hook of a block has another form");
	if (engine_jumps_missed(vm->engine) > misses)
		failure("the answers about jumps are not used");
	if (!engine_straight(vm->engine))
		failure("what is behind the hook of a block has another form");
}

/* Of a loop whose conditional jump does not leave its page. */
static void check_branches(struct vm *vm)
{
	if (!engine_branches(vm->engine))
		failure("a conditional jump has another form");
}

/* Of translated code, which has the way out since it has looked for a block. */
static void check_ends(struct vm *vm)
{
	const unsigned most = 100;

	way_out = (uint8_t *)(uintptr_t)engine_way_out(vm->engine);
	if (!way_out || memcmp(way_out, zero_rax, sizeof(zero_rax)) != 0) {
		failure("the way back to the engine is another one");
		return;
	}
	*way_out = BREAKPOINT;
	ways_out = 0;
	compare(vm, &ends, CODE_AT);
	*way_out = zero_rax[0];
	way_out = NULL;
	if (ways_out > most)
		failure("blocks that end without a jump do not go on");
}

/* What the engine calls the operations that cprec generates or looks for. */
static const struct {
	uint8_t number;
	const char *name;
} operations[] = {
	{ OP_DISCARD, "discard" }, { OP_LABEL, "set_label" },
	{ OP_CALL, "call" }, { OP_JUMP, "br" }, { OP_MOVE_32, "mov_i32" },
	{ OP_CONSTANT_32, "movi_i32" }, { OP_LOADS_32, "ld8u_i32" },
	{ OP_LOADS_32 + 4, "ld_i32" }, { OP_STORE_8_OF_32, "st8_i32" },
	{ OP_STORE_32_OF_32, "st_i32" }, { OP_ADD_32, "add_i32" },
	{ OP_JUMP_IF_32, "brcond_i32" }, { OP_MOVE, "mov_i64" },
	{ OP_CONSTANT, "movi_i64" }, { OP_IF, "setcond_i64" },
	{ OP_MOVE_IF, "movcond_i64" }, { OP_LOADS_64, "ld8u_i64" },
	{ OP_LOADS_64 + 1, "ld8s_i64" }, { OP_LOADS_64 + 2, "ld16u_i64" },
	{ OP_LOADS_64 + 3, "ld16s_i64" }, { OP_LOAD_LOW_32, "ld32u_i64" },
	{ OP_LOADS_64 + 5, "ld32s_i64" }, { OP_LOAD_64, "ld_i64" },
	{ OP_STORE_8_OF_64, "st8_i64" }, { OP_STORE_LOW_32, "st32_i64" },
	{ OP_STORE_64, "st_i64" }, { OP_ADD, "add_i64" },
	{ OP_SUBTRACT, "sub_i64" }, { OP_MULTIPLY, "mul_i64" },
	{ OP_AND, "and_i64" }, { OP_OR, "or_i64" }, { OP_XOR, "xor_i64" },
	{ OP_SHIFT_UP, "shl_i64" }, { OP_SHIFT_RIGHT, "shr_i64" },
	{ OP_SHIFT_DOWN, "sar_i64" }, { OP_EXTRACT, "extract_i64" },
	{ OP_WIDEN_SIGNED, "ext_i32_i64" }, { OP_WIDEN, "extu_i32_i64" },
	{ OP_JUMP_IF_64, "brcond_i64" }, { OP_EXTENDS, "ext8s_i64" },
	{ OP_EXTENDS + 1, "ext16s_i64" }, { OP_EXTENDS + 2, "ext32s_i64" },
	{ OP_EXTENDS + 3, "ext8u_i64" }, { OP_EXTENDS + 4, "ext16u_i64" },
	{ OP_EXTENDS + 5, "ext32u_i64" }, { OP_INSTRUCTION, "insn_start" },
	{ OP_END, "exit_tb" }, { OP_GO_ON, "goto_tb" },
	{ OP_GO_TO, "goto_ptr" }, { OP_MOVE_VECTOR, "mov_vec" },
	{ OP_CONSTANT_VECTOR, "dupi_vec" }, { OP_LOAD_VECTOR, "ld_vec" },
	{ OP_STORE_VECTOR, "st_vec" }, { OP_LOAD_ALIKE, "dupm_vec" },
	{ OP_ADD_LANES, "add_vec" }, { OP_SUBTRACT_LANES, "sub_vec" },
	{ OP_MULTIPLY_LANES, "mul_vec" }, { OP_MAGNITUDE, "abs_vec" },
	{ OP_ADD_SIGNED_SATURATED, "ssadd_vec" },
	{ OP_ADD_SATURATED, "usadd_vec" },
	{ OP_SUBTRACT_SIGNED_SATURATED, "sssub_vec" },
	{ OP_SUBTRACT_SATURATED, "ussub_vec" },
	{ OP_SIGNED_MINIMUM, "smin_vec" }, { OP_MINIMUM, "umin_vec" },
	{ OP_SIGNED_MAXIMUM, "smax_vec" }, { OP_MAXIMUM, "umax_vec" },
	{ OP_AND_VECTOR, "and_vec" }, { OP_OR_VECTOR, "or_vec" },
	{ OP_XOR_VECTOR, "xor_vec" }, { OP_AND_NOT_VECTOR, "andc_vec" },
	{ OP_SHIFT_UP_BY, "shli_vec" }, { OP_SHIFT_RIGHT_BY, "shri_vec" },
	{ OP_SHIFT_DOWN_BY, "sari_vec" }, { OP_SHIFT_LANES_UP, "shls_vec" },
	{ OP_SHIFT_LANES_RIGHT, "shrs_vec" },
	{ OP_SHIFT_LANES_DOWN, "sars_vec" }, { OP_SHIFT_EACH_UP, "shlv_vec" },
	{ OP_SHIFT_EACH_RIGHT, "shrv_vec" },
	{ OP_SHIFT_EACH_DOWN, "sarv_vec" }, { OP_COMPARE_LANES, "cmp_vec" },
	{ OP_SHUFFLE_SINGLES, "x86_shufps_vec" },
	{ OP_CHOOSE, "x86_blend_vec" }, { OP_PACK_SIGNED, "x86_packss_vec" },
	{ OP_PACK, "x86_packus_vec" }, { OP_INTERLEAVE_LOW, "x86_punpckl_vec" },
	{ OP_INTERLEAVE_HIGH, "x86_punpckh_vec" },
};

/* Of an engine that has accessed memory directly. */
static void check_operations(const struct vm *vm, const char *name)
{
	for (size_t i = 0; i < COUNT(operations); i++) {
		const char *found = engine_operation(vm->engine,
						     operations[i].number);

		if (!found || strcmp(found, operations[i].name) != 0)
			failure("%s: its operation %u is %s and not %s", name,
				operations[i].number, found ? found : "unknown",
				operations[i].name);
	}
}

/* What cprec generates is made of what the engine has generated just before. */
static void check_vectors(const struct vm *vm)
{
	uint64_t unmatched = engine_vectors_unmatched(vm->engine);

	if (unmatched)
		failure("%llu instructions on vectors have another form",
			(unsigned long long)unmatched);
}

static void map_all(struct vm *vm)
{
	map(vm, CODE_AT, ROOM, MAY_READ | MAY_WRITE | MAY_EXEC);
	map(vm, NUMBERS_AT, ROOM, MAY_READ);
	map(vm, RESULTS_AT, ROOM, MAY_READ | MAY_WRITE);
	map(vm, STACK_AT, ROOM, MAY_READ | MAY_WRITE);
	memory_poke(vm->memory, NUMBERS_AT, &numbers, sizeof(numbers));
}

/* Accesses ask the TLB, by functions that are replaced, or are direct. */
static void run_all_parts(bool direct)
{
	struct failure why;
	struct vm *vm;

	if (vm_create(&vm, ARCH_X86_64, direct, NULL, &why)) {
		failure("%s", why.text);
		return;
	}
	guest = vm;
	first_block = CODE_AT;
	map_all(vm);
	for (size_t i = 0; i < COUNT(parts); i++)
		compare(vm, &parts[i], CODE_AT);
	check_vectors(vm);
	if (direct)
		check_operations(vm, "x86-64");
	check_inlining(vm);
	check_branches(vm);
	check_ends(vm);
	vm_destroy(vm);
}

/* ------- AArch64 ------- */

/* Loads, stores, a cleared block, an exclusive pair, branches. */
static const uint32_t arm64_code[] = {
	0xf9000020,	/* str x0, [x1] */
	0xb9400022,	/* ldr w2, [x1] */
	0xb9000822,	/* str w2, [x1, #8] */
	0xf9400423,	/* ldr x3, [x1, #8] */
	0x91010024,	/* add x4, x1, #64 */
	0xd50b7424,	/* dc zva, x4 */
	0xc87f1825,	/* ldxp x5, x6, [x1] */
	0xc8271426,	/* stxp w7, x6, x5, [x1] */
	0x9e6700c0,	/* fmov d0, x6 */
	0x1e212821,	/* fadd s1, s1, s1 */
	0x1e213821,	/* fsub s1, s1, s1 */
	0x1e210821,	/* fmul s1, s1, s1 */
	0x1e211821,	/* fdiv s1, s1, s1 */
	0x1e21c021,	/* fsqrt s1, s1 */
	0x1f010421,	/* fmadd s1, s1, s1, s1 */
	0x1e612821,	/* fadd d1, d1, d1 */
	0x1e613821,	/* fsub d1, d1, d1 */
	0x1e610821,	/* fmul d1, d1, d1 */
	0x1e611821,	/* fdiv d1, d1, d1 */
	0x1e61c021,	/* fsqrt d1, d1 */
	0x1f410421,	/* fmadd d1, d1, d1, d1 */
	0x14000001,	/* b: the next one */
	0xd2807d08,	/* mov x8, #1000 */
	0x10000029,	/* adr x9: the next one */
	0xd1000508,	/* sub x8, x8, #1 */
	0xb4000048,	/* cbz x8: behind the next one */
	0xd61f0120,	/* br x9 */
	0xd4200000,	/* brk #0 */
};

/* ------- 32-bit ARM ------- */

/* The same; the loop is of Thumb code, and its branch in an IT block. */
static const uint32_t arm_code[] = {
	0xe5c10000,	/* strb r0, [r1] */
	0xeeba2a40,	/* vcvt.f32.s16 s4, s4, #16 */
	0xeebb2a40,	/* vcvt.f32.u16 s4, s4, #16 */
	0xeeba2ac0,	/* vcvt.f32.s32 s4, s4, #32 */
	0xeebb2ac0,	/* vcvt.f32.u32 s4, s4, #32 */
	0xee322a02,	/* vadd.f32 s4, s4, s4 */
	0xee322a42,	/* vsub.f32 s4, s4, s4 */
	0xee222a02,	/* vmul.f32 s4, s4, s4 */
	0xee822a02,	/* vdiv.f32 s4, s4, s4 */
	0xeeb12ac2,	/* vsqrt.f32 s4, s4 */
	0xeea22a02,	/* vfma.f32 s4, s4, s4 */
	0xee322b02,	/* vadd.f64 d2, d2, d2 */
	0xee322b42,	/* vsub.f64 d2, d2, d2 */
	0xee222b02,	/* vmul.f64 d2, d2, d2 */
	0xee822b02,	/* vdiv.f64 d2, d2, d2 */
	0xeeb12bc2,	/* vsqrt.f64 d2, d2 */
	0xeea22b02,	/* vfma.f64 d2, d2, d2 */
	0xe5810000,	/* str r0, [r1] */
	0xe5912000,	/* ldr r2, [r1] */
	0xe1b14f9f,	/* ldrexd r4, r5, [r1] */
	0xe1a16f94,	/* strexd r6, r4, r5, [r1] */
	0xed910b00,	/* vldr d0, [r1] */
	0xed810b02,	/* vstr d0, [r1, #8] */
	0xe5913008,	/* ldr r3, [r1, #8] */
	0xe30083e8,	/* movw r8, #1000 */
	0xe28f9005,	/* add r9, pc, #5: the next but two, of Thumb code */
	0xeaffffff,	/* b: the next one */
	0xe12fff19,	/* bx r9 */
	0x0801f1b8,	/* subs.w r8, r8, #1 */
	0x4748bf18,	/* it ne; bxne r9 */
	0xbe00be00,	/* bkpt #0 */
};

/* ------- i386 ------- */

/* mov %eax, (%ebx); mov %eax, 8(%ebx); mov $1000, %ecx; xor %edx, %edx;
 * 1: inc %edx; dec %ecx; jnz 1b; ud2.  INC and DEC are prefixes elsewhere. */
static const uint8_t i386_code[] = {
	0x89, 0x03, 0x89, 0x43, 0x08, 0xb9, 0xe8, 0x03, 0x00, 0x00, 0x31, 0xd2,
	0x42, 0x49, 0x75, 0xfc, 0x0f, 0x0b, 0xcc, 0xcc,
};

/* ------- all three ------- */

struct words {
	enum arch arch;
	const char *name;
	const void *code;
	size_t size;
	unsigned first, pc;	/* registers: the first general one */
	uint64_t steps;		/* up to a fault, in the last word; the loop
				   in front of it is executed 1000 times */
	struct {
		unsigned reg;
		uint64_t value;
	} leaves[4];
};

#define STORED UINT64_C(0x123456789abcdef0)
#define STORED_LOW UINT64_C(0x9abcdef0)

static const struct words others[] = {
	{ ARCH_AARCH64, "AArch64", arm64_code, sizeof(arm64_code),
	  ARM64_X0, ARM64_PC, COUNT(arm64_code) - 4 + 999 * 3 + 2,
	  { { ARM64_X0 + 3, STORED_LOW }, { ARM64_X0 + 5, STORED },
	    { ARM64_X0 + 7, 0 }, { ARM64_MONITOR, UINT64_MAX } } },
	{ ARCH_ARM, "32-bit ARM", arm_code, sizeof(arm_code),
	  ARM_R0, ARM_PC, COUNT(arm_code) - 3 + 1000 * 3,
	  { { ARM_R0 + 3, STORED_LOW }, { ARM_R0 + 4, STORED_LOW },
	    { ARM_R0 + 6, 0 }, { ARM_MONITOR, UINT64_MAX } } },
	{ ARCH_I386, "i386", i386_code, sizeof(i386_code),
	  I386_EAX, I386_EIP, 4 + 1000 * 3,
	  { { I386_EAX, STORED_LOW }, { I386_EAX + 1, RESULTS_AT },
	    { I386_EAX + 2, 0 }, { I386_EAX + 3, 1000 } } },
};

static void expect(struct vm *vm, const struct words *words, unsigned reg,
		   uint64_t value)
{
	uint64_t found = vm_reg(vm, reg);

	if (found != value)
		failure("%s: register %u is 0x%llx and not 0x%llx",
			words->name, reg, (unsigned long long)found,
			(unsigned long long)value);
}

static void check_stored(struct vm *vm, const struct words *words)
{
	uint64_t stored[2] = { 0 };
	bool is_narrow = words->arch != ARCH_AARCH64;

	memory_read(vm->memory, RESULTS_AT, stored, sizeof(stored));
	if (stored[0] != STORED_LOW ||
	    stored[1] != (is_narrow ? STORED_LOW : STORED))
		failure("%s: a pair was not stored", words->name);
}

/* From `at` on.  How often the TLB misses. */
static uint64_t run_words(const struct words *words, guest_addr at, bool direct)
{
	uint64_t misses;
	struct vm_stop stop;
	struct failure why;
	struct vm *vm;

	part_tested = words->name;
	if (vm_create(&vm, words->arch, direct, NULL, &why)) {
		failure("%s", why.text);
		return 0;
	}
	first_block = at;
	map(vm, CODE_AT, ROOM, MAY_READ | MAY_EXEC);
	map(vm, RESULTS_AT, ROOM, MAY_READ | MAY_WRITE);
	memory_poke(vm->memory, at, words->code, words->size);
	vm_set_reg(vm, words->pc, at);
	vm_set_reg(vm, words->first, STORED);
	vm_set_reg(vm, words->first + 1, RESULTS_AT);
	if (vm_run(vm, UINT64_C(1) << 40, true, &stop, &why))
		failure("%s: %s", words->name, why.text);
	else if (stop.kind != VM_STOP_FAULT ||
		 stop.pc != at + words->size - 4 ||
		 vm_steps(vm) != words->steps)
		failure("%s: the guest stopped at 0x%llx, time %llu",
			words->name, (unsigned long long)stop.pc,
			(unsigned long long)vm_steps(vm));
	for (size_t i = 0; i < COUNT(words->leaves); i++)
		expect(vm, words, words->leaves[i].reg,
		       words->leaves[i].value);
	check_stored(vm, words);
	check_inlining(vm);
	/* The loop of 32-bit ARM has an indirect jump instead. */
	if (at == CODE_AT && words->arch != ARCH_ARM)
		check_branches(vm);
	if (direct)
		check_operations(vm, words->name);
	misses = vm->tlb.total;
	vm_destroy(vm);
	return misses;
}

/* Pages are none of the engine's smaller ones, over whose end the code is. */
static void check_pages(const struct words *words)
{
	uint64_t within = run_words(words, CODE_AT, false);
	uint64_t over = run_words(words, CODE_AT + SMALL_PAGE - 8, false);

	if (within != over)
		failure("%s: %llu misses of the TLB, and not %llu",
			words->name, (unsigned long long)over,
			(unsigned long long)within);
}

/* ------- what drops translations ------- */

#define TRANSLATIONS_ROOM (64u << 20)

static uint64_t resident_pages(void)
{
	FILE *file = fopen("/proc/self/statm", "r");
	unsigned long long size = 0, pages = 0;

	if (!file || fscanf(file, "%llu %llu", &size, &pages) != 2)
		failure("cannot read /proc/self/statm");
	if (file)
		fclose(file);
	return pages;
}

static uc_err drop_all(uc_engine *uc)
{
	uint64_t before = resident_pages();
	uc_err err = uc_ctl_flush_tb(uc);

	if (resident_pages() > before + TRANSLATIONS_ROOM / GUEST_PAGE / 2)
		failure("to drop all translations takes their whole buffer");
	return err;
}

/* Stores behind itself, and drops an entry of the TLB. */
static const struct dropping {
	uc_arch arch;
	uc_mode mode;
	int reg;		/* has the code's address */
	uint8_t code[12];
} droppings[] = {
	{ UC_ARCH_X86, UC_MODE_64, UC_X86_REG_RDI, {
		0xc6, 0x47, 0x40, 0x90,		/* movb $0x90, 64(%rdi) */
		0x0f, 0x01, 0x3f,		/* invlpg (%rdi) */
		0x90, 0x90, 0x90, 0x90, 0x90,
	} },
	{ UC_ARCH_ARM64, UC_MODE_ARM, UC_ARM64_REG_X0, {
		0x01, 0x40, 0x00, 0xb9,		/* str w1, [x0, #64] */
		0x20, 0x87, 0x08, 0xd5,		/* tlbi vae1, x0 */
		0x1f, 0x20, 0x03, 0xd5,		/* nop */
	} },
	{ UC_ARCH_ARM, UC_MODE_ARM, UC_ARM_REG_R0, {
		0x40, 0x10, 0x80, 0xe5,		/* str r1, [r0, #64] */
		0x37, 0x0f, 0x08, 0xee,		/* mcr p15, 0, r0, c8, c7, 1 */
		0x00, 0xf0, 0x20, 0xe3,		/* nop */
	} },
};

/*
 * Code that is dropped in each way that there is, by an engine alone: a
 * program drops nothing of the TLB's, and cprec seldom drops everything.
 */
static void drop_translations(const struct dropping *dropping)
{
	const size_t size = sizeof(dropping->code);
	const uint64_t at = CODE_AT;
	uc_engine *uc;
	uc_err err = uc_open(dropping->arch, dropping->mode, &uc);

	if (!err)
		err = uc_ctl_set_tcg_buffer_size(uc, TRANSLATIONS_ROOM);
	if (!err)
		err = uc_mem_map(uc, at, ROOM, UC_PROT_ALL);
	if (!err)
		err = uc_mem_map(uc, NUMBERS_AT, ROOM, UC_PROT_ALL);
	if (!err)
		err = uc_mem_write(uc, at, dropping->code, size);
	if (!err)
		err = uc_reg_write(uc, dropping->reg, &at);
	for (unsigned i = 0; i < 2 && !err; i++) {
		err = uc_emu_start(uc, at, at + size, 0, 0);
		if (!err)
			err = uc_ctl_flush_tlb(uc);
	}
	if (!err)
		err = uc_mem_unmap(uc, NUMBERS_AT, ROOM);
	if (!err)
		err = uc_ctl_remove_cache(uc, at, at + size);
	if (!err)
		err = drop_all(uc);
	if (err)
		failure("dropping translations: %s", uc_strerror(err));
	uc_close(uc);
}

int main(void)
{
	report_crashes();
	set_breakpoints();
	run_all_parts(false);
	run_all_parts(true);
	/* Most instructions on vectors call nothing else. */
	setenv("CPREC_NO_VECTORS", "1", 1);
	run_all_parts(false);
	for (size_t i = 0; i < COUNT(others); i++) {
		check_pages(&others[i]);
		run_words(&others[i], CODE_AT, true);
	}
	part_tested = "dropping translations";
	for (size_t i = 0; i < COUNT(droppings); i++)
		drop_translations(&droppings[i]);
	check_calls();
	if (!failures)
		puts("the engine is as it should be");
	return failures ? EXIT_FAILURE : EXIT_SUCCESS;
}
