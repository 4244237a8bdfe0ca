/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tlb.c - the engine's TLB, and how it is brought to grow
 *
 * The engine (as QEMU since 4.0) doubles or halves its TLB, which begins with
 * 256 entries, by how much of it was in use, but only when it is flushed; and
 * a program that changes no mapping may run for minutes without a flush.  If
 * it works on more than 1 MiB it misses at every other access: a hash table of
 * 16 MiB took four times as long.  So after more misses than the TLB is thought
 * to have entries, it is flushed.  The engine does not tell its size: the guess
 * is right or soon becomes so, and if not, some pages are asked for again.
 */
#include "vm/processor/processor.h"

/*
 * The most is 8 MiB for 512 MiB of pages.  Measured: a program that writes all
 * over 512 MiB is twice as fast with it as with a smaller one.  The engine
 * shrinks its TLB again when little of it is used.
 */
#define ROOM_LEAST (1u << 8)
#define ROOM_MOST (1u << 17)

void tlb_start(struct vm *vm)
{
	vm->tlb.room = ROOM_LEAST;
}

void tlb_flush(struct vm *vm, bool code_stays)
{
	struct tlb *tlb = &vm->tlb;

	engine_flush_tlb(vm->engine, code_stays);
	if (tlb->misses < tlb->room / 4 && tlb->room > ROOM_LEAST)
		tlb->room /= 2;
	tlb->misses = 0;
}

void tlb_missed(struct vm *vm)
{
	struct tlb *tlb = &vm->tlb;
	/* One that cannot grow is flushed now and then: it may have shrunk. */
	unsigned rounds = tlb->room < ROOM_MOST ? 2 : 8;

	tlb->total++;
	if (++tlb->misses < rounds * tlb->room)
		return;
	engine_flush_tlb(vm->engine, true);
	tlb->misses = 0;
	if (tlb->room < ROOM_MOST)
		tlb->room *= 2;
}
