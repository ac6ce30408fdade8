//! Over xtp: one endpoint a rank, and one set to wait for all its associations.

use std::collections::{HashMap, VecDeque};
use std::net::SocketAddr;
use std::time::Duration;

use ::xtp::{
    Bytes, Config, Cork, Endpoint, Incoming, ListenOptions, Listener, PollSet, Stream, Wait, paradigm,
};

use super::buffers::Buffers;
use super::{Arrived, Mesh, Slots, Use, meet};
use crate::console::Console;
use crate::error::{Problem, Worked};
use crate::job::Job;
use crate::patterns::message::{Link, Message};
use crate::plan::WaitPolicy;

/// The service number of ranks.
const SERVICE: u16 = 100;
/// How the set names the listener.
const LISTENER: u64 = u64::MAX;

enum Held {
    Own(Stream),
    Accepted(Incoming),
}

struct Association {
    held: Held,
    link: Option<Link>,
    /// Messages, or what is left of them, that found no room.
    output: VecDeque<Bytes>,
}

impl Association {
    fn stream(&self) -> &Stream {
        match &self.held {
            Held::Own(stream) => stream,
            Held::Accepted(incoming) => incoming.stream(),
        }
    }
}

pub(super) struct XtpMesh {
    associations: Use,
    size: usize,
    peers: Vec<SocketAddr>,
    /// Everything a rank does between two waits leaves together.
    cork: Cork,
    // Dropped in this order: streams leave the set before it goes, and the endpoint waits for their confirmation.
    held: Slots<Association>,
    set: PollSet,
    listener: Listener,
    endpoint: Endpoint,
    links: HashMap<Link, usize>,
    ready: Vec<u64>,
    buffers: Buffers,
    /// Associations with unsent messages.
    unsent: usize,
    trouble: String,
}

impl XtpMesh {
    pub(super) fn open(job: &Job, associations: Use, console: &mut Console) -> Worked<Self> {
        let mut config = Config::server(job.any_port());
        config.wait = match job.wait {
            WaitPolicy::Block => Wait::Block,
            WaitPolicy::Spin => Wait::Spin,
            WaitPolicy::Adaptive => Wait::Adaptive,
        };
        let endpoint = Endpoint::bind(config)?;
        let listener = endpoint.listen_with(ListenOptions::every_service(SERVICE))?;
        let set = endpoint.poll_set();
        set.add_listener(&listener, LISTENER)?;
        Ok(Self {
            associations,
            size: job.size as usize,
            peers: meet(job, console, endpoint.local_addr())?,
            cork: endpoint.cork(),
            held: Slots::default(),
            set,
            listener,
            endpoint,
            links: HashMap::new(),
            ready: Vec::new(),
            buffers: Buffers::default(),
            unsent: 0,
            trouble: String::new(),
        })
    }

    fn hold(&mut self, held: Held, link: Option<Link>) -> Worked<usize> {
        let at = self.held.put(Association {
            held,
            link,
            output: VecDeque::new(),
        });
        if let Some(association) = self.held.get(at) {
            self.set.add(association.stream(), at as u64)?;
        }
        Ok(at)
    }

    /// The association of a link, opened if there is none. Its first packet carries the first message.
    fn link(&mut self, to: Link) -> Worked<usize> {
        if let Some(at) = self.links.get(&to) {
            return Ok(*at);
        }
        let mut options = paradigm::stream(SERVICE);
        // Messages go both ways.
        options.expected_answer = u32::try_from(self.size).unwrap_or(u32::MAX);
        let stream = self.endpoint.open(self.peers[to.rank], options)?;
        let at = self.hold(Held::Own(stream), Some(to))?;
        self.links.insert(to, at);
        Ok(at)
    }

    fn queue(&mut self, at: usize, octets: Bytes) -> Worked<()> {
        let Some(association) = self.held.get(at) else {
            return Err(Problem::new("an association is gone that was to be written to"));
        };
        let idle = association.output.is_empty();
        association.output.push_back(octets);
        if idle {
            self.unsent += 1;
            self.flush(at)?;
        }
        Ok(())
    }

    /// Sends what waits, as far as there is room.
    fn flush(&mut self, at: usize) -> Worked<()> {
        let Some(Association { held, output, .. }) = self.held.get(at) else {
            return Ok(());
        };
        let stream = match held {
            Held::Own(stream) => stream,
            Held::Accepted(incoming) => incoming.stream(),
        };
        while let Some(first) = output.front_mut() {
            match stream.try_send_message(first) {
                Ok(_) if first.is_empty() => drop(output.pop_front()),
                Ok(_) => return Ok(()),
                Err(error) if error.is_would_block() => return Ok(()),
                Err(error) => return Err(error.into()),
            }
        }
        self.unsent -= 1;
        Ok(())
    }

