/* SPDX-License-Identifier: GPL-2.0-or-later */
/* vm.c - running the engine, and knowing exactly where it stopped */
#include "vm/views.h"
#include "vm/vm_internal.h"
#include "vm/x86_length.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "formats/error.h"

/* ------- making one ------- */

static int open_engine(struct vm *vm, struct failure *why)
{
	uc_err err = uc_open(UC_ARCH_X86, UC_MODE_64, &vm->uc);

	if (!err)
		err = uc_ctl_set_cpu_model(vm->uc, UC_CPU_X86_WESTMERE);
	if (!err)
		err = uc_ctl_set_tcg_buffer_size(vm->uc, TRANSLATIONS_MOST);
	if (!err)
		err = uc_mem_map_ptr(vm->uc, 0, vm->memory->arena_size,
				     UC_PROT_ALL, vm->memory->arena);
	if (!err)
		err = uc_ctl_tlb_mode(vm->uc, UC_TLB_VIRTUAL);
	if (!err)
		err = hooks_add(vm);
	if (err)
		return failed(why, ERR_SYSTEM, "cannot start the engine: %s",
			      uc_strerror(err));
	return x86_start(vm, why);
}

static int open_decoder(struct vm *vm, struct failure *why)
{
	cs_err err = cs_open(CS_ARCH_X86, CS_MODE_64, &vm->decoder);

	if (!err)
		err = cs_option(vm->decoder, CS_OPT_DETAIL, CS_OPT_ON);
	if (!err)
		vm->insn = cs_malloc(vm->decoder);
	if (err || !vm->insn)
		return failed(why, ERR_SYSTEM, "cannot start the decoder: %s",
			      cs_strerror(err));
	cs_option(vm->decoder, CS_OPT_DETAIL, CS_OPT_OFF);
	return 0;
}

int vm_create(struct vm **out, enum arch arch,
	      const struct memory_observer *observer, struct failure *why)
{
	struct vm *vm = calloc(1, sizeof(*vm));
	int rc;

	if (!vm)
		return failed(why, ERR_NO_MEMORY, "out of memory");
	vm->counter = &vm->own_counter;
	vm->thread = &vm->first;
	vm->may_inline = !getenv("CPREC_NO_INLINE");
	vm->regs = reg_table(arch);
	tlb_start(vm);
	rc = memory_create(&vm->memory, observer, why);
	if (!rc)
		rc = open_decoder(vm, why);
	if (!rc)
		rc = open_engine(vm, why);
	if (rc) {
		vm_destroy(vm);
		return rc;
	}
	*out = vm;
	return 0;
}

void vm_destroy(struct vm *vm)
{
	if (!vm)
		return;
	if (vm->pristine)
		uc_context_free(vm->pristine);
	if (vm->scratch)
		uc_context_free(vm->scratch);
	if (vm->first.context)
		uc_context_free(vm->first.context);
	if (vm->thread != &vm->first) {
		uc_context_free(vm->thread->context);
		free(vm->thread);
	}
	if (vm->uc)
		uc_close(vm->uc);
	if (vm->insn)
		cs_free(vm->insn, 1);
	if (vm->decoder)
		cs_close(&vm->decoder);
	if (vm->code_base)
		munmap(vm->counter, GUEST_PAGE);
	hooks_forget(vm);
	inline_release(vm);
	if (vm->demands)
		munmap(vm->demands, DEMANDS_MOST * sizeof(*vm->demands));
	free(vm->blocks);
	number_map_release(&vm->code_pages);
	free(vm->seen);
	memory_destroy(vm->memory);
	free(vm);
}

struct memory *vm_memory(struct vm *vm)
{
	return vm->memory;
}

const struct reg_table *vm_reg_table(const struct vm *vm)
{
	return vm->regs;
}

const char *vm_engine(void)
{
	static char text[32];
	unsigned major, minor;
	unsigned version = uc_version(&major, &minor);

	snprintf(text, sizeof(text), "unicorn %u.%u.%u", major, minor,
		 version >> 8 & 0xff);
	return text;
}

void vm_ignore_exceptions(struct vm *vm)
{
	vm->ignores_exceptions = true;
}

void vm_run_uncounted(struct vm *vm)
{
	vm->uncounted = true;
}

/* Where nobody counts there is no budget that could end. */
static void on_wanted(void *context)
{
	vm_interrupt(context);
}

