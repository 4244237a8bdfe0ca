/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_names.c - programs that a process was, and names at a time */
#include "tests/unit/recording_sample.h"

/* ------- writing ------- */

static void put_program(struct trace_writer *writer, uint32_t segment,
			uint64_t time, const char *file)
{
	char *argv[] = { (char[]){ "name" }, (char[]){ "word" }, NULL };
	struct program_image image = {
		.argv = argv, .argc = 2, .path = strdup(file),
		.directory = (char[]){ "/here" },
	};
	struct output out = { 0 };

	program_image_encode(&out, &image);
	put(writer, CHUNK_PROGRAM, segment, time, &out);
	free(image.path);
}

static struct packet map_of(guest_addr addr, uint64_t offset, const char *name)
{
	return (struct packet){
		.kind = PACKET_MAP, .addr = addr, .size = 0x2000,
		.prot = MAY_READ | MAY_EXEC,
		.region = *name == '/' ? REGION_FILE : REGION_ANON,
		.offset = offset, .name = name, .name_size = strlen(name),
	};
}

/*
 * The program becomes another one at 10, which maps two libraries, and itself
 * again at 20, elsewhere; all in the first segment.
 */
static void put_execs(struct trace_writer *writer)
{
	const struct packet packets[] = {
		{ .kind = PACKET_SYSCALL, .steps = 10, .number = 59 },
		{ .kind = PACKET_UNMAP, .addr = 0x401000, .size = 0x3000 },
		map_of(0x7ff000, 0, "[stack]"),
		map_of(0x401000, 0x1000, "/bin/other"),
		map_of(LIBRARY, 0, "/lib/libx.so"),
		map_of(LIBRARY + 0x8000, 0, "/lib/liby.so.2.0.1"),
		{ .kind = PACKET_SYSCALL, .steps = 10, .number = 59 },
		{ .kind = PACKET_UNMAP, .addr = 0x401000, .size = 0x2000 },
		{ .kind = PACKET_UNMAP, .addr = LIBRARY, .size = 0xa000 },
		map_of(0x7ff000, 0, "[stack]"),
		map_of(0x801000, 0x1000, "/bin/prog"),
		{ .kind = PACKET_SYSCALL, .steps = 10, .number = 1 },
	};

	put_packets(writer, 0, packets, COUNT(packets));
}

/* In the file, the libraries' symbols come before the other program's. */
static void write_execs(bool has_end)
{
	struct trace_writer *writer = start();

	put_meta_of(writer, 5);
	put_key_frame(writer, 0, 0, NULL, 0);
	put_symbols(writer, "/bin/prog", 0x401000, 0x1000, 0x402010, "counter");
	put_symbols(writer, "/lib/libx.so", 0, 0, 0x1008, "counter");
	put_symbols(writer, "/lib/liby.so.2.0.1", 0, 0, 0x1008, "own");
	put_symbols(writer, "/bin/other", 0x401000, 0x1000, 0x401500,
		    "counter");
	put_program(writer, 0, 10, "/bin/other");
	put_program(writer, 0, 20, "/bin/prog");
	put_execs(writer);
	if (!has_end)
		put_program(writer, 0, 31, "/bin/lost");
	if (has_end)
		put_summary(writer, 30);
	finish(writer);
}

/* ------- programs ------- */

static void check_programs(struct recording *recording)
{
	static const uint64_t times[] = { 0, 10, 20 };
	static const char *const files[] = { "/bin/prog", "/bin/other",
					     "/bin/prog" };
	const struct recording_program *list;
	struct failure why;
	size_t count;

	assert_int_equal(recording_programs(recording, &list, &count, &why),
			 0);
	assert_int_equal(count, 3);
	for (size_t i = 0; i < count; i++) {
		assert_int_equal(list[i].time, times[i]);
		assert_string_equal(list[i].image.path, files[i]);
		if (!i)
			continue;
		assert_int_equal(list[i].image.argc, 2);
		assert_string_equal(list[i].image.argv[1], "word");
		assert_string_equal(list[i].image.directory, "/here");
	}
	assert_string_equal(list[0].image.argv[0], "prog");
}

