//! A file to several tasks at once on a runtime; one of them comes late and is given the beginning from the file.
//!
//! ```text
//! cargo run -p xtp-transport --features tokio --example broadcast_tokio -- FILE
//! ```
//! Without a file this program's own is sent.
#![forbid(unsafe_code)]

use std::fs::File;
use std::net::SocketAddr;
use std::os::unix::fs::FileExt;

use ::tokio::io::{AsyncReadExt, AsyncWriteExt};
use xtp::tokio::{Endpoint, Subscription};
use xtp::{Bytes, CastOptions, Config, GroupEvent, Interface, JoinOptions};

type Outcome<T = ()> = Result<T, Box<dyn std::error::Error + Send + Sync>>;

/// Octets that are read and sent at once.
const PIECE: usize = 64 << 10;

#[::tokio::main]
async fn main() -> Outcome {
    let path = match std::env::args_os().nth(1) {
        Some(path) => path.into(),
        None => std::env::current_exe()?,
    };
    let (file, past) = (File::open(&path)?, File::open(&path)?);
    let group: SocketAddr = "239.7.7.8:36036".parse()?;
    let loopback = Interface::Address("127.0.0.1".parse()?);
    let endpoint = || Endpoint::bind(Config::server("127.0.0.1:0".parse().expect("an address")));
    let join = |endpoint: &Endpoint| endpoint.join(group, JoinOptions::new().interface(loopback.clone()));

    // Nothing is kept for those who come late: it stands in the file.
    let options = CastOptions::new()
        .interface(loopback.clone())
        .expect(1)
        .keep(0)
        .history(move |position, most| {
            let mut octets = vec![0; most];
            let count = past.read_at(&mut octets, position).ok()?;
            octets.truncate(count);
            Some(Bytes::from(octets).into())
        });
    let transmitter = endpoint()?;
    let mut cast = transmitter.cast(group, options)?;
    let first = endpoint()?;
    let mut receiving = vec![::tokio::spawn(receive("the first", join(&first)?))];

    let length = file.metadata()?.len();
    let (mut sent, mut late) = (0, None);
    while sent < length {
        let mut octets = vec![0; PIECE];
        let count = file.read_at(&mut octets, sent)?;
        if count == 0 {
            break;
        }
        cast.write_all(&octets[..count]).await?;
        sent += count as u64;
        if sent > length / 2 && late.is_none() {
            let endpoint = late.insert(endpoint()?);
            receiving.push(::tokio::spawn(receive("the late one", join(endpoint)?)));
            joined(&cast, 2).await?;
        }
    }
    for member in cast.finish().await? {
        println!("{}: {:?} after {:?}", member.address, member.state, member.time);
    }
    for receiver in receiving {
        let received = receiver.await??;
        assert_eq!(received, sent, "everybody has everything");
    }
    Ok(())
}

/// Waits until so many have joined.
async fn joined(cast: &xtp::tokio::Cast, count: usize) -> Outcome {
    while cast.members()?.len() < count {
        let event = cast.event().await?.ok_or("it is over")?;
        if let GroupEvent::Joined(member) = event {
            println!("member {} joined", member.0);
        }
    }
    Ok(())
}

/// Reads to the end; how many octets.
async fn receive(name: &str, mut subscription: Subscription) -> xtp::Result<u64> {
    let (mut octets, mut room) = (0, vec![0; PIECE]);
    loop {
        match subscription.read(&mut room).await {
            Ok(0) => break,
            Ok(count) => octets += count as u64,
            Err(error) => {
                println!("{name}: {error}");
                break;
            }
        }
    }
    println!("{name} has {octets} octets");
    subscription.close().await?;
    Ok(octets)
}