int vm_share_memory(struct vm *vm, int (*move)(int fd), struct failure *why)
{
	return memory_share(vm->memory, move,
			    vm->uncounted ? on_wanted : NULL, vm, why);
}

/* ------- threads ------- */

static uc_context *save_context(struct vm *vm, uc_context *context)
{
	if (!context && uc_context_alloc(vm->uc, &context))
		return NULL;
	if (uc_context_save(vm->uc, context)) {
		uc_context_free(context);
		return NULL;
	}
	return context;
}

int vm_thread_create(struct vm *vm, struct vm_thread **out,
		     struct failure *why)
{
	struct vm_thread *thread = calloc(1, sizeof(*thread));

	if (!vm->memory->views && vm->memory->observer.learned)
		vm->memory->views = views_create(vm->memory);
	/* Room to save the present thread must be there when it is needed. */
	if (!vm->thread->context)
		vm->thread->context = save_context(vm, NULL);
	if (thread)
		thread->context = save_context(vm, NULL);
	if (!thread || !thread->context || !vm->thread->context) {
		free(thread);
		return failed(why, ERR_NO_MEMORY, "out of memory");
	}
	thread->view = ++vm->views;
	*out = thread;
	return 0;
}

void vm_thread_destroy(struct vm *vm, struct vm_thread *thread)
{
	if (!thread)
		return;
	assert(thread != vm->thread);
	uc_context_free(thread->context);
	if (thread == &vm->first)
		thread->context = NULL;
	else
		free(thread);
}

struct vm_thread *vm_thread_current(const struct vm *vm)
{
	return vm->thread;
}

void vm_thread_switch(struct vm *vm, struct vm_thread *thread)
{
	assert(!vm->running);
	if (thread == vm->thread)
		return;
	vm->thread->current = vm->counter->current;
	vm->thread->flushes = vm->flushes;
	uc_context_save(vm->uc, vm->thread->context);
	uc_context_restore(vm->uc, thread->context);
	vm->thread = thread;
	if (vm->memory->views)
		views_turn(vm->memory->views, thread->view);
	vm->counter->current = thread->flushes == vm->flushes ?
				       thread->current : 0;
	vm->generation = 0;	/* a context may bring its TLB along */
}

/* ------- time ------- */

/* Steps of this run that have been paid for. */
static uint64_t paid(const struct vm *vm)
{
	int64_t left = __atomic_load_n(&vm->counter->budget, __ATOMIC_RELAXED);

	if (left < -(ASKED_PENALTY / 2))
		left += ASKED_PENALTY;
	return (uint64_t)(vm->granted - left);
}

uint64_t vm_steps(const struct vm *vm)
{
	return vm->running ? vm->steps + paid(vm) : vm->steps;
}

uint64_t vm_steps_at_block(const struct vm *vm)
{
	uint64_t steps = vm_steps(vm);

	if (vm->running && vm->counter->current)
		steps -= vm->blocks[vm->counter->current].count;
	return steps;
}

void vm_set_steps(struct vm *vm, uint64_t steps)
{
	assert(!vm->running);
	vm->steps = steps;
}

bool vm_is_running(const struct vm *vm)
{
	return vm->running;
}

void vm_interrupt(struct vm *vm)
{
	vm->wanted = true;
	vm_stop_soon(vm);
}

void vm_limit_pauses(struct vm *vm, unsigned most)
{
	vm->pauses_most = most;
}

bool vm_has_paused(const struct vm *vm)
{
	return vm->pauses_most && vm->pauses >= vm->pauses_most;
}

void vm_stop_soon(struct vm *vm)
{
	if (vm->counter->asked)
		return;
	vm->counter->asked = 1;
	__atomic_fetch_sub(&vm->counter->budget, ASKED_PENALTY,
			   __ATOMIC_RELAXED);
}

/* ------- running ------- */

/*
 * Brings the engine up to date with what the host did to guest memory.  A
 * translation is found by its arena address, whatever its permission is now.
 */
static void refresh(struct vm *vm)
{
	struct memory *memory = vm->memory;

	if (memory->stale_count) {
		vm->probing = true;
		tlb_flush(vm);
		for (size_t i = 0; i < memory->stale_count; i++) {
			guest_addr addr = memory->stale[i].addr;

			uc_ctl_remove_cache(vm->uc, addr,
					    addr + memory->stale[i].size);
		}
		memory->stale_count = 0;
		vm->probing = false;
		vm->generation = 0;
	}
	if (vm->generation != memory->generation) {
		tlb_flush(vm);
		vm->generation = memory->generation;
	}
}

