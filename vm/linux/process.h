/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * process.h - what the files of vm/linux/ share: the guest process's state
 *
 * Functions that stand for the kernel return what the kernel would put into
 * the result register: a value, or a negative errno of the host, which is
 * the guest's.
 *
 * Units:      addresses are guest virtual; sizes are bytes.
 * Ownership:  everything belongs to the process; there is one at a time.
 */
#ifndef CPREC_VM_LINUX_PROCESS_H
#define CPREC_VM_LINUX_PROCESS_H

#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "vm/linux/guest_memory.h"
#include "vm/linux/limits/limits.h"
#include "vm/linux/linux.h"
#include "vm/linux/tasks/scheduler.h"
#include "vm/linux/abi/syscall_table.h"
#include "vm/memory.h"

enum {
	SIGNALS = 64,		/* the highest signal */
	BOUNCE = 4096,		/* bytes of an argument that are copied */
	HIDDEN = 16,		/* descriptors of cprec's own */
};

/* End of the addresses that a program may have. */
#define USER_END UINT64_C(0x7ffffffff000)

/*
 * Results of a call that a signal interrupted; they never reach the guest.
 * Linux has the same numbers inside.
 */
enum {
	RESTART_IF_ASKED = 512,	/* the signal's SA_RESTART decides */
	RESTART_ALWAYS = 513,	/* the call was not even begun */
};

/* A pointer that the host kernel will refuse with EFAULT, if it looks. */
#define BAD_POINTER UINT64_C(16)

/* struct sigaction and stack_t as the x86-64 kernel has them. */
struct guest_action {
	uint64_t handler, flags, restorer, mask;
};

struct guest_stack {
	uint64_t base;
	int32_t flags;
	uint32_t unused;
	uint64_t size;
};

/* SS_AUTODISARM, which the C library's headers leave out. */
#define STACK_AUTODISARM INT32_MIN

/* A thread's last exception, as the contexts of its signals show it. */
struct frame_trap {
	uint64_t trap, error, cr2;
};

/* What one thread has of signals.  Masks have bit N - 1 for signal N. */
struct signals {
	uint64_t mask;
	uint64_t saved_mask;	/* to come back after a call that had its own */
	bool has_saved_mask;
	struct guest_stack stack;
	struct frame_trap trap;

	/* Filled in by the host's handler; see host_signals.c. */
	volatile int pending;	/* the signal, 0 if there is none */
	siginfo_t info;

	/* SIGSEGV and SIGBUS that the guest has sent to itself; the kick. */
	uint64_t own;
	siginfo_t own_info[3];
	siginfo_t sent;		/* one of them, by another thread */
};

/* What is known of a descriptor of the guest's. */
struct descriptor {
	const struct proc_file *file;	/* that it was made for; see proc.h */
	uint32_t tid;		/* of the thread whose file that is, or 0 */
	uint8_t stream;		/* it is, or was copied from, 1 or 2 */
};

/* The most pages that there were; see peaks.c. */
struct peaks {
	uint64_t size;
	uint64_t present;	/* in the host's memory */
	uint64_t before;	/* the same, of programs before an exec */
	uint64_t shrunk;	/* bytes that went since it was counted */
	uint64_t looked, took;	/* when it was, how long; ns of our work */
};

/* Where things are in the address space. */
struct layout {
	guest_addr mmap_top;	/* mappings grow down from here */
	guest_addr brk_start, brk;
	guest_addr code_start, code_end, data_start, data_end;	/* program's */
	guest_addr stack_bottom, stack_top;
	guest_addr args_start, args_end, env_end;	/* the strings */
	guest_addr sp;		/* at the first instruction */
	uint64_t auxv[48];
	size_t auxv_bytes;
};

/*
 * A thread of the guest.  Each has a thread of the host, which performs its
 * system calls and runs the guest for it while it has the processor: see
 * scheduler.c.  process->thread is the one that has it; it alone uses the
 * process, the vm and the memory.
 */
