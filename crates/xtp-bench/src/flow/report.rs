//! What flows came to, for programs and for people.

use serde::{Deserialize, Serialize};

use super::terms::{FlowDirection, FlowPlan};

/// What one end counted of a flow, or of several together.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct FlowCount {
    /// Octets of users. Of a sender of a stream those that the receiver's host has acknowledged, of a receiver those that its
    /// program took; of datagrams those of datagrams sent, or of datagrams that came, each once.
    pub octets: u64,
    /// From the first of these octets to the last.
    pub seconds: f64,
    /// Octets that were sent again; of senders of streams.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repeated: Option<u64>,
    /// Of datagrams.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub datagrams: Option<DatagramCount>,
}

/// What one end counted of datagrams. Lost are those that were sent and did not reach the receiving program: in the network, in the
/// socket, or because its endpoint shed them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct DatagramCount {
    /// Datagrams sent, or that came, each once.
    pub datagrams: u64,
    /// Datagrams of the sender that did not come; of receivers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lost: Option<u64>,
    /// That came behind later ones; of receivers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub out_of_order: Option<u64>,
    /// That came again; of receivers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duplicates: Option<u64>,
    /// Interarrival jitter (RFC 3550, section 6.4.1) as of the last datagram, milliseconds; of several flows the greatest; of
    /// receivers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub jitter_ms: Option<f64>,
}

impl FlowCount {
    /// Bits a second.
    pub fn rate(&self) -> f64 {
        rate(self.octets, self.seconds)
    }

    /// Of all flows of one direction.
    pub(super) fn sum<'a>(counts: impl Iterator<Item = &'a Self>) -> Option<Self> {
        counts.cloned().reduce(|all, one| Self {
            octets: all.octets + one.octets,
            seconds: all.seconds.max(one.seconds),
            repeated: both(all.repeated, one.repeated, u64::wrapping_add),
            datagrams: match (all.datagrams, one.datagrams) {
                (Some(all), Some(one)) => Some(all.with(&one)),
                (all, one) => all.or(one),
            },
        })
    }
}

impl DatagramCount {
    fn with(&self, other: &Self) -> Self {
        Self {
            datagrams: self.datagrams + other.datagrams,
            lost: both(self.lost, other.lost, u64::wrapping_add),
            out_of_order: both(self.out_of_order, other.out_of_order, u64::wrapping_add),
            duplicates: both(self.duplicates, other.duplicates, u64::wrapping_add),
            jitter_ms: both(self.jitter_ms, other.jitter_ms, f64::max),
        }
    }

    /// Datagrams lost of all that were sent, percent.
    pub fn loss_percent(&self) -> Option<f64> {
        let lost = self.lost? as f64;
        Some(100.0 * lost / (lost + self.datagrams as f64).max(1.0))
    }
}

fn both<T>(one: Option<T>, other: Option<T>, join: impl FnOnce(T, T) -> T) -> Option<T> {
    match (one, other) {
        (Some(one), Some(other)) => Some(join(one, other)),
        (one, other) => one.or(other),
    }
}

fn rate(octets: u64, seconds: f64) -> f64 {
    match seconds > 0.0 {
        true => octets as f64 * 8.0 / seconds,
        false => 0.0,
    }
}

/// What this end counted of one flow between two moments.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FlowPart {
    /// Which flow, from 1 on; `None`: all of this direction.
    pub flow: Option<u32>,
    /// From the server to this client.
    pub from_server: bool,
    /// Octets meanwhile, counted as in [`FlowCount`].
    pub octets: u64,
    /// Bits a second.
    pub bits_per_second: f64,
    /// Octets sent again meanwhile.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repeated: Option<u64>,
    /// The round trip as it is estimated at the end, milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub round_trip_ms: Option<f64>,
    /// Datagrams meanwhile; the jitter is that of the end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub datagrams: Option<DatagramCount>,
}

/// What this end counted between two moments.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FlowInterval {
    /// Seconds since the flows began.
    pub begin: f64,
    /// The same.
    pub end: f64,
    /// Each flow, and behind those of a direction their sum if they are several.
    pub parts: Vec<FlowPart>,
}

