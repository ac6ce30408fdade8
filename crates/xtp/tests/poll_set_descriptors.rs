//! A poll set that waits for descriptors of its program as well.
#![cfg(target_os = "linux")]

mod common;

use std::io::{Read, Write, pipe};
use std::net::{TcpListener, TcpStream};
use std::thread;
use std::time::Duration;

use common::{LONG, PORT, endpoint, pair};
use xtp::{Endpoint, Error, Interest, PollSet, Stream, paradigm};

const LISTENER: u64 = 0;
const STREAM: u64 = 1;
const PIPE: u64 = 2;
const TCP: u64 = 3;

fn wait(set: &PollSet) -> Vec<u64> {
    let mut ready = Vec::new();
    set.wait(&mut ready, Some(LONG)).expect("something is ready");
    ready
}

/// A stream of `endpoint` whose peer drives itself, and the far end.
fn stream_of(endpoint: &Endpoint) -> (Stream, Stream, impl Drop + use<>) {
    let server = common::endpoint();
    let driver = server.spawn_driver().unwrap();
    let listener = server.listen_streams(PORT).unwrap();
    let stream = endpoint
        .open(server.local_addr(), paradigm::stream(PORT))
        .unwrap();
    stream.connect(Some(LONG)).unwrap();
    let far = listener.accept_timeout(LONG).unwrap().into_stream();
    (stream, far, driver)
}

#[test]
fn one_sleep_waits_for_a_pipe_a_socket_and_associations() {
    let (server, address, client) = pair();
    let _driver = client.spawn_driver().unwrap();
    let listener = server.listen_streams(PORT).unwrap();
    let (mut reading, mut writing) = pipe().unwrap();
    let tcp = TcpListener::bind("127.0.0.1:0").unwrap();
    let mut far = TcpStream::connect(tcp.local_addr().unwrap()).unwrap();
    let (mut near, _) = tcp.accept().unwrap();
    let set = server.poll_set();
    set.add_listener(&listener, LISTENER).unwrap();
    set.add_fd(&reading, Interest::READABLE, PIPE).unwrap();
    set.add_fd(&near, Interest::READABLE, TCP).unwrap();
    thread::scope(|scope| {
        // Each comes while the set sleeps, after the one before was taken.
        let (go, gone) = std::sync::mpsc::channel::<u64>();
        scope.spawn(move || {
            let mut stream = None;
            for what in gone {
                thread::sleep(Duration::from_millis(10));
                match what {
                    PIPE => writing.write_all(b"pipe").unwrap(),
                    TCP => far.write_all(b"tcp").unwrap(),
                    _ => {
                        let opened = client.open(address, paradigm::stream(PORT)).unwrap();
                        opened.send_message("stream").unwrap();
                        stream = Some(opened);
                    }
                }
            }
            drop(stream);
        });
        let mut octets = [0; 16];
        for round in 0..3 {
            go.send(PIPE).unwrap();
            assert_eq!(wait(&set), [PIPE], "round {round}");
            assert_eq!(wait(&set), [PIPE], "told until it was read");
            assert_eq!(reading.read(&mut octets).unwrap(), 4);
            go.send(TCP).unwrap();
            assert_eq!(wait(&set), [TCP]);
            assert_eq!(near.read(&mut octets).unwrap(), 3);
            go.send(LISTENER).unwrap();
            assert_eq!(wait(&set), [LISTENER]);
            drop(listener.try_accept().unwrap());
        }
        // Nothing comes: it sleeps.
        let before = server.stats().system_calls();
        let outcome = set.wait(&mut Vec::new(), Some(Duration::from_millis(300)));
        assert!(outcome.unwrap_err().is_timeout());
        let calls = server.stats().system_calls() - before;
        assert!(calls < 60, "{calls} system calls in a sleep");
        drop(go);
        // Both at once are told at once; the end of a pipe can be read, too.
        let mut ready = wait(&set);
        while ready.len() < 2 {
            ready = wait(&set);
        }
        ready.sort_unstable();
        assert_eq!(ready, [PIPE, TCP]);
    });
}