struct linux_thread {
	struct linux_process *process;
	struct vm_thread *vm_thread;
	unsigned index;		/* in the order of their making, from 0 */
	jmp_buf home;		/* where its host thread leaves it */
	uint32_t tid;
	struct signals signals;
	guest_addr clear_tid;	/* see threads.c */
	guest_addr robust_list;
	struct linux_thread *next;	/* of all */

	/* Of the present call. */
	uint64_t number;
	bool changed_registers;	/* other ones than the result */
	enum linux_outcome outcome;
	int status;
	struct spans spans;
	uint64_t bounce[6][BOUNCE / 8];

	/* Of scheduler.c and futex.c; under the scheduler's lock. */
	uint32_t turn;		/* to have the processor; see scheduler.c */
	bool must_end;		/* another thread executes a program */
	volatile bool woken;	/* it waits no more at a futex */
	unsigned looked_in_vain;	/* for its turn; see scheduler.c */
	uint64_t held_until;	/* in steps, while others are ready */
	bool is_new;		/* has had no turn yet */
	struct linux_thread *behind;	/* in a queue */
	guest_addr futex;	/* where it waits; 0: it does not */
	uint32_t futex_bits;
};

struct linux_process {
	struct vm *vm;
	bool aslr;
	struct reg_file first;	/* registers when a program starts */
	int waited_by;		/* see fork.c; -1 if there is nobody */
	struct memory *memory;
	const struct linux_observer *observer;
	const struct linux_driver *driver;
	char *program;		/* absolute path of the ELF file */
	int exe;		/* its hidden descriptor; -1: see proc.h */
	struct layout layout;
	struct peaks peaks;
	struct guest_action action[SIGNALS + 1];	/* for signals */
	guest_addr lost;	/* 0, or a page; see lost_pages.c */
	bool lost_to_guest;	/* it is the guest that has touched it */
	struct eof_tail *tails;	/* see eof_tail.c */
	size_t tail_count;
	struct mapped_file *files;	/* see mapped_files.c */
	size_t file_count;

	struct descriptor *descriptors;	/* by number; see descriptors.c */
	size_t descriptor_count;
	struct limits limits;

	struct linux_thread *thread;	/* that has the processor */
	struct linux_thread *threads;	/* all that live */
	unsigned thread_count;
	unsigned next_index;
	int first_status;	/* of the first thread, when it ended */
	bool succeeds;		/* the present one is to become the first */
	struct linux_thread *successor;
	sem_t succession;
	struct scheduler scheduler;

	bool has_called;	/* at least once */
	uint64_t noticed[SYSCALL_NUMBERS / 64];	/* calls told of */
	bool noticed_32_bit;	/* a system call that way */
	const struct syscall_row *rows[SYSCALL_NUMBERS];
};

static inline uint64_t host_pointer(const void *pointer)
{
	return (uint64_t)(uintptr_t)pointer;
}

static inline uint64_t page_down(uint64_t value)
{
	return value & ~(uint64_t)(GUEST_PAGE - 1);
}

/* Of a value near 2^64: 0. */
static inline uint64_t page_up(uint64_t value)
{
	return page_down(value + GUEST_PAGE - 1);
}

/* ------- linux.c ------- */

__attribute__((format(printf, 3, 4)))
void notice(struct linux_process *process, enum linux_notice kind,
	    const char *format, ...);

/* ------- host_call.c ------- */

/*
 * A system call of the host that a signal for the guest interrupts for
 * certain, however shortly before the call it comes.
 */
#define host_call(process, number, ...)                                       \
	host_call_array((process), (number), (const uint64_t[6]){ __VA_ARGS__ })
int64_t host_call_array(struct linux_process *process, long number,
			const uint64_t arg[6]);

/*
 * The same for a call that may wait: other threads run meanwhile.  It must
 * not be given addresses of guest memory, which may change or be closed; see
 * spans_detach().
 */
#define host_wait(process, number, ...)                                       \
	host_wait_array((process), (number), (const uint64_t[6]){ __VA_ARGS__ })
int64_t host_wait_array(struct linux_process *process, long number,
			const uint64_t arg[6]);

