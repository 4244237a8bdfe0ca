/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * memory.h - the guest's address space, and who learns of its changes
 *
 * A sorted array of regions maps guest pages to pages of the arena, one large
 * host reservation that the engine knows as "physical" memory.  The array is
 * the page table: the engine asks it at each miss of its TLB.
 *
 * When tracking is on, a page of the arena is inaccessible to the host until
 * it is first touched, by translated code (the SIGSEGV handler sees it; in a
 * replay the TLB misses it, without a handler) or by the functions here: then
 * the observer learns of it.  Pages that were touched cost nothing until
 * memory_arm() closes them again.
 *
 * A doubtful page is one that something outside the guest may have changed.
 * Its first touch is told as `resolve`.
 *
 * Memory that is shared with other processes is doubtful until it is touched;
 * then this process is inside (vm/memory/family.h) and the others wait, until
 * memory_doubt_shared().
 *
 * Common pages: the calls about touches, doubts and contents are told with the
 * address under which a page is known (memory_home()); calls that take an
 * address take either.
 *
 * Units:      addresses and sizes are bytes, guest virtual; whole pages where
 *             said.  A doubt's number counts from 1.
 * Ownership:  the caller ends a memory with memory_destroy(); names given to
 *             memory_map() are copied.
 * Errors:     ERR_NOT_FOUND (not mapped or not permitted: EFAULT to a guest),
 *             ERR_SYSTEM, ERR_NO_MEMORY.
 * Threads:    one uses a memory; others may use others.  Faults that are none
 *             of theirs go to the handlers that the process had before the
 *             first memory was tracked.
 */
#ifndef CPREC_VM_MEMORY_MEMORY_H
#define CPREC_VM_MEMORY_MEMORY_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/region.h"

struct failure;
struct memory;

enum vm_access { ACCESS_READ, ACCESS_WRITE, ACCESS_FETCH };

#define MEMORY_ATTACHED UINT64_MAX	/* a device that no file is on */

/*
 * Any member may be NULL.  The calls about touches come from inside a signal
 * handler while the guest runs: they may use the C library (the guest never
 * interrupts it), but must not run the guest or change the regions.
 */
struct memory_observer {
	void *context;

	/* The first read or write of a page since memory_arm().  A page next
	 * to one that is touched, or that was touched before, may be told
	 * without having been touched. */
	void (*first_read)(void *context, uint64_t page);
	void (*first_write)(void *context, uint64_t page);

	/* The first touch of a doubtful page.  Recording: `bytes` is what the
	 * guest will see.  Replaying: the callee fills it in. */
	void (*resolve)(void *context, uint64_t page, uint64_t doubt,
			uint8_t *bytes);

	/* The first touch of an absent page: the callee fills it in, and
	 * those behind it, `count` in all. */
	void (*supply)(void *context, uint64_t page, uint64_t count,
		       uint8_t *bytes);

	/* Whether an absent page will probably be touched: then it is
	 * supplied along with a neighbour that is. */
	bool (*expects)(void *context, uint64_t page);

	/* Changes of the address space, after they were made. */
	void (*mapped)(void *context, const struct region *region);
	void (*unmapped)(void *context, guest_addr addr, uint64_t size);
	void (*protected)(void *context, guest_addr addr, uint64_t size,
			  unsigned prot);
	void (*moved)(void *context, guest_addr from, guest_addr to,
		      uint64_t size);
	void (*cleared)(void *context, guest_addr addr, uint64_t size);

	/* The kernel wrote here; the bytes are in place. */
	void (*wrote)(void *context, guest_addr addr, uint64_t size);

	/* The present thread touches a page that others have changed since it
	 * last knew it.  `before` is what it knew; NULL if that is not known,
	 * or is as it was when the segment started.  Only if it is set, what
	 * threads know is kept account of. */
	void (*learned)(void *context, uint64_t page, const uint8_t *before,
			const uint8_t *now);

	/* Whole pages have become doubtful under this number. */
	void (*doubted)(void *context, guest_addr addr, uint64_t size,
			uint64_t doubt);
};

/*
 * `observer` must outlive the memory; NULL for none.  With `resolve` set,
 * pages can be doubtful; with `first_write` set, touches are tracked.
 */
int memory_create(struct memory **out, const struct memory_observer *observer,
		  struct failure *why);
void memory_destroy(struct memory *memory);

/*
 * Linear memory: what programs map below 2^MEMORY_LINEAR_BITS is in the arena
 * where its address says, and the arena itself is at an address below 2^31.
 * While it is guarded, the host can access it as the guest may, or less; so
 * translated code may access it directly.
 *
 * memory_line_up() is for a memory that was just created.  If the host does not
 * give the addresses, it is as it was.
 */
