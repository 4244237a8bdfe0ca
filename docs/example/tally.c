/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tally.c - what a web server was asked for: with a mistake, for docs/heap.md
 *
 * Reads lines of an access log: client, date, request, status, bytes.
 * Prints for each page how often it was asked for, by how many clients, and how
 * many bytes that were; the page with the most bytes first.
 */
#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SLOTS_FIRST 8

/* Who asked for a page. */
struct client {
	struct client *next;
	char name[40];
};

struct page {
	struct page *next;	/* in the same slot */
	char *path;
	struct client *clients;
	unsigned long requests, bytes;
};

/* All pages, by their paths. */
struct table {
	struct page **slots;
	size_t size, count;
};

/* What one line says. */
struct request {
	char client[40], date[32], method[8], path[256];
	int status;
	unsigned long bytes;
};

static void *checked(void *block)
{
	if (!block) {
		fputs("tally: out of memory\n", stderr);
		exit(1);
	}
	return block;
}

static unsigned hash(const char *text)
{
	unsigned sum = 5381;

	while (*text)
		sum = sum * 33 + (unsigned char)*text++;
	return sum;
}

static int digit(char c)
{
	if (isdigit((unsigned char)c))
		return c - '0';
	return tolower((unsigned char)c) - 'a' + 10;
}

/* Without a query, and with %20 and its like as what they mean. */
static char *decode(const char *text)
{
	size_t length = strcspn(text, "?"), to = 0;
	char *path = checked(malloc(length));

	for (size_t i = 0; i < length; i++) {
		if (text[i] == '%' && i + 2 < length &&
		    isxdigit((unsigned char)text[i + 1]) &&
		    isxdigit((unsigned char)text[i + 2])) {
			path[to++] = (char)(digit(text[i + 1]) << 4 |
					    digit(text[i + 2]));
			i += 2;
		} else {
			path[to++] = text[i];
		}
	}
	path[to] = '\0';
	return path;
}

static void grow(struct table *table)
{
	size_t size = table->size ? 2 * table->size : SLOTS_FIRST;
	struct page **slots = checked(calloc(size, sizeof(struct page *)));

	for (size_t i = 0; i < table->size; i++) {
		for (struct page *page = table->slots[i], *next; page;
		     page = next) {
			struct page **slot = &slots[hash(page->path) % size];

			next = page->next;
			page->next = *slot;
			*slot = page;
		}
	}
	free(table->slots);
	table->slots = slots;
	table->size = size;
}

/* Takes the path. */
static struct page *find(struct table *table, char *path)
{
	struct page *page, **slot;

	if (table->count == table->size)
		grow(table);
	slot = &table->slots[hash(path) % table->size];
	for (page = *slot; page; page = page->next) {
		if (!strcmp(page->path, path)) {
			free(path);
			return page;
		}
	}
	page = checked(calloc(1, sizeof(*page)));
	page->path = path;
	page->next = *slot;
	*slot = page;
	table->count++;
	return page;
}

static void add_client(struct page *page, const char *name)
{
	struct client *client = page->clients;

	while (client && strcmp(client->name, name))
		client = client->next;
	if (client)
		return;
	client = checked(malloc(sizeof(*client)));
	strcpy(client->name, name);
	client->next = page->clients;
	page->clients = client;
}

static bool parse(const char *line, struct request *request)
{
	return sscanf(line, "%39s - - [%31[^]]] \"%7s %255s HTTP/%*[0-9.]\""
		      " %d %lu", request->client, request->date,
		      request->method, request->path, &request->status,
		      &request->bytes) == 6;
}

static void read_log(struct table *table, FILE *log)
{
	struct request request;
	struct page *page;
	char *line = NULL;
	size_t room = 0;

	while (getline(&line, &room, log) > 0) {
		if (!parse(line, &request) || request.status != 200)
			continue;
		page = find(table, decode(request.path));
		page->requests++;
		page->bytes += request.bytes;
		add_client(page, request.client);
	}
	free(line);
}

static int by_bytes(const void *a, const void *b)
{
	const struct page *x = *(struct page *const *)a;
	const struct page *y = *(struct page *const *)b;

	return (x->bytes < y->bytes) - (x->bytes > y->bytes);
}

static void print(const struct table *table)
{
	struct page **sorted = checked(calloc(table->count, sizeof(*sorted)));
	size_t count = 0, clients;

	for (size_t i = 0; i < table->size; i++)
		for (struct page *page = table->slots[i]; page;
		     page = page->next)
			sorted[count++] = page;
	qsort(sorted, count, sizeof(*sorted), by_bytes);
	for (size_t i = 0; i < count; i++) {
		clients = 0;
		for (struct client *client = sorted[i]->clients; client;
		     client = client->next)
			clients++;
		printf("%8lu bytes, %3lu requests of %2zu clients: %s\n",
		       sorted[i]->bytes, sorted[i]->requests, clients,
		       sorted[i]->path);
	}
	free(sorted);
}

static void forget(struct page *page)
{
	struct client *client;

	while ((client = page->clients)) {
		page->clients = client->next;
		free(client);
	}
	free(page->path);
	free(page);
}

static void release(struct table *table)
{
	struct page *page;

	for (size_t i = 0; i < table->size; i++) {
		while ((page = table->slots[i])) {
			table->slots[i] = page->next;
			forget(page);
		}
	}
	free(table->slots);
}

int main(int argc, char **argv)
{
	struct table table = { 0 };
	FILE *log = argc > 1 ? fopen(argv[1], "r") : stdin;

	if (!log) {
		perror(argv[1]);
		return 1;
	}
	read_log(&table, log);
	fclose(log);
	print(&table);
	release(&table);
	return 0;
}
