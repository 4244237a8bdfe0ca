/* SPDX-License-Identifier: GPL-2.0-or-later */
/* copied.h - variables of a library; see copied.c */
#ifndef COPIED_H
#define COPIED_H

struct pair {
	int first, second;
};

extern struct pair library_pair;
extern int library_number, library_own;
extern const char *const library_names[];

void library_set(int number);

#endif