#define MEMORY_LINEAR_BITS 46u
int memory_line_up(struct memory *memory, struct failure *why);
bool memory_is_guarded(const struct memory *memory);
void memory_end_guarding(struct memory *memory);

/* The highest address that programs should be given, and one. */
guest_addr memory_reach(const struct memory *memory);

/*
 * Has `fault` called first, from a signal handler, when the host refuses an
 * access to `at`, by its instruction at `pc`; false: it is not the guest's.
 */
typedef bool memory_guest_fault(void *context, uintptr_t pc, const uint8_t *at,
				bool writes);
void memory_on_guest_fault(struct memory *memory, memory_guest_fault *fault,
			   void *context);

/* Opens a page that the guest may access and the host not yet; else false. */
bool memory_admit(struct memory *memory, const uint8_t *at, bool writes);

/* Before the guest runs. */
void memory_settle(struct memory *memory);

/* Writes to a page of the arena, which has code, are to be noticed; or not. */
bool memory_watch_code(struct memory *memory, uint64_t page, bool is_watched);

/* There is no code any more whose writes are to be noticed. */
void memory_forget_code(struct memory *memory);

/* Unmaps what the guest has, for a process that will never look at it. */
void memory_let_go(struct memory *memory);

/* ------- the address space ------- */

/*
 * Maps zeros (`fd` < 0) or a file at region->start..end, over whatever was
 * there.  A REGION_FILE maps the file privately, a REGION_SHARED shared; with
 * region->common, these common pages, which are mapped.  Where pages of a file
 * are mapped shared again, they become common pages (formats/region.h): the
 * observer is told of several regions then.
 * With tracking on, pages of files start doubtful (under a new number) and
 * the `mapped` call is followed by a `doubted` one.
 */
int memory_map(struct memory *memory, const struct region *region, int fd,
	       struct failure *why);
int memory_unmap(struct memory *memory, guest_addr addr, uint64_t size);

/* All that a program can map, and common pages. */
void memory_unmap_all(struct memory *memory);

/*
 * Maps a file shared that no other process has or can open: until
 * memory_end_alone() its pages are like private ones.
 */
int memory_map_alone(struct memory *memory, const struct region *region,
		     int fd, struct failure *why);

/*
 * Other processes will share what was mapped alone: its pages become doubtful.
 * To be called before a fork.  ERR_NO_MEMORY.
 */
int memory_end_alone(struct memory *memory);

/*
 * Maps memory that the host itself shares, all of which it has mapped at
 * `host`, perhaps limited to reading; it stays the caller's to unmap.
 * `number` says what it is.
 */
int memory_attach(struct memory *memory, const struct region *region,
		  uint8_t *host, bool is_limited, uint64_t number,
		  struct failure *why);

/*
 * Maps a region that has the same pages as what is mapped shared at `like`,
 * all of them in one mapping there.
 */
int memory_map_again(struct memory *memory, const struct region *region,
		     guest_addr like);

/* Which file is mapped at an address; false if that is not known. */
bool memory_file_at(const struct memory *memory, guest_addr addr,
		    uint64_t *dev, uint64_t *ino);

/* The number of what was attached at an address; false if nothing was. */
bool memory_attached_at(const struct memory *memory, guest_addr addr,
			uint64_t *number);

/* Bytes of all regions. */
uint64_t memory_size(const struct memory *memory);

/* How many mappings there are of what was attached under a number. */
size_t memory_count_attached(const struct memory *memory, uint64_t number);

/*
 * The address under which the contents at `addr` are known: that of a common
 * page, or `addr`.
 */
guest_addr memory_home(struct memory *memory, guest_addr addr);

/* Of a common page, an address at which the guest has it; else `addr`. */
guest_addr memory_address(const struct memory *memory, guest_addr addr);

/* All of the range must be mapped, else ERR_NOT_FOUND (ENOMEM to a guest). */
int memory_protect(struct memory *memory, guest_addr addr, uint64_t size,
		   unsigned prot);

/* Moves whole mapped pages; what was at the target is unmapped first. */
int memory_move(struct memory *memory, guest_addr from, guest_addr to,
		uint64_t size);

/*
 * Drops the contents of mapped pages: zeros again; those of a file are as in
 * the file again, and doubtful.
 */
int memory_clear(struct memory *memory, guest_addr addr, uint64_t size);

/* The regions, sorted by address; valid until the next change. */
const struct region *memory_regions(const struct memory *memory,
				    size_t *count);

/* The same, and behind them those of common pages. */
const struct region *memory_all_regions(const struct memory *memory,
					size_t *count);

/* The region that holds `addr`, or NULL. */
const struct region *memory_region_at(const struct memory *memory,
				      guest_addr addr);

/*
 * Where from `addr` on, before `end`, pages of a file begin that is mapped
 * shared and may not be written; `end` if nowhere.
 */
guest_addr memory_limited_from(const struct memory *memory, guest_addr addr,
			       guest_addr end);

