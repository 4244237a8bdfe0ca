# SPDX-License-Identifier: GPL-2.0-or-later
"""What containers.py asks of programs/containers/containers.cpp."""

# All variables of the program, as gdb's printers tell of them.
TEXTS = [
    "empty", "shorter", "longer", "zeros", "quoted", "utf8", "lengthy",
    "wide_text", "text16", "text32", "view", "part", "no_view", "wide_view",
    "constant", "texts", "text_pointer", "text_reference",
]
SEQUENCES = [
    "no_numbers", "numbers", "reserved", "equal_numbers", "many_numbers",
    "letters", "reals", "words", "points", "matrix", "pointers", "nothings",
    "wides", "no_bits", "bits", "many_bits", "four", "two_texts",
    "none_at_all", "no_queue", "queue", "long_queue", "text_queue",
    "wide_queue", "no_list", "list", "text_list", "wide_list", "letter_list",
    "no_forward", "forward", "text_forward", "initial", "span", "fixed_span",
]
TABLES = [
    "no_map", "prices", "names", "lists", "nested", "squares", "flags",
    "wide_map", "point_map", "multimap", "no_set", "set", "text_set",
    "multiset", "letter_set", "no_table", "table", "ages", "graph",
    "wide_table", "multi_table", "hashes", "text_hashes", "multi_hashes",
]
PARTS = [
    "a_pair", "pair_of_more", "a_tuple", "no_tuple", "tuple_of_nothing",
    "tuple_of_one", "no_number", "number", "no_text", "text", "some_numbers",
    "some_point", "one_int", "one_text", "one_of_three", "one_vector",
]
POINTERS = [
    "no_unique", "unique", "unique_shape", "unique_point", "unique_array",
    "with_deleter", "no_shared", "shared", "also", "shared_point",
    "shared_text", "no_weak", "weak", "expired", "unique_points",
]
OTHERS = [
    "numbers_stack", "text_line", "vector_stack", "heap", "bitset", "atomic",
    "atomic_flag", "one_order", "orders", "derived", "where", "where_in_map",
    "where_in_list", "where_in_queue", "names_of_orders", "real_map",
]
WHOLE = TEXTS + SEQUENCES + TABLES + PARTS + POINTERS + OTHERS

# What is in them.
ELEMENTS = [
    "*text_pointer", "text_pointer[0]", "texts[1]", "numbers[0]", "numbers[2]",
    "words[0]", "words[2]", "points[1]", "points[1].y", "matrix[0]",
    "matrix[0][1]", "matrix[2][0]", "reals[1]", "letters[1]", "wides[1]",
    "queue[1]", "text_queue[1]",
    "*unique", "*unique_point", "unique_point->x", "unique_point->y",
    "*shared_point", "shared_point->y", "*shared_text", "unique_points[0]",
    "one_order.customer", "one_order.lines_", "one_order.lines_[1]",
    "one_order.prices", "one_order.at", "orders[0].customer",
    "orders[0].lines_[0]", "orders[1].lines_", "orders[1].customer",
    "a_pair.first", "a_pair.second", "pair_of_more.second", "derived.name",
    "&numbers[1]", "&words", "&orders[1].customer", "*&numbers", "*&prices",
    "sizeof(numbers)", "sizeof(prices)", "numbers[0] + numbers[1]",
    "four._M_elems[2]", "shape_pointer->name", "two_texts._M_elems[1]",
]
QUESTIONS = [
    "numbers.size()", "no_numbers.size()", "words.size()", "numbers.empty()",
    "no_numbers.empty()", "numbers.front()", "numbers.back()",
    "list.size()", "list.empty()", "list.front()", "list.back()",
    "queue.size()", "queue.front()", "queue.back()", "prices.size()",
    "prices.empty()", "set.size()", "table.size()", "hashes.size()",
    "four.size()", "four.front()", "four.back()", "four.at(1)",
    "queue.at(2)", "numbers.at(1)", "forward.empty()", "forward.front()",
    "multimap.size()", "multi_table.size()",
]
FORMATS = [
    ("numbers", "x"), ("numbers", "d"), ("queue", "o"), ("list", "x"),
    ("names", "x"), ("prices", "x"), ("hashes", "t"), ("a_pair", "x"),
    ("number", "x"), ("letters", "d"), ("letters", "c"), ("four", "x"),
    ("matrix", "x"), ("points", "x"), ("one_int", "x"), ("numbers[1]", "x"),
]
LOCALS = ["by_value", "by_reference", "by_pointer", "*by_pointer", "moved",
          "maybe", "local", "local_text", "local[1]", "by_value[2]"]