impl FlowInterval {
    /// What lies between two looks at all flows: number, direction, count, round trip in milliseconds.
    pub(super) fn between(
        (begin, before): (f64, &[FlowCount]),
        (end, now): (f64, &[FlowCount]),
        flows: &[(u32, bool, Option<f64>)],
    ) -> Self {
        let each = flows.iter().zip(before.iter().zip(now));
        let each = each.map(|((number, from_server, round_trip), (before, now))| FlowPart {
            flow: Some(*number),
            from_server: *from_server,
            octets: now.octets.saturating_sub(before.octets),
            bits_per_second: rate(now.octets.saturating_sub(before.octets), end - begin),
            repeated: both(now.repeated, before.repeated, u64::saturating_sub),
            round_trip_ms: *round_trip,
            datagrams: both(now.datagrams.clone(), before.datagrams.clone(), |now, before| {
                now.since(&before)
            }),
        });
        let mut parts: Vec<_> = each.collect();
        for from_server in [false, true] {
            let these = || parts.iter().filter(|part| part.from_server == from_server);
            if these().count() < 2 {
                continue;
            }
            let octets = these().map(|part| part.octets).sum();
            let sum = FlowPart {
                flow: None,
                from_server,
                octets,
                bits_per_second: rate(octets, end - begin),
                repeated: these().map(|part| part.repeated).sum(),
                round_trip_ms: None,
                datagrams: these()
                    .filter_map(|part| part.datagrams.clone())
                    .reduce(|all, one| all.with(&one)),
            };
            let last = parts.iter().rposition(|part| part.from_server == from_server);
            parts.insert(last.map_or(0, |last| last + 1), sum);
        }
        Self { begin, end, parts }
    }
}

impl DatagramCount {
    fn since(&self, before: &Self) -> Self {
        let less = |now: Option<u64>, before| both(now, before, u64::saturating_sub);
        Self {
            datagrams: self.datagrams.saturating_sub(before.datagrams),
            lost: less(self.lost, before.lost),
            out_of_order: less(self.out_of_order, before.out_of_order),
            duplicates: less(self.duplicates, before.duplicates),
            jitter_ms: self.jitter_ms,
        }
    }
}

/// Both ends of a flow, or of all flows of a direction.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FlowPair {
    /// Which flow, from 1 on; `None`: all of this direction.
    pub flow: Option<u32>,
    /// From the server to this client.
    pub from_server: bool,
    /// What the sender counted.
    pub sender: FlowCount,
    /// Bits a second.
    pub sender_bits_per_second: f64,
    /// What the receiver counted; `None` if it could not be asked.
    pub receiver: Option<FlowCount>,
    /// Bits a second.
    pub receiver_bits_per_second: Option<f64>,
}

/// What flows came to.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FlowReport {
    /// Nothing failed.
    pub ok: bool,
    /// The server.
    pub server: String,
    /// Which way octets went.
    pub direction: FlowDirection,
    /// Flows each way.
    pub streams: u32,
    /// How long octets were to leave.
    pub time: f64,
    /// Octets handed over in one call, or of a datagram.
    pub length: u64,
    /// Datagrams, at so many octets a second for each flow.
    pub datagram_rate: Option<u64>,
    /// What this end counted, interval by interval.
    pub intervals: Vec<FlowInterval>,
    /// Both ends of each flow, and behind those of a direction their sum if they are several.
    pub flows: Vec<FlowPair>,
    /// Processor time of this end while octets flowed, in parts of one core, percent; of the process that measured.
    pub core_percent_here: f64,
    /// The same of the server's end.
    pub core_percent_there: Option<f64>,
    /// How long other clients of the server were waited for, seconds.
    pub waited: f64,
    /// What failed.
    pub error: Option<String>,
}

impl FlowReport {
    pub(super) fn new(plan: &FlowPlan) -> Self {
        Self {
            ok: true,
            server: plan.to.to_string(),
            direction: plan.direction,
            streams: plan.streams,
            time: plan.time.as_secs_f64(),
            length: plan.length,
            datagram_rate: plan.datagram_rate,
            intervals: Vec::new(),
            flows: Vec::new(),
            core_percent_here: 0.0,
            core_percent_there: None,
            waited: 0.0,
            error: None,
        }
    }

    /// Puts the ends of each flow side by side: number, direction, what this end counted, and the other one.
    pub(super) fn pair(&mut self, ends: &[(u32, bool, FlowCount, Option<FlowCount>)]) {
        for from_server in [false, true] {
            let these: Vec<_> = ends.iter().filter(|(_, from, ..)| *from == from_server).collect();
            let pair = |flow, here: FlowCount, there: Option<FlowCount>| {
                // Without a word of the other end a receiver here knows what came, and a sender what was acknowledged.
                let (sender, receiver) = match from_server {
                    false => (here, there),
                    true => (there.unwrap_or_default(), Some(here)),
                };
                FlowPair {
                    flow,
                    from_server,
                    sender_bits_per_second: sender.rate(),
                    sender,
                    receiver_bits_per_second: receiver.as_ref().map(FlowCount::rate),
                    receiver,
                }
            };
            for (number, _, here, there) in &these {
                self.flows.push(pair(Some(*number), here.clone(), there.clone()));
            }
            if these.len() > 1
                && let Some(here) = FlowCount::sum(these.iter().map(|(_, _, here, _)| here))
            {
                let there = FlowCount::sum(these.iter().filter_map(|(.., there)| there.as_ref()));
                self.flows.push(pair(None, here, there));
            }
        }
    }
}

#[cfg(test)]
#[path = "report_tests.rs"]
mod tests;
