//! One thread that sleeps on standard input, on TCP and on xtp at once, and prints what comes from where, until its input ends.
//!
//! `cargo run -p xtp-transport --example descriptors`, and beside it `echo text | xtp send ADDRESS/100` and a TCP client to the other address.

#[cfg(not(target_os = "linux"))]
fn main() {
    eprintln!("a poll set takes descriptors on Linux only");
}

#[cfg(target_os = "linux")]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    use std::io::{Read, stdin};
    use std::net::TcpListener;
    use xtp::{Config, Endpoint, Interest};

    const XTP: u64 = 0;
    const TCP: u64 = 1;
    const INPUT: u64 = 2;
    let endpoint = Endpoint::bind(Config::server("127.0.0.1:0".parse()?))?;
    let listener = endpoint.listen(100)?;
    let tcp = TcpListener::bind("127.0.0.1:0")?;
    println!("xtp {}/100, TCP {}", endpoint.local_addr(), tcp.local_addr()?);
    let set = endpoint.poll_set();
    set.add_listener(&listener, XTP)?;
    set.add_fd(&tcp, Interest::READABLE, TCP)?;
    set.add_fd(stdin(), Interest::READABLE, INPUT)?;
    let (mut ready, mut octets) = (Vec::new(), [0; 4_096]);
    loop {
        ready.clear();
        set.wait(&mut ready, None)?;
        for key in &ready {
            match *key {
                XTP => match listener.try_accept() {
                    Ok(incoming) => {
                        let from = incoming.peer();
                        println!("xtp: {} octets from {from}", incoming.receive()?.len());
                    }
                    Err(error) if error.is_would_block() => {}
                    Err(error) => return Err(error.into()),
                },
                TCP => println!("TCP: {}", tcp.accept()?.1),
                _ => match stdin().lock().read(&mut octets)? {
                    0 => return Ok(()),
                    count => println!("input: {count} octets"),
                },
            }
        }
    }
}
