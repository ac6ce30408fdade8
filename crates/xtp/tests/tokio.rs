//! The asynchronous API over loopback: the same paradigms, cancellation, the end without blocking.

mod common;
#[path = "common/strangers.rs"]
mod strangers;

use std::future::{Future, poll_fn};
use std::net::SocketAddr;
use std::task::Poll;
use std::time::Duration;

use ::tokio::io::{AsyncReadExt, AsyncWriteExt};
use common::{LONG, PORT, nobody, pattern};
use xtp::tokio::{Endpoint, Incoming, Listener, Mark, Stream};
use xtp::{CallOptions, Chunk, Config, Confirm, Error, Tags, paradigm, service_numbers};

fn endpoint() -> Endpoint {
    Endpoint::bind(Config::server("127.0.0.1:0".parse().expect("an address"))).expect("loopback")
}

fn pair() -> (Endpoint, SocketAddr, Endpoint) {
    let server = endpoint();
    let address = server.local_addr();
    (server, address, endpoint())
}

/// Runs a test on one thread; one that hangs fails.
fn run(test: impl Future<Output = ()>) {
    ::tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime")
        .block_on(async { ::tokio::time::timeout(LONG, test).await.expect("no hang") });
}

#[test]
fn everything_is_send_and_sync_and_so_are_its_futures() {
    fn check<T: Send + Sync + 'static>() {}
    fn check_future<T: Send>(_: &T) {}
    check::<Endpoint>();
    check::<Stream>();
    check::<Listener>();
    check::<Incoming>();
    check::<Mark>();
    run(async {
        let (_server, address, client) = pair();
        let stream = client
            .open(address, paradigm::stream(PORT))
            .expect("options in range");
        check_future(&stream.send("x"));
        check_future(&stream.recv_message());
        check_future(&client.call(address, PORT, "x", &CallOptions::default()));
        check_future(&stream.close());
    });
}

#[test]
fn every_paradigm_of_one_message() {
    run(async {
        let (server, address, client) = pair();
        let listener = server.listen(PORT).expect("a free number");
        let receiving = ::tokio::spawn(async move {
            let mut found = Vec::new();
            for _ in 0..5 {
                let (message, incoming) = listener.recv_message().await.expect("a message");
                let text = String::from_utf8_lossy(&message).into_owned();
                match text.as_str() {
                    "call" => incoming.respond("answer").await.expect("sent"),
                    "cheap" => incoming.respond_unconfirmed("answer").await.expect("sent"),
                    _ => drop(incoming),
                }
                found.push(text);
            }
            found
        });
        client.send_datagram(address, PORT, "datagram").expect("sent");
        client
            .send_acknowledged(address, PORT, "acknowledged", Confirm::Delivered)
            .await
            .expect("confirmed");
        client
            .send_message(address, PORT, "one shot")
            .await
            .expect("confirmed");
        for request in ["call", "cheap"] {
            let answer = client
                .call(address, PORT, request, &CallOptions::within(LONG))
                .await;
            assert_eq!(answer.expect("an answer"), "answer");
        }
        let found = receiving.await.expect("no panic");
        assert_eq!(found, ["datagram", "acknowledged", "one shot", "call", "cheap"]);
    });
}

/// A stream whose other end sends back what comes, and both endpoints.
fn echoed() -> (Endpoint, Endpoint, Stream) {
    let (server, address, client) = pair();
    server.enable_echo().expect("a free number");
    let stream = client
        .open(address, paradigm::stream(service_numbers::ECHO))
        .expect("options in range");
    (server, client, stream)
}

#[test]
fn octets_go_both_ways_at_once() {
    run(async {
        let (_server, _client, stream) = echoed();
        let data = pattern(6 << 20);
        let (mut reader, mut writer) = (&stream, &stream);
        let sending = async {
            writer.write_all(&data).await.expect("room");
            writer.shutdown().await.expect("open");
        };
        let mut back = Vec::new();
        let ((), count) = ::tokio::join!(sending, reader.read_to_end(&mut back));
        assert_eq!(count.expect("octets"), data.len());
        assert!(back == data, "the echo is what was sent");
        stream.close().await.expect("confirmed");
    });
}

