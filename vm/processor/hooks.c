/* SPDX-License-Identifier: GPL-2.0-or-later */
/* hooks.c - what the engine calls while the guest runs */
#include "vm/processor/plan.h"
#include "vm/memory/views.h"
#include "vm/engine/build/exact.h"

#include <stdlib.h>

#include "formats/error.h"

/*
 * The block hook may be called by translated code that passes no arguments
 * (inline_count.c), so the guest that runs is kept here.
 */
static struct vm *running;

/* ------- what the engine calls ------- */

/* Lowers the budget by a block's instructions, if there are enough left. */
static bool pay(struct vm *vm, uint32_t number)
{
	const struct block *block = &vm->blocks[number];
	int64_t left = __atomic_load_n(&vm->counter->budget, __ATOMIC_RELAXED);
	unsigned special = block->special, misaligned = NO_SPECIAL;

	vm->stop_block = number;
	/* A part of a block ends before that. */
	if (block->demands && !vm->partial)
		misaligned = align_violation(vm, block);
	if (misaligned < special)
		special = misaligned;
	if (left < 0 || (left < block->count && left <= special)) {
		vm->stopped = ENGINE_AT_BLOCK;
		uc_emu_stop(vm->uc);
		return false;
	}
	if (special != NO_SPECIAL) {
		vm->stopped = misaligned <= special ? ENGINE_MISALIGNED :
						      ENGINE_SPECIAL;
		uc_emu_stop(vm->uc);
		return false;
	}
	__atomic_fetch_sub(&vm->counter->budget, block->count, __ATOMIC_RELAXED);
	vm->counter->current = number;
	return true;
}

/*
 * The same for a storing instruction that is executed again: the guest is to
 * stop behind it, not before, where the store would only be asked about anew.
 */
static bool pay_again(struct vm *vm, uint32_t number)
{
	bool stops = vm->code_changed && !vm->wanted && vm->counter->asked;

	if (stops) {
		vm->counter->asked = 0;
		__atomic_fetch_add(&vm->counter->budget, ASKED_PENALTY,
				   __ATOMIC_RELAXED);
	}
	if (!pay(vm, number))
		return false;
	if (stops)
		vm_stop_soon(vm);
	return true;
}

/* The block's number, known from before or found out now. */
static uint32_t identify(struct vm *vm, const uint8_t *ret, guest_addr pc,
			 uint32_t size)
{
	size_t slot = ((uintptr_t)ret >> 5) % KNOWN_BLOCKS;
	uint32_t number = vm->known[slot].number;

	if (vm->known[slot].ret == ret && vm->blocks[number].pc == pc &&
	    vm->blocks[number].size == size)
		return number;
	number = block_decode(vm, pc, size);
	if (!number)
		abort();
	code_pages_watch(vm, pc, size);
	vm->known[slot].ret = ret;
	vm->known[slot].number = number;
	return number;
}

static bool goes_on(const struct vm *vm, uint32_t number)
{
	const struct block *block = &vm->blocks[number];
	const struct block *before = &vm->blocks[vm->counter->current];

	return block->starts_rep && vm->counter->current && before->ends_rep &&
	       before->pc + before->size - before->last_size == block->pc;
}

/*
 * A store into the very block that executes it: the engine drops the block
 * and executes the storing instruction again as a block of its own, which no
 * other way makes of an instruction that does not end blocks.
 */
static bool is_restart(const struct vm *vm, uint32_t number)
{
	const struct block *block = &vm->blocks[number];
	const struct block *before = &vm->blocks[vm->counter->current];

	return block->count == 1 && !block->ends_block &&
	       vm->counter->current && before->count > 1 &&
	       block->pc - before->pc < before->size;
}

/* What the block before has paid for and will not execute. */
static void give_back_rest(struct vm *vm, guest_addr pc)
{
	const struct block *before = &vm->blocks[vm->counter->current];
	unsigned index = block_index_of(vm, before, pc);

	__atomic_fetch_add(&vm->counter->budget, before->count - index,
			   __ATOMIC_RELAXED);
}

