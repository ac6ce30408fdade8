//! Writes captures of every paradigm, for dissectors: `capture_paradigms FOLDER`.
//!
//! Two endpoints in this process, on two loopback addresses of their own at the standard port. The client's
//! capture shows packets as IP protocol 36 (`NAME.ip.pcap`), the server's as UDP datagrams (`NAME.udp.pcap`).
//! Each paradigm runs with everything the engine offers and, but for groups, once more as plain XTP 4.0 (`NAME-legacy`).
#![forbid(unsafe_code)]

use std::error::Error;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use xtp::{
    Bytes, CallOptions, CastOptions, Chunk, Config, Confirm, Endpoint, Fec, Framing, Interface, JoinOptions,
    ListenOptions, Listener, OpenOptions, Target, Trace, UDP_PORT, Wait, paradigm,
};
use xtp_link::relay::{Relay, RelayConfig};
use xtp_link::{LinkConfig, Loss};

type Outcome = Result<(), Box<dyn Error + Send + Sync>>;

const PORT: u16 = 1_000;
const DEADLINE: Duration = Duration::from_secs(20);
const SMALL: &[u8] = b"hello";
/// Longer than any packet.
const LARGE: usize = 200_000;

/// Two endpoints, one of which listens.
struct Lab {
    server: Endpoint,
    listener: Listener,
    client: Endpoint,
    /// Where the client sends to.
    address: SocketAddr,
}

impl Lab {
    fn new(folder: &Path, name: &str, change: fn(&mut Config)) -> Result<Self, Box<dyn Error + Send + Sync>> {
        let endpoint = |last: u8, framing, ending| -> Result<Endpoint, Box<dyn Error + Send + Sync>> {
            let mut config = Config::server(own_address(last));
            config.wait = Wait::Block;
            config.fresh_start = true;
            config.trace = Some(Trace::create(
                folder.join(format!("{name}.{ending}.pcap")),
                framing,
            )?);
            change(&mut config);
            Ok(Endpoint::bind(config)?)
        };
        let server = endpoint(2, Framing::Udp, "udp")?;
        Ok(Self {
            listener: server.listen_with(ListenOptions::every_service(PORT))?,
            address: server.local_addr(),
            server,
            client: endpoint(1, Framing::Protocol36, "ip")?,
        })
    }

    /// Runs both ends at the same time.
    fn both(&self, server: fn(&Self) -> Outcome, client: fn(&Self) -> Outcome) -> Outcome {
        thread::scope(|scope| {
            let serving = scope.spawn(|| server(self));
            client(self)?;
            serving.join().map_err(|_| "the server's thread panicked")?
        })
    }

    /// Lets whatever is still under way arrive.
    fn settle(&self) -> Outcome {
        for endpoint in [&self.client, &self.server, &self.client, &self.server] {
            endpoint.shutdown(Duration::from_secs(2))?;
        }
        Ok(())
    }
}

/// A loopback address of this process at the standard port.
fn own_address(last: u8) -> SocketAddr {
    let [.., high, low] = std::process::id().to_be_bytes();
    SocketAddr::from((Ipv4Addr::new(127, high.max(1), low, last), UDP_PORT))
}

fn pattern(len: usize) -> Bytes {
    (0..len)
        .map(|at| (at.wrapping_mul(2_654_435_761) >> 13) as u8)
        .collect::<Vec<u8>>()
        .into()
}

/// Takes one message and lets the sender finish.
fn take(lab: &Lab) -> Outcome {
    let (_, incoming) = lab.listener.recv_message()?;
    incoming.into_stream().close_timeout(DEADLINE)?;
    Ok(())
}

fn datagram(lab: &Lab) -> Outcome {
    lab.both(take, |lab| {
        Ok(lab.client.send_datagram(lab.address, PORT, SMALL)?)
    })
}

fn long_datagram(lab: &Lab) -> Outcome {
    lab.both(take, |lab| {
        Ok(lab.client.send_datagram(lab.address, PORT, pattern(LARGE))?)
    })
}

fn acknowledged(lab: &Lab) -> Outcome {
    lab.both(take, |lab| {
        Ok(lab
            .client
            .send_acknowledged(lab.address, PORT, SMALL, Confirm::Received)?)
    })
}

fn acknowledged_delivered(lab: &Lab) -> Outcome {
    lab.both(take, |lab| {
        Ok(lab
            .client
            .send_acknowledged(lab.address, PORT, SMALL, Confirm::Delivered)?)
    })
}

fn one_shot(lab: &Lab) -> Outcome {
    lab.both(take, |lab| {
        Ok(lab.client.send_message(lab.address, PORT, SMALL)?)
    })
}

fn call(lab: &Lab) -> Outcome {
    lab.client
        .call(lab.address, PORT, SMALL, &CallOptions::within(DEADLINE))?;
    Ok(())
}

