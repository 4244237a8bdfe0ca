/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * abi.h - what kind of Linux guest it is
 *
 * All that depends on the guest's architecture in its kernel: numbers of
 * calls, registers, layouts of structures, addresses, signal frames, faults.
 * One file set (x86_64*.c) and one `struct linux_abi` for each kind; a new one
 * is a row in abi.c.  Nowhere else in vm/linux/ is a register named.  This
 * room never performs a call of the host, and knows no process but the one
 * whose memory it is given.
 *
 * Units:      addresses are guest virtual; sizes are bytes; registers are
 *             numbers of the guest's register table (formats/registers.h).
 * Errors:     negative errnos.
 */
#ifndef CPREC_VM_LINUX_ABI_ABI_H
#define CPREC_VM_LINUX_ABI_ABI_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "formats/region.h"
#include "vm/linux/abi/calls.h"
#include "vm/linux/kernel.h"

struct linux_process;
struct vm;
struct vm_stop;

/* ------- signals ------- */

/* struct sigaction and stack_t as kernels of 64 bits have them. */
struct guest_action {
	uint64_t handler, flags, restorer, mask;
};

struct guest_stack {
	uint64_t base;
	int32_t flags;
	uint32_t unused;
	uint64_t size;
};

/* A thread's last exception, as the contexts of its signals show it. */
struct guest_trap {
	uint64_t trap, error, address;
};

/* What a handler is entered with. */
struct signal_entry {
	const siginfo_t *info;
	const struct guest_action *action;
	uint64_t mask;		/* that the return brings back */
	const struct guest_trap *trap;
	const struct guest_stack *stack;	/* the alternate one */
	bool is_on_stack;	/* on that one, already */
	bool enters_stack;	/* begins at its end */
};

/* What a handler's return brings back, beside the registers. */
struct signal_return {
	uint64_t mask;
	struct guest_stack stack;
	bool keeps_stack;	/* `stack` is none */
	guest_addr sp;
};

/* The signal that a fault is, as the guest's kernel would send it. */
struct guest_fault {
	siginfo_t info;
	struct guest_trap trap;	/* its old one before */
	bool moved;		/* the pc was set behind the instruction */
	bool is_unknown;	/* there may be such an instruction elsewhere */
	const char *other_call;	/* it calls a kernel of another kind */
};

/* ------- threads ------- */

/* A register by which a thread finds what is its own. */
struct guest_tls {
	unsigned reg;
	uint64_t value;
};

/* ------- numbers ------- */

struct call_number {
	uint32_t number;
	uint16_t call;		/* enum linux_call_index */
};

/* Most are low: `low[number]` is one more than the call's index, 0: none. */
struct call_numbers {
	const uint16_t *low;
	size_t low_count;
	const struct call_number *others;
	size_t other_count;

	/*
	 * How arguments are in the registers, for the low ones, a letter each:
	 * '.' in one, 's' in one with a sign, 'p' in two, the lower half first,
	 * 'P' in one, in pages, 'u' in one, a user of 16 bits, 'c' in one, a
	 * command of System V that may be marked; '-' there is none, 0; 'x' one
	 * that is not passed on; 'l' one that is the last argument, wherever it
	 * stands here.  NULL: each in one.
	 */
	const char *const *shapes;
};

/* C libraries mark commands whose structures are not the oldest ones. */
#define IPC_MARK UINT64_C(0x100)

/* Calls that are functions, one each so many bytes. */
#define FIXED_CALLS 3
#define FIXED_CALL_BYTES 1024u

/* ------- a kind of guest ------- */

/* Other libraries for the same machine: of programs with this interpreter. */
struct linux_libraries {
	const char *interpreter, *package;
};

struct linux_abi {
	unsigned arch;		/* of formats/registers.h */
	unsigned word;		/* bytes of a pointer, a long, a size_t */
	const char *machine;	/* as AT_PLATFORM has it */
	const char *other_machine;	/* for uname(2); NULL: the host's own */
	const char *package;	/* Debian's, with its libraries for this
				   machine; NULL: they are the host's */
	const struct linux_libraries *others;	/* NULL-ended; or NULL */
	uint64_t hwcap, hwcap2;	/* AT_HWCAP */
	uint64_t frame_most;	/* AT_MINSIGSTKSZ: what frame_push() takes */
	unsigned frame_mask;	/* where it has the mask of signals, from where
				   the stack is at rt_sigreturn(2) on */

	/* The programs. */
	uint16_t elf_machine;
	uint8_t elf_class;
	const char *elf_name;	/* for messages */

