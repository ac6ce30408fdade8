//! What a program may choose of a group, and how it begins to transmit to one or to receive it.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use xtp_engine::group::{
    self, BucketOptions, Cycle, Fec, GroupId, HistoryItem, MemberReport, Mode, Require, Slow, Target,
};
use xtp_engine::{Confirm, Engine, HistoryWish, Time};
use xtp_io::{GroupSending, Interface};

use crate::canonical;
use crate::carrier::Membership;
use crate::cast::Cast;
use crate::core::{GroupSlot, Holds};
use crate::endpoint::Endpoint;
use crate::error::{Error, Result};
use crate::group_listener::GroupListener;
use crate::history::{Historian, History};
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
    pub group: group::TransmitterOptions,
    /// Where packets to a group leave. Default: where the route leads; without a route by the address the endpoint is bound to, or the
    /// only interface that carries groups.
    pub interface: Interface,
    /// How many links they may cross; 0 is taken as 1. Default 1: this link only.
    pub hops: u8,
    /// Receivers on this host do not get them. Default `false`.
    pub not_here: bool,
    /// Who gives back what is no longer kept. Default: nobody.
    pub history: Option<History>,
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
        service_number(u16) => group.service_number;
        /// Who must have everything before the transmitter is done. Default: everybody who joined. [`Require::AnyOf`] 0 and an empty
        /// [`Require::List`] are refused.
        require(Require) => group.require;
        /// How long to wait for those who are expected; where no number is given, for anybody. Default 30 s; zero: nobody is waited
        /// for.
        wait(Duration) => group.wait;
        /// What becomes of a member that is slower than the others. Default: it fetches what it lacks by itself.
        slow(Slow) => group.slow;
        /// For how long a silent member is waited for, once only slow ones are left. Default 30 s.
        patience(Duration) => group.patience;
        /// Octets kept for those who fell behind, beyond what is unacknowledged. Default 64 MiB; `u64::MAX`: everything. What is no
        /// longer kept may still be had from [`history`](Self::history).
        keep(u64) => group.keep;
        /// What "has everything" means: received (the default), or taken by its program ([`JoinOptions::confirm`] says what that is).
        confirm(Confirm) => group.confirm;
        /// How receivers report. Default: each to the transmitter ([`Mode::Unicast`]). [`Mode::Bucket`] is refused for a list of
        /// receivers, for a source-specific group, and with more than 64 buckets.
        mode(Mode) => group.mode;
        /// Parity repair: 1..=128 symbols a block, rows from as many as there are symbols to 256 less those, of which at most all are
        /// proactive; `None`: what is lost is sent again as it was. Default 64 symbols, 64 rows, none proactive. Mode B has none.
        fec(Option<Fec>) => group.fec;
        /// Octets of UDP payload of a full packet, 548..=65 507; fewer where the interface or route of this host carries fewer. Default: what
        /// a link of 1 500 octets carries.
        datagram(usize) => group.datagram;
        /// Octets that may be unacknowledged, at least two blocks. Default 16 MiB.
        window(u64) => group.window;
        /// Most members at once, at least 1; 64 in mode B. Default 65 536. Four times as many may join in all, for
        /// [`Cast::members`] names them all.
        max_members(usize) => group.max_members;
        /// A late one gets everything that is kept (`true`, the default), or what is sent from then on.
        from_start(bool) => group.from_start;
        /// Where packets to a group leave. Default: where the route leads.
        interface(Interface) => interface;
        /// How many links they may cross; 0 is taken as 1. Default 1.
        hops(u8) => hops;
    }

    /// Whoever is farther behind than what is [kept](Self::keep), or comes too late for it, gets that from `supply(position, most)`
    /// instead of being out, where slow ones fetch what they lack ([`Slow::CatchUp`]). It returns what was sent at that position of
    /// the stream, as a receiver would read it there: octets, at least one and of use up to `most`, of the message that the position
    /// lies in, or the tag that begins there. `None`: it is not to be had, and who lacks it is out
    /// ([`DropReason::Behind`](crate::DropReason::Behind)). A position counts all octets written before it, and eight for each tag.
    ///
    /// The function is called in a thread that is there as long as the [`Cast`], one call at a time; it may take its time, and use
    /// the endpoint. What it gives back must be what was sent: nobody checks that, and who was sent something else has a mixture.
    ///
    /// ```
    /// use std::os::unix::fs::FileExt;
    /// use xtp::{Bytes, CastOptions};
    ///
    /// # let file = std::fs::File::open("/dev/null").unwrap();
    /// // A file that is sent as it is, from its beginning, needs no memory for those who come late.
    /// let options = CastOptions::new().keep(0).history(move |position, most| {
    ///     let mut octets = vec![0; most];
    ///     let count = file.read_at(&mut octets, position).ok()?;
    ///     octets.truncate(count);
    ///     Some(Bytes::from(octets).into())
    /// });
    /// # drop(options);
    /// ```
    #[must_use]
    pub fn history(
        mut self,
        supply: impl Fn(u64, usize) -> Option<HistoryItem> + Send + Sync + 'static,
    ) -> Self {
        self.history = Some(History::new(supply));
        self
    }

    /// How many are expected: data leaves when they have joined. Default: as many as there are addresses in a list of receivers;
    /// of a group nobody knows, and [`wait`](Self::wait) is waited for others.
    #[must_use]
    pub fn expect(mut self, members: u32) -> Self {
        self.group.expect = Some(members);
        self
    }

    /// Members the group will have, as far as known: their answers are spread over time accordingly. Default: those who are expected,
    /// else 1 024 until joins tell more.
    #[must_use]
    pub fn size(mut self, members: u32) -> Self {
        self.group.size = Some(members);
        self
    }

    /// Most that leaves, octets of UDP payload a second, whatever receivers and the path can take; 0, the default: no limit.
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

    /// Receivers report to the whole group, and the transmitter collects that in so many buckets, 1..=64 (mode B). Default 4.
    #[must_use]
    pub fn buckets(mut self, buckets: u8) -> Self {
        let others = self.bucket_options();
        self.group.mode = Mode::Bucket(BucketOptions { buckets, ..others });
        self
    }

    /// When a bucket is opened (mode B). Default: at intervals.
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
    pub group: group::ReceiverOptions,
    /// Where the group is listened to. Default: as [`CastOptions::interface`].
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
        /// Service number, as [`CastOptions::service_number`].
        service_number(u16) => group.service_number;
        /// By which name the transmitter knows this receiver, at most 64 octets. Default: by its address and port. A second one of the same
        /// name takes the place of the first if that is asked and does not answer for 2 s.
        name(String) => group.name;
        /// Octets buffered for the program, 1..=2^40; a transmitter refuses whoever has room for less than two of its blocks. Default
        /// 32 MiB.
        capacity(u64) => group.capacity;
        /// Whether completeness counts as soon as everything is here (or read, where the transmitter asks for that; the default), or only
        /// when the program [confirmed](Subscription::confirm) it.
        confirm(Confirm) => group.confirm;
        /// How many transmitters a [listener](Endpoint::listen_group) hears at a time, 1..=256, of one host half as many; each has its share
        /// of the [capacity](Self::capacity). Those for which there is no place are told so, and wait. Default 16.
        at_once(u16) => group.at_once;
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
    /// [`Error::Command`] for options out of range, [`Error::Address`] for an address that nothing can be sent to,
    /// [`Error::Socket`] for an interface that is not there, and where no route leads to the group and not exactly one interface carries it;
    /// [`Error::GroupSending`] if this endpoint transmits to another group in another way.
    pub fn cast(&self, group: impl Into<Target>, options: CastOptions) -> Result<Cast> {
        let id = begin_cast(self, group.into(), options, None)?;
        Ok(Cast::new(Arc::clone(&self.shared), id))
    }

    /// Sends one message to a group in one packet, and waits until all who are required have confirmed it; says who did. So it
    /// costs one packet, one of each receiver, and one that ends it, where nothing is lost. Where it is known how many will answer
    /// ([`CastOptions::expect`], a list of names or of addresses) it waits for them, at most [`CastOptions::patience`]; else for
    /// whoever answers within [`CastOptions::wait`]. Who is not in the list that is returned has not confirmed it. With [`Require::Nobody`] the packet leaves once, nobody answers, and the list is
    /// empty.
    ///
    /// A receiver takes it from a [`Subscription`] as the one message of its stream. What is sent often goes as a
    /// stream of messages ([`cast`](Self::cast)): each datagram is a transmission of its own, for which receivers
    /// [join](Self::join) anew.
    ///
    /// ```
    /// use xtp::{CastOptions, Config, Endpoint, JoinOptions};
    ///
    /// let (mut addresses, mut receiving) = (Vec::new(), Vec::new());
    /// for _ in 0..2 {
    ///     let receiver = Endpoint::bind(Config::server("127.0.0.1:0".parse().unwrap()))?;
    ///     addresses.push(receiver.local_addr());
    ///     let group = receiver.join(None, JoinOptions::new())?;
    ///     receiving.push(std::thread::spawn(move || {
    ///         let message = group.recv_message()?;
    ///         group.close()?;
    ///         Ok::<_, xtp::Error>(message)
    ///     }));
    /// }
    /// let transmitter = Endpoint::bind(Config::server("127.0.0.1:0".parse().unwrap()))?;
    /// let confirmed = transmitter.cast_datagram(addresses, "doors open", &CastOptions::new().expect(2))?;
    /// assert_eq!(confirmed.len(), 2);
    /// for receiver in receiving {
    ///     assert_eq!(receiver.join().unwrap()?.as_deref(), Some(&b"doors open"[..]));
    /// }
    /// # Ok::<(), xtp::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Group`] with [`GroupClose::Nobody`](crate::GroupClose::Nobody) if nobody confirmed it; [`Error::Command`] for an
    /// empty message, for one that does not fit [`CastOptions::datagram`] and for options out of range, [`Error::Interrupted`],
    /// [`Error::Carrier`]; as [`cast`](Self::cast).
    pub fn cast_datagram(
        &self,
        group: impl Into<Target>,
        data: impl Into<Bytes>,
        options: &CastOptions,
    ) -> Result<Vec<MemberReport>> {
        self.begin_datagram(group.into(), data.into(), options)?
            .confirmed()
    }

    /// The message has left once, or is about to; [`Cast::confirmed`] waits for the rest.
    pub(crate) fn begin_datagram(&self, group: Target, data: Bytes, options: &CastOptions) -> Result<Cast> {
        let id = begin_cast(self, group, options.clone(), Some(data))?;
        Ok(Cast::new(Arc::clone(&self.shared), id))
    }

    /// Waits for a transmitter of `group`, and receives what it sends. `None`: of a transmitter that sends a copy to this
    /// endpoint's own address. What this endpoint transmits itself it receives only if its host is named as the
    /// [source](JoinOptions::source), and receivers of one name
    /// ([`JoinOptions::name`]) of an endpoint each hear another transmitter. [`listen_group`](Self::listen_group) hears several.
    ///
    /// # Errors
    /// [`Error::Command`] for options out of range, [`Error::Address`] for port 0 and a source that no host has, [`Error::Socket`]
    /// for an address that is no group's and an interface that is not there, and as [`cast`](Self::cast) without a route.
    pub fn join(&self, group: impl Into<Option<SocketAddr>>, options: JoinOptions) -> Result<Subscription> {
        let id = begin_join(self, group.into(), options, Engine::join)?;
        Ok(Subscription::new(Arc::clone(&self.shared), id))
    }

    /// Listens to all transmitters of `group`, each of which [`GroupListener::accept`] gives as a [`Subscription`]: side by side, as many at
    /// a time as [`JoinOptions::at_once`] says, or with 1 in turn. `None` as for [`join`](Self::join).
    ///
    /// ```
    /// use xtp::{CastOptions, Config, Endpoint, JoinOptions};
    ///
    /// let here = || Endpoint::bind(Config::server("127.0.0.1:0".parse().unwrap()));
    /// let receiver = here()?;
    /// let group = vec![receiver.local_addr()];
    /// let receiving = std::thread::spawn(move || -> xtp::Result<Vec<String>> {
    ///     let listener = receiver.listen_group(None, JoinOptions::new())?;
    ///     let mut heard = Vec::new();
    ///     for _ in 0..2 {
    ///         let transmitter = listener.accept()?;
    ///         let message = transmitter.recv_message()?.expect("one message");
    ///         heard.push(String::from_utf8_lossy(&message).into_owned());
    ///         transmitter.close()?;
    ///     }
    ///     heard.sort();
    ///     Ok(heard)
    /// });
    /// let options = CastOptions::new().expect(1);
    /// for message in ["one", "other"] {
    ///     here()?.cast_datagram(group.clone(), message, &options)?;
    /// }
    /// assert_eq!(receiving.join().unwrap()?, ["one", "other"]);
    /// # Ok::<(), xtp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`join`](Self::join).
    pub fn listen_group(
        &self,
        group: impl Into<Option<SocketAddr>>,
        options: JoinOptions,
    ) -> Result<GroupListener> {
        let id = begin_join(self, group.into(), options, Engine::listen_group)?;
        Ok(GroupListener::new(Arc::clone(&self.shared), id))
    }
}