/* The first region that ends above `addr`, or NULL. */
const struct region *memory_region_from(const struct memory *memory,
					guest_addr addr);

/*
 * The highest gap of `size` bytes below `top` and at or above `bottom`;
 * 0 if there is none.  This is where mmap without an address goes.
 */
guest_addr memory_find_gap(const struct memory *memory, uint64_t size,
			   guest_addr bottom, guest_addr top);

/* ------- contents, from the host ------- */

/*
 * Copies; the whole range must be mapped and readable.  The kernel reads: of
 * shared memory, what is there at this moment.
 */
int memory_read(struct memory *memory, guest_addr addr, void *bytes,
		size_t size);

/*
 * Code, as the processor fetches it: without touching anything, whatever the
 * permissions.  How many bytes, up to what is not mapped.
 */
size_t memory_code(struct memory *memory, guest_addr addr, void *bytes,
		   size_t size);

/*
 * The same, no further than the end of the page: a replay may not know the next
 * one, if the program never touched it.
 */
size_t memory_code_of_page(struct memory *memory, guest_addr addr, void *bytes,
			   size_t size);

/* The guest itself reads, by an instruction that the host performs. */
int memory_load(struct memory *memory, guest_addr addr, void *bytes,
		size_t size);

/* The same for an onlooker: whatever is mapped, also without permission. */
int memory_look(struct memory *memory, guest_addr addr, void *bytes,
		size_t size);

/*
 * Copies a string and its final NUL into `text`.  ERR_NOT_FOUND, or
 * ERR_TRUNCATED if there is no NUL within `room` bytes.
 */
int memory_read_string(struct memory *memory, guest_addr addr, char *text,
		       size_t room);

/*
 * The kernel writes: the whole range must be mapped and writable by the
 * guest.  The observer learns it as `wrote`.
 */
int memory_write(struct memory *memory, guest_addr addr, const void *bytes,
		 size_t size);

/* Like memory_write(), but neither asks for nor heeds the protection. */
int memory_poke(struct memory *memory, guest_addr addr, const void *bytes,
		size_t size);

/* The guest itself writes, by an instruction that the host performs. */
int memory_store(struct memory *memory, guest_addr addr, const void *bytes,
		 size_t size);

enum memory_use {
	MEMORY_IN,	/* the host reads: write(2) */
	MEMORY_OUT,	/* the host overwrites: read(2) */
};

/*
 * Host address of guest memory for direct use by a host system call, made
 * accessible; that of shared memory stays so.  `*span` is how many of `size`
 * bytes are contiguous there (at least 1); go on at addr + *span for the rest.
 * NULL if the first byte is not mapped with the protection that the use needs.
 * After MEMORY_OUT, tell what came with memory_wrote().
 */
uint8_t *memory_at(struct memory *memory, guest_addr addr, uint64_t size,
		   enum memory_use use, uint64_t *span);

/*
 * Says that the kernel wrote `size` bytes at `addr` through memory_at().
 * Small amounts are told as `wrote`; of large ones the whole pages become
 * doubtful instead.
 */
void memory_wrote(struct memory *memory, guest_addr addr, uint64_t size);

/*
 * Has `lost` called, from a signal handler, when a page of a mapped file is
 * touched that the file no longer has.  `kernel`: by a function here that
 * stands for the kernel, which then fails with ERR_NOT_FOUND, or NULL.  Else
 * the guest goes on, and finds zeros.
 */
void memory_on_lost(struct memory *memory,
		    void (*lost)(void *context, guest_addr addr, bool kernel),
		    void *context);

/*
 * Sets the handler for a SIGSEGV or SIGBUS that a process has sent, rather than
 * a fault raised.  Without one, such a signal ends cprec.
 */
typedef void memory_signal(int number, siginfo_t *info, void *context);
void memory_on_sent(struct memory *memory, memory_signal *sent);

/* ------- tracking ------- */

/*
 * Closes pages, so that first touches are told again.  Those that will probably
 * be touched stay open, and are told now.
 */
void memory_arm(struct memory *memory);

/* How often pages had to be opened so far, alone or with their neighbours. */
uint64_t memory_touches(const struct memory *memory);

/* A huge page of the host has so many bytes, or more. */
#define HUGE_PAGE (UINT64_C(1) << 21)

/*
 * ns that this host takes for a fault that gives a process a page, measured anew.
 * Processors take less than a thousand; virtual machines without the processor's
 * help for page tables take ten thousand.
 */
uint64_t memory_fault_cost(void);

/*
 * Right before memory_arm(): what was told as written holds what it held before.
 * If it is only read next time, that is told as a read.
 */
void memory_found_unchanged(struct memory *memory, uint64_t page);

/*
 * The first page at or above `page` and below `end` that may have been touched
 * since it was mapped; `end` if there is none.  All of them are mapped.
 */
