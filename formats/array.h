/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * array.h - arrays that grow as items are added
 *
 * An array is a pointer to its items, how many there are, and for how many
 * there is room (a size_t); all zero is an empty one.
 *
 * Ownership:  the items are the caller's to free().
 * Errors:     ERR_NO_MEMORY; the array is then as it was.
 */
#ifndef CPREC_FORMATS_ARRAY_H
#define CPREC_FORMATS_ARRAY_H

#include <stddef.h>

/* Makes room for at least `needed` items: they may move. */
#define array_reserve(items, needed, room)                                   \
	((needed) <= (room) ?                                                \
		 0 : array_grow(&(items), &(room), needed, sizeof(*(items))))

/* The same for one more than `count`. */
#define array_room(items, count, room)                                       \
	array_reserve(items, (count) + 1, room)

/* `items` is the address of the pointer. */
int array_grow(void *items, size_t *room, size_t needed, size_t size);

#endif
