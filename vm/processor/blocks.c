/* SPDX-License-Identifier: GPL-2.0-or-later */
/* blocks.c - decoding blocks of guest code, for the count and the gate */
#include "vm/processor/plan.h"
#include "vm/arch/x86/gate.h"
#include "vm/arch/x86/length.h"
#include "vm/arch/x86/prefixes.h"

#include <stdlib.h>
#include <string.h>

/* Reads code without touching anything: the engine has just been there. */
static size_t read_code(struct vm *vm, guest_addr pc, uint8_t *bytes,
			size_t size)
{
	size_t done = 0;

	while (done < size) {
		struct mapping *map = memory_find(vm->memory, pc + done);
		size_t span;

		if (!map)
			break;
		span = map->region.end - (pc + done);
		if (span > size - done)
			span = size - done;
		memcpy(bytes + done,
		       vm->memory->arena + mapping_arena(map, pc + done), span);
		done += span;
	}
	return done;
}

size_t block_length(struct vm *vm, const uint8_t *code, size_t left,
		    guest_addr pc)
{
	size_t known = x86_length(code, left);

	return known ? known : block_decode_insn(vm, code, left, pc);
}

static struct block *new_block(struct vm *vm)
{
	if (vm->block_count == vm->block_room) {
		uint32_t room = vm->block_room ? vm->block_room * 2 : 4096;
		struct block *more =
			realloc(vm->blocks, room * sizeof(*vm->blocks));

		if (!more)
			return NULL;
		if (!vm->block_room)
			vm->block_count = 1;	/* number 0 is no block */
		vm->blocks = more;
		vm->block_room = room;
	}
	return &vm->blocks[vm->block_count];
}

/* INS, OUTS, MOVS, CMPS, STOS, LODS, SCAS */
static bool is_string(const uint8_t *at, const uint8_t *end)
{
	if (at >= end)
		return false;
	return (*at >= 0xa4 && *at <= 0xa7) || (*at >= 0xaa && *at <= 0xaf) ||
	       (*at >= 0x6c && *at <= 0x6f);
}

/*
 * Whether the engine ends a block behind this instruction: jumps, calls,
 * returns, system calls, repeated strings, changes of flags that it translates
 * for (POPF, STI) and of segments.
 */
static bool ends_block(const uint8_t *at, const uint8_t *end, bool rep)
{
	if (at >= end)
		return false;
	if (rep && is_string(at, end))
		return true;
	switch (*at) {
	case 0x0f:
		return at + 1 < end &&
		       ((at[1] & 0xf0) == 0x80 || at[1] == 0x05 ||
			at[1] == 0xa1 || at[1] == 0xa9 || at[1] == 0xb2 ||
			at[1] == 0xb4 || at[1] == 0xb5);
	case 0xff:
		return at + 1 < end && (at[1] >> 3 & 7) >= 2 &&
		       (at[1] >> 3 & 7) <= 5;
	case 0x8e: case 0x9d: case 0xc2: case 0xc3: case 0xe8: case 0xe9:
	case 0xeb: case 0xfb:
		return true;
	}
	return (*at & 0xf0) == 0x70 || (*at >= 0xe0 && *at <= 0xe3);
}

bool block_ends(const uint8_t *code, const uint8_t *end)
{
	bool rep;
	const uint8_t *at = skip_prefixes(code, end, &rep);

	return ends_block(at, end, rep);
}

static void decode_last(struct block *block, const uint8_t *code,
			const uint8_t *end)
{
	bool rep;
	const uint8_t *at = skip_prefixes(code, end, &rep);

	block->ends_rep = rep && is_string(at, end);
	block->ends_block = ends_block(at, end, rep);
	block->starts_rep = block->ends_rep && block->count == 1;
	block->pauses = rep && at < end && *at == 0x90;
	block->last_size = (uint16_t)(end - code);
}

/* Also says whether an operand must be aligned. */
static bool is_hooked(const struct vm *vm, const uint8_t *code,
		      const uint8_t *end, bool *aligned)
{
	bool rep;
	const uint8_t *opcode = skip_prefixes(code, end, &rep);
	bool wants = align_wants(code, opcode, end);

	*aligned |= wants;
	return wants || float_wants_hook(vm, opcode, end);
}

