//! What `throughput.c` does, without the C library: octets by `write` and `read` between two endpoints of one process.
//!
//! `throughput MEBIBYTES [OCTETS]`: so many a call, 65 536 if none are named.

use std::io::{Read, Write};
use std::time::Instant;

use xtp::{Config, Endpoint, paradigm};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let all = arguments.next().map_or(Ok(64), |text| text.parse::<usize>())? << 20;
    let length = arguments
        .next()
        .map_or(Ok(65_536), |text| text.parse::<usize>())?;
    let data = vec![7; length.max(1)];
    let server = Endpoint::bind(Config::server("127.0.0.1:0".parse()?))?;
    let listener = server.listen_streams(1_000)?;
    let reading = std::thread::spawn(move || -> std::io::Result<()> {
        let mut memory = vec![0; 1 << 20];
        let mut stream = listener.accept()?.into_stream();
        while stream.read(&mut memory)? > 0 {}
        Ok(stream.close()?)
    });
    let client = Endpoint::client()?;
    let mut stream = client.open(server.local_addr(), paradigm::stream(1_000))?;
    let begun = Instant::now();
    let mut done = 0;
    while done < all {
        done += stream.write(&data)?;
    }
    stream.close()?;
    let seconds = begun.elapsed().as_secs_f64();
    println!("{:.0} MiB/s", done as f64 / 1_048_576.0 / seconds);
    reading.join().expect("the reader")?;
    Ok(())
}
