/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * handlers.c - a program with handlers, threads and plans of its own, and the
 * library in it
 *
 * usage: handlers SHORT.cpr LONG.cpr
 *
 * While two threads ask a recording each, a third one takes faults of its own.
 * No handler, mask, limit or signal stack of the process changes.  A question
 * that takes long is cancelled.  Speaks TAP.
 */
#include <cprec.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define PAGE 4096
#define ROUNDS 6

static int number, failures;

static void result(bool good, const char *name)
{
	printf("%sok %d - %s\n", good ? "" : "not ", ++number, name);
	failures += !good;
}

/* ------- what a process has ------- */

struct state {
	struct sigaction actions[65];
	sigset_t mask;
	stack_t stack;
	struct rlimit limits[RLIM_NLIMITS];
};

static void take_state(struct state *out)
{
	memset(out, 0, sizeof(*out));
	for (int i = 1; i <= 64; i++)
		sigaction(i, NULL, &out->actions[i]);
	pthread_sigmask(SIG_BLOCK, NULL, &out->mask);
	sigaltstack(NULL, &out->stack);
	for (int i = 0; i < RLIM_NLIMITS; i++)
		getrlimit(i, &out->limits[i]);
}

static bool is_same(const struct state *a, const struct state *b)
{
	for (int i = 1; i <= 64; i++)
		if (a->actions[i].sa_handler != b->actions[i].sa_handler ||
		    a->actions[i].sa_flags != b->actions[i].sa_flags ||
		    memcmp(&a->actions[i].sa_mask, &b->actions[i].sa_mask,
			   8) != 0)
			return false;
	return !memcmp(&a->mask, &b->mask, 8) &&
	       !memcmp(&a->stack, &b->stack, sizeof(a->stack)) &&
	       !memcmp(a->limits, b->limits, sizeof(a->limits));
}

/* ------- faults of our own ------- */

static uint8_t *own;
static atomic_uint faults, wrong;
static atomic_bool is_done;
static _Thread_local volatile sig_atomic_t is_faulting;

static void on_fault(int signal_number, siginfo_t *info, void *context)
{
	sigset_t mask;

	(void)context;
	pthread_sigmask(SIG_BLOCK, NULL, &mask);
	/* As it was asked for: with information, and SIGUSR1 blocked. */
	if (!is_faulting || signal_number != SIGSEGV ||
	    (uint8_t *)info->si_addr != own || !sigismember(&mask, SIGUSR1))
		wrong++;
	faults++;
	if (!is_faulting)
		_exit(3);
	mprotect(own, PAGE, PROT_READ | PROT_WRITE);
}

static void on_plain_fault(int signal_number)
{
	if (!is_faulting || signal_number != SIGSEGV)
		_exit(3);
	faults++;
	mprotect(own, PAGE, PROT_READ | PROT_WRITE);
}

static void *take_faults(void *unused)
{
	(void)unused;
	is_faulting = true;
	while (!is_done) {
		mprotect(own, PAGE, PROT_NONE);
		*(volatile uint8_t *)own = 1;
		usleep(50);
	}
	return NULL;
}

static void fault_once(void)
{
	is_faulting = true;
	mprotect(own, PAGE, PROT_NONE);
	*(volatile uint8_t *)own = 1;
	is_faulting = false;
}

/* ------- questions ------- */

struct job {
	const char *path;
	char seen[4096];	/* what was answered */
	size_t size;
	struct state state;	/* while it is asked */
};

static void see(struct job *job, const char *text)
{
	size_t size = strlen(text);

	if (size >= sizeof(job->seen) - job->size)
		return;
	memcpy(job->seen + job->size, text, size + 1);
	job->size += size;
}

static int on_access(void *context, const struct cprec_access *access)
{
	struct job *job = context;
	char at[CPREC_POSITION_TEXT], text[80];

	snprintf(text, sizeof(text), "%s:%02x ",
		 cprec_position_text(at, access->before),
		 access->new_bytes ? access->new_bytes[0] : 0);
	see(job, text);
	return 0;
}

static void fail(struct job *job, const struct cprec_failure *why)
{
	snprintf(job->seen, sizeof(job->seen), "failed: %s", why->text);
}

static int ask_of(struct job *job, struct cprec_recording *recording,
		  struct cprec_failure *why)
{
	struct cprec_accesses accesses = { .size = sizeof(accesses),
					   .visit = on_access, .context = job };
	const struct cprec_value *value;
	struct cprec_cursor *cursor;
	int code = cprec_cursor_create(&cursor, recording, "end", why);

	if (!code)
		code = cprec_find_address(cursor, "counter", &accesses.addr,
					  &accesses.length, why);
	if (!code)
		code = cprec_each_access(recording, &accesses, why);
	for (int i = 9; i > 0 && !code; i--) {
		char at[8];

		snprintf(at, sizeof(at), "%d0%%", i);
		code = cprec_cursor_seek(cursor, at, why);
		if (!code)
			code = cprec_evaluate(cursor, "counter", NULL, &value,
					      why);
		if (!code)
			see(job, value->text);
	}
	take_state(&job->state);
	return code;
}

