/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * memory.h - the guest's address space as its kernel arranges it
 *
 * Mappings and the heap, what becomes of mapped files when they change, how
 * much is there and was there, and how much may be.  The pages themselves are
 * vm/memory/memory.h's.  This room never opens a file of the guest's by its
 * name except one that is mapped, and never makes or ends threads.
 *
 * Units:      addresses are guest virtual, sizes are bytes; struct usage and
 *             struct peaks count pages.
 * Errors:     negative errnos.
 */
#ifndef CPREC_VM_LINUX_MEMORY_MEMORY_H
#define CPREC_VM_LINUX_MEMORY_MEMORY_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "formats/region.h"
#include "vm/linux/kernel.h"
#include "vm/memory/memory.h"

struct linux_process;
struct stat;

/* Where things are in the address space. */
struct layout {
	guest_addr mmap_top;	/* mappings grow down from here */
	guest_addr pie_base;	/* where programs without an address go */
	guest_addr brk_start, brk;
	guest_addr code_start, code_end, data_start, data_end;	/* program's */
	guest_addr stack_bottom, stack_top;
	guest_addr args_start, args_end, env_end;	/* the strings */
	guest_addr sp;		/* at the first instruction */
	uint8_t auxv[48 * 8];	/* as the guest has it */
	size_t auxv_bytes;
};

/* The most pages that there were; see peaks.c. */
struct peaks {
	uint64_t size;
	uint64_t present;	/* in the host's memory */
	uint64_t before;	/* the same, of programs before an exec */
	uint64_t shrunk;	/* bytes that went since it was counted */
	uint64_t looked, took;	/* when it was, how long; ns of our work */
};

/* Ranges that a call has marked, in their order; see marks.c. */
struct marks {
	struct mark {
		guest_addr start, end;
	} *list;
	size_t count;
};

struct space {
	struct layout layout;
	struct marks locked;	/* in memory; see locks.c */
	bool lock_new;		/* what is mapped is locked, too */
	struct marks growing;	/* by MAP_GROWSDOWN */
	struct peaks peaks;
	guest_addr lost;	/* 0, or a page; see lost_pages.c */
	bool lost_to_guest;	/* it is the guest that has touched it */
	struct eof_tail *tails;	/* see eof_tail.c */
	size_t tail_count;
	struct mapped_file *files;	/* see mapped_files.c */
	size_t file_count;
};

/* ------- memory_calls.c ------- */

/* Whether a program may have all of these addresses; `size` may be 0. */
bool is_user_range(const struct linux_process *process, guest_addr addr,
		   uint64_t size);

/* Whether every page is mapped; whether none is. */
bool is_mapped(struct linux_process *process, guest_addr addr, uint64_t size);
bool is_free(struct linux_process *process, guest_addr addr, uint64_t size);

/* Where a mapping of this size goes; -ENOMEM. */
int64_t find_place(struct linux_process *process, uint64_t size);

/* How memory that is shared, but not a file's, is called; by Linux too. */
#define SHARED_NAME "/dev/zero (deleted)"

/* ------- limits.c: how much may be mapped ------- */

/*
 * Whether `all` bytes more may be mapped, `data` of them private and writable.
 */
bool limits_allow(struct linux_process *process, uint64_t all, uint64_t data);

/* The same of a mapping like `region`, in place of what is mapped there. */
bool limits_allow_region(struct linux_process *process,
			 const struct region *region);

/* The same after what is mapped at `freed` is not any more. */
bool limits_allow_after(struct linux_process *process,
			const struct region *region, guest_addr freed,
			uint64_t freed_size);

/* Up to where of addr..end pages may get this protection. */
guest_addr limits_protect(struct linux_process *process, guest_addr addr,
			  guest_addr end, unsigned prot);

/* Whether the heap may end there; what limits_allow() says is not asked. */
bool limits_allow_brk(const struct linux_process *process, guest_addr end);

/* Where a region starts; the stack, which is mapped as a whole, where used. */
guest_addr limits_start(struct linux_process *process,
			const struct region *region);

/* How many bytes are mapped so. */
uint64_t limits_mapped(struct linux_process *process);

/* ------- marks.c ------- */

/* Marks a range, or does not any more; false: out of memory. */
bool marks_set(struct marks *marks, guest_addr start, guest_addr end);
void marks_clear(struct marks *marks, guest_addr start, guest_addr end);
void marks_drop(struct marks *marks);

/* How many bytes of a range are marked. */
uint64_t marks_size(const struct marks *marks, guest_addr start,
		    guest_addr end);

/* The range is being unmapped: nothing of it is marked any more. */
void mappings_lose_marks(struct linux_process *process, guest_addr addr,
			 uint64_t size);

/* ------- locks.c ------- */

/* How many bytes are locked; whether any of a range is. */
uint64_t locks_size(const struct linux_process *process);
bool locks_have(const struct linux_process *process, guest_addr addr,
		uint64_t size);

/*
 * Before and after `size` bytes are mapped, which are locked if the program
 * asked for it, or if all new ones are: 0, -EPERM, or -EAGAIN.
 */
int locks_allow(struct linux_process *process, uint64_t size, bool asked);
void locks_note_new(struct linux_process *process, guest_addr addr,
		    uint64_t size, bool asked);

/* In the child of a fork, and in another program. */
void locks_forget(struct linux_process *process);

/* ------- eof_tail.c ------- */

/* Looks at a file that has just been mapped. */
void eof_tail_note(struct linux_process *process, const struct region *region,
		   const struct stat *file);

/* The same for a mapping whose file has got another size. */
void eof_tail_cut(struct linux_process *process, const struct region *region,
		  const struct stat *file);

/* The range is being unmapped, with its marks, or gets another protection. */
void eof_tail_forget(struct linux_process *process, guest_addr addr,
		     uint64_t size);
