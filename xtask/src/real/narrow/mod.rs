//! Suite `narrow`: links of less than the base datagram, as the client's own interface, as a router's, and as the MTU of a route.
//!
//! Each way a program may send (a message, a stream, a transaction, a copy there and back, a cast) carries octets that are
//! compared, over IPv4 (IPv6 has no link below 1 280 octets).

mod world;

use std::time::{Duration, Instant};

use super::host::Host;
use super::namespaces::finish;
use world::{Narrow, World};

/// From the least IPv4 has to carry to what the base datagram fits, each with the sizes beside it.
const MTUS: [u32; 8] = [576, 600, 604, 1_000, 1_200, 1_227, 1_228, 1_280];
/// No packet with data leaves through this one; small ones do.
const TOO_NARROW: u32 = 400;

pub(super) fn run(host: &Host) -> Result<String, String> {
    let mut world = World::new(host)?;
    let (mut slowest, mut cases) = (Duration::ZERO, 0);
    for place in Narrow::ALL {
        for mtu in MTUS {
            if !host.runs(&format!("{} {mtu}", place.name())) {
                continue;
            }
            cases += 1;
            world.narrow(place, mtu)?;
            for (name, step) in world::STEPS {
                // A router that forwards no multicast is no way to a group.
                if !place.carries(name) {
                    continue;
                }
                let failed = |error| format!("{} of {mtu} octets, {name}: {error}", place.name());
                slowest = slowest.max(timed(|| step(&world)).map_err(failed)?);
            }
        }
    }
    world.narrow(Narrow::Interface, TOO_NARROW)?;
    world.refuse(TOO_NARROW)?;
    world.narrow(Narrow::Router, 1_500)?;
    shrink(&world).map_err(|error| format!("an interface that shrinks: {error}"))?;
    Ok(format!(
        "{} ways on {cases} of {} links, the slowest in {:.2} s; one too narrow, one that shrinks",
        world::STEPS.len(),
        MTUS.len() * Narrow::ALL.len(),
        slowest.as_secs_f64()
    ))
}

/// How long it took: said, not judged, as others may have the cores. What waits for a timer that never helps does not end at all.
fn timed(step: impl Fn() -> Result<(), String>) -> Result<Duration, String> {
    let began = Instant::now();
    step()?;
    Ok(began.elapsed())
}

/// Octets go there and back while the interface of the client, and its peer on the link, become narrower twice.
fn shrink(world: &World) -> Result<(), String> {
    let (_echo, client, mut progress) = world.exchange()?;
    for (at, mtu) in [(500_000, 1_000), (1_500_000, 600)] {
        progress.until(|octets, _| octets > at)?;
        world.shrink(mtu)?;
    }
    let segment = finish(client, progress)?;
    let fits = 600 - 20 - 8 - 32;
    match segment <= fits {
        true => Ok(()),
        false => Err(format!("segments of {segment} octets where {fits} fit")),
    }
}