# What gdb cannot say: the sources do.
OWN = {
    "prices[\"apple\"]": "3",
    "by_reference[\"pear\"]": "5",
    "names[2]": '"two"',
    "lists[\"a\"][0]": "1",
    "nested[\"x\"][\"y\"]": "1",
    "squares[299]": "89401",
    "ages[\"bob\"]": "40",
    "graph[\"a\"][1]": '"c"',
    "one_order.prices[\"tea\"]": "2",
    "multimap[1]": '"a"',
    "table[1]": "2",
    "flags['b']": "false",
    "prices.at(\"fig\")": "8",
    "list[1]": "8",
    "forward[1]": "6",
    "set[2]": "3",
    "bits[1]": "false",
    "many_bits[129]": "true",
    "four[2]": "2",
    "two_texts[1]": '"right"',
    "a_tuple[1]": '"two"',
    "initial[2]": "3",
    "span[1]": "2",
    "heap[0]": "9",
    "derived[0]": "12",
    "derived.size()": "1",
    "shorter[1]": "112 'p'",
    "view[2]": "118 'v'",
    # gdb's own functions of deques count wrong.
    "long_queue[0]": "-999",
    "long_queue[999]": "998",
    "long_queue.size()": "1000",
    "squares.size()": "300",
    "span.size()": "3",
    "shorter.length()": "5",
    "reserved.capacity()": "8",
    "forward.size()": "2",
    "heap.size()": "3",
    "numbers_stack.size()": "3",
    "number.has_value()": "true",
    "no_number.has_value()": "false",
    "*number": "5",
    "text.value()": '"there"',
    "some_point->y": "2",
    "shared.use_count()": "2",
    "*where": "2",
    "where_in_map->second": "3",
    "*where_in_list": "7",
    "unique_array[2]": "3",
    "words[0] == \"alpha\"": "true",
    "\"alpha\" != words[0]": "false",
    "words[0] == texts[0]": "false",
    "shorter == \"apple\" && numbers.size() == 3": "1",
    "by_pointer->size()": "5",
    "unique_points[0]->y": "2",
    "no_function": "std::function<int (int)> [no target]",
    "object_function": "std::function<int (int)> = {target = {more = 3}}",
    "big_function":
        "std::function<int (int)> = {target = {more = {1, 2, 3, 4}}}",
}

# Of containers.rs, in stop(); of what has no order, the order of the text.
RUST = {
    "empty": '""', "text": '"apple"', "slice": '"pp"', "none": "Vec(size=0)",
    "numbers": "Vec(size=3) = {1, 2, 3}",
    "words": 'Vec(size=2) = {"alpha", ""}',
    "points": "Vec(size=2) = {containers::Point {x: 1, y: 2},"
              " containers::Point {x: 3, y: 4}}",
    "nested": "Vec(size=2) = {Vec(size=1) = {1}, Vec(size=0)}",
    "part": "&[i32](size=2) = {2, 3}",
    "units": "Vec(size=2) = {(), ()}",
    "queue": "VecDeque(size=4) = {2, 3, 4, 5}",
    "some": 'core::option::Option<alloc::string::String>::Some("here")',
    "nothing": "core::option::Option<alloc::string::String>::None",
    "counted": "Rc(strong=2, weak=0) = {value = containers::Point"
               " {x: 7, y: 8}, strong = 2, weak = 0}",
    "shared": 'Arc(strong=1, weak=0) = {value = "shared", strong = 1,'
              " weak = 0}",
    "cell": "Cell = {value = 5}",
    "reference": "RefCell(borrow=0) = {value = Vec(size=1) = {6}, borrow = 0}",
    "one": "HashMap(size=1) = {[1] = 0.5}",
    "no_map": "HashMap(size=0)",
    "set": "HashSet(size=1) = {120 'x'}",
    "*order": 'containers::Order {customer: "ann", lines: Vec(size=2) ='
              ' {"tea", "milk"}, prices: HashMap(size=1) = {["tea"] = 2}, at:'
              " core::option::Option<containers::Point>::Some("
              "containers::Point {x: 1, y: 2})}",
    "many.len()": "300", "many[299]": "89401", "large[99]": "9801",
    "large.len()": "100", 'ages["bob"]': "40", 'ages["ann"]': "30",
    "numbers[1]": "2", "part[1]": "3", "queue[3]": "5",
    'order.prices["tea"]': "2", "order.lines[1]": '"milk"',
    "order.lines.len()": "2", "counted.x": "7", "*reference":
    "Vec(size=1) = {6}", "(*boxed).y": "6", "words[0] == \"alpha\"": "true",
    "numbers.capacity()": "8", "none.is_empty()": "true",
}