    fn close(&mut self, at: usize) {
        if let Some(association) = self.held.take(at) {
            self.unsent -= usize::from(!association.output.is_empty());
            if let Some(link) = association.link
                && self.links.get(&link) == Some(&at)
            {
                self.links.remove(&link);
            }
        }
    }

    /// One association that waits. Its first message came with it, if it is not long.
    fn accept(&mut self, arrived: &mut Arrived) -> Worked<()> {
        let incoming = match self.listener.try_accept() {
            Err(error) if error.is_would_block() => return Ok(()),
            accepted => accepted?,
        };
        let message = match incoming.stream().try_recv_message() {
            Ok(Some(octets)) => Some(Message::read(&octets, self.size)?),
            Ok(None) => return Err(Problem::new("an association without a message arrived")),
            Err(error) if error.is_would_block() => None,
            Err(error) => return Err(error.into()),
        };
        if self.associations == Use::Message
            && let Some(message) = message
        {
            arrived.push((usize::MAX, message));
            return Ok(());
        }
        let at = self.hold(Held::Accepted(incoming), None)?;
        if let Some(message) = message {
            self.took(at, message, arrived);
        }
        Ok(())
    }

    fn took(&mut self, at: usize, message: Message, arrived: &mut Arrived) {
        arrived.push((at, message));
        if self.associations == Use::Link
            && let Some(association) = self.held.get(at)
            && association.link.is_none()
        {
            association.link = Some(message.link());
            self.links.entry(message.link()).or_insert(at);
        }
    }

    /// Something happened to an association: room, messages, or its end.
    fn look(&mut self, at: usize, arrived: &mut Arrived) -> Worked<()> {
        if self.unsent > 0 && self.held.get(at).is_some_and(|one| !one.output.is_empty()) {
            self.flush(at)?;
        }
        while let Some(association) = self.held.get(at) {
            let stream = association.stream();
            match stream.try_recv_message() {
                Ok(Some(octets)) => {
                    let more = self.associations == Use::Link && stream.tuning().readable()? > 0;
                    let own = matches!(association.held, Held::Own(_));
                    self.took(at, Message::read(&octets, self.size)?, arrived);
                    if self.associations == Use::Message || (self.associations == Use::Call && own) {
                        self.close(at);
                    }
                    if !more {
                        return Ok(());
                    }
                }
                Err(error) if error.is_would_block() => return Ok(()),
                Ok(None) => self.close(at),
                Err(error) => {
                    self.trouble = format!(" ({:?}: {error})", association.link);
                    self.close(at);
                }
            }
        }
        Ok(())
    }
}

impl Mesh for XtpMesh {
    fn send(&mut self, to: Link, message: &Message) -> Worked<()> {
        let octets = self.buffers.message(message, self.size);
        let peer = self.peers[to.rank];
        match self.associations {
            Use::Link => {
                let at = self.link(to)?;
                self.queue(at, octets)
            }
            // Confirmed in the background.
            Use::Message => {
                self.endpoint.start(peer, paradigm::one_shot(SERVICE), octets)?;
                Ok(())
            }
            Use::Call => {
                let call = self
                    .endpoint
                    .start(peer, paradigm::transaction(SERVICE), octets)?;
                self.hold(Held::Own(call), None).map(drop)
            }
        }
    }

    fn receive(&mut self, limit: Duration, arrived: &mut Arrived) -> Worked<()> {
        self.cork.flush();
        let mut ready = std::mem::take(&mut self.ready);
        ready.clear();
        match self.set.wait(&mut ready, Some(limit)) {
            Err(error) if error.is_timeout() => {}
            outcome => outcome?,
        }
        for &key in &ready {
            if key == LISTENER {
                self.accept(arrived)?;
            } else {
                self.look(key as usize, arrived)?;
            }
        }
        self.ready = ready;
        Ok(())
    }

    fn reply(&mut self, origin: usize, message: &Message) -> Worked<()> {
        let octets = self.buffers.message(message, self.size);
        if self.associations == Use::Link {
            return self.queue(origin, octets);
        }
        match self.held.take(origin) {
            Some(Association {
                held: Held::Accepted(incoming),
                ..
            }) => Ok(incoming.respond_unconfirmed(octets)?),
            _ => Err(Problem::new("there is nobody to answer")),
        }
    }

    fn leave(&mut self, channel: u32) -> Worked<()> {
        let of = |one: &Association| one.link.is_some_and(|link| link.channel == channel);
        let left: Vec<usize> = self
            .held
            .all()
            .filter(|(_, one)| of(one))
            .map(|(at, _)| at)
            .collect();
        for at in left {
            self.close(at);
        }
        Ok(())
    }

    fn is_drained(&self) -> bool {
        self.unsent == 0
    }

    fn calls(&self) -> u64 {
        self.endpoint.stats().system_calls()
    }

    fn trouble(&self) -> String {
        self.trouble.clone()
    }
}