static void *ask(void *context)
{
	struct job *job = context;
	struct cprec_recording *recording = NULL;
	struct cprec_failure why;
	int code;

	job->size = 0;
	code = cprec_open(&recording, job->path, NULL, &why);
	if (!code)
		code = ask_of(job, recording, &why);
	if (code)
		fail(job, &why);
	cprec_close(recording);
	return NULL;
}

/* Two at once, while faults are taken; answers as before. */
static bool ask_both(const char *path, const struct job *before)
{
	struct job jobs[2] = { { .path = path }, { .path = path } };
	pthread_t threads[2];

	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, ask, &jobs[i]);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	return !strcmp(jobs[0].seen, before->seen) &&
	       !strcmp(jobs[1].seen, before->seen);
}

/* ------- a question that takes long ------- */

static int count(void *context, const struct cprec_access *access)
{
	(void)access;
	++*(atomic_ulong *)context;
	return 0;
}

static struct cprec_recording *asked;

static void on_alarm(int unused)
{
	(void)unused;
	cprec_cancel(asked);
}

static void *cancel_later(void *unused)
{
	(void)unused;
	usleep(200000);
	cprec_cancel(asked);
	return NULL;
}

static double seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* Returns how long it went on after it was cancelled, 200 ms behind its start;
 * less than 0 if it was not. */
static double time_question(struct cprec_accesses *question)
{
	struct cprec_failure why;
	double start = seconds();
	int code = cprec_each_access(asked, question, &why);
	double took = seconds() - start - 0.2;

	printf("# %d after %.3f s more\n", code, took);
	return code == CPREC_CANCELLED ? took : -1;
}

static void cancel_question(const char *path)
{
	atomic_ulong told = 0;
	struct cprec_accesses question = { .size = sizeof(question),
					   .visit = count, .context = &told };
	struct itimerval once = { .it_value.tv_usec = 200000 };
	struct cprec_cursor *cursor;
	struct cprec_failure why;
	pthread_t thread;
	const struct cprec_value *value;
	double took;

	if (cprec_open(&asked, path, NULL, &why) ||
	    cprec_cursor_create(&cursor, asked, "end", &why) ||
	    cprec_find_address(cursor, "spin", &question.addr,
			       &question.length, &why)) {
		printf("# %s\n", why.text);
		result(false, "a question that takes long");
		return;
	}
	pthread_create(&thread, NULL, cancel_later, NULL);
	took = time_question(&question);
	pthread_join(thread, NULL);
	result(took >= 0 && took < 2, "cancelled by another thread");
	result(told > 0, "it had been told something");
	result(cprec_evaluate(cursor, "spin", NULL, &value, &why) ==
	       CPREC_CANCELLED, "nothing else is answered");
	cprec_resume(asked);
	result(!cprec_evaluate(cursor, "spin", NULL, &value, &why),
	       "after cprec_resume() it is");
	printf("# spin = %s\n", value->text);
	signal(SIGALRM, on_alarm);
	setitimer(ITIMER_REAL, &once, NULL);
	took = time_question(&question);
	result(took >= 0 && took < 2, "cancelled by a signal handler");
	signal(SIGALRM, SIG_DFL);
	cprec_close(asked);
}

/* ------- all ------- */

int main(int argc, char **argv)
{
	struct sigaction action = { .sa_sigaction = on_fault,
				    .sa_flags = SA_SIGINFO | SA_ONSTACK };
	struct job first = { .path = argv[1] };
	struct state before, after;
	pthread_t thread;
	bool is_good = true;
	unsigned had;

	if (argc != 3)
		return 2;
	setvbuf(stdout, NULL, _IOLBF, 0);
	own = mmap(NULL, PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	sigemptyset(&action.sa_mask);
	sigaddset(&action.sa_mask, SIGUSR1);
	take_state(&before);
	ask(&first);
	take_state(&after);
	printf("# %.60s...\n", first.seen);
	result(strncmp(first.seen, "failed", 6) && first.size > 100,
	       "questions are answered");
	result(is_same(&before, &first.state), "no handler while it is open");
	result(is_same(&before, &after), "nor afterwards");

	sigaction(SIGSEGV, &action, NULL);
	take_state(&before);
	pthread_create(&thread, NULL, take_faults, NULL);
	for (int i = 0; i < ROUNDS; i++)
		is_good &= ask_both(argv[1], &first);
	is_done = true;
	pthread_join(thread, NULL);
	take_state(&after);
	result(is_good, "two threads get the same answers");
	result(is_same(&before, &after), "the handler is still there");
	printf("# %u faults\n", faults);
	result(faults > 10 && !wrong, "it had all faults of its own");

	signal(SIGSEGV, on_plain_fault);
	had = faults;
	fault_once();
	ask(&first);
	fault_once();
	result(faults == had + 2, "another kind of handler");
	signal(SIGSEGV, SIG_IGN);
	take_state(&before);
	ask(&first);
	take_state(&after);
	result(is_same(&before, &after), "SIGSEGV that is ignored stays so");
	signal(SIGSEGV, SIG_DFL);
	cancel_question(argv[2]);
	printf("1..%d\n", number);
	return failures != 0;
}
