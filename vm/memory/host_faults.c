/* SPDX-License-Identifier: GPL-2.0-or-later */
/* host_faults.c - see host_faults.h */
#include "vm/memory/host_faults.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <ucontext.h>
#include <xmmintrin.h>

#include "formats/error.h"

#define LISTED_MOST 64

/* Read by signal handlers, which take no lock. */
static struct host_faults *_Atomic listed[LISTED_MOST];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned count;
static struct sigaction segv_before, bus_before;

/* To the handler that was there before.  Without one, the fault happens again
 * and ends cprec. */
static void pass_on(int number, siginfo_t *info, void *context)
{
	const struct sigaction *before = number == SIGSEGV ? &segv_before :
							     &bus_before;

	if (before->sa_flags & SA_SIGINFO)
		before->sa_sigaction(number, info, context);
	else if (before->sa_handler != SIG_DFL && before->sa_handler != SIG_IGN)
		before->sa_handler(number);
	else if (signal(number, SIG_DFL) != SIG_ERR && info->si_code <= 0)
		raise(number);
}

/* Whether a process sent the signal, which is then dealt with. */
static bool was_sent(int number, siginfo_t *info, void *context)
{
	if (info->si_code > 0)
		return false;
	for (unsigned i = 0; i < LISTED_MOST; i++) {
		struct host_faults *faults = atomic_load(&listed[i]);

		if (faults && faults->sent) {
			faults->sent(number, info, context);
			return true;
		}
	}
	pass_on(number, info, context);
	return true;
}

static bool is_write(const ucontext_t *context)
{
	return context->uc_mcontext.gregs[REG_ERR] & 2;
}

static uintptr_t pc_of(const ucontext_t *context)
{
	return (uintptr_t)context->uc_mcontext.gregs[REG_RIP];
}

static bool is_guests(uintptr_t pc, const uint8_t *at, bool writes)
{
	for (unsigned i = 0; i < LISTED_MOST; i++) {
		struct host_faults *faults = atomic_load(&listed[i]);

		if (faults && faults->guest &&
		    faults->guest(faults->guest_context, pc, at, writes))
			return true;
	}
	return false;
}

static bool is_taken(const uint8_t *at, bool writes)
{
	for (unsigned i = 0; i < LISTED_MOST; i++) {
		struct host_faults *faults = atomic_load(&listed[i]);

		if (faults && (uint64_t)(at - faults->start) < faults->size)
			return faults->fault(faults->context, at, writes);
	}
	return false;
}

/* Linux has cleared MXCSR; a handler may leave for where it still counts. */
static void keep_float_flags(const ucontext_t *context)
{
	_mm_setcsr(context->uc_mcontext.fpregs->mxcsr);
}

static void on_fault(int number, siginfo_t *info, void *context)
{
	int saved = errno;

	keep_float_flags(context);
	if (!was_sent(number, info, context) &&
	    !is_guests(pc_of(context), info->si_addr, is_write(context)) &&
	    !is_taken(info->si_addr, is_write(context)))
		pass_on(number, info, context);
	errno = saved;
}

static void on_missing(int number, siginfo_t *info, void *context)
{
	bool done = was_sent(number, info, context);
	int saved = errno;

	for (unsigned i = 0; i < LISTED_MOST && !done; i++) {
		struct host_faults *faults = atomic_load(&listed[i]);

		done = faults && faults->missing &&
		       faults->missing(faults->context, info->si_addr);
	}
	if (!done)
		pass_on(number, info, context);
	errno = saved;
}

/* ------- the list ------- */

static int install(struct failure *why)
{
	struct sigaction action = {
		.sa_sigaction = on_fault,
		/* A handler may leave for where the guest was run from. */
		.sa_flags = SA_SIGINFO | SA_RESTART | SA_NODEFER,
	};

	sigemptyset(&action.sa_mask);
	if (sigaction(SIGSEGV, &action, &segv_before))
		return failed(why, ERR_SYSTEM, "cannot catch faults: %s",
			      strerror(errno));
	action.sa_sigaction = on_missing;
	sigaction(SIGBUS, &action, &bus_before);
	return 0;
}

int host_faults_catch(struct host_faults *faults, struct failure *why)
{
	int rc = 0;
	unsigned i = 0;

	pthread_mutex_lock(&lock);
	while (i < LISTED_MOST && atomic_load(&listed[i]))
		i++;
	if (i == LISTED_MOST)
		rc = failed(why, ERR_SYSTEM, "more than %u memories in a "
			    "process", LISTED_MOST);
	else if (!count)
		rc = install(why);
	if (!rc) {
		atomic_store(&listed[i], faults);
		count++;
	}
	pthread_mutex_unlock(&lock);
	return rc;
}

void host_faults_leave(struct host_faults *faults)
{
	pthread_mutex_lock(&lock);
	for (unsigned i = 0; i < LISTED_MOST; i++) {
		if (atomic_load(&listed[i]) != faults)
			continue;
		atomic_store(&listed[i], NULL);
		if (--count)
			continue;
		sigaction(SIGSEGV, &segv_before, NULL);
		sigaction(SIGBUS, &bus_before, NULL);
	}
	pthread_mutex_unlock(&lock);
}