static void programs_that_are_listed(void **state)
{
	struct recording *recording;

	(void)state;
	write_execs(true);
	recording = reopen();
	assert_int_equal(recording_meta(recording)->origin.parent, 5);
	assert_int_equal(recording_meta(recording)->origin.time, 77);
	check_programs(recording);
	check_programs(recording);
	recording_close(recording);
}

/* What the process became was lost with the end. */
static void program_behind_the_end(void **state)
{
	struct recording *recording;

	(void)state;
	write_execs(false);
	recording = reopen();
	assert_int_equal(recording_end(recording), 30);
	check_programs(recording);
	recording_close(recording);
}

/* ------- names ------- */

static const struct {
	uint64_t t;
	const char *name;
	uint64_t addr;		/* 0: there is no such name */
	const char *again;	/* as the address is named */
} asked[] = {
	{ 0, "counter", 0x402010, "counter" },
	{ 9, "counter", 0x402010, "counter" },
	{ 9, "other!counter", 0, NULL },
	{ 9, "libx.so!counter", 0, NULL },
	{ 10, "counter", 0x401500, "counter" },
	{ 10, "other!counter", 0x401500, "counter" },
	{ 10, "prog!counter", 0, NULL },
	{ 10, "libx.so!counter", LIBRARY + 0x1008, "libx.so!counter" },
	{ 19, "counter", 0x401500, "counter" },
	{ 20, "counter", 0x802010, "counter" },
	{ 20, "other!counter", 0, NULL },
	{ 20, "libx.so!counter", 0, NULL },
	{ 30, "prog!counter", 0x802010, "counter" },
	/* As programs are linked with it. */
	{ 10, "liby.so!own", LIBRARY + 0x9008, "liby.so.2.0.1!own" },
	{ 10, "liby.so.2!own", LIBRARY + 0x9008, "liby.so.2.0.1!own" },
	{ 10, "liby.so.2.0!own", LIBRARY + 0x9008, "liby.so.2.0.1!own" },
	{ 10, "liby.so.2.0.1!own", LIBRARY + 0x9008, "liby.so.2.0.1!own" },
	{ 10, "liby.so.!own", 0, NULL },
	{ 10, "liby.so.1!own", 0, NULL },
	{ 10, "liby.so.2.0.1.0!own", 0, NULL },
	{ 10, "liby!own", 0, NULL },
	{ 10, "l!own", 0, NULL },
	{ 9, "liby.so.2!own", 0, NULL },
	{ 20, "liby.so.2!own", 0, NULL },
	/* And back. */
	{ 10, "counter", 0x401500, "counter" },
	{ 0, "prog!counter", 0x402010, "counter" },
};

static void check_names(struct names *names)
{
	for (size_t i = 0; i < COUNT(asked); i++) {
		uint64_t addr = 0, size;
		struct failure why;
		char text[100];
		int rc = names_find(names, asked[i].t, asked[i].name, &addr,
				    &size, &why);

		if (rc != (asked[i].addr ? 0 : ERR_NOT_FOUND) ||
		    addr != asked[i].addr)
			fail_msg("%s at %d: %d, %#llx", asked[i].name,
				 (int)asked[i].t, rc,
				 (unsigned long long)addr);
		if (!asked[i].addr)
			continue;
		assert_true(names_of(names, asked[i].t, addr, text,
				     sizeof(text)));
		assert_string_equal(text, asked[i].again);
	}
}

static void names_by_time(void **state)
{
	struct recording *recording;
	struct names *names;
	struct failure why;

	(void)state;
	write_execs(true);
	recording = reopen();
	assert_int_equal(names_create(&names, recording, &why), 0);
	check_names(names);
	names_destroy(names);
	recording_close(recording);
}

