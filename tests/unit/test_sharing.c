/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_sharing.c - memory of several processes, and who of them may touch it */
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "formats/error.h"
#include "tests/unit/told.h"
#include "vm/memory/family.h"
#include "vm/memory/memory_internal.h"

#define BASE 0x100000u
#define PAGE(n) (BASE + (guest_addr)(n) * GUEST_PAGE)
#define NUMBER(n) (PAGE(n) >> GUEST_PAGE_SHIFT)

/* ------- a child that says how far it is ------- */

static int ends[2], start_ends[2];

static void say(char what)
{
	(void)!write(ends[1], &what, 1);
}

/* What was said within so many milliseconds; 0 if nothing. */
static char hear(int milliseconds)
{
	struct pollfd wait = { .fd = ends[0], .events = POLLIN };
	char what = 0;

	if (poll(&wait, 1, milliseconds) > 0)
		(void)!read(ends[0], &what, 1);
	return what;
}

/* Makes a child that does its work when let_go() is called. */
static pid_t start_child(void (*work)(void))
{
	pid_t pid;

	assert_int_equal(pipe(ends), 0);
	assert_int_equal(pipe(start_ends), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		char byte;

		(void)!read(start_ends[0], &byte, 1);
		work();
		_exit(0);
	}
	return pid;
}

static void let_go(void)
{
	assert_int_equal(write(start_ends[1], "", 1), 1);
}

static void end_child(pid_t pid)
{
	int status;

	assert_int_equal(waitpid(pid, &status, 0), pid);
	for (int i = 0; i < 2; i++) {
		close(ends[i]);
		close(start_ends[i]);
	}
}

static void nap(long milliseconds)
{
	const struct timespec length = { 0, milliseconds * 1000000 };

	nanosleep(&length, NULL);
}

/* ------- the family ------- */

static struct family *family;

static void enter_and_leave(void)
{
	say('a');
	family_enter(family);
	say('b');
	family_leave(family);
}

static void one_is_inside(void **state)
{
	struct failure why;
	pid_t pid;

	(void)state;
	assert_int_equal(family_create(&family, NULL, &why), 0);
	family_leave(family);
	pid = start_child(enter_and_leave);
	family_enter(family);
	family_enter(family);
	assert_false(family_is_wanted(family));
	let_go();
	assert_int_equal(hear(5000), 'a');
	assert_int_equal(hear(50), 0);
	assert_true(family_is_wanted(family));
	family_leave(family);
	assert_false(family_is_wanted(family));
	assert_int_equal(hear(5000), 'b');
	end_child(pid);
	family_enter(family);
	assert_false(family_is_wanted(family));
	family_destroy(family);
}

/* Whoever left because others wait lets them go first. */
static void pass_to_and_fro(void)
{
	for (int i = 0; i < 20; i++) {
		family_enter(family);
		say('c');
		for (int j = 0; j < 100 && !family_is_wanted(family); j++)
			nap(1);
		family_leave(family);
	}
}

static void who_leaves_is_last(void **state)
{
	struct failure why;
	int in_order = 0;
	pid_t pid;

	(void)state;
	assert_int_equal(family_create(&family, NULL, &why), 0);
	pid = start_child(pass_to_and_fro);
	family_enter(family);
	let_go();
	for (int i = 0; i < 20; i++) {
		for (int j = 0; j < 100 && !family_is_wanted(family); j++)
			nap(1);
		family_leave(family);
		family_enter(family);
		in_order += hear(0) == 'c';
	}
	family_leave(family);
	end_child(pid);
	assert_true(in_order >= 10);
	family_destroy(family);
}

static void enter_and_stay(void)
{
	family_enter(family);
	say('d');
	for (;;)
		pause();
}

static void the_dead_are_not_inside(void **state)
{
	struct failure why;
	pid_t pid;

	(void)state;
	assert_int_equal(family_create(&family, NULL, &why), 0);
	pid = start_child(enter_and_stay);
	let_go();
	assert_int_equal(hear(5000), 'd');
	kill(pid, SIGKILL);
	/* Nobody has waited for it. */
	family_enter(family);
	end_child(pid);
	family_destroy(family);
}

