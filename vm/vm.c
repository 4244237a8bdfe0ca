/* SPDX-License-Identifier: GPL-2.0-or-later */
/* vm.c - a guest and its threads: made, switched, ended */
#include "vm/memory/views.h"
#include "vm/vm_internal.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
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
	free(vm->flows);
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
