//! The Xpress Transport Protocol for programs: datagrams, messages, transactions and streams over one UDP socket.
//!
//! An [`Endpoint`] is one socket with a protocol engine on it. Whom a packet is for is said by a UDP address and a
//! *service number*, so one socket serves any number of services and peers. The first packet carries data: a
//! message costs two or three packets and one round trip, and no connection is set up before or torn down after it.
//!
//! # What to read first
//!
//! | to | everyday |
//! | --- | --- |
//! | have a socket | [`Endpoint::client`], [`Endpoint::bind`] with [`Config::server`] |
//! | send one thing | [`send_datagram`](Endpoint::send_datagram), [`send_message`](Endpoint::send_message), [`send_acknowledged`](Endpoint::send_acknowledged), [`call`](Endpoint::call) |
//! | serve it | [`Endpoint::listen`], [`Listener::recv_message`], [`Incoming::respond`], [`Incoming::reject`] |
//! | talk for longer | [`Endpoint::open`], [`Endpoint::listen_streams`], [`Stream`], [`Stream::send_message`], [`Stream::send_tagged`], [`Stream::message_reader`], [`Stream::send_file`], [`Stream::split`] |
//! | reach many | [`Endpoint::cast`], [`Endpoint::join`] |
//! | receive by tag, in any order | [`Stream::post_receive`], [`Endpoint::post_receive`], [`PostedReceive`] |
//! | wait for many | [`PollSet`], with your own descriptors too, [`CompletionQueue`], the module `tokio` |
//! | sleep in a loop of your own | [`Endpoint`] as a [descriptor](Endpoint#impl-AsFd-for-Endpoint), [`Endpoint::next_deadline`], [`Endpoint::progress`] |
//! | know what went wrong | [`Error`], [`CloseReason`] |
//!
//! Everything else is for those who measured: the module [`tuning`] has it apart. A program that works needs none of it:
//! [`Config`], [`OpenOptions`], [`ListenOptions`] and [`CallOptions`] are good as they are made.
//!
//! # Four paradigms
//!
//! **Datagrams.** Unacknowledged: one packet, sent and forgotten. Acknowledged: two packets, and the caller knows
//! that the peer has it, or, with [`Confirm::Delivered`], that its program has taken it.
//!
//! ```
//! use xtp::{Config, Confirm, Endpoint};
//!
//! let server = Endpoint::bind(Config::server("127.0.0.1:0".parse().unwrap()))?;
//! let listener = server.listen(100)?;
//! let receiving = std::thread::spawn(move || -> xtp::Result<()> {
//!     for expected in ["fire and forget", "confirmed"] {
//!         let (message, from) = listener.recv_message()?;
//!         println!("{} octets from {}", message.len(), from.peer());
//!         assert_eq!(message, expected);
//!     }
//!     Ok(())
//! });
//!
//! let client = Endpoint::client()?;
//! client.send_datagram(server.local_addr(), 100, "fire and forget")?;
//! client.send_acknowledged(server.local_addr(), 100, "confirmed", Confirm::Delivered)?;
//! receiving.join().unwrap()?;
//! # Ok::<(), xtp::Error>(())
//! ```
//!
//! **Transactions.** A request and its response in three packets, or two if the response need not be confirmed. The
//! request runs at most once, whatever is lost or repeated on the way.
//!
//! ```
//! use xtp::{CallOptions, Config, Endpoint};
//!
//! let server = Endpoint::bind(Config::server("127.0.0.1:0".parse().unwrap()))?;
//! let listener = server.listen(100)?;
//! let serving = std::thread::spawn(move || -> xtp::Result<()> {
//!     let (request, caller) = listener.recv_message()?;
//!     caller.respond(request.to_ascii_uppercase())
//! });
//!
//! let client = Endpoint::client()?;
//! let response = client.call(server.local_addr(), 100, "hello", &CallOptions::default())?;
//! assert_eq!(response, "HELLO");
//! serving.join().unwrap()?;
//! # Ok::<(), xtp::Error>(())
//! ```
//!
//! **Byte streams.** Reliable, full-duplex, with half close; [`std::io::Read`] and [`std::io::Write`], or owned
//! memory without a copy.
//!
//! ```
//! use std::io::{Read, Write};
//! use xtp::{Config, Endpoint, paradigm};
//!
//! let server = Endpoint::bind(Config::server("127.0.0.1:0".parse().unwrap()))?;
//! let listener = server.listen_streams(100)?;
//! let receiving = std::thread::spawn(move || -> std::io::Result<String> {
//!     let mut text = String::new();
//!     listener.accept()?.into_stream().read_to_string(&mut text)?;
//!     Ok(text)
//! });
//!
//! let client = Endpoint::client()?;
//! let mut stream = client.open(server.local_addr(), paradigm::stream(100))?;
//! stream.write_all(b"copied once, ")?;
//! stream.send("or not at all")?;
//! stream.close()?; // returns when everything is confirmed
//! assert_eq!(receiving.join().unwrap()?, "copied once, or not at all");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! **Message streams.** The same association with boundaries: an established ping-pong costs two packets a round
//! trip.
//!
//! ```
//! use xtp::{Config, Endpoint, paradigm};
//!
//! let server = Endpoint::bind(Config::server("127.0.0.1:0".parse().unwrap()))?;
//! let listener = server.listen_streams(100)?;
//! let serving = std::thread::spawn(move || -> xtp::Result<()> {
//!     let stream = listener.accept()?.into_stream();
//!     while let Some(message) = stream.recv_message()? {
//!         stream.send_message(message)?;
//!     }
//!     stream.close()
//! });
//!
//! let client = Endpoint::client()?;
//! let stream = client.open(server.local_addr(), paradigm::stream(100))?;
//! for number in 0..10 {
//!     let ping = format!("ping {number}");
//!     stream.send_message(ping.clone())?;
//!     assert_eq!(stream.recv_message()?.as_deref(), Some(ping.as_bytes()));
//! }
//! stream.close()?;
//! serving.join().unwrap()?;
//! # Ok::<(), xtp::Error>(())
//! ```
//!
//! [`paradigm`] has two more (one-shot messages, streams that do not repeat what is lost), and every option of an
//! association can be set one by one ([`OpenOptions`], [`Tuning`]).
//!
//! # Names of calls, numbers
//!
//! **Waiting.** A call waits as long as it takes; of the same name with `_timeout` at the end it waits so long at most and then
//! fails with [`Error::Timeout`]; with `try_` before it it does not wait and fails with [`Error::WouldBlock`]. Where a time limit is
//! an `Option`, `None` is as long as it takes. A stream's [`set_read_timeout`](Stream::set_read_timeout) and
//! [`set_write_timeout`](Stream::set_write_timeout) are what its calls without a limit of their own wait at most.
//!
//! **Numbers.** A UDP port leads to an endpoint, a *service number* to a listener of it. Some numbers have names in [`service_numbers`];
//! a program's own begin at 1 000.
//!
//! # Progress, threads, waiting
//!
//! No thread drives an endpoint: calls do the work, on the caller's own thread. What that means for peers
//! is said at [`Endpoint`]; [`Endpoint::spawn_driver`] starts a thread for programs that are elsewhere for long.
//! Where short writes come quickly ([`set_nodelay`](tuning::StreamTuning::set_nodelay)), and there alone, an endpoint has a thread that sends the last of them.
//! One thread waits for many associations with a [`PollSet`].
//! Everything is `Send` and `Sync`. [`Wait`] chooses between latency and processor time. With the feature `tokio`
//! the module `tokio` has the same types for asynchronous programs.
//!
//! # Security
//!
//! Traffic is neither encrypted nor authenticated. Keys of associations are random and unguessable from outside the
//! path; whoever sees packets can forge them.
#![forbid(unsafe_code)]