static void fault_in_block(struct vm *vm, guest_addr pc)
{
	const struct block *block;
	unsigned index;

	if (vm->uncounted || !vm->counter->current)
		return;		/* it could not even be entered */
	block = &vm->blocks[vm->counter->current];
	index = block_index_of(vm, block, pc);
	if (index == block->count)
		return;		/* at its end: fetching what follows */
	vm->steps -= block->count - index;
	vm->counter->current = 0;
}

/* Bits 47 to 63 are all equal. */
static bool is_canonical(guest_addr addr)
{
	return (uint64_t)((int64_t)addr >> 47) + 1 < 2;
}

static void explain_memory_fault(struct vm *vm, struct vm_stop *stop)
{
	stop->kind = VM_STOP_FAULT;
	stop->fault = FAULT_MEMORY;
	stop->access = vm->fault_access;
	stop->mapped = vm->fault_mapped;
	if (!is_canonical(vm->fault_page)) {
		stop->fault = FAULT_PRIVILEGE;
	} else if (vm->fault_access != ACCESS_FETCH) {
		stop->addr = block_fault_address(vm, stop->pc, vm->fault_page);
	} else {
		stop->addr = vm->fault_page > stop->pc ? vm->fault_page :
							 stop->pc;
	}
	fault_in_block(vm, stop->pc);
}

static void explain_interrupt(struct vm *vm, struct vm_stop *stop)
{
	stop->kind = VM_STOP_FAULT;
	switch (vm->interrupt) {
	case 0:
		stop->fault = FAULT_DIVIDE;
		break;
	case 6:
		stop->fault = FAULT_INVALID;
		break;
	default:
		stop->fault = FAULT_PRIVILEGE;
	}
	fault_in_block(vm, stop->pc);
	x86_exception_taken(vm);
}

/* Whether it stopped before the block vm->stop_block. */
static bool is_before_block(const struct vm *vm)
{
	return vm->stopped == ENGINE_AT_BLOCK ||
	       vm->stopped == ENGINE_MISALIGNED ||
	       vm->stopped == ENGINE_UNHOOKED || vm->stopped == ENGINE_SPECIAL;
}

/* Runs the engine from where the guest stands until it stops by itself. */
static int run_engine(struct vm *vm, guest_addr until, struct vm_stop *stop,
		      struct failure *why)
{
	uc_err err;

	vm->stopped = ENGINE_NONE;
	vm->faulted = false;
	hooks_run(vm);
	err = uc_emu_start(vm->uc, vm_reg(vm, X86_RIP), until, 0, 0);
	x86_mend_flags(vm);
	float_end_quiet(vm);
	memset(stop, 0, sizeof(*stop));
	/* With a hook on instructions, the engine does not say so itself. */
	if (is_before_block(vm))
		vm_set_reg(vm, X86_RIP, vm->blocks[vm->stop_block].pc);
	stop->pc = vm_reg(vm, X86_RIP);
	if (vm->stopped != ENGINE_NONE || stop->pc == until)
		return 0;
	if (vm->faulted)
		return 0;
	if (err == UC_ERR_INSN_INVALID || err == UC_ERR_EXCEPTION) {
		vm->stopped = ENGINE_INVALID;
		return 0;
	}
	return failed(why, ERR_SYSTEM, "the engine stopped at 0x%llx: %s",
		      (unsigned long long)stop->pc, uc_strerror(err));
}

/*
 * Runs the first `count` instructions of a block, exactly: "until" is only
 * heeded in translations made for it, so the old ones go before and after.
 */
static int run_part(struct vm *vm, uint32_t number, unsigned count,
		    struct vm_stop *stop, struct failure *why)
{
	struct block block = vm->blocks[number];
	guest_addr until = block_address_of(vm, &block, count);
	int rc;

	uc_ctl_remove_cache(vm->uc, block.pc, block.pc + block.size);
	vm->partial = true;
	vm->counter->current = 0;
	if (block.hooks)
		float_hook_block(vm, &block);
	rc = run_engine(vm, until, stop, why);
	float_hook_nothing(vm);
	vm->partial = false;
	uc_ctl_remove_cache(vm->uc, block.pc, block.pc + block.size);
	return rc;
}

