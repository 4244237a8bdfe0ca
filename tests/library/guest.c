/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * guest.c - what the library is asked about: it says itself what is true
 *
 * Each line that it prints is "NAME VALUE...".  In the end it follows a pointer
 * that leads nowhere.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define LOOPS 50

struct item {
	struct item *next;
	int price;
	char name[12];
};

struct item *head;
volatile long counter;
volatile struct {
	unsigned low : 3, high : 5;
} bits;
double ratio = 1.5;
unsigned char pattern[16];

__attribute__((noinline)) static void add(const char *name, int price)
{
	struct item *item = malloc(sizeof(*item));

	item->next = head;
	item->price = price;
	snprintf(item->name, sizeof(item->name), "%s", name);
	head = item;
	counter += price;		/* this line writes it */
	bits.low = (unsigned)counter & 7;
	bits.high = (unsigned)counter >> 3 & 31;
}

__attribute__((noinline)) static int total(const struct item *item)
{
	int rest;

	if (!item)
		return 0;
	rest = item->price;		/* this line crashes */
	return rest + total(item->next);
}

static void *work(void *context)
{
	printf("tid %ld\n", (long)syscall(SYS_gettid));
	for (int i = 0; i < LOOPS; i++)
		counter++;
	return context;
}

/* Registers of which everybody knows what is in them. */
__attribute__((noinline)) static void mark(void)
{
	__asm__ volatile("movabs $0x1122334455667788, %%r12\n\t"
			 "mov $0x2345, %%r13d\n\t"
			 ".globl marked\n"
			 "marked:\n\t"
			 "nop" ::: "r12", "r13");
}

int main(void)
{
	pthread_t thread;
	int sum;

	setvbuf(stdout, NULL, _IOLBF, 0);
	printf("pid %ld\n", (long)getpid());
	add("apples", 3);
	add("pears", 5);
	add("plums", 7);
	for (unsigned i = 0; i < sizeof(pattern); i++)
		pattern[i] = (unsigned char)(i * 17);
	if (pthread_create(&thread, NULL, work, NULL))
		return 2;
	pthread_join(thread, NULL);
	mark();
	sum = total(head);
	printf("sum %d\ncounter %ld\n", sum, counter);
	printf("addresses %p %p %p %p\n", (void *)&counter, (void *)&head,
	       (void *)head, (void *)pattern);
	printf("code %p\n", (void *)(uintptr_t)main);
	head->next->next = (struct item *)0x10;
	return total(head);
}
