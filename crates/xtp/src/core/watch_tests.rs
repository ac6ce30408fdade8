//! What is left of a set.

use crate::core::brief_testing::brief;

#[test]
fn nothing_is_left_of_a_set_that_is_gone() {
    let endpoint = brief();
    let stream = endpoint
        .open(endpoint.local_addr(), xtp_engine::OpenOptions::new(9))
        .expect("a context");
    let listener = endpoint.listen_streams(10).expect("a free number");
    let set = endpoint.poll_set();
    set.add(&stream, 1).expect("its own stream");
    set.add_listener(&listener, 2).expect("its own listener");
    drop(set);
    endpoint.shared.look(|core| {
        let watch = &core.watch;
        assert!(watch.lists.is_empty() && watch.streams.is_empty() && watch.listeners.is_empty());
    });
}
