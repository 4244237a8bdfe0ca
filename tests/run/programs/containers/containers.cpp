/* SPDX-License-Identifier: GPL-2.0-or-later */
/* containers.cpp - what containers of the C++ library hold */
#include <unistd.h>

#include <array>
#include <atomic>
#include <bitset>
#include <deque>
#include <forward_list>
#include <functional>
#include <initializer_list>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <queue>
#include <set>
#include <span>
#include <stack>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <variant>
#include <vector>

#define KEEP __attribute__((used))

using std::string;

struct point {
	int x, y;
	bool operator<(const point &other) const { return x < other.x; }
};

/* Aligned otherwise than what stands before it in nodes. */
struct alignas(32) wide {
	long number;
	bool operator<(const wide &other) const
	{
		return number < other.number;
	}
};

struct nothing {};

struct shape {
	virtual ~shape() = default;
	string name;
};

struct circle : shape {
	int radius = 7;
};

/* As programs have them: containers in structures, and derived ones. */
struct order {
	string customer;
	std::vector<string> lines_;
	std::map<string, int> prices;
	std::optional<point> at;
};

struct stack_of_numbers : std::vector<int> {
	string name = "numbers";
};

struct deleter {
	int kind = 3;
	void operator()(int *p) const { delete p; }
};

static int twice(int number) { return number * 2; }

struct adder {
	int more;
	int operator()(int number) const { return number + more; }
};

struct big_adder {
	long more[4];
	int operator()(int number) const { return number + int(more[1]); }
};