uint32_t block_decode(struct vm *vm, guest_addr pc, uint32_t size)
{
	uint8_t code[8192];
	struct block *block = new_block(vm);
	size_t at = 0, last = 0;
	bool aligned = false;

	if (!block)
		return 0;
	memset(block, 0, sizeof(*block));
	block->pc = pc;
	block->size = size;
	block->special = NO_SPECIAL;
	size = (uint32_t)read_code(vm, pc, code,
				   size < sizeof(code) ? size : sizeof(code));
	while (at < size) {
		size_t step = block_length(vm, code + at, size - at, pc + at);

		if (x86_gate(code + at, code + size) != GATE_OPEN &&
		    block->special == NO_SPECIAL)
			block->special = block->count;
		block->hooked |= is_hooked(vm, code + at, code + at + step,
					   &aligned);
		last = at;
		block->count++;
		if (!step)
			break;
		at += step;
	}
	decode_last(block, code + last, code + size);
	if (aligned)
		align_find_demands(vm, block);
	return vm->block_count++;
}

unsigned block_index_of(struct vm *vm, const struct block *block,
			guest_addr pc)
{
	uint8_t code[8192];
	size_t size = read_code(vm, block->pc, code,
				block->size < sizeof(code) ? block->size :
							     sizeof(code));
	unsigned index = 0;

	for (size_t at = 0; at < size && index < block->count; index++) {
		size_t step;

		if (block->pc + at == pc)
			return index;
		step = block_length(vm, code + at, size - at, block->pc + at);
		if (!step)
			break;
		at += step;
	}
	return block->count;
}

guest_addr block_address_of(struct vm *vm, const struct block *block,
			    unsigned index)
{
	uint8_t code[8192];
	size_t size = read_code(vm, block->pc, code,
				block->size < sizeof(code) ? block->size :
							     sizeof(code));
	size_t at = 0;

	while (index-- > 0 && at < size) {
		size_t step = block_length(vm, code + at, size - at, block->pc + at);

		if (!step)
			break;
		at += step;
	}
	return block->pc + at;
}

size_t block_code(struct vm *vm, guest_addr pc, uint8_t *code,
		  const uint8_t **opcode)
{
	size_t size = read_code(vm, pc, code, X86_INSN_MOST);
	bool rep;

	*opcode = skip_prefixes(code, code + size, &rep);
	return size;
}

void block_see(struct vm *vm, const struct block *block, block_see_fn *see,
	       void *context)
{
	uint8_t code[8192];
	size_t size = read_code(vm, block->pc, code,
				block->size < sizeof(code) ? block->size :
							     sizeof(code));
	size_t at = 0, step;

	for (unsigned i = 0; i < block->count && at < size; i++, at += step) {
		bool rep;

		step = block_length(vm, code + at, size - at, block->pc + at);
		if (!step)
			break;
		see(context, block->pc + at, code + at,
		    skip_prefixes(code + at, code + at + step, &rep),
		    code + at + step);
	}
}

bool block_explain(struct vm *vm, guest_addr pc, struct vm_stop *stop)
{
	uint8_t code[X86_INSN_MOST];
	size_t size = read_code(vm, pc, code, sizeof(code));
	bool rep;
	const uint8_t *at = skip_prefixes(code, code + size, &rep);

	stop->kind = VM_STOP_FAULT;
	stop->size = (unsigned)block_length(vm, code, size, pc);
	switch (x86_gate(code, code + size)) {
	case GATE_VALUE:
		stop->kind = VM_STOP_VALUE;
		stop->value = *at == 0x0f && at[1] == 0x31 ? VALUE_TSC :
			      *at == 0x0f && at[1] == 0xa2 ? VALUE_CPUID :
							     VALUE_HOST;
		break;
	case GATE_EMULATE:
		return false;
	case GATE_PRIVILEGE:
		stop->fault = FAULT_PRIVILEGE;
		break;
	case GATE_INT:
		stop->number = *at == 0xcd ? at[1] : 3;
		stop->fault = *at == 0xf1	? FAULT_DEBUG :
			      stop->number == 3 ? FAULT_BREAKPOINT :
						  FAULT_INTERRUPT;
		break;
	default:
		stop->fault = FAULT_INVALID;
	}
	return true;
}