fn transaction(lab: &Lab) -> Outcome {
    lab.both(
        |lab| {
            let (request, incoming) = lab.listener.recv_message()?;
            Ok(incoming.respond_confirmed(request, DEADLINE)?)
        },
        call,
    )
}

fn transaction_unconfirmed(lab: &Lab) -> Outcome {
    lab.both(
        |lab| {
            let (request, incoming) = lab.listener.recv_message()?;
            Ok(incoming.respond_unconfirmed(request)?)
        },
        call,
    )
}

fn transaction_slow(lab: &Lab) -> Outcome {
    lab.both(
        |lab| {
            let (request, incoming) = lab.listener.recv_message()?;
            lab.server.progress_timeout(Duration::from_millis(50))?;
            Ok(incoming.respond_confirmed(request, DEADLINE)?)
        },
        |lab| {
            let mut options = CallOptions::within(DEADLINE);
            options.slow_server = true;
            lab.client.call(lab.address, PORT, SMALL, &options)?;
            Ok(())
        },
    )
}

/// Sends back what comes, item by item.
fn echo(lab: &Lab) -> Outcome {
    let stream = lab.listener.accept_timeout(DEADLINE)?.into_stream();
    while let Some(chunk) = stream.recv_chunk()? {
        match chunk {
            Chunk::Data {
                bytes,
                end_of_message: true,
                ..
            } => stream.send_message(bytes)?,
            Chunk::Data { bytes, .. } => stream.send(bytes)?,
            Chunk::Tag { tag, .. } => stream.send_tag(tag)?,
            _ => {}
        }
    }
    Ok(stream.close_timeout(DEADLINE)?)
}

/// Writes with `write`, ends the stream, and reads everything that comes back.
fn exchange(lab: &Lab, options: OpenOptions, write: fn(&xtp::Stream) -> xtp::Result<()>) -> Outcome {
    let stream = lab.client.open(lab.address, options)?;
    write(&stream)?;
    stream.shutdown_write()?;
    while stream.recv_chunk()?.is_some() {}
    Ok(stream.close_timeout(DEADLINE)?)
}

fn byte_stream(lab: &Lab) -> Outcome {
    lab.both(echo, |lab| {
        exchange(lab, paradigm::stream(PORT), |stream| stream.send(pattern(LARGE)))
    })
}

fn message_stream(lab: &Lab) -> Outcome {
    lab.both(echo, |lab| {
        exchange(lab, paradigm::stream(PORT), |stream| {
            (0..20).try_for_each(|number| stream.send_message(pattern(1 + number * 300)))
        })
    })
}

fn unreliable_stream(lab: &Lab) -> Outcome {
    lab.both(echo, |lab| {
        exchange(lab, paradigm::unreliable_stream(PORT), |stream| {
            stream.send(pattern(LARGE))
        })
    })
}

fn tags(lab: &Lab) -> Outcome {
    lab.both(echo, |lab| {
        exchange(lab, paradigm::stream(PORT), |stream| {
            (0..10).try_for_each(|tag| {
                stream.send_tag(tag)?;
                stream.send(pattern(100))
            })
        })
    })
}

/// Priorities, limits of the peer's rate, and confirmation on delivery.
fn options(lab: &Lab) -> Outcome {
    lab.both(echo, |lab| {
        exchange(lab, paradigm::stream(PORT), |stream| {
            stream.connect(Some(DEADLINE))?;
            stream.tuning().set_sort(Some(3))?;
            stream.tuning().set_in_rate(xtp::Rate {
                octets_per_second: 50_000_000,
                burst: 100_000,
            })?;
            stream.send(pattern(50_000))?;
            stream.confirm(Confirm::Delivered)
        })
    })
}

fn abort(lab: &Lab) -> Outcome {
    lab.both(
        |lab| {
            let stream = lab.listener.accept_timeout(DEADLINE)?.into_stream();
            while stream.recv_chunk().is_ok_and(|chunk| chunk.is_some()) {}
            Ok(())
        },
        |lab| {
            let stream = lab.client.open(lab.address, paradigm::stream(PORT))?;
            stream.tuning().send_scoped(SMALL)?;
            stream.abort();
            Ok(())
        },
    )
}

/// Nobody listens to the service: DIAG.
fn refusal(lab: &Lab) -> Outcome {
    let _driver = lab.server.spawn_driver()?;
    let options = CallOptions::within(DEADLINE);
    match lab.client.call(lab.address, PORT + 1, SMALL, &options) {
        Err(error) if error.is_refused() => Ok(()),
        other => Err(format!("a call nobody takes ended with {other:?}").into()),
    }
}

