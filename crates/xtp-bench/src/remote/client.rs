//! The host that measures.

use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::time::{Duration, Instant};

use xtp::{CallOptions, Config, DriverThread, Endpoint, Wait, paradigm};

use super::{Answer, Request, SERVICE, VERSION, Wanted};
use crate::error::Error;
use crate::flow::FlowTerms;
use crate::job::{Job, Outcome, Role};
use crate::launch::{Launcher, PATIENCE, Pair, Worker};
use crate::stage::Place;

/// Longest time until a server has started its party, or ended it.
const ANSWER: Duration = Duration::from_secs(45);
/// Longest time until it is this client's turn: one turn of another and a little.
const LONGEST_WAIT: Duration = Duration::from_secs(15 * 60);
/// How often a busy server is asked.
const AGAIN: Duration = Duration::from_secs(1);
/// How long a server that does not answer is waited for.
const GREETING: Duration = Duration::from_secs(5);

/// A server on another host, and the place here from which it is reached.
pub(crate) struct Far {
    server: SocketAddr,
    endpoint: Endpoint,
    token: u64,
    near: Place,
    /// How long other clients of the server were waited for.
    waited: Duration,
    /// Answers the server, which asks whether this client is there while others wait.
    _driver: DriverThread,
}

impl Far {
    /// Greets the server.
    ///
    /// # Errors
    /// [`Error::Worker`] if it is not there or does not want to.
    pub(crate) fn new(server: SocketAddr) -> Result<Self, Error> {
        let failed = |said: String| Error::Worker {
            who: format!("bench server {server}"),
            said,
        };
        let mut config = Config::client();
        config.wait = Wait::Block;
        let endpoint = Endpoint::bind(config).map_err(|error| failed(error.to_string()))?;
        // The form of the address that answers come from; no packet leaves.
        let opened = endpoint.open(server, paradigm::stream(SERVICE));
        let server = opened.and_then(|stream| stream.peer_addr());
        let server = server.map_err(|error| failed(error.to_string()))?;
        let address = way_to(server).map_err(|error| failed(format!("no way to it: {error}")))?;
        let near = Place {
            enter: Vec::new(),
            address,
            interface: interface_of(address).unwrap_or_default(),
        };
        let driver = endpoint.enable_echo().and_then(|()| endpoint.spawn_driver());
        let driver = driver.map_err(|error| failed(error.to_string()))?;
        let mut far = Self {
            server,
            endpoint,
            token: 0,
            near,
            waited: Duration::ZERO,
            _driver: driver,
        };
        match far.ask(&Request::Hello { version: VERSION }, GREETING)? {
            Answer::Welcome { token } => far.token = token,
            other => return Err(far.astonished(&other)),
        }
        Ok(far)
    }

    /// How long other clients of the server were waited for, in whole seconds.
    pub(crate) fn waited(&self) -> Duration {
        self.waited
    }

    /// Has one measured: the server's party there, the client's here.
    ///
    /// # Errors
    /// As of [`pair`](crate::launch::pair).
    pub(crate) fn pair(&mut self, launcher: &Launcher, job: &Job) -> Result<Pair, Error> {
        launcher.check()?;
        let wanted = Wanted::of(job);
        let address = self.begin(launcher, |token| Request::Begin {
            token,
            wanted: wanted.clone(),
        })?;
        let mut job = Job {
            role: Role::Client,
            bind: self.near.address,
            interface: self.near.interface.clone(),
            peer: address,
            ..job.clone()
        };
        // What carries long datagrams here need not carry them there.
        job.options.insert("quinn_datagram".to_owned(), "1472".to_owned());
        let mut client = Worker::start(launcher, &self.near, &job)?;
        let client = client.outcome(Duration::from_secs_f64(job.seconds) + PATIENCE);
        let server = self.end();
        let client = client?;
        Ok(Pair {
            client,
            server: server?,
        })
    }

    /// Has flows begin; where their other end is.
    ///
    /// # Errors
    /// [`Error::Worker`] if the server does not want to, [`Error::Interrupted`].
    pub(crate) fn begin_flows(&mut self, launcher: &Launcher, terms: &FlowTerms) -> Result<String, Error> {
        self.begin(launcher, |token| Request::Flows {
            token,
            terms: terms.clone(),
        })
    }

