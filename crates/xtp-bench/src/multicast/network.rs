//! A sender and its receivers, each in a network namespace of its own, on one bridge that floods what is sent to a
//! group. The sender's link cuts no segments, so that real packets cross and are counted.

use std::net::{IpAddr, Ipv4Addr};
use std::time::Duration;

use xtp_linkem::HeldNetwork;

use super::cell::Cell;
use super::party::is_installed;
use crate::error::Error;
use crate::stage::{Place, is_root, network};

const INTERFACE: &str = "eth0";
/// Octets of headers before those of the transport: Ethernet, IP, UDP.
const HEADERS: u64 = 14 + 20 + 8;
/// The uplink's queue and burst.
const QUEUE: [&str; 4] = ["burst", "32k", "limit", "16m"];
/// In which losses are rolled.
const DICE: f64 = 100_000.0;
/// How often, and after which pause, it is asked again whether a link is up: 5 s at most.
const UP_TRIES: u32 = 250;
const UP_PAUSE: Duration = Duration::from_millis(20);

/// The namespaces; gone when dropped.
#[derive(Debug)]
pub(super) struct Network {
    pub(super) sender: Place,
    pub(super) receivers: Vec<Place>,
    bridge: Place,
    /// Whether there is an `nft` to count and to lose packets.
    pub(super) filters: bool,
    _held: Vec<HeldNetwork>,
}

/// Counters of the sender's interface.
#[derive(Copy, Clone, Debug, Default, PartialEq)]
pub(super) struct Counters {
    /// Octets sent, headers included.
    pub(super) octets: u64,
    /// Packets sent.
    pub(super) packets: u64,
    /// Packets of UDP and TCP received, where `nft` counts them.
    pub(super) feedback: Option<u64>,
}

impl Counters {
    /// What was counted since.
    pub(super) fn since(self, before: Self) -> Self {
        Self {
            octets: self.octets.saturating_sub(before.octets),
            packets: self.packets.saturating_sub(before.packets),
            feedback: self
                .feedback
                .zip(before.feedback)
                .map(|(now, before)| now.saturating_sub(before)),
        }
    }

    /// Octets without headers; `header` is what the transport has.
    pub(super) fn payload(self, header: u64) -> u64 {
        self.octets.saturating_sub(self.packets * (HEADERS + header))
    }
}

impl Network {
    /// Makes it for so many receivers.
    ///
    /// # Errors
    /// [`Error::NotRoot`], or [`Error::Tool`] if `ip`, `ethtool` or an `nft` that is there fails.
    pub(super) fn new(receivers: usize) -> Result<Self, Error> {
        if !is_root() {
            let what = "a bridge of network namespaces".to_owned();
            return Err(Error::NotRoot { what });
        }
        let center = network()?;
        let bridge = Place {
            enter: center.enter(),
            address: IpAddr::V4(Ipv4Addr::UNSPECIFIED),
            interface: "br0".to_owned(),
        };
        script(
            &bridge,
            "ip link add br0 type bridge mcast_snooping 0 && ip link set br0 up",
        )?;
        let mut held = vec![center];
        let mut hosts = Vec::new();
        for number in 0..=receivers {
            let namespace = network()?;
            hosts.push(host(&bridge, &namespace, number)?);
            held.push(namespace);
        }
        let receivers = hosts.split_off(1);
        let network = Self {
            sender: hosts.remove(0),
            receivers,
            bridge,
            filters: is_installed("nft"),
            _held: held,
        };
        network.prepare()?;
        Ok(network)
    }

    fn prepare(&self) -> Result<(), Error> {
        // Asking for link-layer addresses would be counted, and lost.
        let known = |place: &Place, number: usize, of: &Place| {
            let (address, link) = (of.address, link_address(number));
            script(
                place,
                &format!("ip neigh add {address} lladdr {link} dev {INTERFACE}"),
            )
        };
        for (index, receiver) in self.receivers.iter().enumerate() {
            known(&self.sender, index + 1, receiver)?;
            known(receiver, 0, &self.sender)?;
        }
        script(
            &self.sender,
            &format!("ethtool -K {INTERFACE} tso off gso off tx-udp-segmentation off"),
        )?;
        if !self.filters {
            return Ok(());
        }
        script(
            &self.sender,
            "nft 'add table inet bench; add counter inet bench feedback; \
             add chain inet bench arriving { type filter hook input priority 0; }; \
             add rule inet bench arriving meta l4proto { tcp, udp } counter name feedback'",
        )
    }

    /// Makes everything as a run of this case begins: nothing queued, every host connected.
    ///
    /// # Errors
    /// [`Error::Tool`], [`Error::Plan`] for losses without `nft`.
    pub(super) fn reset(&self, cell: &Cell) -> Result<(), Error> {
        self.shape(cell.rate)?;
        let threshold = (cell.loss * DICE).round();
        if threshold > 0.0 && !self.filters {
            return Err(Error::Plan(
                "losses need 'nft' (Debian has it in nftables); install it, or choose cases with 0%"
                    .to_owned(),
            ));
        }
        for receiver in &self.receivers {
            // What goes to one receiver alone is not lost, but for copies, which have nothing else.
            let lossy = format!(
                "nft 'add table inet loss; delete table inet loss; add table inet loss; \
                 add chain inet loss arriving {{ type filter hook input priority 0; }}; \
                 add rule inet loss arriving ip daddr 224.0.0.0/4 meta l4proto udp \
                 numgen random mod {DICE} < {threshold} drop; \
                 add rule inet loss arriving meta l4proto tcp numgen random mod {DICE} < {threshold} drop'"
            );
            if threshold > 0.0 {
                script(receiver, &lossy)?;
            }
        }
        self.connect_last(true)
    }

