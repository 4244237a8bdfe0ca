/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * mark.h - a place that a debugger and a recording both find
 *
 * A system call that the program makes nowhere else: getppid.
 */
#define MARK()                                                               \
	do {                                                                 \
		long result;                                                 \
		__asm__ volatile("syscall"                                   \
				 : "=a"(result)                              \
				 : "0"(110)                                  \
				 : "rcx", "r11", "memory");                  \
	} while (0)
