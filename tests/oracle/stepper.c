/* SPDX-License-Identifier: GPL-2.0-or-later */
/* stepper.c - runs a program on the real processor, one step at a time */
/*
 * usage: stepper [--every N] [--seed N] [--most N] [--hide BEGIN-END]
 *                [--memory BEGIN-END]... [--watch BEGIN-END [--all]]
 *                PROGRAM
 *
 * Counts instructions as cprec does and writes what registers and memory hold
 * at some times, one JSON object per line: at random times, N instructions
 * apart on average, and around instructions that are easily got wrong.  A time
 * at which a signal is delivered has two states and is left out, and so is
 * code in the hidden range: there the kernel's choices show, such as where a
 * signal frame is.
 *
 * With a range to watch, it writes an object for each instruction that leaves
 * other bytes there, instead; with --all, for each instruction.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/oracle/flags.h"

#define RANGES_MAX 16
#define CHUNK_MAX 64
#define REMEMBERED 4096		/* a power of two */

struct range {
	uint64_t begin, end;
};

struct stepper {
	pid_t pid;
	int memory;		/* /proc/PID/mem */
	struct user_regs_struct regs;
	uint64_t time;
	unsigned undefined;	/* flags */
	unsigned undefined_before_signal;
	uint64_t random;
	uint64_t every, most;
	uint64_t next;		/* when to sample again */
	uint64_t follow;	/* sample before this time: just after
				   something interesting */
	struct range hidden, watched;
	bool watches_all;	/* instructions that change nothing, too */
	uint8_t *bytes, *before;	/* of `watched`: now, and a step ago */
	struct range ranges[RANGES_MAX];
	size_t range_count;
	unsigned samples;
	uint8_t seen[REMEMBERED];	/* samples of an interesting place */
	char *line;		/* the sample that waits to be written */
	size_t line_size;
};

static _Noreturn void die(const char *what)
{
	fprintf(stderr, "stepper: cannot %s: %s\n", what, strerror(errno));
	exit(1);
}

/* xorshift64*: the same numbers everywhere */
static uint64_t next_random(struct stepper *s)
{
	s->random ^= s->random >> 12;
	s->random ^= s->random << 25;
	s->random ^= s->random >> 27;
	return s->random * 2685821657736338717u >> 16;
}

static bool is_in(const struct range *range, uint64_t addr)
{
	return range->begin <= addr && addr < range->end;
}

/* ------- samples ------- */

static void put_hex(FILE *out, const uint8_t *bytes, size_t size)
{
	for (size_t i = 0; i < size; i++)
		fprintf(out, "%02x", bytes[i]);
}

static void put_vector(FILE *out, const char *name, unsigned number,
		       const void *value, size_t size)
{
	const uint8_t *bytes = value;

	fprintf(out, ",\"%s%u\":\"0x", name, number);
	for (size_t i = size; i-- > 0;)
		fprintf(out, "%02x", bytes[i]);
	putc('"', out);
}

static void put_float_registers(struct stepper *s, FILE *out)
{
	struct user_fpregs_struct fp;
	unsigned top;

	if (ptrace(PTRACE_GETFPREGS, s->pid, NULL, &fp))
		die("read floating-point registers");
	top = fp.swd >> 11 & 7;
	fprintf(out, ",\"fctrl\":\"0x%x\",\"fstat\":\"0x%x\"", fp.cwd, fp.swd);
	fprintf(out, ",\"mxcsr\":\"0x%x\"", fp.mxcsr);
	/* Only registers in use; ftw has a bit for each physical one. */
	for (unsigned i = 0; i < 8; i++)
		if (fp.ftw >> ((top + i) & 7) & 1)
			put_vector(out, "st", i, &fp.st_space[4 * i], 10);
	for (unsigned i = 0; i < 16; i++)
		put_vector(out, "xmm", i, &fp.xmm_space[4 * i], 16);
}