    /// Gives the sender's uplink this rate, bits a second, or no limit; nothing is queued afterwards.
    ///
    /// # Errors
    /// [`Error::Tool`].
    pub(super) fn shape(&self, rate: Option<u64>) -> Result<(), Error> {
        // Without a queue there is none to delete.
        script(
            &self.sender,
            &format!("tc qdisc del dev {INTERFACE} root 2>/dev/null || true"),
        )?;
        if let Some(rate) = rate {
            let rate = format!("{rate}bit");
            let queue = ["qdisc", "add", "dev", INTERFACE, "root", "tbf", "rate", &rate];
            self.sender.run("tc", &[&queue[..], &QUEUE[..]].concat())?;
        }
        Ok(())
    }

    /// Connects the last receiver, or cuts it off without a word to anybody.
    ///
    /// # Errors
    /// [`Error::Tool`].
    pub(super) fn connect_last(&self, connected: bool) -> Result<(), Error> {
        let port = port(self.receivers.len());
        // 3 forwards, 0 is disabled; the link itself stays up.
        let state = if connected { "3" } else { "0" };
        let set = || {
            self.bridge
                .run("bridge", &["link", "set", "dev", &port, "state", state])
                .map(drop)
        };
        // The kernel notes that both ends of a link are up in a task of its own, on a busy host some time later.
        for _ in 0..UP_TRIES {
            match set() {
                Err(Error::Tool { said, .. }) if said.contains("Network is down") => {
                    std::thread::sleep(UP_PAUSE);
                }
                outcome => return outcome,
            }
        }
        set()
    }

    /// What crossed the sender's interface until now.
    ///
    /// # Errors
    /// [`Error::Tool`].
    pub(super) fn counters(&self) -> Result<Counters, Error> {
        let table = self.sender.run("cat", &["/proc/net/dev"])?;
        let unread = |text: &str| Error::Tool {
            command: format!("reading the counters of {INTERFACE}"),
            said: text.to_owned(),
        };
        let (octets, packets) = sent(&table).ok_or_else(|| unread(&table))?;
        Ok(Counters {
            octets,
            packets,
            feedback: self.feedback()?,
        })
    }

    fn feedback(&self) -> Result<Option<u64>, Error> {
        if !self.filters {
            return Ok(None);
        }
        let list = ["list", "counter", "inet", "bench", "feedback"];
        Ok(counted(&self.sender.run("nft", &list)?))
    }
}

/// Octets and packets the interface sent, of `/proc/net/dev`.
fn sent(table: &str) -> Option<(u64, u64)> {
    let line = table.lines().find_map(|line| {
        let (name, counts) = line.split_once(':')?;
        (name.trim() == INTERFACE).then_some(counts)
    })?;
    let mut fields = line.split_ascii_whitespace().skip(8);
    let mut next = || fields.next()?.parse().ok();
    Some((next()?, next()?))
}

/// Packets of a counter as `nft` lists it.
fn counted(listing: &str) -> Option<u64> {
    let mut words = listing.split_ascii_whitespace();
    words.find(|word| *word == "packets")?;
    words.next()?.parse().ok()
}

/// Connects a new host with the bridge: 0 is the sender, the others are receivers.
fn host(bridge: &Place, namespace: &HeldNetwork, number: usize) -> Result<Place, Error> {
    let place = Place {
        enter: namespace.enter(),
        address: IpAddr::V4(Ipv4Addr::new(10, 36, 0, number as u8 + 1)),
        interface: INTERFACE.to_owned(),
    };
    let (port, link, address) = (port(number), link_address(number), place.address);
    script(
        bridge,
        &format!(
            "ip link add {port} type veth peer name {INTERFACE} address {link} netns {} &&
             ip link set {port} master br0 up",
            namespace.process()
        ),
    )?;
    script(
        &place,
        &format!(
            "sysctl -qw net.ipv6.conf.all.disable_ipv6=1 2>/dev/null
             sysctl -qw net.ipv4.tcp_no_metrics_save=1 2>/dev/null
             ip address add {address}/24 brd + dev {INTERFACE} &&
             ip link set {INTERFACE} mtu 1500 up &&
             ip route add 224.0.0.0/4 dev {INTERFACE}"
        ),
    )?;
    Ok(place)
}

fn port(number: usize) -> String {
    format!("port{number}")
}

fn link_address(number: usize) -> String {
    format!("02:00:00:24:00:{number:02x}")
}

fn script(place: &Place, text: &str) -> Result<(), Error> {
    place.run("sh", &["-c", text]).map(drop)
}

#[cfg(test)]
#[path = "network_tests.rs"]
mod tests;
