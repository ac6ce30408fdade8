//! Every item once, and not too many at a time.

use super::each;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

#[test]
fn every_item_is_worked_on_once() {
    let items: Vec<usize> = (0..100).collect();
    let mut results = Vec::new();
    each(&items, 3, |item| item * 2, |result| results.push(result));
    results.sort_unstable();
    assert_eq!(results, (0..100).map(|item| item * 2).collect::<Vec<_>>());
}

#[test]
fn no_more_than_the_jobs_run_at_a_time() {
    let (running, most) = (AtomicUsize::new(0), Mutex::new(0));
    let work = |_: &()| {
        let now = running.fetch_add(1, Ordering::SeqCst) + 1;
        let mut most = most.lock().unwrap();
        *most = now.max(*most);
        drop(most);
        std::thread::yield_now();
        running.fetch_sub(1, Ordering::SeqCst);
    };
    each(&[(); 50], 2, work, |()| {});
    assert!(*most.lock().unwrap() <= 2);
}

#[test]
fn no_jobs_are_one() {
    let mut count = 0;
    each(&[1, 2], 0, |_| (), |()| count += 1);
    assert_eq!(count, 2);
}
