//! What happens in a run: exchanges as programs make them, one after the other, with whatever else may happen in between.

use super::action::{Action, Kind, Place};
use super::dice::Dice;
use super::host::Bookkeeping;
use super::profile::Profile;
use crate::Confirm;

/// Actions of a run, about.
const LENGTH: usize = 2_000;

/// The actions of a run.
pub(super) fn actions(seed: u64, profile: &Profile) -> Vec<Action> {
    let mut script = Script {
        dice: Dice::new(seed),
        profile,
        actions: Vec::new(),
        pause: 0,
        client: 1,
        when: Bookkeeping::Now,
    };
    let lasting = script.dice.below(3);
    while script.actions.len() < LENGTH {
        script.episode(lasting);
    }
    script.add(0, Kind::Audit);
    script.actions
}

struct Script<'a> {
    dice: Dice,
    profile: &'a Profile,
    actions: Vec<Action>,
    /// Before the next action.
    pause: u64,
    client: usize,
    when: Bookkeeping,
}

impl Script<'_> {
    fn add(&mut self, host: usize, kind: Kind) {
        let after = std::mem::take(&mut self.pause) + self.dice.below(4_000);
        self.actions.push(Action { after, host, kind });
    }

    fn wait(&mut self, nanos: u64) {
        self.pause += nanos;
    }

    /// Most of a run: what is usual, so that what follows is like what came before.
    fn usually(&mut self) -> bool {
        !self.dice.one_in(12)
    }

    fn when(&mut self) -> Bookkeeping {
        match self.dice.below(12) {
            0 => Bookkeeping::Later,
            1 => Bookkeeping::Idle,
            2 => Bookkeeping::Now,
            _ => self.when,
        }
    }

    fn episode(&mut self, lasting: u64) {
        if self.dice.one_in(10) {
            self.when = *self.dice.pick(&[
                Bookkeeping::Now,
                Bookkeeping::Now,
                Bookkeeping::Idle,
                Bookkeeping::Later,
            ]);
        }
        if self.dice.one_in(3) {
            self.client = 1 + self.dice.below(self.profile.clients as u64) as usize;
        }
        let pause = match self.dice.below(60) {
            0 => 900_000_000,
            1 => 15_000_000_000,
            2..5 => 9_000_000,
            5..15 => 300_000,
            _ => 4_000,
        };
        let pause = self.dice.below(pause);
        self.wait(pause);
        let what = match lasting {
            0 => self.dice.below(70),
            1 => 40 + self.dice.below(60),
            _ => self.dice.below(100),
        };
        match what {
            0..46 => self.short_exchange(),
            46..50 => {
                for _ in 0..3 {
                    self.short_exchange();
                }
            }
            50..54 => self.pipelined(),
            54..58 => self.disorder(),
            58..62 => self.odd(),
            62..65 => self.timers(),
            65..68 => self.quiet(),
            68 => self.add(0, Kind::Audit),
            69..74 => self.open_lasting(),
            74..78 => self.bulk(),
            _ => self.ping_pong(),
        }
    }

    /// Something may happen to what is under way to `host`.
    fn network(&mut self, host: usize) {
        if self.dice.one_in(self.profile.mutation) {
            let what = *self.dice.pick(&[5, 7, 7, 8, 8, 9]);
            let place = *self.dice.pick(&[Place::Oldest, Place::Oldest, Place::Any]);
            let number = self.dice.next();
            self.add(host, Kind::Network(place, what, number));
        }
        if self.dice.one_in(self.profile.disturbance) {
            let (what, number) = (self.dice.below(6) as u8, self.dice.next());
            let place = *self.dice.pick(&[Place::Oldest, Place::Newest, Place::Any]);
            self.add(host, Kind::Network(place, what, number));
        }
        if self.dice.one_in(self.profile.disturbance * 2) {
            let number = self.dice.next();
            self.add(host, Kind::Replay(number));
        }
        if self.dice.one_in(40) {
            let late = self.dice.below(7_000_000);
            self.wait(late);
        }
    }

    /// What is under way is lost, so that what comes next is what leaves next.
    fn clear(&mut self, client: usize) {
        for host in [0, client] {
            self.add(host, Kind::Network(Place::Any, 6, 0));
            let when = self.when();
            self.add(host, Kind::Turn(when));
            self.add(host, Kind::Network(Place::Any, 6, 0));
        }
        self.add(0, Kind::Network(Place::Any, 6, 0));
    }

    fn message(&mut self) -> usize {
        if self.usually() {
            return self.profile.usual;
        }
        match self.dice.below(8) {
            0 => 0,
            1 => 3_000,
            2 => 600 + self.dice.below(600) as usize,
            3 => 1 + self.dice.below(1_500) as usize,
            4 => 33_000,
            _ => self.dice.below(256) as usize,
        }
    }

    fn limit(&mut self) -> usize {
        if self.dice.one_in(25) { 10 } else { 1 << 16 }
    }

    fn shared(&mut self) -> bool {
        self.dice.one_in(5)
    }

    /// One message, and perhaps an answer; both users go when they have what they want.
    fn short_exchange(&mut self) {
        let client = self.client;
        match self.dice.below(8) {
            0 => self.clear(client),
            1..4 => self.quiet(),
            _ => {}
        }
        let (kind, len) = (self.dice.below(3) as usize, self.message());
        let kind = if self.usually() { 0 } else { kind };
        self.add(client, Kind::Begin { kind, len });
        self.turn(client);
        if self.dice.one_in(30) {
            return;
        }
        if self.profile.says_more && self.dice.one_in(20) {
            let (what, number) = (self.dice.below(14) as u8, self.dice.next());
            self.add(
                client,
                Kind::Odd {
                    back: 0,
                    what,
                    number,
                },
            );
        }
        self.network(0);
        self.serve();
        self.network(client);
        if self.dice.one_in(25) {
            // The answer is late: what it answers is sent again before it comes.
            let when = self.when();
            self.actions.push(Action {
                after: Action::NEXT_TIMER,
                host: client,
                kind: Kind::Turn(when),
            });
        }
        let early = self.take_answer(client);
        self.network(0);
        self.end();
        if self.dice.one_in(6) {
            self.add(0, Kind::RepeatFirst);
            self.receive(0);
            self.turn(0);
        }
        if !early {
            self.leave(client);
        }
        if self.dice.one_in(6) {
            self.leave(0);
        }
    }

    /// A turn, now and then not at once.
    fn turn(&mut self, host: usize) {
        let when = self.when();
        match self.dice.below(20) {
            0 => {}
            1 => self.add(host, Kind::TurnIfPressing(when)),
            _ => self.add(host, Kind::Turn(when)),
        }
    }

    fn receive(&mut self, host: usize) {
        let (all, joined) = (!self.dice.one_in(4), self.dice.one_in(4));
        let shared = self.shared();
        self.add(host, Kind::Receive { all, joined, shared });
    }

    /// The server's user takes what came, and answers.
    fn serve(&mut self) {
        let (limit, shared, when) = (self.limit(), self.shared(), self.when());
        match self.dice.below(8) {
            0 => {
                self.receive(0);
                self.add(0, Kind::Accept { back: 0 });
                self.add(0, Kind::Read { back: 0, max: limit });
            }
            _ => self.add(0, Kind::ReceiveFirst { limit, shared, when }),
        }
        if self.profile.kind(0).service == xtp_wire::service::TRANSACTION {
            self.answer();
        }
        if self.dice.one_in(4) {
            self.turn(0);
        }
        if self.dice.one_in(4) {
            self.linger();
        }
    }

    fn answer(&mut self) {
        let (len, when) = (self.message(), self.when());
        let usual = self.usually();
        let unconfirmed = self.profile.unconfirmed == usual;
        match self.dice.below(10) {
            0 => {
                self.add(
                    0,
                    Kind::Send {
                        back: 0,
                        len,
                        eom: true,
                    },
                );
                self.add(0, Kind::Close { back: 0 });
                self.turn(0);
            }
            1 => {}
            _ => self.add(
                0,
                Kind::Respond {
                    len,
                    unconfirmed,
                    when,
                },
            ),
        }
    }

    /// What the server's user does after his answer.
    fn linger(&mut self) {
        let octets = self.profile.usual as u64;
        for _ in 0..self.dice.below(4) {
            let number = self.dice.next();
            match self.dice.below(8) {
                0 => self.add(0, Kind::Close { back: 0 }),
                1 => self.add(
                    0,
                    Kind::Read {
                        back: 0,
                        max: 1 << 16,
                    },
                ),
                2..4 => self.add(
                    0,
                    Kind::MarkAt {
                        back: 0,
                        octets,
                        what: Confirm::Received,
                    },
                ),
                4 => self.add(0, Kind::Readable { back: 0 }),
                5 => self.add(
                    0,
                    Kind::Odd {
                        back: 0,
                        what: 12,
                        number,
                    },
                ),
                6 => self.add(
                    0,
                    Kind::Odd {
                        back: 0,
                        what: 5,
                        number,
                    },
                ),
                _ => self.turn(0),
            }
        }
        if self.dice.one_in(2) {
            self.add(0, Kind::Release { back: 0 });
            if self.dice.one_in(2) {
                self.turn(0);
            }
        }
    }

    /// The client's user takes his answer; true if he went at once.
    fn take_answer(&mut self, client: usize) -> bool {
        let (limit, shared, when) = (self.limit(), self.shared(), self.when());
        match self.dice.below(8) {
            0..2 => {
                self.receive(client);
                self.add(client, Kind::Read { back: 0, max: limit });
                if self.dice.one_in(3) {
                    self.add(client, Kind::Release { back: 0 });
                    return true;
                }
                self.turn(client);
            }
            _ => self.add(client, Kind::ReceiveAnswer { limit, shared, when }),
        }
        if self.dice.one_in(8) {
            self.add(client, Kind::FinalStats { back: 0 });
        }
        if self.dice.one_in(8) {
            self.add(client, Kind::Readable { back: 0 });
        }
        false
    }

    /// The end comes to the server, whose user may go with it.
    fn end(&mut self) {
        match self.dice.below(10) {
            0 => self.receive(0),
            1 => {
                self.receive(0);
                self.turn(0);
            }
            number => {
                let (goes, when) = (number > 4, self.when());
                self.add(0, Kind::ReceiveEnd { goes, when });
            }
        }
        if self.dice.one_in(3) {
            self.turn(0);
        }
    }

    fn leave(&mut self, host: usize) {
        let back = if self.usually() {
            0
        } else {
            self.dice.below(4) as usize
        };
        self.add(host, Kind::Release { back });
        if self.dice.one_in(3) {
            self.turn(host);
        }
    }

    /// Several at a time.
    fn pipelined(&mut self) {
        let count = 2 + self.dice.below(3);
        for _ in 0..count {
            let client = match self.dice.one_in(2) {
                true => self.client,
                false => 1 + self.dice.below(self.profile.clients as u64) as usize,
            };
            let (kind, len) = (self.dice.below(3) as usize, self.message());
            self.add(client, Kind::Begin { kind, len });
            self.turn(client);
        }
        if self.dice.one_in(4) {
            // Its user has not looked yet: what came waits at the listener.
            self.add(
                0,
                Kind::Receive {
                    all: false,
                    joined: false,
                    shared: false,
                },
            );
        }
        for _ in 0..count {
            self.network(0);
            self.serve();
        }
        for _ in 0..count {
            self.network(self.client);
            let client = self.client;
            self.take_answer(client);
        }
        for _ in 0..count {
            self.end();
        }
        let client = self.client;
        (0..count).for_each(|_| self.leave(client));
    }

    /// Whatever is under way, in whatever order.
    fn disorder(&mut self) {
        for _ in 0..4 {
            let host = self.any_host();
            match self.dice.below(8) {
                0..3 => {
                    let (what, number) = (self.dice.below(13) as u8, self.dice.next());
                    self.add(host, Kind::Network(Place::Any, what, number));
                }
                3 => {
                    let number = self.dice.next();
                    self.add(host, Kind::Replay(number));
                }
                4..6 => self.receive(host),
                _ => self.turn(host),
            }
        }
    }

    fn any_host(&mut self) -> usize {
        match self.dice.one_in(2) {
            true => 0,
            false => self.client,
        }
    }

    fn odd(&mut self) {
        let host = self.any_host();
        let back = self.dice.below(3) as usize;
        let number = self.dice.next();
        let what = self.dice.below(14) as u8;
        match self.dice.below(12) {
            0 => {
                let of = self.client - usize::from(host == self.client) * self.client;
                self.add(host, Kind::Unreachable { host: of });
            }
            1 => {
                let of = if host == 0 { self.client } else { 0 };
                let octets = self.dice.one_in(2).then_some(1_000);
                self.add(host, Kind::TooBig { host: of, octets });
            }
            2 => {
                let offset = 1_000_000 + self.dice.below(120_000) as i64 - 60_000;
                self.add(host, Kind::Clock { offset });
            }
            3 => self.add(host, Kind::Accept { back }),
            4 => self.add(host, Kind::Close { back }),
            5 => self.add(host, Kind::Release { back }),
            6 => self.add(host, Kind::FinalStats { back }),
            _ => self.add(host, Kind::Odd { back, what, number }),
        }
        if self.dice.one_in(2) {
            self.turn(host);
        }
    }

    /// Nothing comes until a timer is due.
    fn timers(&mut self) {
        for _ in 0..=self.dice.below(3) {
            let host = self.any_host();
            let when = self.when();
            self.pause = 0;
            self.actions.push(Action {
                after: Action::NEXT_TIMER,
                host,
                kind: Kind::Turn(when),
            });
            self.receive(0);
            self.turn(0);
            let client = self.client;
            self.receive(client);
            self.turn(client);
        }
    }

    /// Whatever is under way arrives, and nothing else happens.
    fn quiet(&mut self) {
        let client = self.client;
        for host in [0, client, 0, client] {
            self.add(
                host,
                Kind::Receive {
                    all: true,
                    joined: false,
                    shared: false,
                },
            );
            let when = self.when();
            self.add(host, Kind::Turn(when));
        }
    }

    fn open_lasting(&mut self) {
        let client = self.client;
        let (kind, when) = (self.dice.below(2) as usize, self.when());
        self.add(client, Kind::Open { kind });
        let len = self.message().max(1);
        self.add(client, Kind::SendMessage { back: 0, len, when });
        for host in [0, client, 0, client] {
            self.network(host);
            self.pass_message(host);
        }
    }

    /// What came is read, and answered.
    fn pass_message(&mut self, host: usize) {
        let (all, shared) = (!self.dice.one_in(8), self.dice.one_in(3));
        let back = if self.usually() {
            0
        } else {
            self.dice.below(4) as usize
        };
        match self.dice.one_in(6) {
            // Not read yet: there is less room for what follows.
            true => self.receive(host),
            false => self.add(host, Kind::ReceiveMessage { back, all, shared }),
        }
        let (len, when) = (self.stream_message(), self.when());
        match self.dice.below(12) {
            0 => {}
            1 => self.turn(host),
            2 => {
                self.add(
                    host,
                    Kind::Send {
                        back,
                        len,
                        eom: false,
                    },
                );
                self.turn(host);
            }
            3 => {
                self.add(host, Kind::Send { back, len, eom: true });
                self.turn(host);
            }
            _ => self.add(host, Kind::SendMessage { back, len, when }),
        }
    }

    fn stream_message(&mut self) -> usize {
        if self.dice.one_in(3) {
            return *self.dice.pick(&[1_150, 1_900, 3_000, 3_000, 4_400]);
        }
        self.message().max(1)
    }

    fn ping_pong(&mut self) {
        for _ in 0..2 + self.dice.below(4) {
            self.network(0);
            self.pass_message(0);
            let client = self.client;
            self.network(client);
            self.pass_message(client);
        }
    }

    /// Many octets one way.
    fn bulk(&mut self) {
        let (from, to) = match self.dice.one_in(2) {
            true => (self.client, 0),
            false => (0, self.client),
        };
        let len = 10_000 + self.dice.below(40_000) as usize;
        self.add(
            from,
            Kind::Send {
                back: 0,
                len,
                eom: self.dice.clone().one_in(2),
            },
        );
        for _ in 0..3 {
            self.turn(from);
            self.network(to);
            if self.dice.one_in(self.profile.mutation) {
                let (what, number) = (10 + self.dice.below(3) as u8, self.dice.next());
                self.add(to, Kind::Network(Place::Any, what, number));
            }
            let joined = !self.dice.one_in(3);
            self.add(
                to,
                Kind::Receive {
                    all: true,
                    joined,
                    shared: true,
                },
            );
            self.add(
                to,
                Kind::Read {
                    back: 0,
                    max: 1 << 20,
                },
            );
            self.turn(to);
            self.network(from);
            self.receive(from);
        }
    }
}
