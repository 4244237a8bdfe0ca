/* SPDX-License-Identifier: GPL-2.0-or-later */
/* info_text.c - what is said of a recording, for a person */
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

#include "tools/info.h"
#include "tools/print.h"
#include "tools/print_crash.h"
#include "tools/print_words.h"
#include "vm/linux/abi/names.h"

/*
 * Every recording holds the symbols and the pages that a program starts with;
 * in a short one nothing else counts.
 */
#define BITS_FROM INT64_C(10000000)	/* instructions */

#define LIST_MOST 16	/* lines, unless all is asked for */

static void print_label(const char *label)
{
	printf("%-14s ", label);
}

static json_int_t count_of(const json_t *object, const char *key)
{
	return json_integer_value(json_object_get(object, key));
}

static void print_string(const json_t *text)
{
	print_escaped(stdout, json_string_value(text),
		      json_string_length(text));
}

/* "1 hit", "2 hits" */
static void print_counted(json_int_t count, const char *one, const char *many)
{
	printf("%" JSON_INTEGER_FORMAT " %s", count, count == 1 ? one : many);
}

static void print_text(const json_t *info, const char *label, const char *key)
{
	const json_t *text = json_object_get(info, key);

	if (!json_is_string(text))
		return;
	print_label(label);
	print_string(text);
	putchar('\n');
}

static void print_count(const json_t *info, const char *label, const char *key)
{
	print_label(label);
	printf("%" JSON_INTEGER_FORMAT "\n", count_of(info, key));
}

static void print_arguments(const json_t *arguments)
{
	for (size_t i = 0; i < json_array_size(arguments); i++) {
		if (i)
			putchar(' ');
		print_string(json_array_get(arguments, i));
	}
}

static void print_program(const json_t *info)
{
	print_label("program:");
	print_arguments(json_object_get(info, "program"));
	putchar('\n');
}

static void print_processor(const json_t *info)
{
	const json_t *processor = json_object_get(info, "processor");

	print_label("processor:");
	print_string(json_object_get(processor, "model"));
	printf(", behaviour %" JSON_INTEGER_FORMAT "\n",
	       count_of(processor, "behaviour"));
}