/// The target in canonical form, and what it settles of the options.
fn settle(endpoint: &Endpoint, target: Target, options: &mut CastOptions) -> Result<Target> {
    let scope = canonical::scope_of(endpoint.local_addr());
    let target = canonical::target(target, scope, &mut options.interface)?;
    if let Target::Group(group) = &target {
        find_interface(endpoint, *group, &mut options.interface)?;
    }
    if let Require::List(list) = &mut options.group.require {
        canonical::required(list);
    }
    let six = match &target {
        Target::Group(group) => group.is_ipv6(),
        Target::Each(each) => each.iter().any(SocketAddr::is_ipv6),
    };
    if six && options.group.datagram == DATAGRAM_V4 {
        options.group.datagram = DATAGRAM_V6;
    }
    if let (Target::Each(each), Require::All) = (&target, &options.group.require) {
        // No other receiver can come.
        let listed = u32::try_from(each.len()).unwrap_or(u32::MAX);
        options.group.expect = options.group.expect.or(Some(listed));
    }
    Ok(target)
}

/// The interface that a group is reached by, where none is named.
///
/// # Errors
/// [`Error::Socket`]: no route leads there, and it is not clear which one it is.
fn find_interface(endpoint: &Endpoint, group: SocketAddr, interface: &mut Interface) -> Result<()> {
    if *interface == Interface::Route && group.ip().is_multicast() {
        *interface = Interface::towards(group, Some(endpoint.local_addr().ip().to_canonical()))?;
    }
    Ok(())
}

