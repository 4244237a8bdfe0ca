/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A library with variables that only it sees, and one for all. */
static int c = 7, e = 7;
int shared = 1;

int use_own(int by)
{
	c += by;
	e += by;
	return c + e + shared++;
}