mod addresses;
mod associations;
mod calls;
mod canonical;
#[cfg(feature = "capture")]
mod capture;
#[cfg(not(feature = "capture"))]
#[path = "capture/none.rs"]
mod capture;
mod carrier;
mod cast;
mod chunk;
mod clock;
mod completion;
mod config;
mod core;
mod cork;
#[cfg(target_os = "linux")]
mod descriptor_set;
mod driver;
mod endpoint;
mod error;
mod exchange;
mod file;
mod flusher;
mod frames;
mod group;
mod group_handle;
mod group_listener;
mod group_report;
mod history;
mod incoming;
mod limit;
mod listener;
#[cfg(target_os = "linux")]
mod loop_descriptor;
mod mark;
mod matched;
mod matching;
pub mod mesh;
mod poll_set;
mod race;
mod reach;
mod resolve;
mod shared;
mod stats;
mod stream;
mod subscription;
mod sync;
#[cfg(all(feature = "tokio", unix))]
pub mod tokio;
mod upcall;
mod wait;
mod wake;

pub mod tuning;

pub use self::core::{Completion, Unconfirmed};
pub use associations::{AssociationHolder, AssociationReport};
pub use bytes::Bytes;
pub use calls::{Answer, CallOptions};
#[cfg(feature = "capture")]
#[doc(hidden)]
pub use capture::{Framing, Trace};
pub use cast::Cast;
pub use chunk::Chunk;
pub use completion::CompletionQueue;
pub use config::{Config, Wait};
#[doc(hidden)]
pub use cork::Cork;
pub use driver::DriverThread;
pub use endpoint::{Endpoint, ShutdownReport};
pub use error::{Error, Result};
pub use file::FileError;
#[doc(hidden)]
pub use frames::{FrameBuffer, FrameBytes};
pub use group::{CastOptions, JoinOptions};
pub use group_listener::GroupListener;
pub use group_report::{GroupParty, GroupReport};
pub use history::History;
pub use incoming::Incoming;
pub use listener::{Arrival, Listener};
pub use mark::Mark;
pub use matched::Matched;
pub use matching::PostedReceive;
pub use poll_set::PollSet;
pub use resolve::resolve;
pub use stats::EndpointStats;
#[doc(hidden)]
pub use stream::Retained;
pub use stream::{MessageReader, Reader, Stream, Writer};
pub use subscription::Subscription;
#[doc(hidden)]
pub use xtp_engine::group::{BucketOptions, Cycle, Fec, Mode};
pub use xtp_engine::group::{CastStats, SubscriptionStats};
pub use xtp_engine::group::{
    DropReason, GroupClose, GroupEvent, HistoryItem, MemberId, MemberReport, MemberState, Require, Slow,
    Target,
};
pub use xtp_engine::{
    CloseReason, Confirm, DiagReason, Envelope, LONGEST_REASON, ListenOptions, OpenOptions, TaggedMessage,
    Tags, paradigm,
};
#[doc(hidden)]
pub use xtp_engine::{CongestionKind, EngineConfig, ErrorControl, Rate, Tuning};
pub use xtp_engine::{ContextStats, EngineStats, Error as CommandError, Octets};
pub use xtp_io::Counters;
#[cfg(target_os = "linux")]
pub use xtp_io::Interest;
pub use xtp_io::Interface;
#[cfg(feature = "standard-streams")]
#[doc(hidden)]
pub use xtp_io::process::output_was_closed;
#[doc(hidden)]
pub use xtp_io::{Backend, Capabilities, SocketOptions};
pub use xtp_wire::{UDP_PORT, service, service_numbers};

/// The example of the repository's front page is compiled and run with the others.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct FrontPage;
