// SPDX-License-Identifier: GPL-2.0-or-later
// nameless.cpp - an argument without a name, which optimized code moves to a register
// that functions keep; see calls.py
#include <cstdio>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

struct item {
	std::string name;
	int price = 0;
	std::variant<int, double, std::string> amount;
	std::optional<std::string> note;

	item() = default;
	__attribute__((noinline)) item(item &&) = default;
};

struct shop {
	std::map<std::string, std::vector<item>> stock;

	void add(item one)
	{
		stock[one.name].push_back(std::move(one));	// mark add
	}
};

int main()
{
	shop shop;

	for (int i = 0; i < 6; i++) {
		item one;

		one.name = "tea";
		one.price = i * 111;
		one.amount = std::string("a litre, or more");
		one.note = "fresh";
		shop.add(std::move(one));
	}
	std::printf("%zu\n", shop.stock.size());
}