static void print_started(const json_t *info)
{
	time_t started = (time_t)count_of(info, "started");
	struct tm tm;
	char text[64];

	if (!gmtime_r(&started, &tm) ||
	    !strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S UTC", &tm))
		return;
	print_label("started:");
	printf("%s\n", text);
}

static void print_thread(const json_t *thread, size_t number, size_t count)
{
	const json_t *name = json_object_get(thread, "name");

	printf("%" JSON_INTEGER_FORMAT, count_of(thread, "thread"));
	if (name) {
		fputs(" \"", stdout);
		print_string(name);
		putchar('"');
	}
	fputs(": ", stdout);
	print_counted(count_of(thread, "instructions"), "instruction",
		      "instructions");
	(void)number;
	if (count > 1)
		printf(", from t=%" JSON_INTEGER_FORMAT
		       " to t=%" JSON_INTEGER_FORMAT,
		       count_of(thread, "first"), count_of(thread, "last"));
	putchar('\n');
}

/* The first one was there before. */
static void print_image(const json_t *image, size_t number, size_t count)
{
	const json_t *arguments = json_object_get(image, "program");
	json_int_t at = count_of(image, "at");

	(void)count;
	print_string(json_object_get(image, "path"));
	printf(", %s t=%" JSON_INTEGER_FORMAT, number ? "exec at" : "from",
	       at);
	fputs(": ", stdout);
	print_arguments(arguments);
	putchar('\n');
}

/* A process that is not known to have one has no parent to show. */
static void print_parent(const json_t *info)
{
	const json_t *parent = json_object_get(info, "parent");

	if (!json_is_object(parent))
		return;
	print_label("parent:");
	printf("%" JSON_INTEGER_FORMAT ", at its t=%" JSON_INTEGER_FORMAT "\n",
	       count_of(parent, "pid"), count_of(parent, "at"));
}

static void print_child_of(const json_t *parent)
{
	if (json_is_object(parent))
		printf(", child of %" JSON_INTEGER_FORMAT
		       " at its t=%" JSON_INTEGER_FORMAT,
		       count_of(parent, "pid"), count_of(parent, "at"));
}

static void print_member(const json_t *member, size_t number, size_t count)
{
	const json_t *error = json_object_get(member, "error");

	(void)number;
	(void)count;
	if (error) {
		print_string(error);
	} else {
		printf("%" JSON_INTEGER_FORMAT ": ", count_of(member, "pid"));
		print_string(json_object_get(member, "recording"));
		fputs(", ", stdout);
		print_string(json_object_get(member, "path"));
		print_child_of(json_object_get(member, "parent"));
	}
	puts(json_is_true(json_object_get(member, "this")) ? " (this)" : "");
}

static bool is_kept(const json_t *module)
{
	return json_object_get(module, "kept_bytes") != NULL;
}

static void print_module(const json_t *module, size_t number, size_t count)
{
	const json_t *error = json_object_get(module, "error");
	const json_t *pid = json_object_get(module, "kept_by");

	(void)number;
	(void)count;
	print_string(json_object_get(module, "module_path"));
	fputs(", ", stdout);
	if (error)
		print_string(error);
	else
		print_counted(count_of(module, "kept_bytes"), "byte", "bytes");
	if (json_is_integer(pid))
		printf(", in the recording of %" JSON_INTEGER_FORMAT,
		       json_integer_value(pid));
	putchar('\n');
}

/* Entry `number` of `count`. */
typedef void print_entry(const json_t *entry, size_t number, size_t count);

/* One line for each; only the first ones if they are many. */
static void print_list(const json_t *list, const char *label, bool verbose,
		       print_entry *print)
{
	size_t count = json_array_size(list);
	size_t most = verbose || count <= LIST_MOST ? count : LIST_MOST;

	for (size_t i = 0; i < most; i++) {
		print_label(i ? "" : label);
		print(json_array_get(list, i), i, count);
	}
	if (most == count)
		return;
	print_label("");
	printf("and %zu more: --verbose\n", count - most);
}

/* A process that was one program, or that is alone, needs no list. */
static void print_several(const json_t *list, const char *label, bool verbose,
			  print_entry *print)
{
	if (json_array_size(list) > 1)
		print_list(list, label, verbose, print);
}

/* Of which debugging information is kept. */
static void print_modules(const json_t *info, bool verbose)
{
	json_t *kept = json_array();
	const json_t *module;
	size_t i;

	json_array_foreach(json_object_get(info, "modules"), i, module)
		if (is_kept(module))
			json_array_append(kept, (json_t *)(uintptr_t)module);
	print_list(kept, "kept debug:", verbose, print_module);
	json_decref(kept);
}

static void print_exit(const json_t *info)
{
	const json_t *exit = json_object_get(info, "exit");
	json_int_t number = count_of(exit, "signal");
	const char *name = number ? linux_signal_name((uint64_t)number) :
				    NULL;

	print_label("exit:");
	if (!json_is_object(exit))
		printf("not known: the recording %s\n",
		       json_is_true(json_object_get(info, "writing")) ?
			       "is still being written" :
			       "was cut short");
	else if (json_object_get(exit, "became"))
		puts("none: it became a program of another architecture, in a "
		     "recording of its own");
	else if (json_object_get(exit, "machine"))
		puts(json_string_value(json_object_get(exit, "machine")));
	else if (!number)
		printf("status %" JSON_INTEGER_FORMAT "\n",
		       count_of(exit, "code"));
	else
		printf("signal %" JSON_INTEGER_FORMAT "%s%s\n", number,
		       name ? ", " : "", name ? name : "");
}

/* What it said before it ended with an error, and where to look. */
static void print_last_words(const json_t *words)
{
	const struct position at = {
		(uint64_t)count_of(words, "at"),
		(uint32_t)count_of(words, "events"),
	};
	char text[POSITION_TEXT];

	if (!words)
		return;
	print_words(words);
	print_label("  at:");
	printf("t=%s", position_text(text, &at));
	print_words_place(stdout, words);
	printf(" ('cprec backtrace --at=%s' tells more)\n", text);
}

static void print_bytes(const json_t *info, const char *label, const char *key,
			bool with_bits)
{
	json_int_t steps = count_of(info, "instructions");
	json_int_t bytes = count_of(info, key);

	print_label(label);
	print_counted(bytes, "byte", "bytes");
	if (with_bits && steps >= BITS_FROM)
		printf(", %.4f bits per instruction",
		       8 * (double)bytes / (double)steps);
	putchar('\n');
}

static void print_statistics(const json_t *info)
{
	const json_t *cache = json_object_get(info, "cache");
	const json_t *pages = json_object_get(info, "pages");

	print_label("cache:");
	print_counted(count_of(cache, "entries"), "entry", "entries");
	if (json_is_integer(json_object_get(cache, "hits"))) {
		fputs(", ", stdout);
		print_counted(count_of(cache, "hits"), "hit", "hits");
		fputs(", ", stdout);
		print_counted(count_of(cache, "misses"), "miss", "misses");
	}
	putchar('\n');
	if (!json_is_integer(json_object_get(pages, "stored")))
		return;
	print_label("pages:");
	printf("%" JSON_INTEGER_FORMAT " touched, %" JSON_INTEGER_FORMAT
	       " stored\n", count_of(pages, "touched"),
	       count_of(pages, "stored"));
}

static void print_segments(const json_t *info)
{
	const json_t *segments = json_object_get(info, "segments");

	if (!segments)
		return;
	print_label("segments:");
	printf("%10s %20s %20s\n", "number", "at", "instructions");
	for (size_t i = 0; i < json_array_size(segments); i++) {
		const json_t *segment = json_array_get(segments, i);

		print_label("");
		printf("%10zu %20" JSON_INTEGER_FORMAT
		       " %20" JSON_INTEGER_FORMAT "\n", i,
		       count_of(segment, "at"),
		       count_of(segment, "instructions"));
	}
}

void info_print(const json_t *info, bool verbose)
{
	print_program(info);
	print_text(info, "path:", "path");
	print_text(info, "directory:", "directory");
	print_text(info, "arch:", "arch");
	print_processor(info);
	print_text(info, "host:", "host");
	print_text(info, "made by:", "made_by");
	print_started(info);
	print_parent(info);
	if (count_of(info, "start"))
		print_count(info, "start:", "start");
	print_count(info, "instructions:", "instructions");
	print_list(json_object_get(info, "threads"), "threads:", verbose,
		   print_thread);
	print_several(json_object_get(info, "images"), "images:", verbose,
		      print_image);
	print_exit(info);
	print_last_words(json_object_get(info, "stderr"));
	if (json_object_get(info, "crash"))
		print_crash(json_object_get(info, "crash"));
	print_label("complete:");
	puts(json_is_true(json_object_get(info, "complete")) ? "yes" : "no");
	if (json_object_get(info, "note"))
		print_text(info, "note:", "note");
	print_count(info, "key frames:", "key_frames");
	print_bytes(info, "size:", "size", true);
	print_bytes(info, "  streams:", "streams_bytes", true);
	print_bytes(info, "  pages:", "pages_bytes", false);
	print_bytes(info, "  key frames:", "key_frames_bytes", false);
	print_bytes(info, "  index:", "index_bytes", false);
	print_bytes(info, "  symbols:", "symbols_bytes", false);
	if (count_of(info, "kept_bytes"))
		print_bytes(info, "  kept debug:", "kept_bytes", false);
	print_statistics(info);
	print_modules(info, verbose);
	print_several(json_object_get(info, "family"), "family:", verbose,
		      print_member);
	print_segments(info);
}