/* One that waits and is killed is not waited for for ever. */
static void the_dead_want_nothing(void **state)
{
	struct failure why;
	pid_t pid;

	(void)state;
	assert_int_equal(family_create(&family, NULL, &why), 0);
	pid = start_child(enter_and_leave);
	family_enter(family);
	let_go();
	while (!family_is_wanted(family))
		nap(1);
	kill(pid, SIGKILL);
	end_child(pid);
	family_leave(family);
	family_enter(family);
	nap(5);
	assert_false(family_is_wanted(family));
	family_destroy(family);
}

static volatile int calls;

static void on_call(void *context)
{
	assert_ptr_equal(context, &calls);
	calls++;
}

static void the_watch_calls(void **state)
{
	struct failure why;
	pid_t pid;

	(void)state;
	assert_int_equal(family_create(&family, NULL, &why), 0);
	family_watch(family, on_call, (void *)(uintptr_t)&calls);
	for (int i = 0; i < 3; i++) {
		pid = start_child(enter_and_leave);
		family_enter(family);
		nap(5);
		assert_int_equal(calls, 0);
		let_go();
		while (!calls)
			nap(1);
		family_leave(family);
		end_child(pid);
		/* Long enough for it to fall asleep, every other time. */
		nap(i % 2 ? 150 : 3);
		calls = 0;
	}
	family_destroy(family);
}

/* ------- memory ------- */

static int page_of(uint64_t page)
{
	return (int)(page - NUMBER(0));
}

static void on_first_write(void *context, uint64_t page)
{
	(void)context;
	tell("write %d;", page_of(page));
}

static void on_resolve(void *context, uint64_t page, uint64_t doubt,
		       uint8_t *bytes)
{
	(void)context;
	tell("resolve %d %u %02x;", page_of(page), (unsigned)doubt, bytes[0]);
}

static void on_wrote(void *context, guest_addr addr, uint64_t size)
{
	(void)context;
	tell("wrote %#x+%u;", (unsigned)(addr - BASE), (unsigned)size);
}

static void on_doubted(void *context, guest_addr addr, uint64_t size,
		       uint64_t doubt)
{
	(void)context;
	tell("doubt %d+%d %u;", page_of(addr >> GUEST_PAGE_SHIFT),
	     (int)(size >> GUEST_PAGE_SHIFT), (unsigned)doubt);
}

static const struct memory_observer recording = {
	.first_write = on_first_write, .resolve = on_resolve,
	.wrote = on_wrote, .doubted = on_doubted,
};

static struct memory *memory;

/* Shared pages 0 to 8, and ordinary ones from 8 to 10. */
static void start(const struct memory_observer *observer)
{
	struct region region = {
		.start = PAGE(0), .end = PAGE(8),
		.prot = MAY_READ | MAY_WRITE, .kind = REGION_SHARED,
		.name = "shared",
	};
	int fd = memfd_create("shared", MFD_CLOEXEC);
	struct failure why;

	assert_int_equal(memory_create(&memory, observer, &why), 0);
	assert_int_equal(memory_share(memory, NULL, NULL, NULL, &why), 0);
	assert_int_equal(ftruncate(fd, 8 * GUEST_PAGE), 0);
	assert_int_equal(memory_map(memory, &region, fd, &why), 0);
	close(fd);
	region = (struct region){
		.start = PAGE(8), .end = PAGE(10),
		.prot = MAY_READ | MAY_WRITE, .name = "",
	};
	assert_int_equal(memory_map(memory, &region, -1, &why), 0);
	told[told_size = 0] = 0;
}

static int end(void **state)
{
	(void)state;
	memory_destroy(memory);
	memory = NULL;
	told[told_size = 0] = 0;
	return 0;
}

/* Touches as translated code does. */
static uint8_t *host(int page)
{
	struct mapping *map = memory_find(memory, PAGE(page));

	return memory->arena + mapping_arena(map, PAGE(page));
}

static uint8_t load(int page)
{
	return *(volatile uint8_t *)host(page);
}

static void store(int page, uint8_t byte)
{
	*(volatile uint8_t *)host(page) = byte;
}

static void touch_shared(void)
{
	say('e');
	store(1, 'x');
	say('f');
	memory_doubt_shared(memory);
	say('g');
}

