/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * views.h - what each thread of the guest knows of each page
 *
 * Threads take turns on one memory.  So that each one's execution can be
 * computed without the others, a thread that touches a page which another has
 * changed since it last knew it must be told what changed.  The engine's TLB
 * shows this at no cost of the host's: it is empty when a turn begins, so the
 * first touch of each page in a turn asks for a translation, and the first
 * write does so again, because the translation for reading does not allow
 * writing.
 *
 * A page has a version, which changes with every turn in which it is written.
 * Where a version that some thread knows is about to be lost, a copy is kept:
 * what that thread must be told later is the difference.
 *
 * Units:      pages are pages of the arena; views count from 0, the first
 *             thread's.
 * Ownership:  views_destroy() frees; part of a memory.
 * Errors:     out of memory, a copy or a note is left out: then a whole page
 *             is told instead of a difference.
 */
#ifndef CPREC_VM_MEMORY_VIEWS_H
#define CPREC_VM_MEMORY_VIEWS_H

#include <stdbool.h>
#include <stdint.h>

struct memory;
struct views;

/*
 * Begins to keep account; so far, view 0 alone has changed things since the
 * segment started.
 */
struct views *views_create(const struct memory *memory);
void views_destroy(struct views *views);

/* A turn begins: it is this view's. */
void views_turn(struct views *views, unsigned view);

/*
 * The present view touches a page, which is open to the host.  Returns
 * whether it may write from now to the end of the turn without a further
 * call.  May tell the memory's observer (`learned`).
 */
bool views_touch(struct memory *memory, uint64_t page, bool write);

/* The present view has just found out what a doubtful page holds. */
void views_resolved(struct memory *memory, uint64_t page);

/* Pages have contents that all know: new mappings. */
void views_forget(struct views *views, uint64_t page, uint64_t count);

/* Everybody knows everything: a segment starts. */
void views_reset(struct views *views);

#endif
