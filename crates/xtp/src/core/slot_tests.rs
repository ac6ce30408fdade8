//! The size of what every association has.

use super::*;

/// A ceiling that only goes down: every association has one, parked or not.
#[test]
fn a_slot_is_small() {
    assert!(size_of::<Slot>() <= 112, "{}", size_of::<Slot>());
}

#[cfg(all(feature = "tokio", unix))]
#[test]
fn every_task_that_waits_is_woken_and_each_once() {
    use crate::core::waking_testing::Task;

    let tasks: [std::sync::Arc<Task>; 3] = Default::default();
    let mut slot = Slot::new(([127, 0, 0, 1], 9).into());
    for task in tasks.iter().chain(&tasks) {
        slot.remember(&std::sync::Arc::clone(task).into());
    }
    slot.wake();
    let counts = tasks.map(|task| task.woken());
    assert_eq!(counts, [1; 3]);
}