/* The same for any thread, with nothing done about others. */
int64_t host_call_for(struct linux_thread *thread, long number,
		      const uint64_t arg[6]);

/*
 * For the host's signal handler: moves an interrupted host_call() to where it
 * notices the signal.
 */
void host_call_interrupt(void *ucontext);

/* ------- threads.c ------- */

/* What clone() is asked for. */
struct clone_request {
	uint64_t flags;		/* CLONE_... */
	guest_addr stack;	/* the child's, 0 if it is the parent's */
	guest_addr parent_tid, child_tid, pidfd;
	uint64_t tls;
};

/* Makes a thread; its number, or a negative errno. */
int64_t thread_start(struct linux_process *process,
		     const struct clone_request *request);

/*
 * The host thread of a thread that must end; gives the processor away.
 */
void thread_vanish(struct linux_thread *thread)
	__attribute__((noreturn));

/* Frees the other threads: of another process, or they have ended. */
void threads_forget_others(struct linux_process *process);

/* The process ends: what other processes wait for is given free. */
void threads_let_go(struct linux_process *process);

/* Ends all other threads, for another program. */
void threads_end_others(struct linux_process *process);

/* The living thread of this number, or NULL. */
struct linux_thread *thread_find(struct linux_process *process, int tid);

/* ------- futex.c ------- */

/* Wakes at most `count` threads, of this process and of others. */
int64_t futex_wake(struct linux_process *process, guest_addr addr, int count,
		   uint32_t bits, bool is_private);

/*
 * A thread ends: the locks that it holds are given free; or only those that
 * other processes share, because the process ends.
 */
void futex_thread_ends(struct linux_process *process,
		       const struct linux_thread *thread, bool only_shared);

/* ------- marshal.c ------- */

/* Performs a call as its row says, on the host. */
int64_t marshal_call(struct linux_process *process,
		     const struct syscall_row *row, const uint64_t *arg);

/* ------- descriptors.c ------- */

/* Closes the guest's descriptors that an exec closes. */
void close_on_exec(struct linux_process *process);

bool is_hidden(int fd);

/*
 * Hides a copy of a descriptor, away from the numbers that those moved by
 * linux_hide_descriptor() get.  Returns its number, or a negative error.
 */
int hide_copy(int fd);

int descriptors_init(struct linux_process *process);	/* ERR_NO_MEMORY */

/* What is known of any descriptor; nothing of most. */
const struct descriptor *descriptor_of(const struct linux_process *process,
				       int fd);

/* The same of a new one; for want of memory it is forgotten. */
void descriptor_set(struct linux_process *process, int fd,
		    const struct descriptor *what);

/* Of a copy it is the same, of a closed one nothing. */
void descriptor_copied(struct linux_process *process, int fd, int from);
void descriptor_closed(struct linux_process *process, int fd);

/* What proc_open() made is about the program, or the parent, before. */
void descriptors_age(struct linux_process *process);

/* Which of the standard streams it is, or 0. */
static inline int stream_of(const struct linux_process *process, int fd)
{
	return descriptor_of(process, fd)->stream;
}

/*
 * Hides what is marked close-on-exec, before the guest's first call: it would
 * not have come through an execve(), so it is not the program's.
 */
void hide_own_descriptors(struct linux_process *process);

/* ------- own_stderr.c ------- */

/* Makes the copy, if linux_keep_stderr() has been called. */
void own_stderr_hide(void);

/* After the guest has lost a stream, or a fork. */
void own_stderr_review(const struct linux_process *process);

/* ------- peaks.c ------- */

/* So many bytes are about to be unmapped, or dropped. */
void peaks_before_less(struct linux_process *process, uint64_t size);

/* All is about to be replaced. */
void peaks_before_exec(struct linux_process *process);

/* There are so many pages now. */
void peaks_note(struct linux_process *process, uint64_t size,
		uint64_t present);

/* ------- process_calls.c ------- */

/* The number of the only processor that the guest has. */
unsigned guest_processor(struct linux_process *process);

