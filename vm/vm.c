/* SPDX-License-Identifier: GPL-2.0-or-later */
/* vm.c - a guest and its threads: made, switched, ended */
#include "vm/memory/views.h"
#include "vm/processor/processor.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "formats/error.h"
#include "formats/processor.h"

/* ------- making one ------- */

static void close_processor(struct cpu *cpu)
{
	if (cpu->arch)
		cpu->arch->end(cpu);
	engine_close(cpu->engine);
}

static int open_processor(struct cpu *cpu, struct vm *vm, enum arch arch,
			  struct failure *why)
{
	int rc;

	cpu->arch = arch_find(arch);
	cpu->regs = reg_table(arch);
	cpu->memory = vm->memory;
	if (!cpu->arch || !cpu->regs)
		return failed(why, ERR_SYSTEM, "there is no processor of the "
			      "guest's architecture");
	cpu->behaviour = processor_of(arch)->behaviour;
	rc = engine_open(&cpu->engine, arch, vm->memory->arena,
			 vm->memory->arena_size, &processor_calls, vm, why);
	return rc ? rc : cpu->arch->start(cpu, why);
}

int vm_create(struct vm **out, enum arch arch, bool direct,
	      const struct memory_observer *observer, struct failure *why)
{
	struct vm *vm = calloc(1, sizeof(*vm));
	int rc;

	if (!vm)
		return failed(why, ERR_NO_MEMORY, "out of memory");
	vm->thread = &vm->first;
	vm->passed = ENGINE_NEVER;
	vm->observed = (struct vm_range){ UINT64_MAX, 0 };
	tlb_start(vm);
	rc = memory_create(&vm->memory, observer, why);
	if (!rc && direct && direct_is_wanted())
		rc = direct_begin(vm, why);
	if (!rc)
		rc = open_processor(&vm->cpu, vm, arch, why);
	vm->engine = vm->cpu.engine;
	if (!rc)
		direct_engine(vm);
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
	engine_context_destroy(vm->first.context);
	if (vm->thread != &vm->first) {
		engine_context_destroy(vm->thread->context);
		free(vm->thread);
	}
	close_processor(&vm->cpu);
	blocks_release(vm);
	number_map_release(&vm->breaks);
	free(vm->observers);
	memory_destroy(vm->memory);
	free(vm);
}

/* What was known of code that is no more. */
static void forget_code(struct vm *vm)
{
	blocks_forget(vm);
	memory_forget_code(vm->memory);
	memset(vm->known_orders, 0, sizeof(vm->known_orders));
	memset(vm->known_flows, 0, sizeof(vm->known_flows));
	memset(vm->known_leads, 0, sizeof(vm->known_leads));
	tlb_start(vm);
	vm->generation = 0;
	vm->code_generation = UINT64_MAX;
	vm->came_from = 0;
	vm->passed = ENGINE_NEVER;
}

int vm_become(struct vm *vm, enum arch arch, struct failure *why)
{
	struct cpu old = vm->cpu;
	struct cpu cpu = { .number = old.number };
	int rc;

	assert(!vm->running && !vm->observer_count && !vm->breaks.count);
	rc = open_processor(&cpu, vm, arch, why);
	if (rc) {
		close_processor(&cpu);
		return rc;
	}
	/* Made again when there is a second thread. */
	engine_context_destroy(vm->thread->context);
	vm->thread->context = NULL;
	vm->engine = cpu.engine;
	vm->cpu = cpu;
	close_processor(&old);
	forget_code(vm);
	direct_engine(vm);
	engine_set_demands(vm->engine, vm->demands);
	if (vm->uncounted)
		engine_run_uncounted(vm->engine);
	if (vm->wanted)
		vm_stop_soon(vm);
	return 0;
}

void vm_keep_translations(struct vm *vm)
{
	engine_keep(vm->engine);
}

void vm_forget_code(struct vm *vm)
{
	translations_flush(vm);
}

struct memory *vm_memory(struct vm *vm)
{
	return vm->memory;
}

const char *vm_engine(void)
{
	return engine_name();
}

void vm_behave_as(struct vm *vm, uint64_t behaviour)
{
	vm->cpu.behaviour = behaviour;
}

void vm_run_uncounted(struct vm *vm)
{
	vm->uncounted = true;
	engine_run_uncounted(vm->engine);
}

/* Without counting there is no budget that could end. */
static void on_wanted(void *context)
{
	vm_interrupt(context);
}

int vm_share_memory(struct vm *vm, int (*move)(int fd), struct failure *why)
{
	return memory_share(vm->memory, move,
			    vm->uncounted ? on_wanted : NULL, vm, why);
}