uint64_t memory_next_touched(const struct memory *memory, uint64_t page,
			     uint64_t end);

/* ------- memory of several processes ------- */

/*
 * This process, and those that it forks, take turns at memory that they share.
 * Before any is mapped.  `move` is as in family_create(); `call`, if not NULL,
 * as in family_watch().
 */
int memory_share(struct memory *memory, int (*move)(int fd),
		 void (*call)(void *context), void *context,
		 struct failure *why);

/*
 * Other processes may run: the known pages of shared mappings become doubtful
 * again, each under a number of its own, and the others may touch them.  To be
 * called before anything that waits, and when memory_is_wanted().
 */
void memory_doubt_shared(struct memory *memory);

/*
 * Whether other processes may see, and change, what is mapped at an address.
 */
bool memory_others_share(struct memory *memory, guest_addr addr);

/*
 * The kernel is about to write bytes for the guest.  If others may share any of
 * them, waits until no other process looks, until memory_leave().
 */
void memory_enter(struct memory *memory, guest_addr addr, uint64_t size);
void memory_leave(struct memory *memory);

/*
 * The kernel is about to change a file, which may be mapped shared: waits until
 * no other process looks, unless none has mapped any.  Until
 * memory_doubt_shared().
 */
void memory_enter_files(struct memory *memory);

/* Whether other processes wait for this one to doubt its shared pages. */
bool memory_is_wanted(const struct memory *memory);

/*
 * How many steps the guest may run before memory_is_wanted() must be called.
 * To be called once for each run.
 */
uint64_t memory_turn(struct memory *memory);

/* Makes shared memory known, as it is now.  All of it must be mapped. */
void memory_know(struct memory *memory, guest_addr addr, uint64_t size);

/* The number of the newest doubt; the next one is one more. */
uint64_t memory_doubt(const struct memory *memory);
void memory_set_doubt(struct memory *memory, uint64_t newest);

/* The doubt of a mapped page, 0 if it is not doubtful. */
uint64_t memory_page_doubt(const struct memory *memory, uint64_t page);

/*
 * Visits the doubtful pages as ranges of one number, in address order.
 */
void memory_each_doubt(struct memory *memory,
		       void (*visit)(void *context, uint64_t page,
				     uint64_t count, uint64_t doubt),
		       void *context);

/* Replay: makes whole mapped pages doubtful under `doubt`. */
int memory_set_doubtful(struct memory *memory, guest_addr addr, uint64_t size,
			uint64_t doubt);

/*
 * The same of pages that others may change from now on: memory_kept() tells
 * what those held that were known.
 */
int memory_doubt_kept(struct memory *memory, guest_addr addr, uint64_t size,
		      uint64_t doubt);

/* Replay: what a doubtful page held that was known; false if it was not. */
bool memory_kept(struct memory *memory, uint64_t page,
		 uint8_t bytes[GUEST_PAGE]);

/*
 * Replay: makes all mapped pages that are not doubtful absent, to be supplied
 * at first touch.  An absent page that moves is still supplied as the page
 * that it was here.
 */
void memory_set_absent(struct memory *memory);

/*
 * Replay: makes all mapped pages absent, doubtful ones too.  What had been
 * executed of pages that cannot have changed is kept.  Other than pages that
 * were just mapped, they do not hold zeros: `supply` must fill those in.
 *
 * A page that was supplied, and that nothing can have written since, keeps what
 * it holds if `stays` says that it would be supplied with the same again.
 */
void memory_restart(struct memory *memory,
		    bool (*stays)(void *context, uint64_t page),
		    void *context);

/*
 * Replay: pages are doubtful again under a number under which they were before:
 * what was executed of them then is kept.
 */
int memory_restore_doubt(struct memory *memory, guest_addr addr, uint64_t size,
			 uint64_t doubt);

/*
 * Replay: has those of these pages that are absent supplied now, since they
 * will be touched.
 */
void memory_supply(struct memory *memory, uint64_t page, uint64_t count);

/*
 * Replay: these mapped pages hold these bytes, and are neither absent nor
 * doubtful any more.
 */
void memory_fill(struct memory *memory, uint64_t page, uint64_t count,
		 const uint8_t *bytes);

/* The bytes of a page for inspection, without telling anybody; NULL if it is
 * not mapped, doubtful or absent.  Valid until the guest runs. */
const uint8_t *memory_peek(struct memory *memory, uint64_t page);

/* Whether memory_peek() would show the page; the host need not. */
bool memory_is_known(struct memory *memory, uint64_t page);

/*
 * Where the host has guest memory, to ask the host about it, not to touch it;
 * NULL if the first byte is not mapped.  `*span` is as for memory_at().
 */
const uint8_t *memory_host(struct memory *memory, guest_addr addr,
			   uint64_t size, uint64_t *span);

#endif
