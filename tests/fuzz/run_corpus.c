/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * run_corpus.c - the corpus of a fuzz harness as an ordinary test
 *
 * Feeds every file of the folder, then every prefix of it and every file with
 * one bit flipped, each in an allocation of its own so that a sanitizer sees
 * its end.  With clang, -fsanitize=fuzzer takes the place of this main.
 */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Above this size only some prefixes and bits are tried. */
#define THOROUGH 600

static void feed(const uint8_t *bytes, size_t size)
{
	uint8_t *copy = malloc(size + !size);

	if (!copy)
		abort();
	memcpy(copy, bytes, size);
	LLVMFuzzerTestOneInput(copy, size);
	free(copy);
}

static void feed_variants(uint8_t *bytes, size_t size)
{
	size_t step = 1 + size / THOROUGH;

	feed(bytes, size);
	for (size_t n = 0; n < size; n += step)
		feed(bytes, n);
	for (size_t bit = 0; bit < 8 * size; bit += step) {
		bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
		feed(bytes, size);
		bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
	}
}

static int feed_file(const char *folder, const char *name)
{
	static uint8_t bytes[1 << 20];
	char path[4096];
	size_t size;
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	file = fopen(path, "rb");
	if (!file) {
		perror(path);
		return -1;
	}
	size = fread(bytes, 1, sizeof(bytes), file);
	fclose(file);
	feed_variants(bytes, size);
	return 0;
}

int main(int argc, char **argv)
{
	struct dirent *entry;
	unsigned count = 0;
	DIR *folder;

	folder = argc == 2 ? opendir(argv[1]) : NULL;
	if (!folder) {
		fprintf(stderr, "usage: %s FOLDER\n", argv[0]);
		return EXIT_FAILURE;
	}
	while ((entry = readdir(folder))) {
		if (entry->d_name[0] == '.')
			continue;
		if (feed_file(argv[1], entry->d_name))
			return EXIT_FAILURE;
		count++;
	}
	closedir(folder);
	printf("%u files and their variants\n", count);
	return count ? EXIT_SUCCESS : EXIT_FAILURE;
}
