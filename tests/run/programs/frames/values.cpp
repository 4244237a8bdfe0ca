// SPDX-License-Identifier: GPL-2.0-or-later
// values.cpp - arguments and variables of classes, templates and references
#include <cstdlib>

namespace app {
static volatile int total;

struct Point {
	int x, y;
};

class Shape {
public:
	explicit Shape(int id) : id_(id), at_{id, -id} {}
	virtual ~Shape() {}
	virtual int area(const Point &by, int &out) const
	{
		int local = by.x * by.y + id_;

		for (int i = 0; i < 4; i++)
			total += local * i;
		out = local;
		return local + at_.y;
	}

protected:
	int id_;
	Point at_;
};

class Square : public Shape {
public:
	Square(int id, int side) : Shape(id), side_(side) {}
	int area(const Point &by, int &out) const override
	{
		bool large = side_ > 3;
		int more = Shape::area(by, out);

		return large ? more + side_ : more;
	}

private:
	int side_;
};

template <typename T, int N> struct Box {
	T items[N];
	T sum(T start) const
	{
		T all = start;

		for (int i = 0; i < N; i++)
			all += items[i];
		total += (int)all;
		return all;
	}
};

template <typename T> T twice(T value, const T *pointer)
{
	T result = value + *pointer;

	total += (int)result;
	return result;
}

enum class Mode { Slow, Fast };

static int run(Shape &shape, Mode mode, bool deep, Point by)
{
	int out = 0;
	Point &self = by;
	auto add = [&](int n) { out += n; total += n; return out; };
	Box<double, 3> box = {{1.5, 2.5, by.x * 1.0}};
	int result = shape.area(self, out) + add(by.y);

	result += (int)box.sum(0.5) + twice(by.x, &by.y);
	result += (int)twice(0.5, &box.items[0]);
	return deep ? result + run(shape, mode, false, Point{by.y, by.x}) :
		      result;
}
}

int main()
{
	app::Square square(3, 4);
	app::Shape shape(5);
	int result = 0;

	for (int i = 0; i < 30; i++)
		result += app::run(i % 2 ? square : shape, app::Mode::Fast,
				   i % 3 == 0, app::Point{i, 7});
	return result == 12345 ? EXIT_FAILURE : EXIT_SUCCESS;
}
