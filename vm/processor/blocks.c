/* SPDX-License-Identifier: GPL-2.0-or-later */
/* blocks.c - what is known of each block of guest code that was translated */
#include "vm/processor/processor.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "formats/error.h"

/* Bytes of a block at most: the engine takes no more than 512 instructions. */
#define BLOCK_MOST 8192u
#define BLOCKS_FIRST 4096u

/* Doubles the room for elements until `more` fit; NULL: out of memory. */
static void *make_room(void *elements, uint32_t count, uint32_t more,
		       uint32_t *room, size_t size)
{
	uint32_t wanted = *room ? *room : BLOCKS_FIRST;
	void *larger;

	if (elements && count + more <= *room)
		return elements;
	while (wanted < count + more)
		wanted *= 2;
	larger = realloc(elements, wanted * size);
	if (larger)
		*room = wanted;
	return larger;
}

static struct block *new_block(struct vm *vm)
{
	struct block *blocks = make_room(vm->blocks, vm->block_count, 1,
					 &vm->block_room, sizeof(*blocks));
	uint8_t *sizes;

	if (!blocks)
		return NULL;
	vm->blocks = blocks;
	if (!vm->block_count)
		vm->block_count = 1;	/* number 0 is no block */
	sizes = make_room(vm->sizes, vm->size_count, BLOCK_MOST, &vm->size_room,
			  1);
	if (!sizes)
		return NULL;
	vm->sizes = sizes;
	return &vm->blocks[vm->block_count];
}

static void take(struct vm *vm, struct block *block, const struct insn *insn,
		 bool *demands)
{
	if (insn->special && block->special == NO_SPECIAL)
		block->special = block->inlined.count;
	block->hooked |= insn->demands || insn->hooked;
	block->ends_rep = insn->repeats;
	block->ends_block = insn->ends_block;
	block->pauses = insn->pauses;
	block->last_size = insn->size;
	*demands |= insn->demands;
	vm->sizes[vm->size_count++] = insn->size;
	block->inlined.count++;
}

static void find_demands(struct vm *vm, struct block *block,
			 const uint8_t *code, size_t size)
{
	struct demand found[DEMANDS_OF_BLOCK];
	unsigned count;

	if (!vm->demands) {
		void *room = mmap(NULL, DEMANDS_MOST * sizeof(*vm->demands),
				  PROT_READ | PROT_WRITE,
				  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
				  -1, 0);

		/* As for blocks, there is no way back. */
		if (room == MAP_FAILED)
			give_up("out of memory");
		vm->demands = room;
		engine_set_demands(vm->engine, room);
	}
	if (vm->demand_count + DEMANDS_OF_BLOCK > DEMANDS_MOST)
		return;
	vm->cpu.arch->demands(&vm->cpu, block->inlined.pc, code, size,
			      block->inlined.count, found, DEMANDS_OF_BLOCK,
			      &count);
	block->inlined.demands = (uint8_t)count;
	block->inlined.first_demand = vm->demand_count;
	memcpy(vm->demands + vm->demand_count, found, count * sizeof(*found));
	vm->demand_count += count;
}

uint32_t block_decode(struct vm *vm, guest_addr pc, uint32_t size)
{
	uint8_t code[BLOCK_MOST];
	struct block *block = new_block(vm);
	size_t at = 0;
	bool demands = false;

	if (!block)
		return 0;
	memset(block, 0, sizeof(*block));
	block->inlined.pc = pc;
	block->inlined.size = size;
	block->special = NO_SPECIAL;
	block->first_size = vm->size_count;
	size = (uint32_t)memory_code(vm->memory, pc, code,
				     size < sizeof(code) ? size : sizeof(code));
	while (at < size) {
		struct insn insn = vm->cpu.arch->decode(&vm->cpu, code + at,
							size - at, pc + at);

		take(vm, block, &insn, &demands);
		if (!insn.size) {
			block->last_size = (uint8_t)(size - at);
			break;
		}
		at += insn.size;
	}
	block->breaks = break_is_at(vm, pc);
	block->observed = observers_want(vm, pc, size);
	block->inlined.part = part_at(vm, pc) & ~VM_PART_TOLD;
	block->told = part_at(vm, pc) & VM_PART_TOLD;
	block->inlined.starts_rep = block->ends_rep &&
				    block->inlined.count == 1;
	if (demands)
		find_demands(vm, block, code, size);
	return vm->block_count++;
}

unsigned block_index_of(const struct vm *vm, const struct block *block,
			guest_addr pc)
{
	guest_addr at = block->inlined.pc;

	for (unsigned i = 0; i < block->inlined.count; i++) {
		unsigned size = vm->sizes[block->first_size + i];

		if (at == pc)
			return i;
		if (!size)
			break;
		at += size;
	}
	return block->inlined.count;
}

guest_addr block_address_of(const struct vm *vm, const struct block *block,
			    unsigned index)
{
	guest_addr at = block->inlined.pc;

	for (unsigned i = 0; i < index && i < block->inlined.count; i++)
		at += vm->sizes[block->first_size + i];
	return at;
}

static unsigned low_bits(struct vm *vm, int reg)
{
	return reg == DEMAND_NONE ? 0 : vm->cpu.arch->low_bits(&vm->cpu, reg);
}

unsigned block_violation(struct vm *vm, const struct block *block)
{
	const struct engine_block *inlined = &block->inlined;

	for (unsigned i = 0; i < inlined->demands; i++) {
		const struct demand *demand =
			&vm->demands[inlined->first_demand + i];
		unsigned sum = low_bits(vm, demand->base) + demand->offset +
			       (low_bits(vm, demand->index) << demand->shift);

		if (sum % 16)
			return demand->insn;
	}
	return NO_SPECIAL;
}

/* All but the block under way. */
void blocks_forget(struct vm *vm)
{
	struct counter *counter = engine_counter(vm->engine);
	struct block *present = &vm->blocks[counter->current];
	const uint8_t *sizes = vm->sizes + present->first_size;

	vm->block_count = 1;
	vm->size_count = vm->demand_count = 0;
	if (!counter->current)
		return;
	memmove(vm->sizes, sizes, present->inlined.count);
	vm->size_count = present->inlined.count;
	vm->blocks[1] = *present;
	vm->blocks[1].first_size = 0;
	vm->blocks[1].inlined.demands = 0;
	vm->block_count = 2;
	counter->current = 1;
}

void blocks_release(struct vm *vm)
{
	if (vm->demands)
		munmap(vm->demands, DEMANDS_MOST * sizeof(*vm->demands));
	free(vm->blocks);
	free(vm->sizes);
}