/* Takes what this run has used into the steps. */
static void settle(struct vm *vm)
{
	vm->steps += paid(vm);
	vm->running = false;
}

static void grant(struct vm *vm, uint64_t budget)
{
	vm->granted = (int64_t)budget;
	vm->running = true;
	__atomic_store_n(&vm->counter->budget, vm->granted, __ATOMIC_RELAXED);
	/* A signal before this was not seen; one after it has lowered it. */
	if (vm->counter->asked)
		__atomic_store_n(&vm->counter->budget,
				 vm->granted - ASKED_PENALTY, __ATOMIC_RELAXED);
}

/* The instruction is executed on the host if its operand allows it. */
static void explain_operand(struct vm *vm, struct vm_stop *stop)
{
	uint8_t code[X86_INSN_MOST];
	const uint8_t *opcode;
	guest_addr addr;
	unsigned size, length;

	block_code(vm, stop->pc, code, &opcode);
	if (align_wants(code, opcode, code + stop->size) &&
	    !align_is_met(vm, stop->pc, code, opcode, code + stop->size)) {
		stop->kind = VM_STOP_FAULT;
		stop->fault = FAULT_PRIVILEGE;
	} else if (block_operand(vm, stop->pc, &addr, &size, &length)) {
		x86_operand_faults(vm, addr, size, ACCESS_READ, stop);
	}
}

/* The engine stopped before a block with a special instruction. */
static int run_to_special(struct vm *vm, struct vm_stop *stop,
			  struct failure *why)
{
	uint32_t number = vm->stop_block;
	unsigned index = vm->blocks[number].special;

	if (index) {
		int rc;

		grant(vm, index);
		rc = run_part(vm, number, index, stop, why);
		settle(vm);
		if (rc || vm->faulted || vm->stopped != ENGINE_NONE)
			return rc;
	}
	vm->stopped = ENGINE_SPECIAL;
	if (vm->trace)		/* the engine does not get to see it */
		vm->trace(vm->trace_context, vm->steps, stop->pc);
	if (!block_explain(vm, stop->pc, stop)) {
		vm->emulated = x86_emulate(vm, stop);
	} else if (stop->kind == VM_STOP_VALUE && stop->value == VALUE_HOST) {
		explain_operand(vm, stop);
	} else if (stop->kind == VM_STOP_FAULT && stop->fault == FAULT_BREAKPOINT) {
		stop->pc += stop->size;
		vm_set_reg(vm, X86_RIP, stop->pc);
		vm->steps++;
	}
	vm->counter->current = 0;
	return 0;
}

/* Runs one instruction, which is as the engine executes it. */
static int run_single(struct vm *vm, unsigned size, struct vm_stop *stop,
		      struct failure *why)
{
	uint32_t number = block_decode(vm, stop->pc, size);
	int rc;

	if (!number)
		return failed(why, ERR_NO_MEMORY, "out of memory");
	grant(vm, 1);
	rc = run_part(vm, number, 1, stop, why);
	settle(vm);
	vm->emulated = vm->stopped == ENGINE_NONE && !vm->faulted;
	return rc;
}

/* The engine stopped before a block with an operand that is not aligned. */
static int run_to_misaligned(struct vm *vm, struct vm_stop *stop,
			     struct failure *why)
{
	uint32_t number = vm->stop_block;
	unsigned index = align_violation(vm, &vm->blocks[number]);
	uint8_t code[X86_INSN_MOST];
	const uint8_t *opcode;
	size_t size;
	int rc = 0;

	if (index && index != NO_SPECIAL) {
		grant(vm, index);
		rc = run_part(vm, number, index, stop, why);
		settle(vm);
	}
	if (rc || vm->faulted || (index && vm->stopped != ENGINE_NONE))
		return rc;
	size = block_code(vm, stop->pc, code, &opcode);
	size = x86_length(code, size);
	if (align_is_met(vm, stop->pc, code, opcode, code + size))
		return run_single(vm, (unsigned)size, stop, why);
	vm->stopped = ENGINE_SPECIAL;
	if (vm->trace)
		vm->trace(vm->trace_context, vm->steps, stop->pc);
	stop->kind = VM_STOP_FAULT;
	stop->fault = FAULT_PRIVILEGE;
	vm->counter->current = 0;
	return 0;
}

