/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A library that is there for a while, and who uses it: see calls.py. */
#ifdef PLUGIN
int plugged = 7;

void plug(void);
void plug(void)
{
	plugged++;
}
#else
#include <dlfcn.h>
#include <stdlib.h>

__attribute__((noinline, noipa)) static void at(int number)
{
	if (number < 0)
		exit(1);
}

int main(int argc, char **argv)
{
	void (*plug)(void);
	void *library;

	at(argc - 2);
	library = dlopen(argv[1], RTLD_NOW);
	if (!library)
		return 1;
	plug = (void (*)(void))dlsym(library, "plug");
	plug();
	at(1);
	dlclose(library);
	at(2);
	return 0;
}
#endif
