/* SPDX-License-Identifier: GPL-2.0-or-later */
/* oracle_syscall.c - memory that the kernel writes and maps */
#include "tests/oracle/programs/oracle.h"

#define PLACE 0x20000000u

static uint8_t buffer[6000], back[6000];
static int64_t results[64];
static int ends[2] HIDDEN_DATA = { -1, -1 };
static uint64_t parts[8];

void on_signal(int number)
{
	(void)number;
}

/* The descriptors' numbers depend on what was inherited. */
HIDDEN uint64_t make_pipe(void)
{
	if (call3(CALL_PIPE, (long)ends, 0, 0))
		ends[0] = ends[1] = -1;
	return forget_all_but(0);
}

HIDDEN int64_t write_end(const void *bytes, uint64_t size)
{
	long result = call3(CALL_WRITE, ends[1], (long)bytes, (long)size);

	return (int64_t)forget_all_but((uint64_t)result);
}

HIDDEN int64_t read_end(void *bytes, uint64_t size)
{
	long result = call3(CALL_READ, ends[0], (long)bytes, (long)size);

	return (int64_t)forget_all_but((uint64_t)result);
}

HIDDEN int64_t write_parts(unsigned count)
{
	long result = call3(CALL_WRITEV, ends[1], (long)parts, count);

	return (int64_t)forget_all_but((uint64_t)result);
}

HIDDEN uint64_t forget_descriptors(void)
{
	call3(CALL_CLOSE, ends[0], 0, 0);
	call3(CALL_CLOSE, ends[1], 0, 0);
	ends[0] = ends[1] = 0;
	return forget_all_but(0);
}

KEEP uint64_t add_up(const uint8_t *bytes, uint64_t size)
{
	uint64_t sum = 0;

	for (uint64_t i = 0; i < size; i++)
		sum = sum * 31 + bytes[i];
	return sum;
}

KEEP void through_pipe(unsigned round)
{
	results[0] += write_end(buffer + round * 100, 90 + round);
	results[1] += read_end(back + round * 50, 40);
	results[2] += (int64_t)add_up(back + round * 50, 50);
	results[3] += read_end(back + 4090 - round, 200);	/* two pages */
	results[4] += (int64_t)add_up(back + 4080, 90);
	parts[0] = (uint64_t)buffer + round;
	parts[1] = 20;
	parts[2] = (uint64_t)buffer + 1000;
	parts[3] = 0;
	parts[4] = (uint64_t)back;
	parts[5] = 11;
	results[5] += write_parts(3);
	results[6] += read_end(back + 3000, 1000);
	results[7] += (int64_t)add_up(back + 3000, 40);
	/* The same bytes again, where they already are. */
	results[8] += write_end(buffer, 64);
	results[9] += read_end(back + 5000, 64);
	results[10] += (int64_t)add_up(back + 5000, 64);
}

/* Mapping, protecting and giving back, at places of our own. */
KEEP void mappings(unsigned round)
{
	uint8_t *memory = map_at(PLACE, 5 * 4096, 3);

	results[11] += (int64_t)memory;
	memory[round] = 1;
	memory[4096 * 2 + 5] = (uint8_t)round;
	memory[4096 * 4 + 4095] = 7;
	results[12] += call3(CALL_MPROTECT, PLACE + 4096, 4096, 1);
	results[13] += memory[4096] + memory[4096 * 3];
	results[14] += call3(CALL_MUNMAP, PLACE + 4096 * 3, 4096, 0);
	/* The hole is filled again, with zeros. */
	map_at(PLACE + 4096 * 3, 4096, 3)[9] = 9;
	results[15] += (int64_t)add_up(memory + 4096 * 3, 30);
	/* Moved, and found with its contents. */
	results[16] += call6(CALL_MREMAP, PLACE + 4096 * 2, 4096, 4096, 3,
			     PLACE + 0x100000, 0);
	results[17] += (int64_t)add_up(memory + 0x100000, 20);
	memory[0x100000 + 6] = (uint8_t)(3 * round);
	results[18] += call3(CALL_MUNMAP, PLACE + 0x100000, 4096, 0);
	if (round % 3 == 2)
		results[19] += call3(CALL_MUNMAP, PLACE, 5 * 4096, 0);
}

/* brk() begins where the kernel likes: only differences are compared. */
HIDDEN uint64_t grow_heap(uint64_t more)
{
	long begin = call3(CALL_BRK, 0, 0, 0);
	long end = call3(CALL_BRK, begin + (long)more, 0, 0);
	uint8_t *heap = (uint8_t *)begin;
	uint64_t sum = 0;

	for (uint64_t i = 0; i < more; i += 256)
		sum += heap[i]++;
	call3(CALL_BRK, begin, 0, 0);
	return forget_all_but(sum + (uint64_t)(end - begin));
}

KEEP void failures(void)
{
	results[20] = call3(CALL_READ, -1, (long)buffer, 10);
	results[21] = call3(CALL_WRITE, 1, 16, 10);
	results[22] = call3(CALL_READ, 0, 16, 0);
	results[23] = call3(CALL_CLOSE, 12345, 0, 0);
	results[24] = call3(CALL_OPEN, (long)"/nonexistent/file", 0, 0);
	results[25] = call3(CALL_OPEN, 8, 0, 0);
	results[26] = call3(CALL_MUNMAP, 12345, 4096, 0);
	results[27] = call3(CALL_MPROTECT, PLACE + 0x800000, 4096, 1);
	results[28] = call3(100000, 1, 2, 3);		/* no such call */
	results[29] = call3(CALL_LSEEK, -1, 0, 0);
}

/* What a thread pointer needs, and a file with known contents. */
KEEP void others(void)
{
	static uint64_t thread_area[4] = { 0x1122334455667788 };
	uint64_t value;
	long file;

	results[30] = call3(CALL_ARCH_PRCTL, 0x1002, (long)thread_area, 0);
	__asm__ volatile("mov %%fs:0, %0" : "=r"(value));
	results[31] = (int64_t)value;
	__asm__ volatile("movq $5, %%fs:8" : : : "memory");
	results[32] = call3(CALL_ARCH_PRCTL, 0x1003, (long)&results[33], 0);
	file = call3(CALL_OPEN, (long)"/dev/zero", 0, 0);
	results[34] = call3(CALL_READ, file, (long)buffer + 777, 500);
	results[35] = (int64_t)add_up(buffer, 1400);
	results[36] = call3(CALL_CLOSE, file, 0, 0);
	file = call3(CALL_OPEN, (long)"/dev/null", 1, 0);
	results[37] = call3(CALL_WRITE, file, (long)buffer, 6000);
	results[38] = call3(CALL_CLOSE, file, 0, 0);
}

int guest(void)
{
	for (unsigned i = 0; i < sizeof(buffer); i++)
		buffer[i] = (uint8_t)(i * 13 + (i >> 7));
	make_pipe();
	for (unsigned i = 0; i < 12; i++) {
		through_pipe(i);
		mappings(i);
		results[40] += (int64_t)grow_heap(8192 + 4096 * i);
	}
	forget_descriptors();
	failures();
	others();
	return results[3] & 63;
}