#[test]
fn messages_tags_and_marks() {
    run(async {
        let (server, address, client) = pair();
        let listener = server.listen_streams(PORT).expect("a free number");
        let far = ::tokio::spawn(async move {
            let stream = listener.accept().await.expect("an association").into_stream();
            let tag = stream.recv_chunk().await.expect("open").expect("a tag");
            let message = stream.recv_message().await.expect("open").expect("a message");
            stream.send_tagged(6, "back").await.expect("room");
            assert_eq!(stream.recv_tagged().await.expect("a clean end"), None);
            stream.close().await.expect("confirmed");
            (tag, message.len())
        });
        let stream = client
            .open(address, paradigm::stream(PORT))
            .expect("options in range");
        stream.send_tag(5).await.expect("room");
        stream.send_message(pattern(5 << 20)).await.expect("room");
        let mark = stream.mark(Confirm::Delivered).expect("open");
        mark.wait(Some(LONG)).await.expect("delivered");
        assert!(mark.is_reached().expect("known"));
        let back = stream.recv_tagged().await.expect("open").expect("a message");
        assert_eq!((back.tag, &back.data[..]), (Some(6), &b"back"[..]));
        stream.close().await.expect("confirmed");
        let (tag, len) = far.await.expect("no panic");
        assert_eq!((tag, len), (Chunk::Tag { offset: 0, tag: 5 }, 5 << 20));
    });
}

#[test]
fn a_dropped_receive_loses_nothing() {
    run(async {
        let (server, address, client) = pair();
        let listener = server.listen_streams(PORT).expect("a free number");
        let stream = client
            .open(address, paradigm::stream(PORT))
            .expect("options in range");
        stream.send("hal").await.expect("room");
        // The accept is dropped again and again before it succeeds.
        let far = loop {
            match ::tokio::time::timeout(Duration::from_micros(10), listener.accept()).await {
                Ok(incoming) => break incoming.expect("an association").into_stream(),
                Err(_) => ::tokio::task::yield_now().await,
            }
        };
        for _ in 0..3 {
            let half = ::tokio::time::timeout(Duration::from_millis(5), far.recv_message()).await;
            assert!(half.is_err(), "no whole message yet");
        }
        stream.send_message("f").await.expect("room");
        assert_eq!(
            far.recv_message().await.expect("open").expect("a message"),
            "half"
        );
    });
}

#[test]
fn a_dropped_send_sends_all_or_nothing() {
    run(async {
        let (server, address, client) = pair();
        let listener = server.listen_streams(PORT).expect("a free number");
        let mut options = paradigm::stream(PORT);
        options.tuning.send_capacity = 10_000;
        let stream = client.open(address, options).expect("options in range");
        let message = pattern(300_000);
        // Polled once and dropped: a time limit would let it end on a busy host.
        let mut sending = Box::pin(stream.send_message(message.clone()));
        let waits = poll_fn(|context| Poll::Ready(sending.as_mut().poll(context).is_pending())).await;
        assert!(waits, "no room for all of it");
        drop(sending);
        let far = listener.accept().await.expect("an association").into_stream();
        let first = far.recv_message().await.expect("open").expect("a message");
        assert!(first == message, "once taken, all of it arrives");
        stream.send_message("next").await.expect("room");
        assert_eq!(
            far.recv_message().await.expect("open").expect("a message"),
            "next"
        );
    });
}

