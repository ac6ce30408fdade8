//! Other pages come where some were, and nobody who reads there notices.

use std::fs::File;
use std::io::{IoSlice, Read};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

use super::super::call;
use super::*;

/// Octets of `pages`, which nobody else has.
fn all(pages: &mut Pages) -> &mut [u8] {
    // SAFETY: within the mapping, which is borrowed for as long.
    unsafe { std::slice::from_raw_parts_mut(pages.base(), pages.octets) }
}

/// Numbers that differ from page to page and from octet to octet.
fn numbers(octets: usize) -> Vec<u8> {
    (0..octets).map(|at| (at + at / page()) as u8).collect()
}

fn filled(count: usize) -> (Pages, Vec<u8>) {
    let mut pages = Pages::new(count * page()).expect("pages");
    let octets = pages.octets;
    assert!(all(&mut pages).iter().all(|&octet| octet == 0));
    all(&mut pages).copy_from_slice(&numbers(octets));
    (pages, numbers(octets))
}

#[test]
fn whichever_part_is_replaced_the_octets_stay() {
    let (mut pages, octets) = filled(8);
    assert_eq!(pages.base() as usize % page(), 0);
    let base = pages.base();
    // Some of it more than once, and what was replaced together with what was not.
    for (at, count) in [(2, 3), (2, 3), (0, 1), (7, 1), (4, 4), (0, 8), (3, 1)] {
        assert!(pages.replace(at * page(), count * page()), "{at} {count}");
        assert_eq!(pages.base(), base);
        assert!(*all(&mut pages) == octets, "{at} {count}");
    }
    all(&mut pages).fill(7);
    assert!(pages.replace(page(), page()));
    assert!(all(&mut pages).iter().all(|&octet| octet == 7));
}

#[test]
fn a_part_of_large_pages_is_replaced() {
    let mut pages = Pages::new(LARGE / 2).expect("pages");
    let octets = numbers(pages.octets);
    assert_eq!(octets.len(), LARGE);
    all(&mut pages).copy_from_slice(&octets);
    for (at, count) in [(16, 16), (1, 1), (0, LARGE / page() / 2), (0, LARGE / page())] {
        assert!(pages.replace(at * page(), count * page()), "{at} {count}");
        assert!(*all(&mut pages) == octets, "{at} {count}");
    }
}

#[test]
fn what_is_no_part_is_left_alone() {
    let (mut pages, octets) = filled(4);
    let page = page();
    let refused = [
        (0, 0),
        (page, 0),
        (0, 5 * page),
        (4 * page, page),
        (3 * page, 2 * page),
        (usize::MAX - page + 1, page),
        (usize::MAX - page + 1, 2 * page),
        (page, usize::MAX - page + 1),
        // Parts of pages.
        (1, page),
        (page / 2, page),
        (0, 1),
        (page, page + 1),
        (page, 2 * page - 1),
    ];
    for (at, count) in refused {
        assert!(!pages.replace(at, count), "{at} {count}");
        assert!(*all(&mut pages) == octets, "{at} {count}");
    }
}

#[test]
fn who_refers_to_the_old_pages_keeps_them() {
    let (mut pages, octets) = filled(4);
    let mut ends = [-1; 2];
    // SAFETY: the kernel writes two descriptors into an array of two.
    assert_eq!(unsafe { libc::pipe2(ends.as_mut_ptr(), libc::O_CLOEXEC) }, 0);
    // SAFETY: just made, open and nobody else's.
    let [mut read, write] = ends.map(|end| File::from(unsafe { OwnedFd::from_raw_fd(end) }));
    let length = 2 * page();
    let lent = [IoSlice::new(&all(&mut pages)[page()..3 * page()])];
    // SAFETY: memory valid for reading, which outlives what refers to it.
    let passed = unsafe {
        call::vmsplice(
            write.as_raw_fd(),
            lent.as_ptr().cast(),
            1,
            libc::SPLICE_F_NONBLOCK,
        )
    };
    if passed.cast_unsigned() != length {
        // Not every system takes memory into a pipe.
        return;
    }
    assert!(pages.replace(page(), length));
    all(&mut pages).fill(0);
    let mut kept = vec![0; length];
    read.read_exact(&mut kept).expect("what was lent");
    assert!(kept == octets[page()..3 * page()]);
}

#[test]
fn a_hole_is_mended_and_what_is_there_stays() {
    // Where the system puts nothing by itself, so that no other thread's memory gets into the hole.
    let wish = ptr::without_provenance_mut(1 << 30);
    let Some(at) = map(wish, 4 * page(), libc::MAP_FIXED_NOREPLACE) else {
        return;
    };
    let mut pages = Pages {
        at,
        octets: 4 * page(),
        whole: None,
    };
    if pages.base() != wish {
        return;
    }
    all(&mut pages).fill(1);
    let mut others = Pages::new(2 * page()).expect("pages");
    all(&mut others).fill(2);
    // SAFETY: within the mapping.
    let place = unsafe { pages.base().add(page()) };
    assert!(!mend(place, &others));
    assert!(all(&mut pages).iter().all(|&octet| octet == 1));
    // SAFETY: a part of the mapping, to which no reference exists.
    assert_eq!(unsafe { libc::munmap(place.cast(), 2 * page()) }, 0);
    assert!(mend(place, &others));
    let middle = page()..3 * page();
    for (at, octet) in all(&mut pages).iter().enumerate() {
        assert_eq!(*octet, if middle.contains(&at) { 2 } else { 1 });
    }
    all(&mut others).fill(3);
    assert!(!all(&mut pages).contains(&3));
}

#[test]
fn parts_of_a_large_page_outlive_each_other_and_none_is_used_twice() {
    let mut parts = PageArena::default();
    let octets = 8 * page();
    let mut cut = |octets| parts.cut(octets).expect("pages");
    let mut all_parts: Vec<_> = (0..LARGE / octets).map(|_| cut(octets)).collect();
    let base = all_parts[0].base() as usize;
    for (index, part) in all_parts.iter_mut().enumerate() {
        assert_eq!(part.base() as usize, base + index * octets, "side by side");
        all(part).fill(index as u8);
    }
    // One goes, and another is moved to other pages.
    drop(all_parts.remove(1));
    assert!(all_parts[1].replace(0, octets));
    assert!(!all_parts[1].replace(0, 2 * octets), "no further than itself");
    let next = cut(octets);
    assert!(next.base() as usize >= base + LARGE || next.base() as usize + octets <= base);
    for (part, index) in all_parts.iter_mut().zip([0_u8].into_iter().chain(2..)) {
        assert!(all(part).iter().all(|octet| *octet == index), "{index}");
    }
    assert!(parts.cut(LARGE).is_none() && parts.cut(0).is_none());
}