static void put_registers(struct stepper *s, FILE *out)
{
	const struct user_regs_struct *r = &s->regs;
	const struct {
		const char *name;
		uint64_t value;
	} table[] = {
		{ "rax", r->rax }, { "rbx", r->rbx }, { "rcx", r->rcx },
		{ "rdx", r->rdx }, { "rsi", r->rsi }, { "rdi", r->rdi },
		{ "rbp", r->rbp }, { "rsp", r->rsp }, { "r8", r->r8 },
		{ "r9", r->r9 }, { "r10", r->r10 }, { "r11", r->r11 },
		{ "r12", r->r12 }, { "r13", r->r13 }, { "r14", r->r14 },
		{ "r15", r->r15 }, { "rip", r->rip },
		{ "fs_base", r->fs_base }, { "gs_base", r->gs_base },
	};

	/* Bits 8 and 16 belong to the single-stepping. */
	fprintf(out, "\"undefined\":%u,\"registers\":{\"eflags\":\"0x%llx\"",
		s->undefined, r->eflags & ~(uint64_t)0x10100);
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
		fprintf(out, ",\"%s\":\"0x%llx\"", table[i].name,
			(unsigned long long)table[i].value);
	put_float_registers(s, out);
	putc('}', out);
}

/* Memory that cannot be read is left out: it is not mapped yet. */
static void put_memory(struct stepper *s, FILE *out, uint64_t addr,
		       size_t size, unsigned *count)
{
	uint8_t bytes[4096];
	ssize_t got = pread(s->memory, bytes, size, (off_t)addr);

	if (got != (ssize_t)size)
		return;
	fprintf(out, "%s[\"0x%llx\",\"", (*count)++ ? "," : "",
		(unsigned long long)addr);
	put_hex(out, bytes, size);
	fputs("\"]", out);
}

/* As much of the 64 bytes around `addr` as the program's own memory has. */
static void put_around(struct stepper *s, FILE *out, uint64_t addr,
		       unsigned *count)
{
	for (size_t i = 0; i < s->range_count; i++) {
		const struct range *range = &s->ranges[i];
		uint64_t begin = addr - CHUNK_MAX / 2;
		uint64_t end = addr + CHUNK_MAX / 2;

		if (!is_in(range, addr))
			continue;
		if (begin < range->begin)
			begin = range->begin;
		if (end > range->end)
			end = range->end;
		put_memory(s, out, begin, end - begin, count);
	}
}

static void put_anywhere(struct stepper *s, FILE *out, unsigned *count)
{
	const struct range *range =
		&s->ranges[next_random(s) % s->range_count];
	uint64_t length = range->end - range->begin;
	uint64_t size = 1 + next_random(s) % CHUNK_MAX;

	if (size > length)
		size = length;
	put_memory(s, out, range->begin + next_random(s) % (length - size + 1),
		   size, count);
}

static void put_everything(struct stepper *s, FILE *out, unsigned *count)
{
	for (size_t i = 0; i < s->range_count; i++)
		for (uint64_t at = s->ranges[i].begin; at < s->ranges[i].end;) {
			uint64_t size = s->ranges[i].end - at;

			size = size < 4096 ? size : 4096;
			put_memory(s, out, at, size, count);
			at += size;
		}
}

/* Keeps the state; whether it counts is known after the next step. */
static void take_sample(struct stepper *s, const char *reason, bool all)
{
	const struct user_regs_struct *r = &s->regs;
	const uint64_t pointers[] = {
		r->rsp, r->rdi, r->rsi, r->rax, r->rbx, r->rbp, r->r12,
	};
	FILE *out = open_memstream(&s->line, &s->line_size);
	unsigned count = 0;

	if (!out)
		die("keep a sample");
	fprintf(out, "{\"at\":%llu,\"reason\":\"%s\",",
		(unsigned long long)s->time, reason);
	put_registers(s, out);
	fputs(",\"memory\":[", out);
	for (size_t i = 0; i < sizeof(pointers) / sizeof(pointers[0]); i++)
		put_around(s, out, pointers[i], &count);
	for (unsigned i = 0; i < 6 && s->range_count; i++)
		put_anywhere(s, out, &count);
	if (all || s->samples % 64 == 63)
		put_everything(s, out, &count);
	fputs("]}", out);
	fclose(out);
}

static void end_sample(struct stepper *s, bool write)
{
	if (s->line && write) {
		puts(s->line);
		s->samples++;
	}
	free(s->line);
	s->line = NULL;
}

/* ------- what to sample ------- */

/* The first times at a place always, later ones now and then. */
static bool is_worth_it(struct stepper *s)
{
	uint8_t *seen = &s->seen[s->regs.rip * 0x9e3779b97f4a7c15u >> 52];

	if (*seen < 4) {
		(*seen)++;
		return true;
	}
	return next_random(s) % 32 == 0;
}

