//! One transmitter and many receivers: `broadcast receive 239.1.2.3:36036` in some terminals, then
//! `broadcast send 239.1.2.3:36036 a few words` in another one.
//!
//! Each word is a message; the transmitter says who has all of them. Without arguments three receivers in this process get
//! something over the loopback interface.
#![forbid(unsafe_code)]

use std::net::SocketAddr;
use std::thread;
use std::time::Duration;

use xtp::{CastOptions, Config, Confirm, Endpoint, Interface, JoinOptions, MemberState, Subscription};

type Outcome<T = ()> = Result<T, Box<dyn std::error::Error>>;

fn main() -> Outcome {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words[..] {
        ["receive", group] => {
            let group = group.parse()?;
            let endpoint = Endpoint::bind(Config::server(any_of(group)))?;
            let subscription = endpoint.join(group, receiver("somebody"))?;
            receive("somebody", &subscription)
        }
        ["send", group, ref words @ ..] if !words.is_empty() => {
            let group = group.parse()?;
            // Whoever joins within two seconds gets it.
            send(group, CastOptions::new().wait(Duration::from_secs(2)), words)
        }
        [] => demonstrate(),
        _ => Err("usage: broadcast [receive GROUP:PORT | send GROUP:PORT WORD...]".into()),
    }
}

/// Any port of the group's family.
fn any_of(group: SocketAddr) -> SocketAddr {
    match group {
        SocketAddr::V4(_) => SocketAddr::from(([0, 0, 0, 0], 0)),
        SocketAddr::V6(_) => SocketAddr::from(([0_u16; 8], 0)),
    }
}

/// Who receives is done when its program says so.
fn receiver(name: &str) -> JoinOptions {
    JoinOptions::new()
        .name(name.to_owned())
        .confirm(Confirm::Delivered)
}

fn receive(name: &str, subscription: &Subscription) -> Outcome {
    println!("{name} hears {}", subscription.transmitter()?);
    while let Some(message) = subscription.recv_message()? {
        println!("{name} got {}", String::from_utf8_lossy(&message));
    }
    subscription.confirm()?;
    // The transmitter knows it when this returns.
    subscription.close()?;
    Ok(())
}

fn send(group: SocketAddr, options: CastOptions, words: &[&str]) -> Outcome {
    let endpoint = Endpoint::bind(Config::server(any_of(group)))?;
    let cast = endpoint.cast(group, options.confirm(Confirm::Delivered))?;
    for word in words {
        cast.send_message(word.to_string())?;
    }
    for member in cast.finish()? {
        match member.state {
            MemberState::Done(_) => println!("{} has it after {:?}", member.name, member.time),
            state => println!("{} has it not: {state:?}", member.name),
        }
    }
    Ok(())
}

fn demonstrate() -> Outcome {
    let group: SocketAddr = "239.7.7.7:36036".parse()?;
    let loopback = Interface::Address("127.0.0.1".parse()?);
    let mut receiving = Vec::new();
    for name in ["one", "two", "three"] {
        let endpoint = Endpoint::bind(Config::server("127.0.0.1:0".parse()?))?;
        let subscription = endpoint.join(group, receiver(name).interface(loopback.clone()))?;
        receiving.push(thread::spawn(move || {
            receive(name, &subscription).map_err(|error| error.to_string())
        }));
    }
    send(
        group,
        CastOptions::new().interface(loopback).expect(3),
        &["hello", "everybody"],
    )?;
    for receiver in receiving {
        receiver.join().map_err(|_| "a receiver panicked")??;
    }
    Ok(())
}