#[test]
fn a_dropped_call_is_aborted() {
    run(async {
        let (server, address, client) = pair();
        let listener = server.listen(PORT).expect("a free number");
        let options = CallOptions::default();
        let call = client.call(address, PORT, "hello", &options);
        assert!(
            ::tokio::time::timeout(Duration::from_millis(20), call)
                .await
                .is_err()
        );
        let error = client
            .call(
                address,
                PORT,
                "hello",
                &CallOptions::within(Duration::from_millis(20)),
            )
            .await
            .expect_err("nobody answers");
        assert!(error.is_timeout(), "{error}");
        let report = client.shutdown(Duration::ZERO).await.expect("a working socket");
        assert!(report.is_clean(), "nothing is left behind: {report:?}");
        drop(listener);
    });
}

#[test]
fn dropping_everything_neither_blocks_nor_loses() {
    run(async {
        let (server, address, client) = pair();
        let listener = server.listen_streams(PORT).expect("a free number");
        let data = pattern(3 << 20);
        let expected = data.clone();
        let stream = client
            .open(address, paradigm::stream(PORT))
            .expect("options in range");
        let far = ::tokio::spawn(async move {
            let mut stream = listener.accept().await.expect("an association").into_stream();
            let mut received = Vec::new();
            stream.read_to_end(&mut received).await.expect("octets");
            drop(server);
            received == expected
        });
        (&stream).write_all(&data).await.expect("room");
        drop(stream);
        // One thread: a blocking drop would stop the peer, and nothing more would arrive.
        drop(client);
        assert!(
            far.await.expect("no panic"),
            "everything written before the drop arrived"
        );
    });
}

#[test]
fn errors_are_those_of_the_synchronous_api() {
    run(async {
        let (server, address, client) = pair();
        let refused = client.call(address, PORT, "x", &CallOptions::within(LONG)).await;
        assert!(refused.expect_err("nobody listens").is_refused());
        let unused = nobody();
        ::tokio::time::sleep(Duration::from_millis(20)).await;
        let unreachable = client
            .send_message(unused, PORT, "x")
            .await
            .expect_err("nobody there");
        assert!(unreachable.is_unreachable(), "{unreachable}");
        let stream = client
            .open(address, paradigm::stream(PORT))
            .expect("options in range");
        assert!(matches!(stream.send_message("").await, Err(Error::Command(_))));
        let refused = stream.connect(Some(LONG)).await.expect_err("nobody listens");
        assert!(refused.is_refused(), "{refused}");
        let none = client.connect(&[][..], &paradigm::stream(PORT), None).await;
        assert!(none.expect_err("no address").is_unreachable());
        drop(server);
    });
}

#[test]
fn many_tasks_share_one_endpoint_on_many_threads() {
    let runtime = ::tokio::runtime::Builder::new_multi_thread()
        .worker_threads(4)
        .enable_all()
        .build()
        .expect("a runtime");
    runtime.block_on(async {
        let (server, address, client) = pair();
        server.enable_echo().expect("a free number");
        let tasks: Vec<_> = (0..50usize)
            .map(|number| {
                let client = client.clone();
                ::tokio::spawn(async move {
                    let stream = client
                        .open(address, paradigm::stream(service_numbers::ECHO))
                        .expect("options in range");
                    for round in 0..20 {
                        let message = pattern(1 + (number * 31 + round * 77) % 3_000);
                        stream.send_message(message.clone()).await.expect("room");
                        let back = stream.recv_message().await.expect("open").expect("a message");
                        assert!(back == message, "task {number}, round {round}");
                    }
                    stream.close().await.expect("confirmed");
                })
            })
            .collect();
        for task in tasks {
            task.await.expect("no panic");
        }
    });
}

#[test]
fn retained_buffers_come_back_as_they_are_acknowledged() {
    run(async {
        let (server, address, client) = pair();
        let listener = server.listen_streams(PORT).expect("a free number");
        let far = ::tokio::spawn(async move {
            let mut stream = listener.accept().await.expect("an association").into_stream();
            let mut all = Vec::new();
            stream.read_to_end(&mut all).await.expect("octets");
            all
        });
        let stream = client
            .open(address, paradigm::stream(PORT))
            .expect("options in range");
        let data = pattern(500_000);
        let mut sender = stream.tuning().retained(3, 50_000);
        let mut buffer = sender.buffer().await.expect("free");
        for part in data.chunks(50_000) {
            buffer.extend_from_slice(part);
            buffer = sender.send(buffer).await.expect("room");
            assert!(sender.outstanding() < 3);
        }
        sender.finish().await.expect("confirmed");
        stream.close().await.expect("confirmed");
        assert!(far.await.expect("no panic") == data);
    });
}

