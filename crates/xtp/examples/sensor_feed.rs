//! A sensor that sends readings where a fresh one is worth more than a lost one: an unreliable stream with tags.
//!
//! Every reading is a message behind a tag that says when it was taken. What is lost is not sent again; the reader
//! sees the gap, and knows how much is missing. The alarm at the end has to arrive, so it is a message of its own,
//! confirmed by the reader's program.
#![forbid(unsafe_code)]

use std::thread;
use std::time::{Duration, Instant};

use xtp::{Chunk, Config, Confirm, Endpoint, Listener, Rate, paradigm};

/// Number of the readings' service, and that of alarms.
const READINGS: u16 = 1_001;
const ALARMS: u16 = 1_002;
/// Readings taken.
const COUNT: u32 = 500;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let station = Endpoint::bind(Config::server("127.0.0.1:0".parse()?))?;
    let (readings, alarms) = (station.listen_streams(READINGS)?, station.listen(ALARMS)?);
    let address = station.local_addr();
    let reading = thread::spawn(move || collect(&readings));
    let waiting = thread::spawn(move || alarms.recv_message().map(|(alarm, _)| alarm));

    let sensor = Endpoint::client()?;
    let mut options = paradigm::unreliable_stream(READINGS);
    // A link shared with others: at most 1 MB/s, in bursts of 16 KiB.
    options.tuning.out_rate = Rate {
        octets_per_second: 1_000_000,
        burst: 16 << 10,
    };
    let feed = sensor.open(address, options)?;
    let begin = Instant::now();
    for number in 0..COUNT {
        let micros = u64::try_from(begin.elapsed().as_micros())?;
        feed.send_tag(micros)?;
        feed.send_message(format!(
            "reading {number}: {:.2} degrees",
            20.0 + f64::from(number) / 100.0
        ))?;
    }
    feed.close()?;
    // Priority to what must not wait.
    let mut urgent = paradigm::acknowledged_datagram(ALARMS);
    urgent.confirm = Confirm::Delivered;
    urgent.tuning.sort = Some(1);
    sensor.deliver(address, urgent, "25 degrees", Some(Duration::from_secs(5)))?;

    let (taken, missing) = reading.join().map_err(|_| "the reader panicked")??;
    let alarm = waiting.join().map_err(|_| "the alarm panicked")??;
    println!(
        "{taken} of {COUNT} readings, {missing} octets missing; alarm: {}",
        String::from_utf8_lossy(&alarm)
    );
    Ok(())
}

/// Counts readings and missing octets until the sensor is done.
fn collect(listener: &Listener) -> xtp::Result<(u32, u64)> {
    let stream = listener.accept()?.into_stream();
    let (mut taken, mut missing) = (0, 0);
    let mut when = 0;
    while let Some(chunk) = stream.recv_chunk()? {
        match chunk {
            Chunk::Tag { tag, .. } => when = tag,
            Chunk::Data {
                bytes,
                end_of_message,
                ..
            } => {
                taken += u32::from(end_of_message);
                if taken.is_multiple_of(100) && end_of_message {
                    println!("after {when} us: {}", String::from_utf8_lossy(&bytes));
                }
            }
            Chunk::Gap { len, .. } => missing += len,
            _ => {}
        }
    }
    Ok((taken, missing))
}
