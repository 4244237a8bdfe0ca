/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Another unit of the same program. */
static int mine = 100;
static int lonely = 3;

int use_other(void)
{
	mine++;
	return mine + lonely++;
}
