//! What a program may choose of a group, and how it begins to transmit to one or to receive it.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use xtp_engine::Confirm;
use xtp_engine::group::{self, BucketOptions, Cycle, Fec, GroupId, Mode, Require, Slow, Target};
use xtp_io::{GroupSending, Interface};

use crate::carrier::Membership;
use crate::cast::Cast;
use crate::core::group::{GroupSlot, Holds};
use crate::endpoint::Endpoint;
use crate::error::{Error, Result};
use crate::subscription::Subscription;

/// Octets of UDP payload of a full packet on a link of 1 500 octets, by family.
const DATAGRAM_V4: usize = 1_472;
const DATAGRAM_V6: usize = 1_452;

/// How a group is transmitted to ([`Endpoint::cast`]): everybody who joins within the first 30 s gets everything, unless said
/// otherwise.
///
/// ```
/// use std::time::Duration;
/// use xtp::{CastOptions, Require};
/// let options = CastOptions::new().expect(3).require(Require::AnyOf(2)).patience(Duration::from_secs(5));
/// assert_eq!(options.group.expect, Some(3));
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CastOptions {
    /// What the protocol is told.
    pub group: group::CastOptions,
    /// Where packets to a group leave. Default: where the route leads.
    pub interface: Interface,
    /// How many links they may cross; 0 is taken as 1. Default 1: this link only.
    pub hops: u8,
    /// Receivers on this host do not get them. Default `false`.
    pub not_here: bool,
}

