// SPDX-License-Identifier: GPL-2.0-or-later
// Types in units of their own, ranges of code, variables of threads.
#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <unistd.h>
#include <vector>

namespace app {
struct Shape {
	std::string name;
	virtual ~Shape() = default;
	virtual double area() const = 0;
};
struct Square : Shape {
	double side;
	explicit Square(double s) : side(s) { name = "square"; }
	double area() const override { return side * side; }
};
template <class T> struct Pair {
	T first, second;
	T both() const { return first + second; }
};
std::map<int, Pair<long>> pairs;
std::vector<std::unique_ptr<Shape>> shapes;
Square kept(2.5);
thread_local int mine = 3;
}

__attribute__((noinline)) static double all(const app::Square &of, long more)
{
	double sum = of.area();

	for (const auto &shape : app::shapes)
		sum += shape->area();
	if (more > 1) {
		app::Pair<long> pair{more, sum > 3};

		if (pair.both() == 1000)
			throw pair.first;
		app::pairs[static_cast<int>(more)] = pair;
	}
	app::mine++;
	return sum + getppid() * 0;	// mark all
}

int main()
{
	double sum = 0;

	for (int i = 1; i < 4; i++) {
		app::shapes.push_back(std::make_unique<app::Square>(i));
		sum += all(app::kept, i);
	}
	std::printf("%g %d\n", sum, app::mine);
	return 0;
}