#[test]
fn what_can_be_written_is_told_where_it_was_asked_for() {
    let endpoint = endpoint();
    let set = endpoint.poll_set();
    let (near, far) = std::os::unix::net::UnixStream::pair().unwrap();
    near.set_nonblocking(true).unwrap();
    set.add_fd(&near, Interest::BOTH, 8).unwrap();
    assert_eq!(wait(&set), [8]);
    while (&near).write(&[0; 4_096]).is_ok() {}
    assert!(set.try_wait(&mut Vec::new()).unwrap_err().is_would_block());
    thread::scope(|scope| {
        scope.spawn(|| {
            thread::sleep(Duration::from_millis(10));
            let mut left = 1 << 20;
            while left > 0 && (&far).read(&mut [0; 4_096]).unwrap() == 4_096 {
                left -= 4_096;
            }
        });
        assert_eq!(wait(&set), [8]);
        drop(near.try_clone());
        near.shutdown(std::net::Shutdown::Both).unwrap();
    });
    // Another key, another interest.
    let (reading, writing) = pipe().unwrap();
    set.remove_fd(&near);
    set.add_fd(&reading, Interest::READABLE, 1).unwrap();
    (&writing).write_all(b"a").unwrap();
    assert_eq!(wait(&set), [1]);
    set.add_fd(&reading, Interest::READABLE, 2).unwrap();
    assert_eq!(wait(&set), [2]);
    // Closing takes it out.
    drop(reading);
    assert!(set.try_wait(&mut Vec::new()).unwrap_err().is_would_block());
    set.remove_fd(&writing);
}

#[test]
fn what_is_always_ready_is_refused() {
    let set = endpoint().poll_set();
    let file = tempfile::tempfile().unwrap();
    let error = set.add_fd(&file, Interest::READABLE, 1).unwrap_err();
    assert!(matches!(error, Error::Descriptor { .. }), "{error}");
}

/// Another thread drives: the set hears of the descriptor, of what that thread brings, and drives when that thread has gone.
#[test]
fn a_set_behind_another_thread_hears_of_all() {
    let endpoint = endpoint();
    let (own, far, _driver) = stream_of(&endpoint);
    let (other, other_far, _other_driver) = stream_of(&endpoint);
    let (mut reading, writing) = pipe().unwrap();
    let set = endpoint.poll_set();
    set.add(&own, STREAM).unwrap();
    set.add_fd(&reading, Interest::READABLE, PIPE).unwrap();
    thread::scope(|scope| {
        scope.spawn(|| {
            // It leads until its message comes.
            let message = other.recv_message_timeout(LONG).unwrap();
            assert_eq!(message.as_deref(), Some(&b"last"[..]));
        });
        thread::sleep(Duration::from_millis(20));
        for round in 0..3 {
            scope.spawn(|| {
                thread::sleep(Duration::from_millis(10));
                (&writing).write_all(b"pipe").unwrap();
            });
            assert_eq!(wait(&set), [PIPE], "round {round}");
            assert_eq!(reading.read(&mut [0; 4]).unwrap(), 4);
            scope.spawn(|| {
                thread::sleep(Duration::from_millis(10));
                far.send_message("news").unwrap();
            });
            assert_eq!(wait(&set), [STREAM], "round {round}");
            assert!(own.try_recv_message().unwrap().is_some());
        }
        scope.spawn(|| {
            thread::sleep(Duration::from_millis(10));
            other_far.send_message("last").unwrap();
            thread::sleep(Duration::from_millis(30));
            far.send_message("behind it").unwrap();
        });
        while wait(&set) != [STREAM] {}
    });
}

#[test]
fn a_wait_ends_when_it_is_interrupted_and_sees_the_first_descriptor() {
    let endpoint = endpoint();
    let set = endpoint.poll_set();
    let (reading, mut writing) = pipe().unwrap();
    thread::scope(|scope| {
        let waiting = scope.spawn(|| wait(&set));
        thread::sleep(Duration::from_millis(20));
        set.add_fd(&reading, Interest::READABLE, PIPE).unwrap();
        thread::sleep(Duration::from_millis(20));
        writing.write_all(b"pipe").unwrap();
        assert_eq!(waiting.join().unwrap(), [PIPE]);
        set.remove_fd(&reading);
        let waiting = scope.spawn(|| set.wait(&mut Vec::new(), Some(LONG)));
        thread::sleep(Duration::from_millis(20));
        endpoint.interrupt();
        assert!(waiting.join().unwrap().unwrap_err().is_interrupted());
        endpoint.resume();
    });
}

#[test]
fn a_driver_thread_keeps_away() {
    let endpoint = endpoint();
    let _driver = endpoint.spawn_driver().unwrap();
    let (own, far, _far_driver) = stream_of(&endpoint);
    let (mut reading, mut writing) = pipe().unwrap();
    let set = endpoint.poll_set();
    set.add(&own, STREAM).unwrap();
    set.add_fd(&reading, Interest::READABLE, PIPE).unwrap();
    for _ in 0..20 {
        writing.write_all(b"p").unwrap();
        assert_eq!(wait(&set), [PIPE]);
        assert_eq!(reading.read(&mut [0; 4]).unwrap(), 1);
        far.send_message("news").unwrap();
        while own.try_recv_message().is_err() {
            assert_eq!(wait(&set), [STREAM]);
        }
    }
}
