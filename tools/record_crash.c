/* SPDX-License-Identifier: GPL-2.0-or-later */
/* record_crash.c - see record_crash.h */
#include "tools/record_crash.h"

#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "formats/stacks.h"
#include "replayer/recording/recording.h"
#include "replayer/session/session.h"
#include "replayer/symbols/symbols.h"
#include "tools/messages.h"
#include "tools/print_crash.h"
#include "vm/linux/abi/names.h"
#include "vm/memory/memory.h"

/* Enough to find a function of the program behind those of libraries. */
#define STACK_COPIED (UINT64_C(256) << 10)
#define PAGES_BELOW 256u
#define FRAMES_LOOKED_AT 64u

void record_crash_prepare(struct record_crash *crash)
{
	void *shared = mmap(NULL, sizeof(*crash->told), PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	crash->told = shared == MAP_FAILED ? NULL : shared;
}

/* ------- when it dies ------- */

static bool is_mistake(uint64_t signal)
{
	return signal == SIGSEGV || signal == SIGBUS || signal == SIGFPE ||
	       signal == SIGILL || signal == SIGABRT || signal == SIGTRAP ||
	       signal == SIGSYS;
}

static void copy(struct crash_copy *out, struct vm *vm, uint64_t addr,
		 size_t size)
{
	out->addr = addr;
	out->bytes = malloc(size);
	out->size = out->bytes ? memory_code(vm_memory(vm), addr, out->bytes,
					     size) : 0;
}

/* Of a stack that is full, what is at the stack pointer is not mapped. */
static void copy_stack(struct record_crash *crash, struct vm *vm)
{
	uint64_t addr = crash->sp;
	uint8_t byte;

	for (unsigned i = 0; i < PAGES_BELOW; i++) {
		if (memory_code(vm_memory(vm), addr, &byte, 1))
			break;
		addr = (addr | (GUEST_PAGE - 1)) + 1;
	}
	copy(&crash->copies[COPY_STACK], vm, addr, STACK_COPIED);
}

/* Where a call that was just made returns to; 0: nobody knows. */
static uint64_t caller_of(const struct record_crash *crash,
			  const struct reg_table *table)
{
	const struct stack_table *stack = stack_table(table->arch);
	const struct crash_copy *copied = &crash->copies[COPY_STACK];
	uint64_t caller = 0;

	if (stack && stack->has_link_register)
		caller = reg_get(table, &crash->registers,
				 stack->link_register);
	else if (stack && copied->size >= stack->call_size)
		memcpy(&caller, copied->bytes, stack->call_size);
	return reg_code(table, caller);
}

/* A call through a bad pointer is known by the code that made it. */
static void copy_caller(struct record_crash *crash, struct vm *vm)
{
	uint64_t caller = caller_of(crash, vm_reg_table(vm));

	if (caller > CALL_MOST)
		copy(&crash->copies[COPY_CALLER], vm, caller - CALL_MOST,
		     CALL_MOST);
}

void record_crash_note(struct record_crash *crash,
		       const struct recorder_death *death, const char *first,
		       const char *typed)
{
	const struct reg_table *table = vm_reg_table(death->vm);
	size_t size = strlen(first);
	bool is_beside = !strncmp(death->path, first, size);

	if (!is_mistake(death->signal))
		return;
	crash->signal = death->signal;
	crash->is_fault = death->stop != NULL;
	if (death->stop)
		crash->fault = *death->stop;
	vm_registers(death->vm, &crash->registers);
	crash->sp = reg_get(table, &crash->registers, table->sp);
	copy_stack(crash, death->vm);
	copy(&crash->copies[COPY_PC], death->vm,
	     reg_get(table, &crash->registers, table->pc), SIGRETURN_MOST);
	copy_caller(crash, death->vm);
	snprintf(crash->path, sizeof(crash->path), "%s", death->path);
	snprintf(crash->shown, sizeof(crash->shown), "%s%s",
		 is_beside ? typed : "", death->path + (is_beside ? size : 0));
}

/* ------- when the recording is complete ------- */

static bool read_copy(void *context, uint64_t addr, void *bytes, size_t size)
{
	const struct record_crash *crash = context;

	for (size_t i = 0; i < COPIES; i++) {
		const struct crash_copy *piece = &crash->copies[i];
		uint64_t offset = addr - piece->addr;

		if (addr < piece->addr || offset > piece->size ||
		    size > piece->size - offset)
			continue;
		memcpy(bytes, piece->bytes + offset, size);
		return true;
	}
	return false;
}

struct where {
	const char *program;	/* path */
	bool is_fault;
	bool is_astray;		/* ... because no code can be executed there */
	char text[600];		/* " in sum at seg.c:4" */
	unsigned count;
	bool is_found;
	bool in_heap;		/* an allocator's function had been called */
};

__attribute__((format(printf, 2, 3)))
static void add(struct where *where, const char *format, ...)
{
	size_t size = strlen(where->text);
	va_list args;

	va_start(args, format);
	vsnprintf(where->text + size, sizeof(where->text) - size, format, args);
	va_end(args);
}

static void add_place(struct where *where, const struct frame *frame)
{
	if (frame->line.function[0])
		add(where, "%s", frame->line.function);
	else
		add(where, "0x%" PRIx64, frame->pc);
	if (frame->line.file)
		add(where, " at %s:%u", frame->line.file, frame->line.line);
}

/*
 * The first frame that is of the program; if an instruction was wrong in
 * another one, that function too.
 */
static int visit(void *context, const struct frame *frame)
{
	struct where *where = context;
	bool is_own = frame->module &&
		      !strcmp(frame->module, where->program) &&
		      !(where->is_astray && !where->count);

	if (!where->count++ && !is_own && where->is_fault)
		add(where, " in %s, called from",
		    frame->line.function[0] ? frame->line.function : "??");
	if (!is_own)
		where->in_heap |= heap_is_allocator(frame->line.function);
	if (!is_own || frame->is_signal)
		return where->count == FRAMES_LOOKED_AT;
	where->is_found = true;
	add(where, where->count == 1 || !where->is_fault ? " in " : " ");
	add_place(where, frame);
	return 1;
}

static bool is_astray(const struct vm_stop *fault)
{
	return (fault->fault == FAULT_MEMORY &&
		fault->access == ACCESS_FETCH) ||
	       (fault->fault == FAULT_ALIGNMENT && fault->addr == fault->pc);
}

static void walk(const struct record_crash *crash, struct lines *lines,
		 struct recording *recording, struct where *where)
{
	const struct frame_walk walk = {
		.lines = lines,
		.t = recording_end(recording),
		.table = recording_reg_table(recording),
		.memory = { read_copy, (void *)(uintptr_t)crash,
			    reg_word(recording_reg_table(recording)) },
		.visit = visit,
		.context = where,
	};

	where->is_fault = crash->is_fault;
	where->is_astray = crash->is_fault && is_astray(&crash->fault);
	frames_walk(&walk, &crash->registers);
	if (!where->is_found)
		where->text[0] = '\0';
}

static void say_line(const struct record_crash *crash, const char *program,
		     const char *where, bool in_heap)
{
	const char *name = linux_signal_name(crash->signal);
	struct fault_words words = { 0 };
	char what[200] = "";

	if (crash->is_fault)
		words = fault_words(crash->signal, &crash->fault, crash->sp);
	if (words.access)
		snprintf(what, sizeof(what), ": %s of 0x%" PRIx64 " (%s)",
			 words.access, words.addr, words.reason);
	else if (words.reason)
		snprintf(what, sizeof(what), ": %s", words.reason);
	say_note("%s died of %s%s%s; 'cprec backtrace %s' tells more%s%s%s",
		 program, name ? name : "a signal", what, where, crash->shown,
		 in_heap ? ", and 'cprec heap " : "",
		 in_heap ? crash->shown : "",
		 in_heap ? " --errors' what was done to its heap" : "");
}

static void say_all(const struct record_crash *crash,
		    struct recording *recording, struct lines *lines)
{
	const struct recording_program *list;
	struct where where = { 0 };
	char program[300];
	size_t count;

	if (recording_programs(recording, &list, &count, NULL))
		return;
	where.program = list[count - 1].image.path;
	walk(crash, lines, recording, &where);
	snprintf(program, sizeof(program), "'%s'",
		 list[count - 1].image.argc ? list[count - 1].image.argv[0] :
					      where.program);
	say_line(crash, program, where.text, where.in_heap);
}

static bool say_with_place(const struct record_crash *crash)
{
	struct recording *recording;
	struct lines *lines;

	if (recording_open(&recording, crash->path, NULL) ||
	    lines_create(&lines, recording, NULL))
		return false;
	say_all(crash, recording, lines);
	return true;
}

static bool may_tell(const struct record_crash *crash)
{
	unsigned before = crash->told ? atomic_fetch_add(crash->told, 1) : 0;

	if (before == CHILDREN_TOLD)
		say_note("more of its processes died of signals; their"
			 " recordings tell");
	return before < CHILDREN_TOLD;
}

/* Shells and test suites send signals to children that they have made. */
static bool is_own_mistake(const struct record_crash *crash)
{
	return crash->is_fault || crash->signal == SIGABRT;
}

void record_crash_say(const struct record_crash *crash, bool is_first)
{
	char program[40];

	if (!crash->signal || (is_first && say_with_place(crash)))
		return;
	if (!is_first && (!is_own_mistake(crash) || !may_tell(crash)))
		return;
	snprintf(program, sizeof(program), "process %d", (int)getpid());
	say_line(crash, program, "", false);
}
