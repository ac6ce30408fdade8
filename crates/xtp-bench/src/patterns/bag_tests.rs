//! Tasks differ; who is stuck is named.

use std::collections::BTreeSet;

use super::{LONGEST_TASK, NONE, compute, stuck, task};

#[test]
fn tasks_differ_in_length_and_result() {
    let tasks: Vec<u64> = (0..1_000).map(task).collect();
    let results: BTreeSet<u64> = tasks.iter().map(|task| compute(*task)).collect();
    assert_eq!(results.len(), 1_000);
    let lengths: BTreeSet<u64> = tasks.iter().map(|task| task % LONGEST_TASK).collect();
    assert!(lengths.len() > 500);
}

#[test]
fn a_stuck_worker_is_named_with_its_task() {
    assert_eq!(stuck(3, 17), "rank 3's result of task 17");
    assert_eq!(stuck(3, NONE), "the first request of rank 3");
}