namespace {

/* ------- text ------- */
KEEP string empty, shorter = "apple", longer(40, 'x');
KEEP string zeros("a\0b", 3), quoted = "a \"quote\"\n\t\x01", utf8 = "gr\xc3\xbc\xc3\x9f" "e";
KEEP string lengthy = [] {
	string text;

	for (int i = 0; i < 300; i++)
		text += char('a' + i % 26);
	return text;
}();
KEEP std::wstring wide_text = L"wide";
KEEP std::u16string text16 = u"sixteen";
KEEP std::u32string text32 = U"thirty-two";
KEEP std::string_view view = "a view of it", part = view.substr(2, 4), no_view;
KEEP std::wstring_view wide_view = L"wider";
KEEP const string constant = "never changed";
KEEP string texts[3] = { "one", "two", "two" };
KEEP string *text_pointer = &shorter;
KEEP string &text_reference = longer;

/* ------- sequences ------- */
KEEP std::vector<int> no_numbers, numbers = { 1, 2, 3 };
KEEP std::vector<int> reserved = [] {
	std::vector<int> made;

	made.reserve(8);
	made.push_back(5);
	return made;
}();
KEEP std::vector<int> equal_numbers(30, 7), many_numbers = [] {
	std::vector<int> made;

	for (int i = 0; i < 500; i++)
		made.push_back(i * i);
	return made;
}();
KEEP std::vector<int> exactly_200(200, 1);
KEEP std::vector<char> letters = { 'a', 'b' };
KEEP std::vector<double> reals = { 0.5, -1.25 };
KEEP std::vector<string> words = { "alpha", "", "gamma" };
KEEP std::vector<point> points = { { 1, 2 }, { 3, 4 } };
KEEP std::vector<std::vector<int>> matrix = { { 1, 2 }, {}, { 3 } };
KEEP std::vector<int *> pointers = { nullptr };
KEEP std::vector<nothing> nothings(3);
KEEP std::vector<wide> wides = { { 1 }, { 2 } };
KEEP std::vector<bool> no_bits, bits = { true, false, true }, many_bits = [] {
	std::vector<bool> made;

	for (int i = 0; i < 130; i++)
		made.push_back(i % 3 == 0);
	return made;
}();
KEEP std::array<int, 4> four = { 4, 3, 2, 1 };
KEEP std::array<string, 2> two_texts = { "left", "right" };
KEEP std::array<int, 0> none_at_all;
KEEP std::deque<int> no_queue, queue = { 10, 20, 30 }, long_queue = [] {
	std::deque<int> made;

	for (int i = 0; i < 1000; i++)
		i % 3 ? made.push_back(i) : made.push_front(-i);
	return made;
}();
KEEP std::deque<string> text_queue = { "first", "second" };
KEEP std::deque<std::array<char, 600>> wide_queue(2);
KEEP std::list<int> no_list, list = { 7, 8, 9 };
KEEP std::list<string> text_list = { "x", "yy" };
KEEP std::list<wide> wide_list = { { 11 }, { 12 } };
KEEP std::list<char> letter_list = { 'p', 'q' };
KEEP std::forward_list<int> no_forward, forward = { 5, 6 };
KEEP std::forward_list<string> text_forward = { "only" };
KEEP std::initializer_list<int> initial = { 1, 2, 3 };
KEEP std::span<int> span(numbers);
KEEP std::span<int, 4> fixed_span(four);

/* ------- trees and tables ------- */
KEEP std::map<string, int> no_map, prices = {
	{ "apple", 3 }, { "pear", 5 }, { "fig", 8 },
};
KEEP std::map<int, string> names = { { 2, "two" }, { 1, "one" } };
KEEP std::map<string, std::vector<int>> lists = { { "a", { 1 } }, { "b", {} } };
KEEP std::map<string, std::map<string, int>> nested = {
	{ "x", { { "y", 1 } } },
};
KEEP std::map<int, int> squares = [] {
	std::map<int, int> made;

	for (int i = 0; i < 300; i++)
		made[i] = i * i;
	return made;
}();
KEEP std::map<char, bool> flags = { { 'a', true }, { 'b', false } };
KEEP std::map<wide, char> wide_map = { { { 1 }, 'a' }, { { 2 }, 'b' } };
KEEP std::map<point, int> point_map = { { { 1, 2 }, 3 } };
KEEP std::multimap<int, string> multimap = { { 1, "a" }, { 1, "b" } };
KEEP std::set<int> no_set, set = { 3, 1, 2 };
KEEP std::set<string> text_set = { "b", "a" };
KEEP std::multiset<int> multiset = { 4, 4, 5 };
KEEP std::set<char> letter_set = { 'z', 'y' };
KEEP std::map<short, double> real_map = { { 1, 0.5 }, { 2, 0.25 } };
KEEP std::unordered_map<int, int> no_table, table = { { 1, 2 } };
KEEP std::unordered_map<string, int> ages = { { "ann", 30 }, { "bob", 40 } };
KEEP std::unordered_map<string, std::vector<string>> graph = {
	{ "a", { "b", "c" } },
};
KEEP std::unordered_map<int, wide> wide_table = { { 1, { 21 } } };
KEEP std::unordered_multimap<int, char> multi_table = { { 1, 'a' }, { 1, 'b' } };
KEEP std::unordered_set<int> hashes = { 1, 2, 3 };
KEEP std::unordered_set<string> text_hashes = { "k" };
KEEP std::unordered_multiset<int> multi_hashes = { 6, 6 };

/* ------- one of several, several of one ------- */
KEEP std::pair<int, string> a_pair = { 1, "one" };
KEEP std::pair<point, std::vector<int>> pair_of_more = { { 1, 2 }, { 3 } };
KEEP std::tuple<int, string, double> a_tuple = { 1, "two", 3.5 };
KEEP std::tuple<> no_tuple;
KEEP std::tuple<nothing, int> tuple_of_nothing;
KEEP std::tuple<std::vector<int>> tuple_of_one = { { 1, 2 } };
KEEP std::optional<int> no_number, number = 5;
KEEP std::optional<string> no_text, text = "there";
KEEP std::optional<std::vector<int>> some_numbers = { { 1, 2 } };
KEEP std::optional<point> some_point = point { 1, 2 };
KEEP std::variant<int, string> one_int = 5, one_text = "chosen";
KEEP std::variant<int, std::vector<int>, point> one_of_three = point { 8, 9 },
	one_vector = std::vector<int> { 4, 5 };

/* ------- pointers ------- */
KEEP std::unique_ptr<int> no_unique, unique(new int(42));
KEEP std::unique_ptr<shape> unique_shape(new circle);
KEEP std::unique_ptr<point> unique_point(new point { 5, 6 });
KEEP std::unique_ptr<int[]> unique_array(new int[3] { 1, 2, 3 });
KEEP std::unique_ptr<int, deleter> with_deleter(new int(4), deleter());
KEEP std::shared_ptr<int> no_shared, shared(new int(43)), also = shared;
KEEP std::shared_ptr<point> shared_point = std::make_shared<point>(point { 7, 8 });
KEEP std::shared_ptr<string> shared_text = std::make_shared<string>("kept");
KEEP std::weak_ptr<int> no_weak, weak = shared, expired = [] {
	return std::weak_ptr<int>(std::make_shared<int>(1));
}();
KEEP std::vector<std::unique_ptr<point>> unique_points = [] {
	std::vector<std::unique_ptr<point>> made;

	made.emplace_back(new point { 1, 2 });
	made.emplace_back();
	return made;
}();

/* ------- adapters, functions and others ------- */
KEEP std::stack<int> numbers_stack({ 1, 2, 3 });
KEEP std::queue<string> text_line({ "a", "b" });
KEEP std::stack<int, std::vector<int>> vector_stack({ 1, 2 });
KEEP std::priority_queue<int> heap = [] {
	std::priority_queue<int> made;

	for (int number : { 3, 9, 4 })
		made.push(number);
	return made;
}();
KEEP std::function<int(int)> no_function, plain_function = twice,
	object_function = adder { 3 }, big_function = big_adder { { 1, 2, 3, 4 } };
KEEP std::bitset<10> bitset(0x2a5);
KEEP std::atomic<int> atomic = 17;
KEEP std::atomic<bool> atomic_flag = true;

KEEP order one_order = { "ann", { "tea", "milk" }, { { "tea", 2 } }, point { 1, 2 } };
KEEP std::vector<order> orders = { one_order, { "bob", {}, {}, {} } };
KEEP stack_of_numbers derived;
KEEP std::map<string, order *> names_of_orders = { { "nobody", nullptr } };
KEEP shape *shape_pointer = unique_shape.get();
KEEP std::vector<int>::iterator where = numbers.begin() + 1;
KEEP std::map<string, int>::iterator where_in_map = prices.begin();
KEEP std::list<int>::iterator where_in_list = list.begin();
KEEP std::deque<int>::iterator where_in_queue = queue.begin();

}

__attribute__((noinline)) static int stop(std::vector<string> by_value,
	const std::map<string, int> &by_reference, string *by_pointer,
	std::unique_ptr<point> moved, std::optional<int> maybe)
{
	std::vector<int> local = { 10, 20 };
	string local_text = "local";

	getppid();
	return int(by_value.size() + by_reference.size() + by_pointer->size() +
		   local.size() + local_text.size() + (moved ? 1 : 0)) +
	       maybe.value_or(0);
}

int main()
{
	derived.push_back(12);
	unique_shape->name = "round";
	return stop(words, prices, &shorter,
		    std::make_unique<point>(point { 3, 4 }), 6) == 0;
}