#[test]
fn a_long_exchange_of_small_messages_never_stops() {
    run(async {
        let (_server, _client, stream) = echoed();
        for number in 0..1_500u32 {
            stream
                .send_message(number.to_be_bytes().to_vec())
                .await
                .expect("room");
            let back = stream.recv_message().await.expect("open").expect("a message");
            assert_eq!(back[..], number.to_be_bytes());
        }
    });
}

#[test]
fn frames_are_sent_as_octets_and_as_messages() {
    run(async {
        let (_server, _client, stream) = echoed();
        let mut buffer = stream.as_sync().tuning().frame_buffer(3 << 20).expect("open");
        std::io::Write::write_all(&mut buffer, &pattern(3 << 20)).expect("room");
        let data = buffer.freeze();
        let sending = async {
            stream.tuning().send_frames(&data).await.expect("sent");
            stream.tuning().send_frames_message(&data).await.expect("sent");
        };
        let receiving = async {
            let mut octets = vec![0; 6 << 20];
            (&stream).read_exact(&mut octets).await.expect("echoed");
            octets
        };
        let ((), octets) = ::tokio::join!(sending, receiving);
        assert!(octets == pattern(3 << 20).repeat(2), "altered");
        let empty = xtp::FrameBuffer::new(1, 1).freeze();
        assert!(stream.tuning().send_frames_message(&empty).await.is_err());
    });
}

#[test]
fn whoever_is_complete_first_is_served_first() {
    run(async {
        let (server, address, client) = pair();
        let listener = server.listen(PORT).expect("a free number");
        strangers::Strangers::new(address).begin(&paradigm::transaction(PORT), 3);
        while server.stats().engine.contexts < 3 {
            ::tokio::time::sleep(Duration::from_millis(2)).await;
        }
        let serving = ::tokio::spawn(async move {
            let (request, incoming) = listener.recv_message().await.expect("a request");
            incoming.respond(request).await.expect("open");
        });
        let options = CallOptions::default();
        let answer = client.call(address, PORT, "whole", &options);
        assert_eq!(answer.await.expect("an answer"), "whole");
        serving.await.expect("no panic");
    });
}

#[test]
fn what_is_not_complete_in_time_is_given_up_and_told() {
    run(async {
        let mut config = Config::server("127.0.0.1:0".parse().expect("an address"));
        config.message_timeout = Duration::from_millis(50);
        let server = Endpoint::bind(config).expect("loopback");
        let listener = server.listen(PORT).expect("a free number");
        strangers::Strangers::new(server.local_addr()).begin(&paradigm::transaction(PORT), 1);
        let arrival = listener.arrival().await.expect("an arrival");
        assert!(
            matches!(arrival, xtp::tokio::Arrival::Failed(_, Error::Timeout { .. })),
            "{arrival:?}"
        );
    });
}

#[test]
fn groups_of_tasks() {
    use xtp::{CastOptions, Interface, JoinOptions, MemberState};
    run(async {
        let group: SocketAddr = "239.77.2.1:36036".parse().unwrap();
        let loopback = Interface::Address("127.0.0.1".parse().unwrap());
        let mut receiving = Vec::new();
        for _ in 0..3 {
            let receiver = endpoint();
            let options = JoinOptions::new().interface(loopback.clone());
            let mut subscription = receiver.join(group, options).unwrap();
            receiving.push(::tokio::spawn(async move {
                let mut got = Vec::new();
                subscription.read_to_end(&mut got).await.unwrap();
                subscription.close().await.unwrap();
                got
            }));
        }
        let options = CastOptions::new().interface(loopback).expect(3);
        let mut cast = endpoint().cast(group, options).unwrap();
        let data = pattern(200_000);
        cast.write_all(&data).await.unwrap();
        let members = cast.finish().await.unwrap();
        assert_eq!(members.len(), 3);
        assert!(
            members
                .iter()
                .all(|member| member.state == MemberState::Done(false)),
            "{members:?}"
        );
        for receiver in receiving {
            assert!(receiver.await.unwrap() == data);
        }
    });
}

