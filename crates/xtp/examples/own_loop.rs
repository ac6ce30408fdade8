//! A server whose loop is its own: it sleeps on an endpoint and on standard input, echoes what streams bring, and ends with its input.
//!
//! `cargo run -p xtp-transport --example own_loop`, and beside it the address it prints: `echo text | xtp send --stream ADDRESS/100`.

#[cfg(not(target_os = "linux"))]
fn main() {
    eprintln!("this example sleeps by the poll of Linux");
}

#[cfg(target_os = "linux")]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    use std::collections::BTreeMap;
    use std::io::{Read, Write};
    use std::time::Instant;
    use xtp::{Config, Endpoint, Error, Stream};

    let endpoint = Endpoint::bind(Config::server("127.0.0.1:0".parse()?))?;
    let listener = endpoint.listen_streams(100)?;
    println!("{}", endpoint.local_addr());
    let set = endpoint.poll_set();
    set.add_listener(&listener, 0)?;
    let mut streams: BTreeMap<u64, Stream> = BTreeMap::new();
    let (mut number, mut ready, mut input) = (0, Vec::new(), std::io::stdin());
    loop {
        // Sleep until one of them has something, or the endpoint wants to be driven.
        let mut descriptors = [
            PollFd::new(&endpoint, PollFlags::IN),
            PollFd::new(&input, PollFlags::IN),
        ];
        let left = endpoint
            .next_deadline()
            .map(|at| Timespec::try_from(at.saturating_duration_since(Instant::now())))
            .transpose()?;
        poll(&mut descriptors, left.as_ref())?;
        if !descriptors[1].revents().is_empty() && input.read(&mut [0; 4_096])? == 0 {
            break;
        }
        // Take what came, send what is due, and ask the set until it has nothing.
        endpoint.progress()?;
        while set.try_wait(&mut ready).is_ok() {
            for key in ready.drain(..) {
                let Some(mut stream) = streams.get(&key) else {
                    let stream = listener.try_accept()?.into_stream();
                    number += 1;
                    set.add(&stream, number)?;
                    streams.insert(number, stream);
                    continue;
                };
                let mut octets = [0; 16 << 10];
                match stream.try_read(&mut octets) {
                    // It waits for a peer that does not read; `try_write` would not.
                    Ok(count @ 1..) => stream.write_all(&octets[..count])?,
                    Err(Error::WouldBlock) => {}
                    // It has ended, well or not.
                    Ok(0) | Err(_) => drop(streams.remove(&key)),
                }
            }
        }
    }
    println!("{number} streams echoed");
    Ok(())
}
