/* SPDX-License-Identifier: GPL-2.0-or-later */
/* host_call.c - system calls of the host that no signal can slip past */
#include <ucontext.h>

#include "vm/linux/host/host.h"
#include "vm/linux/kernel.h"
#include "vm/linux/process.h"

/*
 * A signal that comes after the program was asked whether there is one, but
 * before the kernel was entered, would be noticed only when the call ends,
 * which may be never.  So the question and the call are a few instructions
 * between labels, and the signal's handler moves a program counter between
 * them back to the question.
 *
 * If the kernel itself went back to the `syscall` instruction, to restart
 * the call after the handler, it left the address after it in RCX: then the
 * call had begun, and whether to restart it depends on the guest's handler.
 *
 * A compiler that optimizes when it links (LTO) may put C and assembly into
 * different objects, so labels are seen from outside of theirs.
 */
#define LABEL(name) ".globl " #name "\n.hidden " #name "\n" #name ":\n"

__asm__(
	".text\n"
	".type host_call_asm, @function\n"
	LABEL(host_call_asm)
	"	pushq	%rbx\n"
	"	movq	%rdi, %rbx\n"		/* the pending signal */
	"	movq	%rsi, %rax\n"		/* the number */
	"	movq	%rdx, %r11\n"		/* the arguments */
	"	movq	0(%r11), %rdi\n"
	"	movq	8(%r11), %rsi\n"
	"	movq	16(%r11), %rdx\n"
	"	movq	24(%r11), %r10\n"
	"	movq	32(%r11), %r8\n"
	"	movq	40(%r11), %r9\n"
	"	xorl	%ecx, %ecx\n"
	LABEL(host_call_question)
	"	cmpl	$0, (%rbx)\n"
	"	jne	1f\n"
	LABEL(host_call_instruction)
	"	syscall\n"
	LABEL(host_call_end)
	"	popq	%rbx\n"
	"	retq\n"
	"1:	movq	$-513, %rax\n"		/* RESTART_ALWAYS */
	"	popq	%rbx\n"
	"	retq\n"
	LABEL(host_call_begun)
	"	movq	$-512, %rax\n"		/* RESTART_IF_ASKED */
	"	popq	%rbx\n"
	"	retq\n"
	".size host_call_asm, . - host_call_asm\n");

extern int64_t host_call_asm(const volatile int *pending, long number,
			     const uint64_t *arg);
extern const char host_call_question[], host_call_instruction[],
	host_call_end[], host_call_begun[];

_Static_assert(RESTART_IF_ASKED == 512 && RESTART_ALWAYS == 513,
	       "the numbers in the assembly");

int64_t host_call_for(struct linux_thread *thread, long number,
		      const uint64_t arg[6])
{
	return host_call_asm(&thread->pending, number, arg);
}

int64_t host_call_array(struct linux_process *process, long number,
			const uint64_t arg[6])
{
	return host_call_for(process->thread, number, arg);
}

void host_call_interrupt(void *ucontext)
{
	greg_t *regs = ((ucontext_t *)ucontext)->uc_mcontext.gregs;
	uint64_t rip = (uint64_t)regs[REG_RIP];

	if (rip < host_pointer(host_call_question) ||
	    rip >= host_pointer(host_call_end))
		return;
	if (rip == host_pointer(host_call_instruction) &&
	    (uint64_t)regs[REG_RCX] == host_pointer(host_call_end))
		rip = host_pointer(host_call_begun);
	else
		rip = host_pointer(host_call_question);
	regs[REG_RIP] = (greg_t)rip;
}

/* ------- other assembly ------- */

__asm__(
	".text\n"
	".type host_restorer, @function\n"
	LABEL(host_restorer)
	"	movq	$15, %rax\n"	/* rt_sigreturn */
	"	syscall\n"
	".size host_restorer, . - host_restorer\n");

void host_pause(void)
{
	__builtin_ia32_pause();
}
