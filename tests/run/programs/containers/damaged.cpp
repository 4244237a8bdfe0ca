/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * damaged.cpp - containers that hold what no library makes
 *
 * What a number, the first argument, makes of their bytes; without one, damage of
 * known kinds.
 */
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <deque>
#include <forward_list>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <new>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>
#include <variant>
#include <vector>

#define KEEP __attribute__((used))

/* Never destroyed. */
template <typename T> union kept {
	T value;
	kept() { new (&value) T(); }
	~kept() {}
};

KEEP kept<std::string> text;
KEEP kept<std::vector<int>> backwards, uneven, overfull, huge;
KEEP kept<std::vector<bool>> bits;
KEEP kept<std::deque<int>> queue;
KEEP kept<std::list<int>> circle, shorter, longer;
KEEP kept<std::forward_list<int>> endless;
KEEP kept<std::map<int, int>> tree, tall;
KEEP kept<std::set<std::string>> set;
KEEP kept<std::unordered_map<int, int>> table;
KEEP kept<std::optional<std::string>> optional;
KEEP kept<std::variant<int, std::string>> variant;
KEEP kept<std::unique_ptr<int>> unique;
KEEP kept<std::shared_ptr<std::string>> shared;
KEEP kept<std::function<int(int)>> function;
KEEP kept<std::tuple<std::string, std::vector<int>>> tuple;

template <typename T> static unsigned long *words(kept<T> &of)
{
	return reinterpret_cast<unsigned long *>(&of.value);
}

/* Bytes of all of them, and of what they lead to, at random. */
template <typename T> static void scatter(kept<T> &of)
{
	unsigned char *bytes = reinterpret_cast<unsigned char *>(&of);
	unsigned long there = words(of)[0];

	for (unsigned i = 0; i < 1 + unsigned(rand()) % 6; i++)
		bytes[unsigned(rand()) % sizeof(of)] =
			static_cast<unsigned char>(rand());
	if (rand() % 3 == 0)
		words(of)[unsigned(rand()) % (sizeof(of) / 8)] =
			reinterpret_cast<unsigned long>(&of);
	if (there > 0x10000 && rand() % 2)
		reinterpret_cast<unsigned char *>(there)[0] =
			static_cast<unsigned char>(rand());
}

static void fill()
{
	text.value = "a text that is too long to be inside of it";
	for (int i = 0; i < 9; i++) {
		backwards.value.push_back(i);
		uneven.value.push_back(i);
		overfull.value.push_back(i);
		huge.value.push_back(i);
		bits.value.push_back(i & 1);
		queue.value.push_back(i);
		circle.value.push_back(i);
		shorter.value.push_back(i);
		longer.value.push_back(i);
		endless.value.push_front(i);
		tree.value[i] = i;
		tall.value[i] = i;
		set.value.insert(std::to_string(i));
		table.value[i] = i;
	}
	optional.value = "chosen";
	variant.value = "chosen";
	unique.value.reset(new int(5));
	shared.value = std::make_shared<std::string>("kept");
	function.value = [](int number) { return number; };
}

static void damage()
{
	unsigned long *node;

	words(text)[1] = 1ul << 60;
	words(backwards)[1] = words(backwards)[0] - 8;
	words(uneven)[1] -= 2;
	words(overfull)[2] = words(overfull)[0] + 4;
	words(huge)[1] = words(huge)[2] = words(huge)[0] + (1ul << 40);
	words(bits)[2] = words(bits)[0] - 8;
	words(queue)[9] = words(queue)[5] - 8;
	/* The second element leads to the first one. */
	node = reinterpret_cast<unsigned long *>(words(circle)[0]);
	reinterpret_cast<unsigned long *>(node[0])[0] = words(circle)[0];
	words(shorter)[2] = 12;
	words(longer)[2] = 7;
	node = reinterpret_cast<unsigned long *>(words(endless)[0]);
	node[0] = words(endless)[0];
	/* Nodes whose links go up and down for ever. */
	node = reinterpret_cast<unsigned long *>(words(tree)[3]);
	node[3] = words(tree)[3];
	words(tall)[5] = 1000;
	words(set)[3] = 8;
	words(table)[3] = 1000;
}

int main(int count, char **arguments)
{
	fill();
	if (count > 1) {
		srand(static_cast<unsigned>(atoi(arguments[1])));
		scatter(text), scatter(backwards), scatter(uneven);
		scatter(overfull), scatter(huge), scatter(bits);
		scatter(queue), scatter(circle), scatter(shorter);
		scatter(longer);
		scatter(endless), scatter(tree), scatter(tall), scatter(set);
		scatter(table), scatter(optional), scatter(variant);
		scatter(unique), scatter(shared), scatter(function);
		scatter(tuple);
	} else {
		damage();
	}
	getppid();
	_exit(0);
}