#[test]
fn waits_end_when_they_should() {
    run(async {
        let (server, address, client) = pair();
        let listener = std::sync::Arc::new(server.listen(PORT).expect("a free number"));
        let short = Duration::from_millis(20);
        let error = listener
            .recv_message_timeout(short)
            .await
            .expect_err("nobody came");
        assert!(error.is_timeout(), "{error}");
        // A caller that gives up is not answered, and one that is rejected learns why.
        let patience = CallOptions::within(short);
        let calling = client.call(address, PORT, "given up", &patience);
        assert!(calling.await.expect_err("nobody answers").is_timeout());
        // Known is what the driver has read: request and farewell.
        while server.stats().engine.received < 2 {
            ::tokio::time::sleep(Duration::from_millis(1)).await;
        }
        let rejecting = {
            let listener = std::sync::Arc::clone(&listener);
            ::tokio::spawn(async move {
                let (request, incoming) = listener.recv_message().await.expect("a request");
                incoming.reject(1_000, "no");
                request
            })
        };
        let options = CallOptions::default();
        let error = client.call(address, PORT, "a question", &options).await;
        let reason = xtp::CloseReason::Rejected {
            code: 1_000,
            text: "no".into(),
        };
        assert_eq!(error.expect_err("rejected").close_reason(), Some(&reason));
        assert_eq!(rejecting.await.expect("no panic"), "a question");
        let waiting = {
            let listener = std::sync::Arc::clone(&listener);
            ::tokio::spawn(async move { listener.accept().await.map(drop) })
        };
        ::tokio::task::yield_now().await;
        listener.close();
        let error = waiting.await.expect("no panic").expect_err("nobody will come");
        assert!(matches!(error, Error::Command(_)), "{error:?}");
    });
}

#[test]
fn a_datagram_to_tasks() {
    use xtp::{CastOptions, JoinOptions};
    run(async {
        let (mut addresses, mut receiving) = (Vec::new(), Vec::new());
        for _ in 0..3 {
            let receiver = endpoint();
            addresses.push(receiver.local_addr());
            let subscription = receiver.join(None, JoinOptions::new()).unwrap();
            receiving.push(::tokio::spawn(async move {
                let message = subscription.recv_message().await.unwrap();
                subscription.close().await.unwrap();
                message
            }));
        }
        let confirmed = endpoint()
            .cast_datagram(addresses, "to each task", &CastOptions::new())
            .await
            .unwrap();
        assert_eq!(confirmed.len(), 3);
        for receiver in receiving {
            assert_eq!(receiver.await.unwrap().as_deref(), Some(&b"to each task"[..]));
        }
    });
}