__attribute__((noinline)) static void on_block(uc_engine *uc, uint64_t pc,
					       uint32_t size, void *user)
{
	uint8_t *ret = __builtin_return_address(0);
	struct vm *vm = running;
	enum inlined inlined = inline_state(ret);
	bool restart;
	uint32_t number;

	(void)uc;
	vm->traced = 0;
	if (inlined == INLINED_PLAIN) {
		vm->stop_block = vm->counter->current;
		vm->counter->current = 0;
		vm->stopped = vm->counter->asked ? ENGINE_AT_BLOCK :
						   ENGINE_MISALIGNED;
		uc_emu_stop(vm->uc);
		return;
	}
	if (inlined == INLINED_COUNT) {
		/* It has paid and found too little: give it back. */
		number = vm->counter->current;
		__atomic_fetch_add(&vm->counter->budget,
				   vm->blocks[number].count, __ATOMIC_RELAXED);
		vm->counter->current = 0;
		pay(vm, number);
		return;
	}
	if (inlined == INLINED_REP)
		number = inline_rep_number(ret);
	else
		number = identify(vm, ret, pc, size);
	if (goes_on(vm, number)) {
		vm->counter->current = number;
		return;
	}
	restart = is_restart(vm, number);
	if (restart)
		give_back_rest(vm, pc);
	if (restart ? !pay_again(vm, number) : !pay(vm, number))
		return;
	if (vm->blocks[number].pauses) {
		if (++vm->pauses == vm->pauses_most)
			vm_interrupt(vm);
		return;
	}
	if (inlined == INLINED_NOT && !vm->partial && !restart)
		inline_count(vm, ret, number, user);
}

static void on_instruction(uc_engine *uc, uint64_t pc, uint32_t size,
			   void *user)
{
	struct vm *vm = user;

	(void)uc;
	(void)size;
	vm->trace(vm->trace_context, vm_steps_at_block(vm) + vm->traced++, pc);
}

static unsigned engine_perms(unsigned prot)
{
	unsigned perms = UC_PROT_READ;

	if (prot & MAY_WRITE)
		perms |= UC_PROT_WRITE;
	if (prot & MAY_EXEC)
		perms |= UC_PROT_EXEC;
	return perms;
}

/*
 * The first touch of a page in a thread's turn, or its first write; whether
 * writes may go unseen from here on.
 */
static bool touch(struct memory *memory, const struct mapping *map,
		  uint64_t paddr, bool write)
{
	uint64_t page = paddr >> GUEST_PAGE_SHIFT;

	arena_touch(memory, map, page, write);
	return views_touch(memory, page, write);
}

/* Whether writes to the page need not be noticed, from here on. */
static bool may_pass(struct vm *vm, const struct mapping *map, guest_addr addr,
		     bool write)
{
	uint64_t page = mapping_arena(map, addr) >> GUEST_PAGE_SHIFT;

	if (vm->probing || !code_page_is_watched(vm, page))
		return true;
	if (write)
		code_page_written(vm, map, addr);
	return write;
}

/*
 * A page that may hold other code than it did: to execute it is a fault, which
 * ask_for_code() answers.  Whether it is something else.
 */
static bool leave_out_code(struct vm *vm, uc_mem_type type,
			   uc_tlb_entry *entry)
{
	entry->perms &= ~(uc_prot)UC_PROT_EXEC;
	if (type != UC_MEM_FETCH)
		return true;
	vm->faulted = vm->code_doubted = true;
	vm->doubted_page = entry->paddr >> GUEST_PAGE_SHIFT;
	return false;
}