static void touching_is_for_one(const struct memory_observer *observer)
{
	pid_t pid;

	start(observer);
	pid = start_child(touch_shared);
	store(1, 'a');
	let_go();
	assert_int_equal(hear(5000), 'e');
	assert_int_equal(hear(50), 0);
	assert_true(memory_is_wanted(memory));
	assert_int_equal(load(1), 'a');
	/* What is not shared waits for nobody. */
	assert_int_equal(load(8), 0);
	memory_doubt_shared(memory);
	assert_int_equal(hear(5000), 'f');
	assert_int_equal(hear(5000), 'g');
	assert_int_equal(load(1), 'x');
	memory_doubt_shared(memory);
	end_child(pid);
}

static void touching_recorded(void **state)
{
	(void)state;
	touching_is_for_one(&recording);
}

static void touching_not_recorded(void **state)
{
	(void)state;
	touching_is_for_one(NULL);
}

static void doubts_are_told(void **state)
{
	(void)state;
	start(&recording);
	store(1, 'a');
	load(2);
	store(5, 'b');
	store(1, 'c');
	assert_told("resolve 1 1 00;write 1;resolve 2 1 00;"
		    "resolve 5 1 00;write 5;");
	assert_int_equal(memory_page_doubt(memory, NUMBER(1)), 0);
	assert_int_equal(memory_page_doubt(memory, NUMBER(3)), 1);
	memory_doubt_shared(memory);
	assert_told("doubt 1+1 2;doubt 2+1 3;doubt 5+1 4;");
	memory_doubt_shared(memory);
	assert_told("");
	assert_int_equal(load(1), 'c');
	assert_told("resolve 1 2 63;");
	/* What has gone since is not doubted. */
	load(2);
	assert_int_equal(memory_unmap(memory, PAGE(1), GUEST_PAGE), 0);
	told[told_size = 0] = 0;
	memory_doubt_shared(memory);
	assert_told("doubt 2+1 5;");
	/* At another place it is the same page. */
	load(2);
	assert_int_equal(memory_move(memory, PAGE(2), PAGE(20), GUEST_PAGE),
			 0);
	told[told_size = 0] = 0;
	memory_doubt_shared(memory);
	assert_told("doubt 20+1 6;");
	store(20, 'd');
	assert_int_equal(load(20), 'd');
}

/*
 * The kernel is not the guest: what it reads is not known because of that, and
 * what it writes is doubtful at once.
 */
static void kernel_goes_by(void **state)
{
	uint64_t span;
	uint8_t *at;
	char bytes[8];

	(void)state;
	start(&recording);
	assert_int_equal(memory_write(memory, PAGE(1) - 2, "abcd", 4), 0);
	assert_int_equal(memory_read(memory, PAGE(1) - 2, bytes, 4), 0);
	assert_memory_equal(bytes, "abcd", 4);
	at = memory_at(memory, PAGE(3), GUEST_PAGE, MEMORY_OUT, &span);
	assert_non_null(at);
	at[0] = 'k';
	memory_wrote(memory, PAGE(3), 1);
	assert_told("doubt 0+1 2;resolve 0 2 00;doubt 0+1 3;"
		    "doubt 1+1 4;resolve 1 4 63;doubt 1+1 5;"
		    "doubt 3+1 6;resolve 3 6 6b;doubt 3+1 7;");
	/* If it is much, that is for the first touch to tell. */
	memory_wrote(memory, PAGE(2), 4 * GUEST_PAGE);
	assert_told("doubt 2+4 8;");
	/* From shared memory into what is not. */
	assert_int_equal(memory_write(memory, PAGE(8) - 2, "efgh", 4), 0);
	assert_told("write 8;doubt 7+1 9;resolve 7 9 00;doubt 7+1 10;"
		    "wrote 0x8000+2;");
	/* Where the guest has it open, the guest's recording needs it. */
	assert_int_equal(load(3), 'k');
	assert_told("resolve 3 8 6b;");
	assert_int_equal(memory_write(memory, PAGE(3), "l", 1), 0);
	assert_told("wrote 0x3000+1;");
	assert_int_equal(load(3), 'l');
	memory_doubt_shared(memory);
	assert_told("doubt 3+1 11;");
	/* Such an address stays open. */
	assert_int_equal(at[0], 'l');
	memory_know(memory, PAGE(3) + 5, GUEST_PAGE);
	assert_told("resolve 3 11 6c;resolve 4 8 00;");
	memory_know(memory, PAGE(7) + 5, GUEST_PAGE);
	assert_told("resolve 7 10 00;");
	/* An instruction that the host performs is the guest's. */
	assert_int_equal(memory_load(memory, PAGE(6), bytes, 1), 0);
	assert_told("resolve 6 1 00;");
	assert_int_equal(memory_store(memory, PAGE(5), "m", 1), 0);
	assert_told("resolve 5 8 00;write 5;");
}