/// Methods that set one thing each.
macro_rules! setters {
    ($($(#[$meta:meta])* $name:ident($kind:ty) => $($field:ident).+;)*) => {
        $($(#[$meta])*
        #[must_use]
        pub fn $name(mut self, value: $kind) -> Self {
            self.$($field).+ = value;
            self
        })*
    };
}

impl CastOptions {
    /// The defaults.
    pub fn new() -> Self {
        Self::default()
    }

    setters! {
        /// Service number: receivers that joined with another one do not answer. Default 0.
        port(u16) => group.port;
        /// Who must have everything before the transmitter is done. Default: everybody who joined.
        require(Require) => group.require;
        /// How long to wait for those who are expected; where no number is given, for anybody. Default 30 s.
        wait(Duration) => group.wait;
        /// What becomes of a member that is slower than the others. Default: it fetches what it lacks by itself.
        slow(Slow) => group.slow;
        /// For how long a silent member is waited for. Default 30 s.
        patience(Duration) => group.patience;
        /// Octets kept for those who fell behind, beyond what is unacknowledged. Default 64 MiB; `u64::MAX`: everything.
        keep(u64) => group.keep;
        /// What "has everything" means: received, or confirmed by its program ([`Subscription::confirm`]).
        confirm(Confirm) => group.confirm;
        /// How receivers report.
        mode(Mode) => group.mode;
        /// Parity repair; `None`: what is lost is sent again as it was.
        fec(Option<Fec>) => group.fec;
        /// Octets of UDP payload of a full packet, 576..=65 507. Default: what a link of 1 500 octets carries.
        datagram(usize) => group.datagram;
        /// Octets that may be unacknowledged. Default 16 MiB.
        window(u64) => group.window;
        /// Most members at once. Default 65 536.
        max_members(usize) => group.max_members;
        /// A late one gets everything that is kept (`true`, the default), or what is sent from then on.
        from_start(bool) => group.from_start;
        /// Where packets to a group leave.
        interface(Interface) => interface;
        /// How many links they may cross.
        hops(u8) => hops;
    }

    /// How many are expected: data leaves when they have joined.
    #[must_use]
    pub fn expect(mut self, members: u32) -> Self {
        self.group.expect = Some(members);
        self
    }

    /// Members the group will have, as far as known.
    #[must_use]
    pub fn size(mut self, members: u32) -> Self {
        self.group.size = Some(members);
        self
    }

    /// Most that leaves, octets a second.
    #[must_use]
    pub fn rate(mut self, octets_per_second: u64) -> Self {
        self.group.rate.octets_per_second = octets_per_second;
        if self.group.rate.burst == 0 && octets_per_second > 0 {
            let burst = (octets_per_second / 200).max(16 << 10);
            self.group.rate.burst = u32::try_from(burst).unwrap_or(u32::MAX);
        }
        self
    }

    /// Octets that may leave at once under a [`rate`](Self::rate). Default: what 5 ms bring, at least 16 KiB.
    #[must_use]
    pub fn burst(mut self, octets: u32) -> Self {
        self.group.rate.burst = octets;
        self
    }

    /// Receivers report to the whole group, and the transmitter collects that in so many buckets (mode B).
    #[must_use]
    pub fn buckets(mut self, buckets: u8) -> Self {
        let others = self.bucket_options();
        self.group.mode = Mode::Bucket(BucketOptions { buckets, ..others });
        self
    }

    /// When a bucket is opened (mode B).
    #[must_use]
    pub fn cycle(mut self, cycle: Cycle) -> Self {
        let others = self.bucket_options();
        self.group.mode = Mode::Bucket(BucketOptions { cycle, ..others });
        self
    }

    /// Buckets without the rule of ripe ones: each waits for its turn, as in 1991 (mode B).
    #[must_use]
    pub fn classic(mut self) -> Self {
        let others = self.bucket_options();
        let classic = true;
        self.group.mode = Mode::Bucket(BucketOptions { classic, ..others });
        self
    }

    fn bucket_options(&self) -> BucketOptions {
        match self.group.mode {
            Mode::Bucket(options) => options,
            Mode::Unicast => BucketOptions::default(),
        }
    }

    fn sending(&self) -> GroupSending {
        GroupSending {
            interface: self.interface.clone(),
            hops: self.hops.max(1),
            loopback: !self.not_here,
        }
    }
}

/// How a group is received ([`Endpoint::join`]).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct JoinOptions {
    /// What the protocol is told.
    pub group: group::JoinOptions,
    /// Where the group is listened to. Default: where the route leads.
    pub interface: Interface,
    /// How many links answers to the whole group may cross (mode B); 0 is taken as 1. Default 1: this link only.
    pub hops: u8,
}

impl JoinOptions {
    /// The defaults.
    pub fn new() -> Self {
        Self::default()
    }

    setters! {
        /// Service number, as [`CastOptions::port`].
        port(u16) => group.port;
        /// By which name the transmitter knows this receiver, at most 64 octets. Default: by its address.
        name(String) => group.name;
        /// Octets buffered for the program. Default 32 MiB.
        capacity(u64) => group.capacity;
        /// Whether completeness counts only when the program confirmed it.
        confirm(Confirm) => group.confirm;
        /// Where the group is listened to.
        interface(Interface) => interface;
        /// How many links answers to the whole group may cross (mode B).
        hops(u8) => hops;
    }

    /// Take only what this host transmits (source-specific).
    #[must_use]
    pub fn source(mut self, host: IpAddr) -> Self {
        self.group.source = Some(host);
        self
    }
}

impl Endpoint {
    /// Begins to transmit to a group: an address of IPv4 or IPv6 multicast, or a list of the addresses of receivers, each of
    /// which then gets a copy. Receivers are invited from now on; what is written leaves when those who are expected have
    /// joined.
    ///
    /// ```
    /// use xtp::{CastOptions, Config, Endpoint, JoinOptions};
    ///
    /// // Two receivers, here without multicast: each is sent a copy.
    /// let (mut addresses, mut receiving) = (Vec::new(), Vec::new());
    /// for _ in 0..2 {
    ///     let receiver = Endpoint::bind(Config::server("127.0.0.1:0".parse().unwrap()))?;
    ///     addresses.push(receiver.local_addr());
    ///     receiving.push(std::thread::spawn(move || -> xtp::Result<String> {
    ///         let group = receiver.join(None, JoinOptions::new())?;
    ///         let message = group.recv_message()?.expect("one message");
    ///         group.close()?;
    ///         Ok(String::from_utf8_lossy(&message).into_owned())
    ///     }));
    /// }
    /// let transmitter = Endpoint::bind(Config::server("127.0.0.1:0".parse().unwrap()))?;
    /// let group = transmitter.cast(addresses, CastOptions::new().expect(2))?;
    /// group.send_message("to all of you")?;
    /// let members = group.finish()?;
    /// assert_eq!(members.len(), 2);
    /// for receiver in receiving {
    ///     assert_eq!(receiver.join().unwrap()?, "to all of you");
    /// }
    /// # Ok::<(), xtp::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Command`] for options out of range, [`Error::Socket`] for an interface that is not there,
    /// [`Error::GroupSending`] if this endpoint transmits to another group in another way.
    pub fn cast(&self, group: impl Into<Target>, options: CastOptions) -> Result<Cast> {
        let id = begin_cast(self, group.into(), options)?;
        Ok(Cast::new(Arc::clone(&self.shared), id))
    }

    /// Waits for a transmitter of `group`, and receives what it sends. `None`: of a transmitter that sends a copy to this
    /// endpoint's own address.
    ///
    /// # Errors
    /// [`Error::Command`] for options out of range, [`Error::Socket`] for an address that is no group's and an interface that is
    /// not there.
    pub fn join(&self, group: impl Into<Option<SocketAddr>>, options: JoinOptions) -> Result<Subscription> {
        let id = begin_join(self, group.into(), options)?;
        Ok(Subscription::new(Arc::clone(&self.shared), id))
    }
}

/// Makes a transmitter; the tokio module shares it.
pub(crate) fn begin_cast(endpoint: &Endpoint, target: Target, mut options: CastOptions) -> Result<GroupId> {
    let (multicast, six) = match &target {
        Target::Group(group) => (true, group.is_ipv6()),
        Target::Each(each) => (false, each.iter().any(SocketAddr::is_ipv6)),
    };
    if six && options.group.datagram == DATAGRAM_V4 {
        options.group.datagram = DATAGRAM_V6;
    }
    let sending = options.sending();
    // Who collects answers to the whole group receives the group.
    let membership = match (&target, options.group.mode) {
        (Target::Group(group), Mode::Bucket(_)) if multicast => Some(Membership {
            group: xtp_io::canonical(*group),
            interface: options.interface.clone(),
            source: None,
        }),
        _ => None,
    };
    let (socket, collects) = (&endpoint.shared.config.socket, membership.is_some());
    let begun = endpoint.shared.command(|core, now| {
        core.check_carrier()?;
        if multicast && !core.carrier.send_to_groups(&sending)? {
            return Err(Error::GroupSending);
        }
        let joined = membership.as_ref().map(|group| core.carrier.join(group, socket));
        let holds = match (multicast, membership) {
            (_, Some(membership)) => match joined {
                Some(Err(error)) => {
                    core.carrier.sends_no_more();
                    return Err(error);
                }
                _ => Holds::Both(membership),
            },
            (true, None) => Holds::Sending,
            (false, None) => Holds::Nothing,
        };
        match core.engine.cast(now, target, options.group) {
            Ok(id) => {
                core.groups.insert(id, GroupSlot::new(holds));
                Ok(id)
            }
            Err(error) => {
                core.give_back(holds);
                Err(error.into())
            }
        }
    });
    if collects {
        // Whoever sleeps on the sockets does not sleep on a new one yet.
        endpoint.shared.rouse();
    }
    begun
}

/// Makes a receiver; the tokio module shares it.
pub(crate) fn begin_join(
    endpoint: &Endpoint,
    group: Option<SocketAddr>,
    mut options: JoinOptions,
) -> Result<GroupId> {
    let socket = &endpoint.shared.config.socket;
    let membership = group.map(|group| Membership {
        group: xtp_io::canonical(group),
        interface: options.interface.clone(),
        source: options.group.source,
    });
    let sending = GroupSending {
        interface: options.interface.clone(),
        hops: options.hops.max(1),
        loopback: true,
    };
    let joined = endpoint.shared.command(|core, now| {
        core.check_carrier()?;
        if let Some(membership) = &membership {
            core.carrier.answer_to_groups(&sending)?;
            let buffer = core.carrier.join(membership, socket)?;
            options.group.socket_buffer = u32::try_from(buffer).unwrap_or(u32::MAX);
            options.group.group = Some(membership.group);
        } else {
            let buffer = endpoint.shared.socket.capabilities().recv_buffer;
            options.group.socket_buffer = u32::try_from(buffer).unwrap_or(u32::MAX);
            options.group.group = None;
        }
        match core.engine.join(now, options.group) {
            Ok(id) => {
                let holds = membership.map_or(Holds::Nothing, Holds::Membership);
                core.groups.insert(id, GroupSlot::new(holds));
                core.news += 1;
                Ok(id)
            }
            Err(error) => {
                core.give_back(membership.map_or(Holds::Nothing, Holds::Membership));
                Err(error.into())
            }
        }
    });
    // Whoever sleeps on the sockets does not sleep on a new one yet.
    endpoint.shared.rouse();
    joined
}