/* ------- fork.c ------- */

/*
 * Lets the parent go on that waits for the end of a child of vfork(), with
 * what the child has written, if it has `ended`.
 */
void fork_release_parent(struct linux_process *process, bool ended);

/* ------- memory_calls.c ------- */

/* Whether a program may have all of these addresses; `size` may be 0. */
bool is_user_range(guest_addr addr, uint64_t size);

/* Whether every page is mapped; whether none is. */
bool is_mapped(struct linux_process *process, guest_addr addr, uint64_t size);
bool is_free(struct linux_process *process, guest_addr addr, uint64_t size);

/* Where a mapping of this size goes; -ENOMEM. */
int64_t find_place(struct linux_process *process, uint64_t size);

/* How memory that is shared, but not a file's, is called; by Linux too. */
#define SHARED_NAME "/dev/zero (deleted)"

/* ------- host_signals.c ------- */

void signals_init(struct linux_process *process);
void signals_release(struct linux_process *process);

/* The host thread that calls this is the guest thread's from now on. */
void signals_adopt(struct linux_thread *thread);

/* The host thread that calls this is no guest thread's any more. */
void signals_abandon(void);

/* Makes a thread's host thread notice that it must end, or has a signal. */
void signals_kick(struct linux_thread *thread);

/*
 * Asks another process of the guest to end as by SIGKILL; whether a process
 * that has handlers for these signals may be one that understands.
 */
void signals_end_process(int pid);
bool signals_can_end(uint64_t caught);

/* What the host may be told to block for such a guest mask. */
uint64_t signals_host_mask(uint64_t mask);

/*
 * Nothing comes from the host until signals_let() gets what signals_hold()
 * returned.
 */
uint64_t signals_hold(void);

/* The same of signals_end_process() only. */
uint64_t signals_hold_end(void);
void signals_let(uint64_t held);

/* A SIGSEGV or SIGBUS that the guest has sent to one of its threads. */
void signals_send_own(struct linux_thread *thread, const siginfo_t *info);

/* ------- signals.c ------- */

/* Sets the guest's mask, and the host's accordingly. */
void signals_set_mask(struct linux_process *process, uint64_t mask);

/*
 * A mask for the length of one call; the host call installs it itself.
 * `result` is what the call had.
 */
void signals_lend_mask(struct linux_process *process, uint64_t mask);
void signals_return_mask(struct linux_process *process, int64_t result);

/* In the child of a fork: what was pending is the parent's. */
void signals_forget(struct linux_process *process);

/* No handlers any more: another program starts. */
void signals_drop_handlers(struct linux_process *process);

/* Whether the pending signal will end the process. */
bool signals_is_deadly(const struct linux_process *process);

/* ------- signal_delivery.c ------- */

/* Whether the signal about to be delivered lets calls be restarted. */
bool signals_restart(const struct linux_process *process);

/*
 * A signal of a fault: cannot be blocked or ignored.  The exception, if it is
 * one, is noted before.
 */
void signals_force(struct linux_process *process, siginfo_t *info);

/* ------- alternate_stack.c ------- */

/* Whether a stack pointer is on it, if that can be told. */
bool on_alternate_stack(struct linux_process *process, guest_addr sp);

/* -EPERM if `sp` is on the present one, -EINVAL, -ENOMEM. */
int set_alternate_stack(struct linux_process *process,
			const struct guest_stack *set, guest_addr sp);

/* ------- signal_frame.c ------- */

/*
 * Enters the handler of a signal; `mask` is what the return restores.
 * -EFAULT if the stack cannot take the frame.
 */
int frame_push(struct linux_process *process, const siginfo_t *info,
	       const struct guest_action *action, uint64_t mask);

/* ------- linux.c, loader.c, stack.c ------- */

struct program;			/* program.h */

/* Loads a program into memory that is empty. */
int start_program(struct linux_process *process, const struct program *program,
		  const struct linux_options *options, struct failure *why);

int load_program(struct linux_process *process, const struct program *program,
		 const struct linux_options *options, struct failure *why);

#endif