/* The engine stopped before a block that it is to translate with hooks. */
static void hook_block(struct vm *vm)
{
	struct block block = vm->blocks[vm->stop_block];

	uc_ctl_remove_cache(vm->uc, block.pc, block.pc + block.size);
	float_hook_block(vm, &block);
	vm->emulated = true;
}

/* The engine stopped before an instruction of x87 that raises an exception. */
static void raise_x87(struct vm *vm, struct vm_stop *stop)
{
	fault_in_block(vm, stop->pc);
	vm->emulated = trap_perform_x87(vm, stop);
}

static void explain(struct vm *vm, struct vm_stop *stop)
{
	switch (vm->stopped) {
	case ENGINE_MISALIGNED:
	case ENGINE_UNHOOKED:
	case ENGINE_UNMASKED:
	case ENGINE_SPECIAL:
	case ENGINE_FLOAT_RAISED:
		break;		/* has been said */
	case ENGINE_PROTECTED:
	case ENGINE_FLOAT_SSE:
	case ENGINE_FLOAT_X87:
		stop->kind = VM_STOP_FAULT;
		stop->fault = vm->stopped == ENGINE_PROTECTED ? FAULT_PRIVILEGE :
			      vm->stopped == ENGINE_FLOAT_SSE ? FAULT_FLOAT_SSE :
								FAULT_FLOAT_X87;
		fault_in_block(vm, stop->pc);
		break;
	case ENGINE_AT_BLOCK:
		stop->kind = vm->counter->asked ? VM_STOP_ASKED : VM_STOP_BUDGET;
		vm->counter->asked = 0;
		vm->wanted = false;
		break;
	case ENGINE_SYSCALL:
		stop->kind = VM_STOP_SYSCALL;
		stop->size = 2;
		vm_set_reg(vm, X86_RCX, stop->pc);
		vm_set_reg(vm, X86_R11, vm_reg(vm, X86_RFLAGS));
		break;
	case ENGINE_INTERRUPT:
		explain_interrupt(vm, stop);
		break;
	case ENGINE_INVALID:
		stop->kind = VM_STOP_FAULT;
		stop->fault = FAULT_INVALID;
		fault_in_block(vm, stop->pc);
		break;
	case ENGINE_NONE:
		stop->kind = VM_STOP_BUDGET;
		if (vm->faulted)
			explain_memory_fault(vm, stop);
	}
}

/* There is a budget left that is too small for the next block. */
static int run_rest(struct vm *vm, uint64_t left, struct vm_stop *stop,
		    struct failure *why)
{
	int rc;

	grant(vm, left);
	rc = run_part(vm, vm->stop_block, (unsigned)left, stop, why);
	settle(vm);
	return rc;
}

/*
 * The engine fetches a whole block before it executes any of it.  Where the
 * fetch fails on a later page, what is whole before that page runs first;
 * 0 in `*done` if there is nothing, and the fault is at the first instruction.
 */
static int run_to_page_end(struct vm *vm, uint64_t left, unsigned *done,
			   struct vm_stop *stop, struct failure *why)
{
	uint64_t size = vm->fault_page - stop->pc;
	const struct block *block;
	uint32_t number;
	int rc;

	*done = 0;
	if (vm->fault_access != ACCESS_FETCH || vm->fault_page <= stop->pc ||
	    size > GUEST_PAGE)
		return 0;
	number = block_decode(vm, stop->pc, (uint32_t)size);
	if (!number)
		return failed(why, ERR_NO_MEMORY, "out of memory");
	block = &vm->blocks[number];
	while (*done < block->count && *done < block->special && *done < left &&
	       block_address_of(vm, block, *done + 1) >
		       block_address_of(vm, block, *done))
		++*done;
	if (!*done)
		return 0;
	grant(vm, *done);
	rc = run_part(vm, number, *done, stop, why);
	settle(vm);
	return rc;
}

/* Whether the guest only stopped because it wrote code: it goes on then. */
static bool stopped_for_code(struct vm *vm)
{
	if (!vm->code_changed || vm->wanted)
		return false;
	vm->code_changed = false;
	vm->counter->asked = 0;
	if (vm->stopped != ENGINE_AT_BLOCK)
		return false;
	vm->emulated = true;		/* behind refresh() */
	return true;
}