/// Makes a transmitter: of a stream, or of one message.
fn begin_cast(
    endpoint: &Endpoint,
    target: Target,
    mut options: CastOptions,
    message: Option<Bytes>,
) -> Result<GroupId> {
    let target = settle(endpoint, target, &mut options)?;
    let multicast = matches!(target, Target::Group(_));
    let sending = options.sending();
    let membership = collecting(&target, &options);
    options.group.history = options.history.is_some();
    let historian = options
        .history
        .take()
        .map(|history| historian(endpoint, history))
        .transpose()?;
    let sole = sole(&target);
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
        let made = core
            .fit_datagrams(now, &target, &mut options.group)
            .and_then(|()| {
                let made = match message {
                    Some(data) => core
                        .engine
                        .command()
                        .cast_datagram(now, target, options.group, data),
                    None => core.engine.command().cast(now, target, options.group),
                };
                made.map_err(Error::from)
            });
        match made {
            Ok(id) => {
                let mut slot = GroupSlot::new(holds);
                slot.history = historian;
                slot.target = sole;
                core.groups.insert(id, slot);
                Ok(id)
            }
            Err(error) => {
                core.give_back(holds);
                Err(error)
            }
        }
    });
    if collects {
        // Whoever sleeps on the sockets does not sleep on a new one yet.
        endpoint.shared.rouse();
    }
    begun
}

