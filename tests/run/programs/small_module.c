/* SPDX-License-Identifier: GPL-2.0-or-later */
/* small_module.c - a module of small_linux.c */
#define APART __attribute__((noinline))

struct item {
	long size;
	const char *text;
};

void (*report)(int total);

static struct item last __attribute__((used));
static int total;

static APART int add_item(const char *text, long size)
{
	last.size = size;
	last.text = text;
	total += (int)size;
	report(total);
	return total;
}

long small_write(const char *text, unsigned long size);

long small_write(const char *text, unsigned long size)
{
	int sum = add_item(text, (long)size);

	return sum ? (long)size : -1;
}
