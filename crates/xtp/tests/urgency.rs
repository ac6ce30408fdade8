//! What is urgent is handed out first.

mod common;

use std::time::Duration;

use bytes::Bytes;
use common::{LONG, PORT, pair};
use xtp::{CallOptions, Config, Endpoint, Error, OpenOptions, Stream, paradigm};

fn with(mut options: OpenOptions, sort: Option<u16>) -> OpenOptions {
    options.tuning.sort = sort;
    options
}

/// Until all that was written to these streams is at the other endpoint, which takes nothing.
fn arrive(ends: [&Endpoint; 2], streams: &[Stream], octets: u64) {
    let is_there = |stream: &Stream| stream.stats().expect("open").octets_acknowledged >= octets;
    while !streams.iter().all(is_there) {
        for end in ends {
            match end.progress_timeout(Duration::from_millis(1)) {
                Ok(_) => {}
                Err(error) => assert!(error.is_timeout(), "{error}"),
            }
        }
    }
}

/// Urgent ones in the order of their urgency, and at least every other turn; the others as they came. On a host that others keep
/// busy some have waited for long before the first is taken, and then have every other turn.
#[track_caller]
fn assert_turns(order: &[u8], sorts: &[Option<u16>]) {
    let is_urgent = |number: &u8| sorts[usize::from(*number)].is_some();
    let (urgent, others): (Vec<u8>, Vec<u8>) = order.iter().partition(|number| is_urgent(number));
    assert_eq!(
        (&urgent[..], &others[..]),
        (&[2, 4, 1][..], &[0, 3][..]),
        "{order:?}"
    );
    for taken in 1..=order.len() {
        let first = order[..taken].iter().filter(|number| is_urgent(number)).count();
        assert!(first >= urgent.len().min(taken / 2), "{order:?}");
    }
}

#[test]
fn a_listener_hands_out_the_most_urgent_first_whether_it_accepts_or_takes_messages() {
    const SORTS: [Option<u16>; 5] = [None, Some(9), Some(2), None, Some(2)];
    let (server, address, client) = pair();
    let listener = server.listen(PORT).expect("a free number");
    let streams = server.listen_streams(PORT + 1).expect("a free number");
    // From here on its host is known.
    let answering = std::thread::scope(|scope| {
        scope.spawn(|| client.call(address, PORT, "who", &CallOptions::within(LONG)));
        let (_, caller) = listener.recv_message_timeout(LONG).expect("a request");
        caller.respond_confirmed("me", LONG)
    });
    answering.expect("answered");
    let send = |number: usize, options: OpenOptions| {
        let message = Bytes::from(vec![number as u8]);
        client
            .start(address, with(options, SORTS[number]), message)
            .expect("room")
    };
    let messages: Vec<_> = (0..SORTS.len())
        .map(|number| send(number, paradigm::one_shot(PORT)))
        .collect();
    let opened: Vec<_> = (0..SORTS.len())
        .map(|number| send(number, paradigm::stream(PORT + 1)))
        .collect();
    arrive([&server, &client], &messages, 1);
    arrive([&server, &client], &opened, 1);
    let mut order = Vec::new();
    for _ in SORTS {
        let (message, _) = listener.recv_message_timeout(LONG).expect("it waits");
        order.push(message[0]);
    }
    assert_turns(&order, &SORTS);
    order.clear();
    for _ in SORTS {
        let stream = streams.try_accept().expect("it waits").into_stream();
        let message = stream.try_recv_message().expect("it came");
        order.push(message.expect("one")[0]);
    }
    assert_turns(&order, &SORTS);
}

#[test]
fn a_set_names_the_most_urgent_first() {
    let (server, address, client) = pair();
    let listener = server.listen_streams(PORT).expect("a free number");
    let set = server.poll_set();
    let sorts = [Some(7), None, Some(1)];
    let open = |(number, sort): (u8, &Option<u16>)| {
        let options = with(paradigm::stream(PORT), *sort);
        client.start(address, options, vec![number; 5]).expect("room")
    };
    let theirs: Vec<_> = (0..).zip(&sorts).map(open).collect();
    arrive([&server, &client], &theirs, 5);
    let mut ours = Vec::new();
    for key in 0..sorts.len() {
        let stream = listener.try_accept().expect("it waits").into_stream();
        set.add(&stream, key as u64).expect("its own stream");
        ours.push(stream);
    }
    let mut ready = Vec::new();
    set.wait(&mut ready, Some(LONG)).expect("all are ready");
    let said = |key: &u64| {
        ours[*key as usize]
            .try_recv_message()
            .expect("it came")
            .expect("one")[0]
    };
    assert_eq!(ready.iter().map(said).collect::<Vec<_>>(), [2, 0, 1]);
}

#[test]
fn what_is_no_dscp_is_an_error_and_no_endpoint() {
    let mut config = Config::client();
    config.dscp = vec![(1, 64)];
    let error = Endpoint::bind(config).expect_err("64 needs seven bits");
    assert!(matches!(error, Error::Command(_)), "{error}");
    assert!(error.to_string().contains("0 to 63"), "{error}");
}
