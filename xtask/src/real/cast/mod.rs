//! Suite `cast`: `xtp cast` from one host to ten on a bridge, by real processes.
//!
//! Files go to hosts of their own and to ten receivers on one of them, from three senders at a time, over IPv4, IPv6, a source-specific group and by copies;
//! while packets to the group are lost at every receiver, with reports by name and in buckets; and while one receiver is killed,
//! stopped for a while, switched off, or late, and all after one another killed and started again. Without a route to the group the only interface is used, or they are named. What arrives is compared with what was sent, and what the sender says of each
//! receiver with what is there.

mod accidents;
mod routes;
mod several;
mod world;

use world::{HOSTS, SENDER, World, number};

use super::host::{Host, output};

/// Of a hundred packets to the group lost at each receiver: with parity, and with buckets.
const LOSS: u32 = 3;
const BUCKET_LOSS: u32 = 1;
const GROUP: &str = "239.36.5.1";
const GROUP_SIX: &str = "ff15::36:5%to-switch";

pub(super) fn run(host: &Host) -> Result<String, String> {
    let world = World::new(host)?;
    world.step("multicast", GROUP, HOSTS, &[], &[])?;
    world.step("IPv6", GROUP_SIX, HOSTS, &[], &[])?;
    let source = ["--source", SENDER];
    world.step("one source", "232.36.5.1", 3, &source, &source)?;
    copies(&world)?;
    many(&world)?;
    several::senders(&world).map_err(|error| format!("several senders: {error}"))?;
    accidents::all(&world)?;
    routes::without(&world.program, &world.folder).map_err(|error| format!("no route: {error}"))?;
    let mut shown =
        "multicast, IPv6, source-specific, copies, ten hosts, ten on a host, three senders at once, one killed, one stopped, one \
                     switched off, one late, all killed and started again, no route"
            .to_owned();
    let installed = |tool| output(tool, &["--version"]).is_ok();
    if installed("nft") && installed("ethtool") {
        lossy(&world)?;
        shown.push_str(&format!(
            ", {LOSS} % loss at each of ten, buckets with {BUCKET_LOSS} % at each of four and ten"
        ));
    } else {
        shown.push_str(" (no loss: nft or ethtool is not installed)");
    }
    Ok(shown)
}

/// What is lost at each receiver is repaired, in both modes and families.
fn lossy(world: &World) -> Result<(), String> {
    world.lose(LOSS)?;
    for (what, group) in [("loss", "239.36.5.4"), ("loss, IPv6", GROUP_SIX)] {
        repaired(what, &world.step(what, group, HOSTS, &[], &[])?)?;
    }
    world.part_trains()?;
    several::senders(world).map_err(|error| format!("several senders, loss: {error}"))?;
    world.lose(BUCKET_LOSS)?;
    let bucket = ["--mode", "bucket"];
    for hosts in [4, HOSTS] {
        for (family, group) in [("IPv4", "239.36.5.6"), ("IPv6", GROUP_SIX)] {
            let what = format!("buckets, {hosts} hosts, {family}");
            repaired(&what, &world.step(&what, group, hosts, &bucket, &[])?)?;
        }
    }
    Ok(())
}

fn repaired(what: &str, report: &str) -> Result<(), String> {
    match number(report, "repair_packets") {
        0 => Err(format!("{what}: nothing was repaired: {report}")),
        _ => Ok(()),
    }
}

fn copies(world: &World) -> Result<(), String> {
    let each: Vec<String> = (2..5).map(|number| format!("10.36.5.{number}:5000")).collect();
    let mut receivers = Vec::new();
    for (number, own) in each.iter().enumerate() {
        receivers.push(world.receive(number, &format!("r{number}"), own, &[])?);
    }
    let all = world.everybody(&each.join(","), &[], receivers);
    all.map(drop).map_err(|error| format!("copies: {error}"))
}

/// Ten receivers on one host.
fn many(world: &World) -> Result<(), String> {
    let group = "239.36.5.2";
    let receivers = (0..10)
        .map(|number| world.receive(0, &format!("m{number}"), group, &[]))
        .collect::<Result<_, _>>()?;
    let all = world.everybody(group, &[], receivers);
    all.map(drop).map_err(|error| format!("ten on a host: {error}"))
}
