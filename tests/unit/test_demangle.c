/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_demangle.c - names as people write them, and as linkers do */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "replayer/symbols/demangle.h"
#include "replayer/symbols/patterns.h"

#define COUNT(array) (sizeof(array) / sizeof(*(array)))

/* The names are those of c++filt and rustfilt. */
struct row {
	const char *mangled, *plain;	/* NULL: it is none */
};

static const struct row rows[] = {
	{ "_ZN6Server5serveEi", "Server::serve(int)" },
	{ "_ZNK3app3BoxIiLi3EE5firstEv", "app::Box<int, 3>::first() const" },
	{ "_ZN12_GLOBAL__N_16secretE", "(anonymous namespace)::secret" },
	{ "_ZZ5countvE5total", "count()::total" },
	{ "_ZN4main7COUNTER17h0123456789abcdefE", "main::COUNTER" },
	{ "_RNvCs1234_7mycrate3foo", "mycrate[1b2c4]::foo" },
	{ "_ZSt4cout@GLIBCXX_3.4", "std::cout" },
	{ "optind@GLIBC_2.2.5", "optind" },
	{ "memcpy@@GLIBC_2.14", "memcpy" },
	{ "main", NULL },
	{ "", NULL },
	{ "@", NULL },
	{ "_", NULL },
	{ "_Z", NULL },
	{ "_ZN", NULL },
	{ "_ZN99999999999999999999aE", NULL },
};

static void demangle_row(void **state)
{
	const struct row *row = *state;
	char *plain = demangle(row->mangled), text[64];

	/* What stands in brackets is a hash of the crate. */
	if (plain && strchr(row->plain ? row->plain : "", '['))
		assert_non_null(strstr(plain, "::foo"));
	else if (row->plain)
		assert_string_equal(plain, row->plain);
	else
		assert_null(plain);
	demangle_into(text, sizeof(text), row->mangled);
	assert_string_equal(text, plain ? plain : row->mangled);
	free(plain);
}

struct match {
	const char *plain, *wanted;
	bool is;
};

static const struct match matches[] = {
	{ "Server::serve(int)", "Server::serve(int)", true },
	{ "Server::serve(int)", "Server::serve", true },
	{ "Server::serve(int)", "Server::serve( int )", true },
	{ "Server::serve(int)", "Server::serve(long)", false },
	{ "Server::serve(int)", "serve", false },
	{ "Server::serve(int)", "Server::ser", false },
	{ "Server::serve(int)", "Server::serve(int)x", false },
	{ "Box<int, 3>::first() const", "Box<int,3>::first", true },
	{ "Box<int, 3>::first() const", "Box<int,3>::first() const", true },
	{ "count()::total", "count::total", true },
	{ "count()::total", "count", false },
	{ "main::{lambda(int)#1}::operator()(int) const",
	  "main::{lambda(int)#1}::operator()", true },
	{ "main::{lambda(int)#1}::operator()(int) const",
	  "main()::{lambda(int)#1}::operator()(int) const", true },
	{ "main::{lambda(int)#1}::operator()(int) const",
	  "main(", false },
	{ "f(int (*)(char))", "f", true },
	{ "f(int", "f", true },
	{ "app::counter", "app::counter", true },
	{ "app::counter", "", false },
};

static void match_rows(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(matches); i++)
		if (demangle_is(matches[i].plain, matches[i].wanted) !=
		    matches[i].is)
			fail_msg("%s, %s", matches[i].plain,
				 matches[i].wanted);
}

/* What an optimizer has made of a function is still that function. */
static const struct match patterns[] = {
	{ "find.constprop.0", "find", true },
	{ "find.constprop.0", "find.constprop.0", true },
	{ "find.isra.0.constprop.1", "find", true },
	{ "find.constprop.0", "fin", false },
	{ "find.part.0", "find", false },
	{ "find.constprop.0.cold", "find", false },
	{ "app::find(int) [clone .isra.0]", "app::find", true },
	{ "app::find(int) [clone .isra.0]", "app::find(int)", true },
	{ "app::find(int) [clone .isra.0]", "app::find(long)", false },
	{ "app::find(int) [clone .part.0]", "app::find", false },
	{ "find.llvm.123", "f?nd", true },
	{ "add.0", "add", true },
	{ "add.0", "ad", false },
	{ "add.", "add", false },
};

static void pattern_rows(void **state)
{
	struct symbol_pattern pattern;

	(void)state;
	for (size_t i = 0; i < COUNT(patterns); i++) {
		const char *plain = patterns[i].plain;

		assert_int_equal(symbol_pattern_init(&pattern,
						     patterns[i].wanted), 0);
		if (symbol_pattern_is(&pattern, plain, plain) !=
		    patterns[i].is)
			fail_msg("%s, %s", plain, patterns[i].wanted);
		symbol_pattern_release(&pattern);
	}
}

struct size_row {
	const char *name, *arguments;
};

static const struct size_row sizes[] = {
	{ "main", "" },
	{ "Server::serve", "(int)" },
	{ "Box<int>::first", "() const" },
	{ "name[abi:cxx11]", "(int)" },
	{ "f", "(int) [clone .isra.0]" },
	{ "f", "(int (*)(char))" },
	{ "(anonymous namespace)::f", "" },
	{ "(anonymous namespace)::f", "(int)" },
	{ "count()::total", "" },
	{ "apply<main(int, char**)::<lambda(int)> >", "" },
	{ "apply<main::{lambda(int)#1}>", "(main::{lambda(int)#1}, int)" },
	{ "main(int, char**)::<lambda(int)>", "" },
	{ "f()::{lambda(int)#1}::operator()", "(int) const" },
	{ "operator()", "" },
	{ "main.(*point).move", "" },
	{ "main.(*point).move.func1", "" },
};

static void size_rows(void **state)
{
	char text[100];

	(void)state;
	for (size_t i = 0; i < COUNT(sizes); i++) {
		snprintf(text, sizeof(text), "%s%s", sizes[i].name,
			 sizes[i].arguments);
		if (symbol_name_size(text) != strlen(sizes[i].name))
			fail_msg("%s: %zu", text, symbol_name_size(text));
	}
}

/* What may be left out at once is none of those that match. */
static void nothing_is_missed(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++)
		if (rows[i].plain && rows[i].mangled[0] == '_' &&
		    !strchr(rows[i].plain, '['))
			assert_true(demangle_may_be(rows[i].mangled,
						    rows[i].plain));
	assert_false(demangle_may_be("_ZN6Server5serveEi", "Server::other"));
}

int main(void)
{
	struct CMUnitTest tests[COUNT(rows) + 4] = { 0 };

	for (size_t i = 0; i < COUNT(rows); i++) {
		tests[i].name = rows[i].mangled;
		tests[i].test_func = demangle_row;
		tests[i].initial_state = (void *)(uintptr_t)&rows[i];
	}
	tests[COUNT(rows)].name = "wanted names";
	tests[COUNT(rows)].test_func = match_rows;
	tests[COUNT(rows) + 1].name = "mangled names that may be wanted";
	tests[COUNT(rows) + 1].test_func = nothing_is_missed;
	tests[COUNT(rows) + 2].name = "patterns";
	tests[COUNT(rows) + 2].test_func = pattern_rows;
	tests[COUNT(rows) + 3].name = "sizes of names";
	tests[COUNT(rows) + 3].test_func = size_rows;
	return cmocka_run_group_tests_name("demangle", tests, NULL, NULL);
}