/// A transmitter that collects answers to the whole group receives the group.
fn collecting(target: &Target, options: &CastOptions) -> Option<Membership> {
    match (target, options.group.mode) {
        (Target::Group(group), Mode::Bucket(_)) => Some(Membership {
            group: *group,
            interface: options.interface.clone(),
            source: None,
        }),
        _ => None,
    }
}

/// Where all packets of a transmitter go, if that is one address.
fn sole(target: &Target) -> Option<SocketAddr> {
    let sole = match target {
        Target::Group(group) => Some(*group),
        Target::Each(each) => each.first().copied().filter(|_| each.len() == 1),
    };
    sole.map(xtp_io::canonical)
}

/// A thread that asks `history` and answers the engine. It does not keep the endpoint alive.
fn historian(endpoint: &Endpoint, history: History) -> Result<Historian> {
    let shared = endpoint.shared.for_driver();
    Historian::start(history, move |wish: &HistoryWish, item: Option<HistoryItem>| {
        shared.command(|core, _| core.engine.history(wish, item));
    })
}

/// Makes a receiver, or a listener.
fn begin_join(
    endpoint: &Endpoint,
    group: Option<SocketAddr>,
    mut options: JoinOptions,
    begin: impl FnOnce(
        &mut Engine,
        Time,
        group::ReceiverOptions,
    ) -> std::result::Result<GroupId, xtp_engine::Error>,
) -> Result<GroupId> {
    let socket = &endpoint.shared.config.socket;
    let group = group
        .map(|group| canonical::group(group, &mut options.interface))
        .transpose()?;
    if let Some(group) = group {
        find_interface(endpoint, group, &mut options.interface)?;
    }
    options.group.source = options.group.source.map(canonical::source).transpose()?;
    let membership = group.map(|group| Membership {
        group,
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
        match begin(core.engine.command(), now, options.group) {
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

#[cfg(test)]
#[path = "group_tests.rs"]
mod tests;