	/* Addresses, and how many bits are random. */
	guest_addr user_end;	/* of those that a program may have */
	guest_addr pie_base;	/* where programs go that go anywhere */
	uint64_t mmap_gap;	/* below user_end, for the stack */
	uint64_t mmap_gap_random;	/* more of it, with random addresses */
	unsigned pie_bits, mmap_bits, stack_bits, heap_bits;	/* of pages */
	uint32_t map_low;	/* mmap(2)'s flag for low addresses; 0 */
	guest_addr low_start, low_end;	/* which those are */

	/* Calls. */
	uint8_t arg_regs[CALL_ARGS];
	uint8_t clone_child_tid, clone_tls;	/* arguments of clone(2) */
	uint8_t clone_tls_at;	/* where in memory that the second leads to the
				   thread's pointer is; 0: it is the pointer */
	struct call_numbers numbers;

	/* Finds what is called by a call for several, and its arguments, which
	 * are in memory; a negative errno, and nothing is changed.  NULL: there
	 * is none. */
	int64_t (*unfold)(const struct linux_reader *reader,
			  const struct linux_call **row, uint64_t *arg);

	/* What the call for several gives, if the other gave that. */
	int64_t (*fold)(struct linux_process *process,
			const struct linux_call *row, const uint64_t *arg,
			int64_t result);

	/* Numbers that are no calls but faults, not ENOSYS; whether one is.
	 * NULL: none is. */
	bool (*bad_call)(struct vm *vm, uint64_t number,
			 struct guest_fault *out);

	guest_addr fixed_calls;	/* a page of them: fixed_calls.c; 0: none */
	uint32_t fixed_numbers[FIXED_CALLS];
	const char *fixed_name;	/* in /proc/self/maps */
	const struct guest_layout *layouts;	/* by enum guest_struct */
	uint64_t (*open_flags)(uint64_t flags);	/* to the host's, and back, of
						   open(2); NULL: same */

	/* Code that ends a handler, on a page of its own; NULL: programs bring
	 * theirs along. */
	const uint8_t *signal_code;
	size_t signal_code_size;

	/* A page of functions that the kernel has for programs, above all
	 * addresses that these may have; 0: none. */
	guest_addr helpers;
	const char *helpers_name;	/* in /proc/self/maps */
	void (*fill_helpers)(uint8_t page[GUEST_PAGE]);

	/* Registers of a program's first instruction. */
	void (*start)(struct vm *vm, guest_addr entry, guest_addr sp);

	/*
	 * Registers of a new thread or process, which are those of the one
	 * that made it.  `stack`: 0 for the same; `tls`: NULL for the same.
	 */
	void (*begin)(struct vm *vm, guest_addr stack,
		      const struct guest_tls *tls);

	/* What an argument of clone(2) means for that; a negative errno.  NULL:
	 * it is what the thread pointer is to be. */
	int (*take_tls)(struct linux_process *process, uint64_t argument,
			struct guest_tls *out);

	/* Enters a handler; -EFAULT if the stack cannot take the frame. */
	int (*frame_push)(struct linux_process *process,
			  const struct signal_entry *entry);

	/* Leaves it, by sigreturn(2); -EFAULT. */
	int (*frame_pop)(struct linux_process *process,
			 struct signal_return *out);

	/*
	 * Which signal it is.  `is_present`: a page is there, but access is
	 * forbidden.
	 */
	void (*fault)(struct vm *vm, const struct vm_stop *stop,
		      bool is_present, struct guest_fault *out);

	/* /proc/cpuinfo, of the one processor. */
	void (*print_cpuinfo)(FILE *out, unsigned processor);
};

/* The kind of guest; NULL if there is none for the architecture. */
const struct linux_abi *linux_abi(unsigned arch);

/* The call that a number stands for; NULL. */
const struct linux_call *abi_call(const struct linux_abi *abi,
				  uint64_t number);

/* Makes arguments of what the registers have: see `shapes`. */
void abi_take_arguments(const struct linux_abi *abi, uint64_t number,
			uint64_t args[CALL_ARGS]);

/* ------- calls of some kinds only ------- */

syscall_handler sys_arch_prctl;
syscall_handler sys_set_thread_area, sys_get_thread_area;
syscall_handler sys_cacheflush, sys_set_tls, sys_get_tls;

/* ------- the kinds ------- */

extern const struct linux_abi abi_arm, abi_arm64, abi_i386, abi_x86_64;

/* The kind of guest for programs of this machine (elf.h); NULL. */
const struct linux_abi *linux_abi_of_machine(unsigned machine, unsigned elf_class);

#endif
