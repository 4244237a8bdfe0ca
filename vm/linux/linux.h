/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * linux.h - the kernel that a Linux guest sees
 *
 * Loads a program as execve(2) does and performs its system calls on the
 * host.  All that this changes in the guest's memory goes through memory.h,
 * whose observer learns of it; registers are changed through vm.h.  The
 * caller runs the guest (vm_run()) and passes on what it stopped for.
 *
 * Units:      file descriptors and signal numbers are the host's, which are
 *             the guest's.
 * Ownership:  the caller ends a process with linux_destroy(); the vm is
 *             borrowed and must outlive it.
 * Errors:     ERR_NOT_FOUND (no such program), ERR_INPUT (not one we can
 *             run), ERR_SYSTEM, ERR_NO_MEMORY.
 * Threads:    one process per cprec process.  Each thread of the guest has a
 *             thread of the host; they take turns, so that one at a time
 *             calls the driver, and is in anything below.  The child of a
 *             fork is a child of cprec that goes on with a copy of
 *             everything, from within linux_syscall().  All other threads of
 *             cprec must block all signals: those that come are the guest's.
 */
#ifndef CPREC_VM_LINUX_LINUX_H
#define CPREC_VM_LINUX_LINUX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "vm/vm.h"

struct failure;
struct linux_process;

struct linux_options {
	const char *program;	/* as typed: searched in PATH like a shell */
	char *const *argv;	/* NULL-ended; argv[0] included */
	char *const *envp;	/* NULL-ended */
	bool aslr;		/* otherwise addresses are always the same */
	const char *sysroot;	/* folder with files of the system of programs
				   that are not of the host's kind; NULL:
				   QEMU_LD_PREFIX in `envp` */
};

enum linux_outcome {
	LINUX_GOES_ON,
	LINUX_THREAD_ENDED,	/* the process goes on; `status`: exit code */
	LINUX_EXITED,		/* `status` is the exit code */
	LINUX_KILLED,		/* `status` is the signal */
	LINUX_BECAME,		/* goes on as linux_observer.becomes() says */
};

struct linux_result {
	enum linux_outcome outcome;
	int status;
	/* For the record. */
	uint64_t number;	/* of the system call, or the signal */
	int64_t value;		/* what the result register was set to */
	bool is_fixed_call;	/* no fault, but a call at a fixed address */
	bool all_registers;	/* more than the result register changed */
};

/* What a notice is about. */
enum linux_notice {
	NOTICE_LACK,		/* the program does not get something */
	NOTICE_INSTRUCTION,	/* the processor does not have it: SIGILL */
};

/* Told to the caller while a system call is performed; may be NULL. */
struct linux_observer {
	void *context;
	/* The guest wrote `size` bytes, at `addr`, to a descriptor that was
	 * standard output (1) or error (2) of the program when it started. */
	void (*output)(void *context, int stream, guest_addr addr,
		       uint64_t size);
	/* Something that a person should know, one line without "cprec: ". */
	void (*notice)(void *context, enum linux_notice kind,
		       const char *text);
	/* A new process is about to be made / was made: `pid` is the child's
	 * number in the parent, 0 in the child, negative if it failed. */
	void (*before_fork)(void *context);
	void (*after_fork)(void *context, int pid);
	/* The process may be about to lose rights of its user or groups. */
	void (*before_rights)(void *context);
	/* The process has become another program, linux_program(), by exec;
	 * `argv` is what it was given, NULL-ended. */
	void (*executed)(void *context, char *const *argv);
	/* It is about to, and has got the processor of another architecture;
	 * its only thread is thread 0 from here on.  `last` is what the
	 * present call did to the one that it was. */
	void (*becomes)(void *context, const struct linux_result *last);
	/* A thread was made, which is not the present one; threads count from
	 * 0, the first one, in the order of their making.  Its registers are
	 * those of `vm_thread`. */
	void (*thread_begins)(void *context, unsigned thread, uint32_t tid,
			      struct vm_thread *vm_thread);
	/* Another thread than before has got the processor. */
	void (*thread_runs)(void *context, unsigned thread);
	/* The present thread ends; the process goes on. */
	void (*thread_ends)(void *context, unsigned thread);
	/* The present thread may have to wait for the host, and no other can
	 * go on: nothing may happen for a long time. */
	void (*idle)(void *context);
	/* The present call may stop the process: until it is continued, or
	 * killed, none of its threads does anything. */
	void (*stops)(void *context);
};

