/* SPDX-License-Identifier: GPL-2.0-or-later */
/* long.c - has more of a history than anybody waits for */
volatile long spin;

int main(void)
{
	for (long i = 0; i < 60000000; i++)
		spin = i;
	return 0;
}
