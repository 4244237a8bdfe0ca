// SPDX-License-Identifier: GPL-2.0-or-later
// throws.cpp - templates, virtual functions, lambdas, exceptions
#include <algorithm>
#include <cstdio>
#include <functional>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

namespace app {

struct Shape {
	virtual ~Shape() {}
	virtual int area(int scale) const = 0;
};

struct Square : Shape {
	int side;
	explicit Square(int n) : side(n) {}
	int area(int scale) const override
	{
		if (side % 5 == 0)
			throw std::runtime_error("side " +
						 std::to_string(side));
		return side * side * scale;
	}
};

template <typename T> struct Holder {
	T value;
	~Holder() { total += static_cast<int>(value); }
	static int total;
};

template <typename T> int Holder<T>::total = 0;

template <typename F> int twice(F f)
{
	Holder<short> held{3};

	return f(1) + f(2);
}

static int measure(const Shape &shape, int depth)
{
	Holder<int> held{depth};

	if (depth)
		return measure(shape, depth - 1) + 1;
	return twice([&](int scale) { return shape.area(scale); });
}

}

int main()
{
	std::map<std::string, int> counts;
	std::vector<int> list;
	int caught = 0;

	for (int i = 0; i < 12; i++) {
		try {
			list.push_back(app::measure(app::Square(i), i % 4));
		} catch (const std::exception &e) {
			counts[e.what()]++;
			caught++;
		}
	}
	std::function<bool(int, int)> less = [](int a, int b) { return a > b; };
	std::sort(list.begin(), list.end(), less);
	std::printf("%d %d %d\n", list[0], caught, app::Holder<int>::total);
	return 0;
}