/* How threads take turns. */
struct linux_schedule {
	uint64_t slice_steps;	/* of a slice; 0: the default */
	bool by_time;		/* slices end by time: steps are not counted */
	bool random;		/* slices of random lengths, in random order */
	uint64_t seed;
};

/* Who runs the guest. */
struct linux_driver {
	void *context;
	/* Runs the guest to its next stop, at most `budget` steps (exactly so
	 * many, if `exact`), and does what the stop asks for. */
	int (*advance)(void *context, uint64_t budget, bool exact,
		       struct linux_result *result, struct failure *why);
	/* The program has ended, or failed (`rc`), in another thread of the
	 * host than that which called linux_run(). */
	void (*ended)(void *context, int rc, const struct linux_result *result,
		      const struct failure *why) __attribute__((noreturn));
};

/*
 * The architecture of a program, as its file says: for vm_create().  That of a
 * program that cannot be run is any: linux_create() says why.
 */
enum arch linux_arch_of(const struct linux_options *options);

/* Loads the program; the guest then stands at its first instruction. */
int linux_create(struct linux_process **out, struct vm *vm,
		 const struct linux_options *options, struct failure *why);
void linux_destroy(struct linux_process *process);

/*
 * Whether there may be host threads that still look at the process and the
 * vm: then neither can be freed before cprec ends, only linux_end() called.
 */
bool linux_is_threaded(const struct linux_process *process);

/* What linux_destroy() does, except that nothing is freed. */
void linux_end(struct linux_process *process);

/* The observer must outlive the process. */
void linux_observe(struct linux_process *process,
		   const struct linux_observer *observer);

/* Absolute path of the program's file; after an exec, of the new one. */
const char *linux_program(const struct linux_process *process);

/* Before linux_run(). */
void linux_set_schedule(struct linux_process *process,
			const struct linux_schedule *schedule);

/*
 * Runs the program to its end.  Does not return where the program ends in
 * another thread than its first: then the driver is told.
 */
int linux_run(struct linux_process *process, const struct linux_driver *driver,
	      struct linux_result *result, struct failure *why);

/* The number that the kernel gives the present thread. */
uint32_t linux_tid(const struct linux_process *process);

/*
 * Keeps a descriptor of cprec's own out of the guest's reach: returns the
 * descriptor's new number (high, close-on-exec; the same, if no other one is
 * free), or a negative error.  What is close-on-exec at the guest's first
 * system call is kept so anyway.
 */
int linux_hide_descriptor(int fd);

/* Closes such a descriptor; one that is not hidden is just closed. */
void linux_close_hidden(int fd);

/*
 * Keeps what is standard error now for cprec's own messages, whatever the guest
 * will do with its descriptor 2.  To be called once, before linux_create().
 */
void linux_keep_stderr(void);

/*
 * Writes a message there.  What cannot be written is lost: standard error was
 * closed at the start; or the guest of a forked process has closed its own, and
 * the process that was first has ended.
 */
void linux_write_stderr(const char *text, size_t size);

/* Performs the system call that VM_STOP_SYSCALL stopped behind. */
int linux_syscall(struct linux_process *process, struct linux_result *result,
		  struct failure *why);

/*
 * Before vm_emulate(): whether the program may have the value that
 * VM_STOP_VALUE is about.  If not, `*stop` is a fault.
 */
bool linux_allows(struct linux_process *process, struct vm_stop *stop);

/*
 * The signal for a fault: to the guest's handler, or the end.  Or the guest
 * goes on as it is, because what it missed is there now.
 */
int linux_fault(struct linux_process *process, const struct vm_stop *stop,
		struct linux_result *result, struct failure *why);

/*
 * Whether a signal has come that the guest does not block; then vm_run()
 * stops with VM_STOP_ASKED.  linux_deliver() delivers one.
 */
bool linux_has_signal(const struct linux_process *process);
int linux_deliver(struct linux_process *process, struct linux_result *result,
		  struct failure *why);

/*
 * Ends cprec the way the guest ended: exits with its status, or dies of its
 * signal so that the parent sees the same (128+n in a shell).
 */
_Noreturn void linux_exit_like(const struct linux_result *result);

#endif
