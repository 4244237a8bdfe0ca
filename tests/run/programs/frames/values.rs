// SPDX-License-Identifier: GPL-2.0-or-later
// values.rs - structures, slices, enumerations, closures and recursion, for
// frames at any time; see frames.py
use std::collections::HashMap;

#[derive(Clone, Copy, PartialEq)]
struct Point {
    x: f64,
    y: f64,
}

impl Point {
    fn along(self, by: f64) -> Point {
        Point { x: self.x + by, y: self.y - by }
    }
}

enum Tree {
    Leaf,
    Node(Box<Tree>, i64, Box<Tree>),
}

impl Tree {
    fn insert(self, value: i64) -> Tree {
        match self {
            Tree::Leaf => {
                Tree::Node(Box::new(Tree::Leaf), value, Box::new(Tree::Leaf))
            }
            Tree::Node(left, here, right) => {
                if value < here {
                    Tree::Node(Box::new(left.insert(value)), here, right)
                } else {
                    Tree::Node(left, here, Box::new(right.insert(value)))
                }
            }
        }
    }

    fn sum(&self, depth: u32) -> i64 {
        match self {
            Tree::Leaf => 0,
            Tree::Node(left, here, right) => {
                let low = left.sum(depth + 1);
                low + here + right.sum(depth + 1)
            }
        }
    }
}

#[inline(never)]
fn count(words: &[&str], most: usize) -> usize {
    let mut counts: HashMap<&str, usize> = HashMap::new();
    for word in words {
        *counts.entry(word).or_insert(0) += 1;
    }
    let mut all: Vec<(&str, usize)> = counts.into_iter().collect();
    all.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(b.0)));
    all.iter().take(most).map(|(word, times)| word.len() * times).sum()
}

#[inline(never)]
fn quick<T: PartialOrd + Copy>(list: &mut [T]) {
    if list.len() < 2 {
        return;
    }
    let pivot = list[list.len() / 2];
    let (mut low, mut high) = (0, list.len() - 1);
    loop {
        while list[low] < pivot {
            low += 1;
        }
        while pivot < list[high] {
            high -= 1;
        }
        if low >= high {
            break;
        }
        list.swap(low, high);
        low += 1;
        high -= 1;
    }
    let (left, right) = list.split_at_mut(low);
    quick(left);
    quick(right);
}

#[inline(never)]
fn fails(text: &str) -> Result<i32, std::num::ParseIntError> {
    let number: i32 = text.parse()?;
    Ok(number * 2)
}

fn main() {
    let mut seed = 12345u32;
    let mut next = || {
        seed = seed.wrapping_mul(1664525).wrapping_add(1013904223);
        (seed >> 8) as i64
    };
    let mut tree = Tree::Leaf;
    for _ in 0..24 {
        tree = tree.insert(next() % 100);
    }
    let mut list: Vec<i64> = (0..60).map(|_| next() % 1000).collect();
    quick(&mut list);
    let words = ["one", "two", "one", "three", "two", "one"];
    let total = count(&words, 2);
    let mut point = Point { x: 0.5, y: 1.5 };
    for step in 0..8 {
        point = point.along(step as f64);
    }
    let parsed = fails("21").unwrap_or(-1) + fails("none").unwrap_or(-1);
    println!("{} {} {} {:?} {}", tree.sum(0), list[30], total,
             point == point.along(0.0), parsed);
}
