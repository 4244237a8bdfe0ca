/* SPDX-License-Identifier: GPL-2.0-or-later */
/* copied_library.c - the library; see copied.c */
#include "copied.h"

struct pair library_pair = { 1, 2 };
int library_number = 3, library_own = 4;
const char *const library_names[] = { "one", "two" };

void library_set(int number)
{
	library_number = number;
	library_own = number + 1;
	library_pair.second = number + 2;
}