uint32_t vm_targets(const struct vm *vm)
{
	return engine_targets(vm->engine);
}

void vm_count_targets(struct vm *vm)
{
	engine_count_targets(vm->engine);
}

/* ------- registers and instructions ------- */

const struct reg_table *vm_reg_table(const struct vm *vm)
{
	return vm->cpu.regs;
}

uint64_t vm_reg(struct vm *vm, unsigned reg)
{
	return vm->cpu.arch->reg(&vm->cpu, reg);
}

void vm_set_reg(struct vm *vm, unsigned reg, uint64_t value)
{
	vm->cpu.arch->set_reg(&vm->cpu, reg, value);
}

void vm_registers(struct vm *vm, struct reg_file *out)
{
	vm->cpu.arch->registers(&vm->cpu, out);
}

void vm_set_registers(struct vm *vm, const struct reg_file *regs)
{
	vm->cpu.arch->set_registers(&vm->cpu, regs);
	leave_block(vm, 0);
}

void vm_emulate(struct vm *vm, const struct vm_stop *stop)
{
	assert(stop->kind == VM_STOP_VALUE);
	vm->cpu.arch->capture(&vm->cpu, stop);
	vm_skip(vm, stop);
}

void vm_skip(struct vm *vm, const struct vm_stop *stop)
{
	vm_set_reg(vm, vm->cpu.regs->pc, stop->pc + stop->size);
	vm->steps++;
	vm->passed = ENGINE_NEVER;
	leave_block(vm, 0);
}

bool vm_trap(struct vm *vm, struct vm_stop *stop)
{
	if (!vm->cpu.own.steps)
		return false;
	*stop = step_trap(vm);
	return true;
}

void vm_set_processor(struct vm *vm, unsigned number)
{
	vm->cpu.number = number;
}

unsigned vm_call_size(struct vm *vm)
{
	return vm->cpu.arch->call_size(&vm->cpu);
}

void vm_disassemble(struct vm *vm, guest_addr pc, char *text, size_t room,
		    unsigned *size)
{
	*size = vm->cpu.arch->disassemble(&vm->cpu, pc, text, room);
}

void vm_instruction(struct vm *vm, guest_addr pc, const uint8_t *code,
		    size_t size, enum vm_syntax syntax,
		    struct vm_instruction *out)
{
	*out = (struct vm_instruction) { 0 };
	vm->cpu.arch->show(&vm->cpu, pc, code, size, syntax, out);
}

/* ------- threads ------- */

/* What a thread touches in its turn is noticed by the TLB alone. */
static void begin_views(struct vm *vm)
{
	memory_end_guarding(vm->memory);
	vm->memory->views = views_create(vm->memory);
}

int vm_thread_create(struct vm *vm, struct vm_thread **out,
		     struct failure *why)
{
	struct vm_thread *thread = calloc(1, sizeof(*thread));

	if (!vm->memory->views && vm->memory->observer.learned)
		begin_views(vm);
	/* Room to save the present thread must be there when it is needed. */
	if (!vm->thread->context)
		vm->thread->context = engine_context_create(vm->engine);
	if (thread)
		thread->context = engine_context_create(vm->engine);
	if (!thread || !thread->context || !vm->thread->context) {
		if (thread)
			engine_context_destroy(thread->context);
		free(thread);
		return failed(why, ERR_NO_MEMORY, "out of memory");
	}
	thread->view = ++vm->views;
	thread->own = vm->cpu.own;
	*out = thread;
	return 0;
}

void vm_thread_destroy(struct vm *vm, struct vm_thread *thread)
{
	if (!thread)
		return;
	assert(thread != vm->thread);
	engine_context_destroy(thread->context);
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
	vm->thread->current = engine_counter(vm->engine)->current;
	vm->thread->flushes = vm->flushes;
	vm->thread->own = vm->cpu.own;
	vm->cpu.own = thread->own;
	engine_context_save(vm->engine, vm->thread->context);
	engine_context_restore(vm->engine, thread->context);
	vm->thread = thread;
	if (vm->memory->views)
		views_turn(vm->memory->views, thread->view);
	engine_counter(vm->engine)->current = thread->flushes == vm->flushes ?
				       thread->current : 0;
	vm->came_from = 0;
	vm->generation = 0;	/* a context may bring its TLB along */
	if (vm->memory->views)	/* its fetches of code are to be seen */
		vm->code_generation = UINT64_MAX;
}

void vm_thread_resumes(struct vm *vm)
{
	vm->cpu.arch->resumes(&vm->cpu);
}