void eof_tail_protect(struct linux_process *process, guest_addr addr,
		      uint64_t size, unsigned prot);
void eof_tail_release(struct linux_process *process);

/* The range has moved; or its pages are mapped once more, with `prot`. */
void eof_tail_move(struct linux_process *process, guest_addr from,
		   guest_addr to, uint64_t size);
void eof_tail_copy(struct linux_process *process, guest_addr from,
		   guest_addr to, uint64_t size, unsigned prot);

/* The guest has made a file longer: what is there now may be accessed. */
void eof_tail_grow(struct linux_process *process, const struct stat *file);

/*
 * The kernel may not access all of a range: whether more of it is there now,
 * because others have made a file longer.
 */
bool eof_tail_look(struct linux_process *process, guest_addr addr,
		   uint64_t size);

/*
 * Looks at a fault.  1: the file has grown, go on; 0: no such page, or it may
 * not be accessed like this; -1: the page is beyond the end, SIGBUS.
 */
int eof_tail_fault(struct linux_process *process, guest_addr addr,
		   enum vm_access access);

/* Whether there is no such page now. */
bool eof_tail_has(struct linux_process *process, guest_addr addr);

/*
 * The protection that the guest knows of a region, which is all such, or not.
 */
unsigned eof_tail_prot(struct linux_process *process,
		       const struct region *region);

/* ------- lost_pages.c ------- */

/* Learns of pages whose file another process has cut short. */
void lost_pages_catch(struct linux_process *process);

/* Whether there is one that has not been mended. */
bool lost_pages_are_there(const struct linux_process *process);

/*
 * Unmaps what is not there, and raises SIGBUS if it was the guest that touched
 * it.
 */
void lost_pages_mend(struct linux_process *process);

/* ------- mapped_files.c ------- */

/* A file has been mapped under this name; -ENOMEM. */
int mapped_files_note(struct linux_process *process, const char *name,
		      const struct stat *file);
void mapped_files_release(struct linux_process *process);

/* Opens a file that is mapped again; a negative errno. */
int mapped_files_find(struct linux_process *process, dev_t dev, ino_t ino,
		      bool to_write);

/* The same of the file that is mapped at `addr`, for a region like this. */
int mapped_files_open(struct linux_process *process,
		      const struct region *region, guest_addr addr);

/*
 * The guest has written to a file.  `offset` is where; negative: up to where
 * the descriptor stands.
 */
void mapped_files_wrote(struct linux_process *process, int fd, int64_t offset,
			uint64_t size);

/* The guest has cut a file or made it longer. */
void mapped_files_resized(struct linux_process *process, int fd);

/* ------- pagemap.c ------- */

/* What the host's pagemap says of a page; Linux's documentation has more. */
#define PAGEMAP_EXCLUSIVE (UINT64_C(1) << 56)
#define PAGEMAP_FILE (UINT64_C(1) << 61)	/* or shared memory */
#define PAGEMAP_SWAPPED (UINT64_C(1) << 62)
#define PAGEMAP_PRESENT (UINT64_C(1) << 63)

/* The same of guest pages, from `page` on, 0 for those that are not mapped. */
void pagemap_entries(struct linux_process *process, int pagemap,
		     uint64_t page, uint64_t *entries, size_t count);

/* The host's, for this; -1. */
int pagemap_open(void);

/* ------- usage.c: how much memory the guest has, and uses ------- */

#define USAGE_LEVELS 3	/* of a page table; the highest is always there */

/*
 * Pages.  Which of them are in the host's memory the host knows, because
 * guest pages are its own; how many others map one it tells nobody, so a page
 * that is not ours alone counts as two processes'.
 */
struct usage {
	uint64_t size;
	uint64_t data, stack, exec;	/* of which; see proc(5), VmData */
	uint64_t anon, file, shared;	/* present: by what they are */
	uint64_t clean_alone, clean_common, dirty_alone, dirty_common;
	uint64_t swapped;
	uint64_t tables;		/* of the page table */
	uint64_t table[USAGE_LEVELS];	/* 1 + the one counted last */
};

/* Adds those of one mapping. */
void usage_add(struct linux_process *process, int pagemap,
	       const struct region *region, struct usage *usage);

/* Of all. */
void usage_of(struct linux_process *process, struct usage *usage);

uint64_t usage_present(const struct usage *usage);

/* How many pages the program's own code has. */
uint64_t usage_code(const struct linux_process *process);

/* Calls `visit` for each line of /proc/self/maps. */
void each_whole_region(struct linux_process *process,
		       void (*visit)(void *context,
				     const struct region *region),
		       void *context);

/* ------- peaks.c ------- */

/* So many bytes are about to be unmapped, or dropped. */
void peaks_before_less(struct linux_process *process, uint64_t size);

/* All is about to be replaced. */
void peaks_before_exec(struct linux_process *process);

/* In the child of a fork. */
void peaks_forget(struct linux_process *process);

/* The most that there was until now, when there is as much as `usage` says. */
struct peaks peaks_with(struct linux_process *process,
			const struct usage *usage);

/* ------- calls ------- */

syscall_handler sys_mmap;
syscall_handler sys_mprotect;
syscall_handler sys_pkey_mprotect;
syscall_handler sys_munmap;
syscall_handler sys_brk;
syscall_handler sys_mremap;
syscall_handler sys_msync;
syscall_handler sys_mincore;
syscall_handler sys_madvise;
syscall_handler sys_mlock;
syscall_handler sys_mlock2;
syscall_handler sys_munlock;
syscall_handler sys_mlockall;
syscall_handler sys_munlockall;
syscall_handler sys_getrusage;
syscall_handler sys_process_vm_readv;
syscall_handler sys_process_vm_writev;

#endif