static void maybe_sample(struct stepper *s, const struct instruction *next)
{
	const char *reason = NULL;
	bool last = is_system_call(next) &&
		    (s->regs.rax == 60 || s->regs.rax == 231);

	if (is_in(&s->hidden, s->regs.rip))
		return;
	if (is_repeated(next))
		reason = "rep";
	else if (is_system_call(next))
		reason = "syscall";
	if (reason && is_worth_it(s))
		s->follow = s->time + 3;
	else
		reason = NULL;
	if (!reason && s->time < s->follow)
		reason = "after";
	if (s->time >= s->next) {
		s->next = s->time + 1 + next_random(s) % (2 * s->every - 1);
		reason = reason ? reason : "random";
	}
	if (last || reason)
		take_sample(s, last ? "last" : reason, last);
}

/* ------- what is watched ------- */

static void look(struct stepper *s, uint8_t *bytes)
{
	size_t size = s->watched.end - s->watched.begin;

	if (pread(s->memory, bytes, size, (off_t)s->watched.begin) !=
	    (ssize_t)size)
		die("read what is watched");
}

static void start_to_watch(struct stepper *s)
{
	size_t size = s->watched.end - s->watched.begin;

	s->bytes = calloc(2, size);
	if (!s->bytes)
		die("watch memory");
	s->before = s->bytes + size;
	look(s, s->before);
}

/* The instruction at `pc` has retired. */
static void watch(struct stepper *s, uint64_t pc)
{
	size_t size = s->watched.end - s->watched.begin;
	const char *separator = "";

	if (!s->bytes)
		return;
	look(s, s->bytes);
	if (!s->watches_all && !memcmp(s->bytes, s->before, size))
		return;
	printf("{\"watch\":%llu,\"pc\":\"0x%llx\",\"bytes\":{",
	       (unsigned long long)s->time - 1, (unsigned long long)pc);
	for (size_t i = 0; i < size; i++) {
		if (s->bytes[i] == s->before[i])
			continue;
		printf("%s\"0x%llx\":%u", separator,
		       (unsigned long long)s->watched.begin + i, s->bytes[i]);
		separator = ",";
	}
	puts("}}");
	memcpy(s->before, s->bytes, size);
}

/* ------- stepping ------- */

static void write_registers(struct stepper *s)
{
	if (ptrace(PTRACE_SETREGS, s->pid, NULL, &s->regs))
		die("write registers");
}

/* The trap flag of single-stepping shows in two places: hide it. */
static void hide_trap_flag(struct stepper *s, const struct instruction *done)
{
	uint64_t flags;

	if (is_system_call(done) && s->regs.r11 & FLAG_TRAP) {
		s->regs.r11 &= ~(uint64_t)FLAG_TRAP;
		write_registers(s);
	}
	if (is_push_flags(done) &&
	    pread(s->memory, &flags, 8, (off_t)s->regs.rsp) == 8) {
		flags &= ~(uint64_t)FLAG_TRAP;
		if (pwrite(s->memory, &flags, 8, (off_t)s->regs.rsp) != 8)
			die("write the stack");
	}
}

/* One trap of the processor.  Returns the signal to deliver, 0, or -1: end. */
static int step_once(struct stepper *s, int deliver, int *status)
{
	siginfo_t info;

	if (ptrace(PTRACE_SINGLESTEP, s->pid, NULL, (void *)(long)deliver))
		die("step");
	if (waitpid(s->pid, status, 0) != s->pid)
		die("wait");
	if (!WIFSTOPPED(*status))
		return -1;
	if (ptrace(PTRACE_GETREGS, s->pid, NULL, &s->regs))
		die("read registers");
	if (WSTOPSIG(*status) != SIGTRAP)
		return WSTOPSIG(*status);
	if (ptrace(PTRACE_GETSIGINFO, s->pid, NULL, &info))
		die("read a signal");
	return info.si_code == SI_KERNEL ? SIGTRAP : 0;	/* int3 */
}

/* One instruction, with all its iterations.  Returns as step_once(). */
static int step(struct stepper *s, int *status)
{
	uint8_t bytes[INSTRUCTION_MAX] = { 0 };
	struct instruction next;
	uint64_t rip = s->regs.rip;
	bool no_iterations;
	int signal_number;

	if (pread(s->memory, bytes, sizeof(bytes), (off_t)rip) < 0)
		bytes[0] = 0;	/* the fetch will fault */
	instruction_decode(&next, bytes);
	no_iterations = is_repeated(&next) && s->regs.rcx == 0;
	if (!s->bytes)
		maybe_sample(s, &next);
	if (is_system_call(&next) && s->regs.rax == 15)	/* rt_sigreturn */
		s->undefined = s->undefined_before_signal;
	do {
		signal_number = step_once(s, 0, status);
	} while (signal_number == 0 && is_repeated(&next) &&
		 s->regs.rip == rip);
	if (signal_number > 0 && signal_number != SIGTRAP) {
		end_sample(s, false);
		return signal_number;
	}
	end_sample(s, true);
	s->time++;
	s->undefined = flags_after(&next, s->undefined, no_iterations);
	if (signal_number == 0)
		hide_trap_flag(s, &next);
	if (signal_number >= 0)
		watch(s, rip);
	return signal_number;
}

