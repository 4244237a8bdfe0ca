/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * bare.h - parts of bare.c's reference: a guest's memory, its architecture, its
 * system calls
 */
#ifndef CPREC_TESTS_BENCH_BARE_H
#define CPREC_TESTS_BENCH_BARE_H

#include <stdbool.h>
#include <stdint.h>
#include <unicorn/unicorn.h>

#define PAGE_SHIFT 12
#define PAGE (UINT64_C(1) << PAGE_SHIFT)

enum { CALL_ARGUMENTS = 6, PATH_SIZE = 4096 };

/* Columns of tables. */
enum guest_number { X86_64, ARM64, ARM, I386, GUESTS };

/* ------- bare_guests.c: what is an architecture's own ------- */

struct guest {
	enum guest_number number;
	unsigned elf_class, machine; /* of its programs */
	uc_arch arch;
	uc_mode mode;
	int model;

	/* Linux's, on a kernel of 64 bits. */
	uint64_t user_end, pie_base, hwcap;
	uint64_t never; /* nothing is mapped here: runs "until" it */

	int pc, sp;
	int call, args[CALL_ARGUMENTS], result; /* of system calls, */
	unsigned exception; /* which arrive as this; 0: as SYSCALL */

	void (*set_up)(void); /* what Linux sets and the engine does not */
	int64_t (*set_thread_pointer)(const uint64_t *args);
};

/* NULL: none has such programs. */
const struct guest *guest_of(unsigned elf_class, unsigned machine);

static inline unsigned word_size(const struct guest *guest)
{
	return guest->elf_class == 2 ? 8 : 4;
}

/* ------- bare_calls.c: system calls ------- */

/* Where files are looked for first; NULL: nowhere else. */
extern const char *sysroot;

/* `path`, or where that is in the sysroot; lasts until the next call. */
const char *path_found(const char *path);

/* Performs what the guest's registers ask for. */
void perform_call(void);

/* ------- bare.c: the guest and its memory ------- */

extern uc_engine *uc;
extern const struct guest *guest;

__attribute__((noreturn)) void die(const char *what, const char *why);
void check(uc_err err);

void *host(uint64_t addr); /* where that is */

/* As the system calls; a negative errno on failure. */
int64_t map(uint64_t addr, uint64_t size, unsigned prot, unsigned flags, int fd,
	    uint64_t offset);
int64_t map_zeros(uint64_t addr, uint64_t size, unsigned prot);
int64_t move(uint64_t addr, uint64_t size, uint64_t new_size, uint64_t flags);
int64_t set_heap_end(uint64_t end);
void set_pages(uint64_t addr, uint64_t size, unsigned prot);

#endif