/* Whether the guest only stopped to ask for the code of a page. */
static bool ask_for_code(struct vm *vm)
{
	if (!vm->code_doubted)
		return false;
	vm->code_doubted = vm->faulted = false;
	code_settle(vm->memory, vm->doubted_page);
	vm->emulated = true;		/* behind refresh() */
	return true;
}

/* Forgets all translations, but for what is known of the block under way. */
static void flush_translations(struct vm *vm)
{
	struct block present = vm->blocks[vm->counter->current];

	uc_ctl_flush_tb(vm->uc);
	memset(vm->known, 0, sizeof(vm->known));
	vm->block_count = 1;
	vm->demand_count = 0;
	vm->checks.used = 0;
	present.demands = 0;
	if (vm->counter->current) {
		vm->blocks[1] = present;
		vm->block_count = 2;
		vm->counter->current = 1;
	}
	vm->flushes++;
}

/* Runs until something happens that the engine cannot go on behind. */
static int run_once(struct vm *vm, uint64_t budget, bool exact,
		    struct vm_stop *stop, struct failure *why)
{
	uint64_t before = vm->steps, left;
	int rc;

	refresh(vm);
	if (vm->block_count > BLOCKS_MOST)
		flush_translations(vm);
	grant(vm, budget);
	rc = run_engine(vm, NEVER, stop, why);
	settle(vm);
	if (rc)
		return rc;
	left = budget - (vm->steps - before);
	if (ask_for_code(vm) || stopped_for_code(vm))
		return 0;
	if (vm->stopped == ENGINE_AT_BLOCK && !vm->counter->asked && exact &&
	    left)
		rc = run_rest(vm, left, stop, why);
	else if (vm->stopped == ENGINE_SPECIAL)
		rc = run_to_special(vm, stop, why);
	else if (vm->stopped == ENGINE_MISALIGNED)
		rc = run_to_misaligned(vm, stop, why);
	else if (vm->stopped == ENGINE_UNHOOKED)
		hook_block(vm);
	else if (vm->stopped == ENGINE_NONE && vm->faulted) {
		unsigned done;

		rc = run_to_page_end(vm, left, &done, stop, why);
		vm->emulated = done && vm->stopped == ENGINE_NONE &&
			       !vm->faulted;
	}
	/* Also in the part of a block that has just run. */
	if (vm->stopped == ENGINE_FLOAT_RAISED) {
		raise_x87(vm, stop);
	} else if (vm->stopped == ENGINE_UNMASKED) {
		fault_in_block(vm, stop->pc);
		vm->emulated = true;
	}
	if (!rc && !ask_for_code(vm))
		stopped_for_code(vm);
	return rc;
}

int vm_run(struct vm *vm, uint64_t budget, bool exact, struct vm_stop *stop,
	   struct failure *why)
{
	uint64_t end;
	int rc;

	if (budget > BUDGET_MOST)
		budget = BUDGET_MOST;
	end = vm->steps + budget;
	vm->pauses = 0;
	do {
		vm->emulated = false;
		rc = run_once(vm, end - vm->steps, exact, stop, why);
	} while (!rc && vm->emulated);
	if (rc)
		return rc;
	explain(vm, stop);
	/* What comes after the last step has not been tried yet. */
	if (exact && vm->steps == end && stop->kind == VM_STOP_FAULT &&
	    stop->fault == FAULT_MEMORY && stop->access == ACCESS_FETCH)
		stop->kind = VM_STOP_BUDGET;
	return 0;
}

void vm_disassemble(struct vm *vm, guest_addr pc, char *text, size_t room,
		    unsigned *size)
{
	uint8_t code[15];
	const uint8_t *at = code;
	size_t left = 0;
	uint64_t addr = pc;

	while (left < sizeof(code) &&
	       !memory_read(vm->memory, pc + left, code + left, 1))
		left++;
	if (cs_disasm_iter(vm->decoder, &at, &left, &addr, vm->insn)) {
		*size = vm->insn->size;
		snprintf(text, room, "%s%s%s", vm->insn->mnemonic,
			 vm->insn->op_str[0] ? " " : "", vm->insn->op_str);
	} else {
		*size = 1;
		snprintf(text, room, "(bad)");
	}
}