/* Enters the program's handler, or ends the program. */
static int deliver(struct stepper *s, int signal_number, int *status)
{
	if (is_worth_it(s))
		s->follow = s->time + 40;
	s->undefined_before_signal = s->undefined;
	while (signal_number > 0)
		signal_number = step_once(s, signal_number, status);
	return signal_number;
}

static int run(struct stepper *s)
{
	int status = 0;

	while (s->time < s->most) {
		int signal_number = step(s, &status);

		if (signal_number > 0)
			signal_number = deliver(s, signal_number, &status);
		if (signal_number < 0)
			break;
	}
	return status;
}

/* ------- the program ------- */

static void start(struct stepper *s, char **argv)
{
	char *nothing[] = { NULL };
	char path[64];
	int status;

	s->pid = fork();
	if (s->pid < 0)
		die("fork");
	if (s->pid == 0) {
		/* Where this is refused only the stack's address differs. */
		personality(ADDR_NO_RANDOMIZE);
		if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) == 0)
			execve(argv[0], argv, nothing);
		_exit(127);
	}
	if (waitpid(s->pid, &status, 0) != s->pid || !WIFSTOPPED(status))
		die("trace the program");
	if (ptrace(PTRACE_SETOPTIONS, s->pid, NULL, PTRACE_O_EXITKILL) ||
	    ptrace(PTRACE_GETREGS, s->pid, NULL, &s->regs))
		die("trace the program");
	snprintf(path, sizeof(path), "/proc/%d/mem", (int)s->pid);
	s->memory = open(path, O_RDWR | O_CLOEXEC);
	if (s->memory < 0)
		die("open the program's memory");
}

static struct range parse_range(const char *text)
{
	struct range range;
	char *end;

	range.begin = strtoull(text, &end, 0);
	range.end = *end == '-' ? strtoull(end + 1, &end, 0) : 0;
	if (*end || range.end <= range.begin) {
		fprintf(stderr, "stepper: no range: '%s'\n", text);
		exit(2);
	}
	return range;
}

static void parse_options(struct stepper *s, int argc, char **argv)
{
	static const struct option options[] = {
		{ "every", required_argument, NULL, 'e' },
		{ "seed", required_argument, NULL, 's' },
		{ "most", required_argument, NULL, 'm' },
		{ "hide", required_argument, NULL, 'h' },
		{ "memory", required_argument, NULL, 'r' },
		{ "watch", required_argument, NULL, 'w' },
		{ "all", no_argument, NULL, 'a' },
		{ 0 },
	};
	int option;

	while ((option = getopt_long(argc, argv, "+", options, NULL)) != -1) {
		if (option == 'e')
			s->every = strtoull(optarg, NULL, 0);
		else if (option == 's')
			s->random = strtoull(optarg, NULL, 0);
		else if (option == 'm')
			s->most = strtoull(optarg, NULL, 0);
		else if (option == 'h')
			s->hidden = parse_range(optarg);
		else if (option == 'a')
			s->watches_all = true;
		else if (option == 'w')
			s->watched = parse_range(optarg);
		else if (option == 'r' && s->range_count < RANGES_MAX)
			s->ranges[s->range_count++] = parse_range(optarg);
		else
			exit(2);
	}
	if (optind >= argc || !s->every || !s->random)
		exit(2);
}

int main(int argc, char **argv)
{
	struct stepper s = { .every = 100, .random = 1, .most = 1000000 };
	int status;

	parse_options(&s, argc, argv);
	start(&s, argv + optind);
	if (s.watched.end)
		start_to_watch(&s);
	status = run(&s);
	printf("{\"instructions\":%llu,\"samples\":%u,", (unsigned long long)
	       s.time, s.samples);
	if (WIFEXITED(status))
		printf("\"exit\":{\"code\":%d}}\n", WEXITSTATUS(status));
	else if (WIFSIGNALED(status))
		printf("\"exit\":{\"signal\":%d}}\n", WTERMSIG(status));
	else
		puts("\"exit\":null}");
	return 0;
}