/* Shared memory that nobody else has is like any other, up to a fork. */
static void alone_is_private(void **state)
{
	const struct region region = {
		.start = PAGE(16), .end = PAGE(24),
		.prot = MAY_READ | MAY_WRITE, .kind = REGION_SHARED,
		.name = "alone",
	};
	int fd = memfd_create("alone", MFD_CLOEXEC);
	struct failure why;
	uint8_t *alias;

	(void)state;
	start(&recording);
	assert_int_equal(ftruncate(fd, 8 * GUEST_PAGE), 0);
	assert_int_equal(memory_map_alone(memory, &region, fd, &why), 0);
	alias = mmap(NULL, 8 * GUEST_PAGE, PROT_READ | PROT_WRITE, MAP_SHARED,
		     fd, 0);
	assert_ptr_not_equal(alias, MAP_FAILED);
	close(fd);
	assert_told("");
	store(17, 'a');
	assert_int_equal(memory_write(memory, PAGE(20), "b", 1), 0);
	assert_told("write 17;write 20;wrote 0x14000+1;");
	memory_doubt_shared(memory);
	assert_told("");
	assert_int_equal(memory_page_doubt(memory, NUMBER(17)), 0);
	assert_int_equal(load(20), 'b');
	/* What the kernel writes, however much: a doubt would mean others. */
	memory_wrote(memory, PAGE(16), 5 * GUEST_PAGE);
	assert_told("wrote 0x10000+20480;");
	assert_int_equal(memory_end_alone(memory), 0);
	assert_told("doubt 16+8 2;");
	assert_int_equal(memory_end_alone(memory), 0);
	assert_told("");
	alias[GUEST_PAGE] = 'c';
	assert_int_equal(load(17), 'c');
	assert_told("resolve 17 2 63;");
	memory_doubt_shared(memory);
	assert_told("doubt 17+1 3;");
	munmap(alias, 8 * GUEST_PAGE);
}

/* Looks are frequent for a while after a touch. */
static void turns_are_short(void **state)
{
	int looks = 0;

	(void)state;
	start(&recording);
	assert_true(memory_turn(memory) == UINT64_MAX);
	store(0, 1);
	assert_true(memory_turn(memory) < UINT64_MAX);
	memory_doubt_shared(memory);
	while (memory_turn(memory) < UINT64_MAX)
		looks++;
	assert_true(looks > 1 && looks < 1000);
	store(0, 2);
	assert_true(memory_turn(memory) < UINT64_MAX);
}

int main(void)
{
	static struct test_list list;

	add_test(&list, "one is inside", one_is_inside, NULL);
	add_test(&list, "who leaves is last", who_leaves_is_last, NULL);
	add_test(&list, "the dead are not inside", the_dead_are_not_inside,
		 NULL);
	add_test(&list, "the dead want nothing", the_dead_want_nothing, NULL);
	add_test(&list, "the watch calls", the_watch_calls, NULL);
	add_test(&list, "touching is for one, recorded", touching_recorded,
		 NULL);
	add_test(&list, "touching is for one, not recorded",
		 touching_not_recorded, NULL);
	add_test(&list, "doubts are told", doubts_are_told, NULL);
	add_test(&list, "the kernel goes by", kernel_goes_by, NULL);
	add_test(&list, "alone it is private", alone_is_private, NULL);
	add_test(&list, "turns are short", turns_are_short, NULL);
	for (size_t i = 5; i < list.count; i++)
		list.tests[i].teardown_func = end;
	return run_list("sharing", &list);
}