#[test]
fn receives_are_posted_by_tag() {
    run(async {
        let (server, address, client) = pair();
        let options = xtp::ListenOptions::streams(PORT);
        let listener = server.listen_matched(options).expect("a free number");
        let stream = client.open(address, paradigm::stream(PORT)).expect("opened");
        for tag in 0..20 {
            stream
                .send_tagged(tag, pattern(1 + 100 * tag as usize))
                .await
                .expect("room");
        }
        let far = listener.accept().await.expect("an association").into_stream();
        let receives: Vec<_> = (0..21)
            .rev()
            .map(|tag| far.post_receive(Tags::exact(tag), 2_000).expect("posted"))
            .collect();
        // One that nothing comes for, and of two of the same tag the second.
        assert!(
            receives[0]
                .wait(Some(Duration::from_millis(20)))
                .await
                .is_err_and(|error| error.is_timeout())
        );
        for (tag, received) in (0..20).rev().zip(&receives[1..]) {
            let message = received.wait(None).await.expect("a message").expect("one");
            assert_eq!(
                (message.tag, message.into_bytes().to_vec()),
                (Some(tag), pattern(1 + 100 * tag as usize))
            );
        }
        assert!(receives[0].cancel());
        let late = far.post_receive(Tags::exact(99), 10).expect("posted");
        let (sent, received) = ::tokio::join!(stream.send_tagged(99, "late"), late.wait(None));
        sent.expect("room");
        assert_eq!(received.expect("a message").expect("one").into_bytes(), "late");
        let any = server.post_receive(Tags::Any, 10).expect("posted");
        let there = listener.post_receive(Tags::exact(7), 10).expect("posted");
        stream.send_tagged(7, "posted before").await.expect("room");
        let outcome = any.wait(None).await;
        assert!(
            matches!(outcome, Err(Error::MessageTooLong { limit: 10 })),
            "{outcome:?}"
        );
        assert!(there.cancel());
        stream.send_tagged(8, "looked at first").await.expect("room");
        let seen = loop {
            match server.try_peek(Tags::exact(8)) {
                Err(error) if error.is_would_block() => ::tokio::time::sleep(Duration::from_millis(1)).await,
                seen => break seen.expect("a message"),
            }
        };
        assert!(seen.is_some());
        assert!(
            listener
                .try_peek(Tags::Without)
                .is_err_and(|error| error.is_would_block())
        );
        assert_eq!(far.try_peek(Tags::Any).expect("the same"), seen);
        let taken = far.post_receive(Tags::exact(8), 100).expect("posted");
        let message = taken.try_take().expect("it is there").expect("one");
        assert_eq!(message.into_bytes(), "looked at first");
    });
}

/// As with the calls that wait (`gathered_writes`): short writes share packets, and the last leave by themselves.
#[test]
fn short_writes_are_gathered() {
    run(async {
        let (server, address, client) = pair();
        let listener = server.listen_streams(PORT).expect("a free number");
        let data = pattern(256 << 10);
        let mut packets = Vec::new();
        for nodelay in [false, true] {
            let stream = client
                .open(address, paradigm::stream(PORT))
                .expect("options in range");
            stream.tuning().set_nodelay(nodelay).expect("open");
            stream.send("begin").await.expect("room");
            let far = listener.accept().await.expect("an association").into_stream();
            let before = client.stats().packets_sent();
            let mut received = vec![0; 5 + data.len()];
            let mut reader = &far;
            let writing = async {
                for piece in data.chunks(16) {
                    (&stream).write_all(piece).await.expect("room");
                }
            };
            let ((), read) = ::tokio::join!(writing, reader.read_exact(&mut received));
            read.expect("all of them");
            assert!(received[5..] == data, "other octets");
            packets.push(client.stats().packets_sent() - before);
        }
        println!("{} writes, {packets:?} packets", data.len() / 16);
        assert!(packets[0] < packets[1] / 4, "{packets:?}");
    });
}

#[test]
fn tasks_on_a_stream_that_another_aborts_are_told() {
    run(async {
        let (server, address, client) = pair();
        let listener = server.listen_streams(PORT).expect("a free number");
        for started in [true, false] {
            let stream = client.open(address, paradigm::stream(PORT)).expect("a context");
            if started {
                stream.send("something").await.expect("room");
            }
            let aborting = async {
                ::tokio::task::yield_now().await;
                stream.as_sync().abort_shared();
            };
            let (one, other, ()) = ::tokio::join!(stream.recv_message(), stream.recv_chunk(), aborting);
            one.expect_err("it is over");
            other.expect_err("it is over");
        }
        drop(listener);
    });
}