    /// Ends what was begun; what the server's party counted.
    ///
    /// # Errors
    /// [`Error::Worker`] if it does not say.
    pub(crate) fn end(&self) -> Result<Outcome, Error> {
        match self.ask(&Request::End { token: self.token }, ANSWER)? {
            Answer::Outcome(outcome) => Ok(*outcome),
            other => Err(self.astonished(&other)),
        }
    }

    /// Has the server's party started, when it is this client's turn; where that is.
    fn begin(&mut self, launcher: &Launcher, request: impl Fn(u64) -> Request) -> Result<String, Error> {
        let until = Instant::now() + LONGEST_WAIT;
        let mut told = false;
        loop {
            launcher.check()?;
            // A token does not live for ever.
            if let Answer::Welcome { token } = self.ask(&Request::Hello { version: VERSION }, GREETING)? {
                self.token = token;
            }
            match self.ask(&request(self.token), ANSWER)? {
                Answer::Ready { address } => return Ok(self.reachable(&address)),
                Answer::Busy { seconds } if Instant::now() < until => {
                    if !std::mem::replace(&mut told, true) {
                        launcher.remarks.say(format!(
                            "{} is busy with another client, for {seconds} s at most: waiting for this one's turn",
                            self.server
                        ));
                    }
                    std::thread::sleep(AGAIN);
                    self.waited += AGAIN;
                }
                Answer::Busy { seconds } => {
                    return Err(
                        self.failed(format!("busy with other clients, for {seconds} s more at least"))
                    );
                }
                other => return Err(self.astonished(&other)),
            }
        }
    }

    fn ask(&self, request: &Request, patience: Duration) -> Result<Answer, Error> {
        let line = serde_json::to_vec(request).map_err(|error| self.failed(error.to_string()))?;
        let mut options = CallOptions::within(patience);
        // It starts a process first.
        options.slow_server = !matches!(request, Request::Hello { .. });
        let answer = self.endpoint.call(self.server, SERVICE, line, &options);
        let answer = answer.map_err(|error| {
            let advice = match error.is_unreachable() || error.is_timeout() {
                true => "; start 'xtp bench serve --listen ADDR' there, and let UDP pass",
                false => "",
            };
            self.failed(format!("{error}{advice}"))
        })?;
        match serde_json::from_slice(&answer) {
            Ok(Answer::Refused(why)) => Err(self.failed(why)),
            Ok(answer) => Ok(answer),
            Err(error) => Err(self.failed(format!("an answer this client does not know ({error})"))),
        }
    }

    pub(crate) fn failed(&self, said: String) -> Error {
        Error::Worker {
            who: format!("bench server {}", self.server),
            said,
        }
    }

    fn astonished(&self, answer: &Answer) -> Error {
        self.failed(format!("answered something else: {answer:?}"))
    }

    /// Where the party is: a server bound to all addresses is reached at the one it was found at.
    fn reachable(&self, address: &str) -> String {
        let (socket, rest) = match address.split_once(' ') {
            Some((socket, rest)) => (socket, Some(rest)),
            None => (address, None),
        };
        let Ok(mut socket) = socket.parse::<SocketAddr>() else {
            return address.to_owned();
        };
        if socket.ip().is_unspecified() {
            socket.set_ip(self.server.ip());
        }
        match rest {
            Some(rest) => format!("{socket} {rest}"),
            None => socket.to_string(),
        }
    }
}

/// The address here from which the server is reached.
fn way_to(server: SocketAddr) -> std::io::Result<IpAddr> {
    let any: IpAddr = match server.ip() {
        IpAddr::V4(_) => std::net::Ipv4Addr::UNSPECIFIED.into(),
        IpAddr::V6(_) => std::net::Ipv6Addr::UNSPECIFIED.into(),
    };
    let socket = UdpSocket::bind((any, 0))?;
    // Nothing is sent by this.
    socket.connect(server)?;
    Ok(socket.local_addr()?.ip())
}

/// The name of the interface with an address, to count packets at.
fn interface_of(address: IpAddr) -> Option<String> {
    if address.is_loopback() {
        return Some("lo".to_owned());
    }
    let mut command = std::process::Command::new("ip");
    command.args(["-o", "address", "show", "to", &address.to_string()]);
    let said = crate::stage::output(command).ok()?;
    let name = said.split_ascii_whitespace().nth(1)?;
    Some(name.trim_end_matches(':').to_owned())
}
