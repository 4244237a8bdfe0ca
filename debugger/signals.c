/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * signals.c - signals by the numbers that debuggers give them
 *
 * Source: gdb's include/gdb/signals.def; numbers of Linux are those of x86 and
 * ARM.
 */
#include "debugger/server_internal.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

static const uint8_t numbers[32] = {
	[1] = 1, [2] = 2, [3] = 3, [4] = 4, [5] = 5, [6] = 6,
	[7] = 10,	/* SIGBUS */
	[8] = 8, [9] = 9,
	[10] = 30,	/* SIGUSR1 */
	[11] = 11,
	[12] = 31,	/* SIGUSR2 */
	[13] = 13, [14] = 14, [15] = 15,
	[17] = 20,	/* SIGCHLD */
	[18] = 19,	/* SIGCONT */
	[19] = 17,	/* SIGSTOP */
	[20] = 18,	/* SIGTSTP */
	[21] = 21, [22] = 22,
	[23] = 16,	/* SIGURG */
	[24] = 24, [25] = 25, [26] = 26, [27] = 27, [28] = 28,
	[29] = 23,	/* SIGIO */
	[30] = 32,	/* SIGPWR */
	[31] = 12,	/* SIGSYS */
};

/* Those of real time: 33 to 63 are 45 to 75; 32 and 64 came later. */
unsigned signal_for_debugger(uint32_t signal)
{
	if (signal < 32)
		return numbers[signal];
	if (signal == 32)
		return 77;
	if (signal == 64)
		return 78;
	return signal < 64 ? signal + 12 : 0;
}

uint32_t signal_from_debugger(uint64_t number)
{
	for (uint32_t signal = 1; signal <= 64; signal++)
		if (signal_for_debugger(signal) == number)
			return signal;
	return 0;
}

#define REAL_TIME_LEAST 32u

const char *signal_words(char out[SIGNAL_WORDS], uint32_t signal)
{
	const char *name = signal < REAL_TIME_LEAST ?
				   sigabbrev_np((int)signal) : NULL;

	if (!name)
		snprintf(out, SIGNAL_WORDS, "SIG%u, Real-time event %u", signal,
			 signal);
	else
		snprintf(out, SIGNAL_WORDS, "SIG%s, %s", name,
			 signal == SIGFPE ? "Arithmetic exception" :
					    sigdescr_np((int)signal));
	return out;
}
