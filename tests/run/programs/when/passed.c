/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a function was called with, where it does not keep that: see when.py. */
static volatile int sink;

__attribute__((noinline, noipa)) static void use(int number)
{
	sink += number;
}

__attribute__((noinline, noclone)) static void work(int number)
{
	use(number);
	sink++;			/* behind */
	use(3);
}

int main(int argc, char **argv)
{
	(void)argv;
	for (int i = 0; i < 6; i++)
		work(i * 3 + argc);
	return 0;
}
