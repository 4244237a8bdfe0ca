/* SPDX-License-Identifier: GPL-2.0-or-later */
/* progress.c - see progress.h */
#include "tools/progress.h"

#include <stdio.h>
#include <time.h>
#include <unistd.h>

#define FIRST_AFTER 500		/* milliseconds */
#define AGAIN_AFTER 100

static uint64_t milliseconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

void progress_start(struct progress *progress, const char *doing,
		    uint64_t from, uint64_t to)
{
	*progress = (struct progress) {
		.doing = doing,
		.from = from,
		.to = to,
		.is_terminal = isatty(STDERR_FILENO) == 1,
		.next_time = milliseconds() + FIRST_AFTER,
	};
}

void progress_show(struct progress *progress, uint64_t at)
{
	uint64_t now;
	double share = 1;

	if (!progress->is_terminal)
		return;
	now = milliseconds();
	if (now < progress->next_time)
		return;
	progress->next_time = now + AGAIN_AFTER;
	progress->is_shown = true;
	if (progress->to > progress->from)
		share = (double)(at - progress->from) /
			(double)(progress->to - progress->from);
	fprintf(stderr, "\rcprec: %s: %5.1f%%", progress->doing, 100 * share);
}

void progress_update(void *context, uint64_t done, uint64_t total)
{
	struct progress *progress = context;

	progress->to = total;
	progress_show(progress, done);
}

void progress_end(struct progress *progress)
{
	if (progress->is_shown)
		fputs("\r\033[K", stderr);
	progress->is_shown = false;
}
