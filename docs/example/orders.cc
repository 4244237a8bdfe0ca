/* SPDX-License-Identifier: GPL-2.0-or-later */
/* orders.cc - adds up orders; "error: map::at" is all that it says of what is wrong */
#include <iostream>
#include <map>
#include <string>
#include <vector>

struct order {
	std::string fruit;
	int count;
};

class shop {
public:
	shop() : prices{ { "apple", 30 }, { "pear", 40 }, { "plum", 15 } } {}

	int price(const order &asked) const
	{
		return prices.at(asked.fruit) * asked.count;
	}

private:
	std::map<std::string, int> prices;
};

static int total(const shop &shop, const std::vector<order> &orders)
{
	int sum = 0;

	for (const order &one : orders)
		sum += shop.price(one);
	return sum;
}

static std::vector<order> read_orders(std::istream &in)
{
	std::vector<order> orders;
	order next;

	while (in >> next.count && std::getline(in, next.fruit)) {
		next.fruit.erase(0, next.fruit.find_first_not_of(' '));
		orders.push_back(next);
	}
	return orders;
}

int main()
{
	try {
		std::cout << total(shop(), read_orders(std::cin)) << "\n";
	} catch (const std::exception &error) {
		std::cerr << "error: " << error.what() << "\n";
		return 1;
	}
	return 0;
}