static void modules_by_time(void **state)
{
	static const char *const expected[] = { "/bin/other", "/lib/libx.so",
						"/lib/liby.so.2.0.1" };
	struct recording *recording;
	struct names *names;
	struct failure why;
	uint64_t bias;

	(void)state;
	write_execs(true);
	recording = reopen();
	assert_int_equal(names_create(&names, recording, &why), 0);
	for (uint64_t t = 0; t <= 30; t++) {
		size_t count = 0;

		while (names_mapped(names, t, count, &bias))
			count++;
		assert_int_equal(count, 10 <= t && t < 20 ? 3 : 1);
		for (size_t i = 1; i < count; i++)
			assert_string_equal(
				names_module(names, t,
					     LIBRARY + 0x8000 * (i - 1) + 4,
					     &bias)->path,
				expected[i]);
		assert_string_equal(
			names_module(names, t, t < 20 ? 0x401000 : 0x801000,
				     &bias)->path,
			count > 1 ? expected[0] : "/bin/prog");
		assert_int_equal(bias, t < 20 ? 0 : 0x400000);
	}
	names_destroy(names);
	recording_close(recording);
}

/* ------- what makes no sense ------- */

static void with_an_early_program(struct trace_writer *writer)
{
	put_program(writer, 0, 0, "/bin/other");
	put_key_frame(writer, 0, 0, NULL, 0);
}

static void with_programs_that_fall(struct trace_writer *writer)
{
	put_key_frame(writer, 0, 0, NULL, 0);
	put_program(writer, 0, 7, "/bin/other");
	put_program(writer, 0, 6, "/bin/other");
}

static void with_a_program_before_its_segment(struct trace_writer *writer)
{
	put_key_frame(writer, 0, 0, NULL, 0);
	put_key_frame(writer, 1, 10, NULL, 0);
	put_program(writer, 1, 9, "/bin/other");
}

struct bad_row {
	const char *name;
	void (*write)(struct trace_writer *writer);
};

static const struct bad_row bad_rows[] = {
	{ "a program before the first key frame", with_an_early_program },
	{ "times of programs that fall", with_programs_that_fall },
	{ "a program before its segment", with_a_program_before_its_segment },
};

static void open_bad(void **state)
{
	const struct bad_row *row = *state;
	struct trace_writer *writer = start();
	struct recording *recording;
	struct failure why;

	put_meta(writer);
	row->write(writer);
	put_summary(writer, 20);
	finish(writer);
	assert_int_equal(recording_open(&recording, path, &why), ERR_CORRUPT);
	assert_non_null(strstr(why.text, path));
}

static void contents_that_do_not_decode(void **state)
{
	struct trace_writer *writer = start();
	const struct recording_program *list;
	struct recording *recording;
	struct output out = { 0 };
	struct failure why;
	size_t count;

	(void)state;
	put_meta(writer);
	put_key_frame(writer, 0, 0, NULL, 0);
	output_bytes(&out, "\1\1", 2);
	put(writer, CHUNK_PROGRAM, 0, 5, &out);
	put_summary(writer, 20);
	finish(writer);
	recording = reopen();
	for (int i = 0; i < 2; i++) {
		assert_int_equal(recording_programs(recording, &list, &count,
						    &why), ERR_TRUNCATED);
		assert_non_null(strstr(why.text, "program at byte"));
	}
	recording_close(recording);
}

int main(void)
{
	static struct test_list list;
	int status;

	if (!make_path())
		return 1;
	add_test(&list, "programs that are listed", programs_that_are_listed,
		 NULL);
	add_test(&list, "a program behind the end", program_behind_the_end,
		 NULL);
	add_test(&list, "names by time", names_by_time, NULL);
	add_test(&list, "modules by time", modules_by_time, NULL);
	add_rows(&list, bad_rows, open_bad);
	add_test(&list, "contents that do not decode",
		 contents_that_do_not_decode, NULL);
	status = run_list("names", &list);
	unlink(path);
	return status;
}
