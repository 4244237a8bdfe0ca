/* SPDX-License-Identifier: GPL-2.0-or-later */
/* search.c - long searches: interrupted by Ctrl-C, shown on a terminal */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

#include "tools/debug/session.h"

#define SHOWN_AFTER 500		/* milliseconds */
#define SHOWN_AGAIN 200

static struct cprec_recording *volatile searched;
static atomic_bool cancelled;

static void on_interrupt(int signal)
{
	struct cprec_recording *recording = searched;

	(void)signal;
	if (!recording)
		return;
	atomic_store(&cancelled, true);
	cprec_cancel(recording);
}

/* ------- what is shown meanwhile ------- */

static struct {
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t over;
	bool runs, is_over, is_shown, is_silent;
	bool backwards;
} watcher = { .lock = PTHREAD_MUTEX_INITIALIZER,
	      .over = PTHREAD_COND_INITIALIZER };

static void wait_for(unsigned milliseconds)
{
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += milliseconds / 1000;
	until.tv_nsec += (long)(milliseconds % 1000) * 1000000;
	if (until.tv_nsec >= 1000000000) {
		until.tv_sec++;
		until.tv_nsec -= 1000000000;
	}
	pthread_cond_timedwait(&watcher.over, &watcher.lock, &until);
}

static void *watch(void *context)
{
	unsigned waited = SHOWN_AFTER;

	(void)context;
	pthread_mutex_lock(&watcher.lock);
	wait_for(SHOWN_AFTER);
	while (!watcher.is_over && !watcher.is_silent) {
		fprintf(stderr, "\rsearching %s: %u.%u s; Ctrl-C ends it",
			watcher.backwards ? "backwards" : "forwards",
			waited / 1000, waited / 100 % 10);
		watcher.is_shown = true;
		wait_for(SHOWN_AGAIN);
		waited += SHOWN_AGAIN;
	}
	pthread_mutex_unlock(&watcher.lock);
	return NULL;
}

static void watch_begin(bool backwards)
{
	sigset_t all, before;

	watcher.is_over = watcher.is_shown = watcher.is_silent = false;
	watcher.backwards = backwards;
	/* The thread that asks is interrupted, not this one. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	watcher.runs = !pthread_create(&watcher.thread, NULL, watch, NULL);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static void watch_end(void)
{
	if (!watcher.runs)
		return;
	pthread_mutex_lock(&watcher.lock);
	watcher.is_over = true;
	pthread_cond_signal(&watcher.over);
	pthread_mutex_unlock(&watcher.lock);
	pthread_join(watcher.thread, NULL);
	if (watcher.is_shown)
		fputs("\r\033[K", stderr);
	watcher.runs = false;
}

void search_speaks(void)
{
	if (!watcher.runs || watcher.is_silent)
		return;
	pthread_mutex_lock(&watcher.lock);
	watcher.is_silent = true;
	if (watcher.is_shown)
		fputs("\r\033[K", stderr);
	watcher.is_shown = false;
	pthread_mutex_unlock(&watcher.lock);
}

/* ------- searches ------- */

void search_listen(struct cprec_recording *recording)
{
	struct sigaction action = { .sa_handler = on_interrupt };

	(void)recording;
	sigemptyset(&action.sa_mask);
	sigaction(SIGINT, &action, NULL);
}

void search_begin(struct session *session, bool backwards)
{
	atomic_store(&cancelled, false);
	searched = session->recording;
	fflush(stdout);
	if (session->is_terminal)
		watch_begin(backwards);
}

bool search_end(struct session *session)
{
	bool was = atomic_load(&cancelled);

	searched = NULL;
	watch_end();
	cprec_resume(session->recording);
	return was;
}
