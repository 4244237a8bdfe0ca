/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * text.h - system calls of a Linux guest, as strace(1) writes them
 *
 * A call is looked at twice: when it begins, and when it is over.  What the
 * kernel fills in is known then only.  This room looks at registers and memory
 * that it is given; it never performs a call, and knows no process.
 *
 * Units:      addresses are guest virtual; sizes are bytes.
 * Ownership:  call_text_release() frees the texts; a zeroed call has none.
 * Errors:     call_text_enter() and call_text_leave() return ERR_NO_MEMORY.
 *             Memory that cannot be read is shown as an address.
 */
#ifndef CPREC_VM_LINUX_TEXT_TEXT_H
#define CPREC_VM_LINUX_TEXT_TEXT_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/region.h"
#include "vm/linux/abi/calls.h"

struct vm;
struct vm_stop;

struct call_text {
	/* The caller's: */
	unsigned arch;
	const struct linux_call *call;	/* NULL: nobody knows it */
	uint64_t args[CALL_ARGS];
	bool lacks_args;	/* nobody knows them: none is shown */
	guest_addr sp;		/* the stack pointer */
	unsigned string_most;	/* characters of a string that are shown */

	/* False unless all bytes are known. */
	bool (*read)(void *context, guest_addr addr, void *bytes, size_t size);

	/* What cannot be read when the call begins may be there when it is
	 * over: a kernel fetches what it reads. */
	bool fetches;
	bool lacks;		/* of call_text_...(): some could not be read */

	/* What a descriptor is, or NULL; may be NULL itself. */
	const char *(*file)(void *context, int descriptor);
	void *context;

	/*
	 * The arguments.  When the call begins, the first `entered` ones are
	 * known, of the last of them `split` bytes; others are NULL.
	 */
	char *texts[CALL_ARGS];
	unsigned count, entered;
	size_t split;
	bool has_more;		/* when it begins: others follow for certain */

	char *result;		/* "-1 ENOENT (No such file or directory)" */
	uint64_t kept[CALL_ARGS];	/* what the kernel may overwrite */
};

int call_text_enter(struct call_text *call);

/* Also of a call whose beginning was not seen. */
int call_text_leave(struct call_text *call, int64_t result);

/* One that never comes back: its result is "?". */
int call_text_end(struct call_text *call);

void call_text_release(struct call_text *call);

/* "openat", or "syscall_0x3e7"; of at most CALL_NAME bytes. */
#define CALL_NAME 32
const char *call_text_name(char text[CALL_NAME], const struct linux_call *call,
			   uint64_t number);

/* What a handler was given, of SIGNAL_INFO bytes of the guest's. */
#define SIGNAL_INFO 128
void signal_info(unsigned arch, const void *bytes, siginfo_t *out);

/* "{si_signo=SIGSEGV, si_code=SEGV_MAPERR, si_addr=NULL}"; free() it. */
char *signal_text(unsigned arch, const siginfo_t *info);

/*
 * The same of a fault that no handler was told of, of a guest that stands
 * there.
 */
char *fault_text(unsigned arch, struct vm *vm, const struct vm_stop *stop,
		 uint64_t number);

/* A thread that a signal came to, right behind a call of its own. */
struct signal_sender {
	unsigned arch;
	const struct linux_call *call;
	const uint64_t *args;
	uint32_t pid, tid;
	bool has_uid;
	uint32_t uid;
	bool (*read)(void *context, guest_addr addr, void *bytes, size_t size);
	void *context;
};

/* The same of a signal that this call has sent; NULL if it has not. */
char *own_signal_text(const struct signal_sender *sender, uint64_t signal);

/* "{si_signo=SIGTERM}": of one of which nothing else is known. */
char *unknown_signal_text(unsigned arch, uint64_t number);

/* "SIGSEGV", or the number. */
#define SIGNAL_NAME 16
const char *signal_text_name(char text[SIGNAL_NAME], uint64_t number);

/* Sets of calls, as options of strace name them: "file", "desc", ... */
bool call_set_exists(const char *name);
bool call_is_in_set(const struct linux_call *call, const char *name);

#endif