static bool on_tlb_miss(uc_engine *uc, uint64_t addr, uc_mem_type type,
			uc_tlb_entry *entry, void *user)
{
	struct vm *vm = user;
	struct mapping *map = memory_find(vm->memory, addr);
	unsigned need = MAY_READ | MAY_WRITE | MAY_EXEC;

	(void)uc;
	if (type == UC_MEM_WRITE)
		need = MAY_WRITE;
	else if (type == UC_MEM_FETCH && !vm->probing)
		need = MAY_EXEC;
	if (map && (map->region.prot & need || vm->probing)) {
		entry->paddr = mapping_arena(map, addr);
		entry->perms = vm->probing ? UC_PROT_ALL :
					     engine_perms(map->region.prot);
		page_note(vm->memory, entry->paddr >> GUEST_PAGE_SHIFT);
		if (!vm->probing)
			tlb_missed(vm);
		if (!vm->probing &&
		    code_is_doubted(vm->memory,
				    entry->paddr >> GUEST_PAGE_SHIFT) &&
		    !leave_out_code(vm, type, entry))
			return false;
		if (!may_pass(vm, map, addr, type == UC_MEM_WRITE))
			entry->perms &= ~(uc_prot)UC_PROT_WRITE;
		if (vm->memory->views && !vm->probing &&
		    !touch(vm->memory, map, entry->paddr,
			   type == UC_MEM_WRITE))
			entry->perms &= ~(uc_prot)UC_PROT_WRITE;
		return true;
	}
	/* The engine itself looks around the address it runs "until". */
	if (type == UC_MEM_FETCH &&
	    addr - (NEVER - 16 * GUEST_PAGE) < 32 * GUEST_PAGE)
		return false;
	vm->faulted = true;
	vm->fault_page = addr;
	vm->fault_mapped = map != NULL;
	vm->fault_access = type == UC_MEM_WRITE ? ACCESS_WRITE :
			   type == UC_MEM_FETCH ? ACCESS_FETCH : ACCESS_READ;
	return false;
}

static void on_syscall(uc_engine *uc, void *user)
{
	struct vm *vm = user;

	vm->stopped = ENGINE_SYSCALL;
	uc_emu_stop(uc);
}

static void on_interrupt(uc_engine *uc, uint32_t number, void *user)
{
	struct vm *vm = user;

	vm->stopped = ENGINE_INTERRUPT;
	vm->interrupt = number;
	uc_emu_stop(uc);
}

static bool on_invalid(uc_engine *uc, void *user)
{
	struct vm *vm = user;

	(void)uc;
	vm->stopped = ENGINE_INVALID;
	return false;
}

/* ------- for vm.c and run.c ------- */

uc_err hooks_add(struct vm *vm)
{
	uc_hook hook;
	uc_err err;

	err = uc_hook_add(vm->uc, &hook, UC_HOOK_TLB_FILL, (void *)on_tlb_miss,
			  vm, 1, 0);
	if (!err)
		err = uc_hook_add(vm->uc, &hook, UC_HOOK_BLOCK,
				  (void *)on_block, vm, 1, 0);
	if (!err)
		err = uc_hook_add(vm->uc, &hook, UC_HOOK_INSN,
				  (void *)on_syscall, vm, 1, 0,
				  UC_X86_INS_SYSCALL);
	if (!err)
		err = uc_hook_add(vm->uc, &hook, UC_HOOK_INTR,
				  (void *)on_interrupt, vm, 1, 0);
	if (!err)
		err = uc_hook_add(vm->uc, &hook, UC_HOOK_INSN_INVALID,
				  (void *)on_invalid, vm, 1, 0);
	if (!err)
		err = float_add_hook(vm);
	return err;
}

void hooks_run(struct vm *vm)
{
	running = vm;
	x87_run();
	plan_run(vm);
}

void hooks_forget(const struct vm *vm)
{
	if (running == vm) {
		running = NULL;
		plan_run(NULL);
	}
}

void hooks_forget_code(struct vm *vm)
{
	struct memory *memory = vm->memory;

	for (size_t i = 0; i < memory->count && vm->block_count; i++)
		memory_note_stale(memory, &memory->maps[i],
				  memory->maps[i].region.start,
				  memory->maps[i].region.end -
					  memory->maps[i].region.start);
}

int vm_trace(struct vm *vm, vm_trace_fn *trace, void *context,
	     struct failure *why)
{
	uc_hook hook;
	uc_err err = uc_hook_add(vm->uc, &hook, UC_HOOK_CODE,
				 (void *)on_instruction, vm, 1, 0);

	if (err)
		return failed(why, ERR_SYSTEM, "cannot trace: %s",
			      uc_strerror(err));
	vm->trace = trace;
	vm->trace_context = context;
	vm->may_inline = false;
	hooks_forget_code(vm);
	return 0;
}