/// Losses on the way: spans, repetitions, probes of the tail.
fn losses(lab: &Lab) -> Outcome {
    let link = LinkConfig {
        loss: Loss::Random(0.1),
        delay: Duration::from_millis(2),
        ..LinkConfig::default()
    };
    let mut config = RelayConfig::new(lab.address).with_links(link);
    config.listen = own_address(3);
    let relay = Relay::spawn(config)?;
    // An end that is done must still answer when its last acknowledgement was lost.
    let _drivers = [lab.client.spawn_driver()?, lab.server.spawn_driver()?];
    thread::scope(|scope| {
        let serving = scope.spawn(|| echo(lab));
        let stream = lab.client.open(relay.addr(), paradigm::stream(PORT))?;
        stream.send(pattern(LARGE))?;
        stream.shutdown_write()?;
        while stream.recv_chunk()?.is_some() {}
        stream.close_timeout(DEADLINE)?;
        serving.join().map_err(|_| "the server's thread panicked")?
    })
}

/// The group of this process, on the loopback interface alone.
fn group_address() -> SocketAddr {
    let [.., high, low] = std::process::id().to_be_bytes();
    SocketAddr::from((Ipv4Addr::new(239, 255, high, low), UDP_PORT))
}

fn loopback() -> Interface {
    Interface::Address(Ipv4Addr::LOCALHOST.into())
}

/// A stream to a group of one, who joined `group` or is sent a copy.
fn cast(lab: &Lab, group: Option<SocketAddr>, options: CastOptions) -> Outcome {
    let joined = lab.server.join(group, JoinOptions::new().interface(loopback()))?;
    let target = group.map_or_else(|| Target::Each(vec![lab.address]), Target::Group);
    thread::scope(|scope| {
        let receiving = scope.spawn(move || -> Outcome {
            while joined.recv_chunk()?.is_some() {}
            Ok(joined.close()?)
        });
        let cast = lab.client.cast(target, options.expect(1).interface(loopback()))?;
        cast.tag(0x0066_6565_6466_6163)?;
        cast.send_message(SMALL)?;
        cast.send(pattern(LARGE))?;
        cast.finish()?;
        receiving.join().map_err(|_| "the receiver's thread panicked")?
    })
}

/// Members report by name; some parity follows each block unasked.
fn group(lab: &Lab) -> Outcome {
    let fec = Fec {
        proactive: 1,
        ..Fec::default()
    };
    cast(lab, Some(group_address()), CastOptions::new().fec(Some(fec)))
}

/// Answers go to everybody, and are collected in buckets.
fn buckets(lab: &Lab) -> Outcome {
    cast(lab, Some(group_address()), CastOptions::new().buckets(4))
}

/// A group without multicast.
fn copies(lab: &Lab) -> Outcome {
    cast(lab, None, CastOptions::new())
}

/// What happens between the two ends.
type Scene = fn(&Lab) -> Outcome;

const SCENES: &[(&str, Scene)] = &[
    ("datagram", datagram),
    ("long-datagram", long_datagram),
    ("acknowledged", acknowledged),
    ("acknowledged-delivered", acknowledged_delivered),
    ("one-shot", one_shot),
    ("transaction", transaction),
    ("transaction-unconfirmed", transaction_unconfirmed),
    ("transaction-slow", transaction_slow),
    ("byte-stream", byte_stream),
    ("message-stream", message_stream),
    ("unreliable-stream", unreliable_stream),
    ("tags", tags),
    ("options", options),
    ("abort", abort),
    ("refusal", refusal),
    ("losses", losses),
];
/// Plain XTP 4.0 has no such groups.
const GROUPS: &[(&str, Scene)] = &[("group", group), ("buckets", buckets), ("copies", copies)];

fn capture(folder: &Path, name: &str, scene: Scene, change: fn(&mut Config)) -> Outcome {
    let lab = Lab::new(folder, name, change)?;
    let outcome = scene(&lab).and_then(|()| lab.settle());
    outcome.map_err(|error| format!("{name}: {error}").into())
}

fn main() -> Outcome {
    let folder = std::env::args_os().nth(1).map(PathBuf::from);
    let folder = folder.ok_or("usage: capture_paradigms FOLDER")?;
    for (name, scene) in SCENES {
        capture(&folder, name, *scene, |config| {
            // The first packets are small, so that the path is searched for larger ones.
            config.engine.local_datagram = 1_200;
        })?;
        capture(&folder, &format!("{name}-legacy"), *scene, |config| {
            config.engine.overrides.legacy = true
        })?;
    }
    for (name, scene) in GROUPS {
        capture(&folder, name, *scene, |_| ())?;
    }
    // Payloads covered by the protocol's own checksum, as without UDP.
    capture(&folder, "checksum", byte_stream, |config| {
        config.engine.checksum_payload = true
    })?;
    // A server that trusts no address before it has answered.
    capture(&folder, "cookie", transaction, |config| {
        config.engine.overrides.max_half_open = 0;
        config.engine.overrides.source_rate = 0;
    })
}