# Of containers.go.
GO = {
    "main.text": '"apple"', "main.numbers": "[]int = {0, 5, 0}",
    "main.none": "[]int", "main.words": '[]string = {"alpha", ""}',
    "main.points": "[]main.point = {{x = 1, y = 2}, {x = 3, y = 4}}",
    "main.nested": "[][]int = {[]int = {1}, []int}",
    "main.part": "[]int = {5, 0}",
    "main.ages": 'map[string]int = {["ann"] = 30}',
    "main.noMap": "(map[int]int) 0x0", "main.empty": "map[int]bool",
    "main.byPoint": 'map[main.point]string = {[{x = 1, y = 2}] = "there"}',
    'main.ages["ann"]': "30", "main.large[2999]": "8994001",
    "main.large[0]": "0", "main.large.len()": "3000",
    'main.shrunk["mb"]': "true", "main.shrunk.len()": "2",
    "main.words.len()": "2", "main.numbers.capacity()": "8",
    "main.words[0]": '"alpha"', "main.oneOrder.lines[1]": '"milk"',
    'main.oneOrder.prices["tea"]': "2", "main.oneOrder.at.x": "1",
}

# Of damaged.cpp: how their values end, or begin.
DAMAGED = {
    "text": "<error: damaged: its length is 1152921504606846976>",
    "backwards": "is before its beginning, ",
    "uneven": "is no whole number of elements>",
    "overfull": "is behind its storage, which ends at ",
    "huge": "std::vector of length 274877906944, ",
    "bits": "is not behind its beginning, ",
    "queue": "<error: damaged: its end is before its beginning>",
    "circle": "[3] = 1, <error: damaged: its nodes form a circle>}",
    "shorter": "[8] = 8, <error: damaged: there are 9 of 12 elements>}",
    "longer": "[6] = 6, <error: damaged: it goes on behind 7 elements>}",
    "endless": "[0] = 8, <error: damaged: its nodes form a circle>}",
    "tree": "[0] = 0, <error: damaged: its nodes form a circle>}",
    "tall": "<error: damaged: its nodes form a circle>}",
    "set": "<error: Cannot access memory at address 0x20>}",
    "table": "[0] = 0, <error: damaged: there are 9 of 1000 elements>}",
}
SCATTERED = [*DAMAGED, "optional", "variant", "unique", "shared", "function",
             "tuple"]

# What has no answer, and what is said of it.
WRONG = {
    "prices[\"kiwi\"]": "there is no such key among the 3 in it",
    "numbers[3]": "there is no element 3: there are 3",
    "numbers[-1]": "there is no element -1: there are 3",
    "list[7]": "there is no element 7: there are 3",
    "*no_number": "it has no value",
    "numbers.nothing()": "functions are not called",
    "numbers.push_back(1)": "functions are not called",
    "numbers.at()": "which element is meant, stands in the parentheses",
    "no_numbers.front()": "there is no element 0: there are 0",
    "\"open": "a \" is missing",
}
