//! What receivers have already: each answers the offers of the stream by an association of its own, and the group is
//! sent what any of them lacks.
//!
//! Answers are waited for from the receivers that are there when the first offer leaves, for a limited time, and not from those
//! that have fallen behind. A receiver without such an association lacks everything. One that answered too late, or joined
//! later, fetches by its association what it lacks and the group was not sent.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{Builder, Scope};
use std::time::{Duration, Instant};

use blake3::Hasher;
use xtp::tuning::FileBuffers;
use xtp::{Cast, Endpoint, ListenOptions, Listener, MemberState, Stream, service_numbers};

use crate::common::{Common, REJECTED, may_enter};
use crate::files::channel::{Inbox, Outbox};
use crate::files::names::RelPath;
use crate::files::problem::{Code, Fault, Problem, violation};
use crate::files::receiver::STACK;
use crate::files::record::{Entry, Hash, INLINE_LIMIT, Record, Wish};
use crate::files::sender::{changed, check_unchanged};
use crate::files::session::{GREETING, PATIENCE, tuning};
use crate::files::walk::Source;

/// Receivers that may answer, half of them from one host. A larger group is sent everything.
const MOST: usize = 256;
/// Octets buffered each way for each of them.
const BUFFERED: u64 = 1 << 20;
/// How long a receiver may take to begin to answer. Older ones never do.
const GRACE: Duration = Duration::from_secs(2);
/// Octets a second that a receiver is trusted to read of its part.
const READING: u64 = 100 << 20;
/// How often a wait for answers looks at what else happens.
const GLANCE: Duration = Duration::from_millis(50);

/// What receivers say of one file.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
enum Answer {
    /// All of it.
    Whole,
    /// It cannot take the file.
    Refused,
    /// It has so many octets with this hash.
    Part(u64, Hash),
}

/// What the receivers that were asked have of a file.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Answered {
    /// Any of them may lack all of it.
    Lacking,
    /// Each has one of these beginnings, shortest first, or all of it, or refuses it.
    Parts(Vec<(u64, Hash)>),
    /// All refuse it.
    Refused,
}

/// A receiver that answers.
struct Respondent {
    number: u64,
    peer: SocketAddr,
    stream: Arc<Stream>,
    /// It has said that it will answer.
    greeted: bool,
    /// The group waits for its answers.
    awaited: bool,
    /// Its association is over.
    over: bool,
    /// To offers that are not decided.
    answers: HashMap<u64, Answer>,
}

impl Respondent {
    /// Its association broke and its receiver may still be there: it can neither answer nor fetch.
    fn broke(&self) -> bool {
        self.over && self.awaited
    }
}

/// A file that the group is not sent, or not from its beginning.
struct Spared {
    entry: Entry,
    /// Where the group begins; `None` if it is sent nothing of it.
    until: Option<u64>,
}

#[derive(Default)]
struct State {
    respondents: Vec<Respondent>,
    next_number: u64,
    /// When the first offer left.
    asked: Option<Instant>,
    /// It is known whose answers are waited for.
    settled: bool,
    /// A receiver never answers: nothing is spared any more.
    everything: bool,
    /// The cast is over.
    closed: bool,
    /// When the members of the group were looked at last.
    looked: Option<Instant>,
    /// Offers below have left; of those, what the group is sent of offers below `decided` is known.
    offered: u64,
    decided: u64,
    spared: HashMap<u64, Spared>,
}

/// Asks the receivers of one cast.
pub(super) struct Inquiry<'a> {
    cast: &'a Cast,
    listener: Listener,
    source: Source,
    patience: Duration,
    state: Mutex<State>,
    answered: Condvar,
}

impl<'a> Inquiry<'a> {
    /// Listens beside the group.
    ///
    /// # Errors
    /// If the endpoint cannot.
    pub(super) fn new(
        endpoint: &Endpoint,
        cast: &'a Cast,
        source: Source,
        patience: Duration,
        common: &Common,
    ) -> xtp::Result<Self> {
        let mut options = ListenOptions::streams(service_numbers::FILES);
        options.tuning = tuning(PATIENCE);
        options.tuning.recv_capacity = BUFFERED;
        options.tuning.send_capacity = BUFFERED;
        common.tune(&mut options.tuning);
        Ok(Self {
            cast,
            listener: endpoint.listen_with(options)?,
            source,
            patience,
            state: Mutex::default(),
            answered: Condvar::new(),
        })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What ends [`run`](Self::run) when it is dropped.
    pub(super) fn guard(&self) -> Guard<'_> {
        Guard(self)
    }

    /// Takes answers until its guard is dropped, each receiver's in a thread of its own.
    pub(super) fn run<'scope>(&'scope self, scope: &'scope Scope<'scope, '_>) {
        loop {
            let incoming = match self.listener.accept() {
                Ok(incoming) => incoming,
                Err(error) => {
                    tracing::debug!(%error, "no more receivers answer");
                    return;
                }
            };
            let peer = incoming.peer();
            let mut state = self.state();
            if state.closed {
                return;
            }
            let host = peer.ip().to_canonical();
            let its_own = |respondent: &&Respondent| respondent.peer.ip().to_canonical() == host;
            let its_own = state.respondents.iter().filter(its_own).count();
            if !may_enter(MOST, state.respondents.len(), its_own) {
                incoming.reject(REJECTED, "too many receivers answer");
                continue;
            }
            let stream = Arc::new(incoming.into_stream());
            let number = state.next_number;
            state.next_number += 1;
            state.respondents.push(Respondent {
                number,
                peer,
                stream: Arc::clone(&stream),
                greeted: false,
                awaited: false,
                over: false,
                answers: HashMap::new(),
            });
            drop(state);
            let thread = Builder::new().name("answers".into()).stack_size(STACK);
            if let Err(error) = thread.spawn_scoped(scope, move || self.listen_to(number, &stream)) {
                tracing::warn!(%error, "no thread for a receiver's answers");
                self.ends(number);
            }
        }
    }

    /// Ends [`run`](Self::run) and the associations.
    fn close(&self) {
        self.listener.close();
        let mut state = self.state();
        state.closed = true;
        for respondent in &state.respondents {
            respondent.stream.abort_shared();
        }
    }

    fn listen_to(&self, number: u64, stream: &Stream) {
        match self.session(number, stream) {
            Ok(()) => {}
            Err(Fault::Here(problem)) => Outbox::new(stream).fatal(&problem),
            Err(fault) => tracing::debug!(?fault, "a receiver answers no more"),
        }
        self.ends(number);
    }

    fn ends(&self, number: u64) {
        let mut state = self.state();
        // One that is waited for is kept: whether its receiver is gone is seen when the next answer is due.
        state
            .respondents
            .retain(|respondent| respondent.number != number || respondent.awaited);
        if let Some(respondent) = state.of(number) {
            respondent.over = true;
        }
        drop(state);
        self.answered.notify_all();
    }

    fn session(&self, number: u64, stream: &Stream) -> Result<(), Fault> {
        let mut inbox = Inbox::new(stream);
        let mut outbox = Outbox::new(stream);
        stream.set_read_timeout(Some(GREETING));
        let Record::Hello {
            wish: Wish::Beside, ..
        } = inbox.expect()?
        else {
            return Err(violation("does not answer the offers to a group").into());
        };
        stream.set_read_timeout(None);
        let mut state = self.state();
        let settled = state.settled;
        if let Some(respondent) = state.of(number) {
            (respondent.greeted, respondent.awaited) = (true, !settled);
        }
        drop(state);
        self.answered.notify_all();
        while let Some(record) = inbox.next()? {
            match record {
                Record::Have { id, offset, prefix } => self.note(number, id, Answer::Part(offset, prefix))?,
                Record::Skip { id } | Record::Done { id } => self.note(number, id, Answer::Whole)?,
                // Of what was never offered: a directory that could not be finished.
                Record::Failed { id: u64::MAX, .. } => {}
                Record::Failed { id, .. } => self.note(number, id, Answer::Refused)?,
                Record::Want { id, offset, prefix } => {
                    let (entry, until) = self.spared(id)?;
                    self.supply(&mut outbox, &entry, until, (offset, prefix))?;
                    outbox.flush()?;
                }
                Record::Finished => {
                    if let Some(respondent) = self.state().of(number) {
                        respondent.awaited = false;
                    }
                }
                _ => return Err(violation("answered with a record that is no answer").into()),
            }
        }
        Ok(())
    }

    fn note(&self, number: u64, id: u64, answer: Answer) -> Result<(), Problem> {
        let mut state = self.state();
        if id >= state.offered {
            return Err(violation("answered what was not offered"));
        }
        if id >= state.decided
            && let Some(respondent) = state.of(number)
        {
            respondent.answers.insert(id, answer);
            drop(state);
            self.answered.notify_all();
        }
        Ok(())
    }

    fn spared(&self, id: u64) -> Result<(Entry, Option<u64>), Problem> {
        let state = self.state();
        let spared = state.spared.get(&id);
        let spared = spared.ok_or_else(|| violation("wants what the group is sent"))?;
        Ok((spared.entry.clone(), spared.until))
    }

    /// Offers with numbers below `offered` are going to leave.
    pub(super) fn offers(&self, offered: u64) {
        self.state().offered = offered;
    }

    /// What the receivers have of a file. Offers that were collected leave if an answer has to be waited for.
    ///
    /// # Errors
    /// If the cast is over, or `check` says so.
    pub(super) fn ask(
        &self,
        entry: &Entry,
        outbox: &mut Outbox<'_>,
        check: impl Fn() -> Result<(), Fault>,
    ) -> Result<Answered, Fault> {
        let mut state = self.state();
        if state.respondents.iter().any(Respondent::broke) {
            self.dismiss(&mut state, entry, Duration::ZERO);
        }
        if let Some(answered) = self.look(&mut state, entry) {
            return Ok(answered);
        }
        drop(state);
        outbox.flush()?;
        let since = Instant::now();
        state = self.state();
        state.asked.get_or_insert(since);
        loop {
            if let Some(answered) = self.look(&mut state, entry) {
                return Ok(answered);
            }
            check()?;
            self.dismiss(&mut state, entry, since.elapsed());
            let waited = self.answered.wait_timeout(state, GLANCE);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// What is known of a file; `None` if more answers are due.
    fn look(&self, state: &mut State, entry: &Entry) -> Option<Answered> {
        let (id, size) = (entry.id, entry.kind.size());
        let broke = state.respondents.iter().any(Respondent::broke);
        if state.everything || broke || state.lacks(id, size) {
            return Some(Answered::Lacking);
        }
        if !state.settled {
            let asked = state.asked?;
            let members = self.members();
            if members.len() > MOST {
                state.everything = true;
                return Some(Answered::Lacking);
            }
            let answers = |(member, _): &(SocketAddr, bool)| {
                let its = |respondent: &Respondent| respondent.greeted && is_same(respondent.peer, *member);
                state.respondents.iter().any(its)
            };
            if !members.iter().all(answers) {
                state.everything = asked.elapsed() >= GRACE;
                return state.everything.then_some(Answered::Lacking);
            }
            state.settled = true;
        }
        let due = |respondent: &Respondent| respondent.awaited && !respondent.answers.contains_key(&id);
        if state.respondents.iter().any(due) {
            return None;
        }
        let answers = state
            .respondents
            .iter()
            .filter_map(|respondent| respondent.answers.get(&id));
        let answers: Vec<_> = answers.copied().collect();
        if answers.is_empty() {
            return Some(Answered::Lacking);
        }
        if answers.iter().all(|answer| *answer == Answer::Refused) {
            return Some(Answered::Refused);
        }
        let mut parts: Vec<_> = answers
            .into_iter()
            .filter_map(|answer| match answer {
                Answer::Part(offset, prefix) => Some((offset, prefix)),
                Answer::Whole | Answer::Refused => None,
            })
            .collect();
        parts.sort_unstable();
        parts.dedup();
        Some(Answered::Parts(parts))
    }

    /// Waits no longer for receivers that left, have fallen behind, or have not answered for too long. Looks from time to time only:
    /// a group may be large.
    fn dismiss(&self, state: &mut State, entry: &Entry, waited: Duration) {
        if state.looked.is_some_and(|looked| looked.elapsed() < GLANCE) {
            return;
        }
        state.looked = Some(Instant::now());
        let is_late = waited >= self.patience + Duration::from_secs(entry.kind.size() / READING);
        let members = self.members();
        for respondent in &mut state.respondents {
            let its = |member: &&(SocketAddr, bool)| is_same(respondent.peer, member.0);
            let member = members.iter().find(its);
            if respondent.over {
                respondent.awaited &= member.is_some();
            } else if respondent.awaited && !respondent.answers.contains_key(&entry.id) {
                respondent.awaited = !is_late && !member.is_some_and(|(_, is_behind)| *is_behind);
            }
        }
        let is_of_use = |respondent: &Respondent| respondent.awaited || !respondent.over;
        state.respondents.retain(is_of_use);
    }

    /// Those that are in the group and have not everything: their addresses, and whether they have fallen behind.
    fn members(&self) -> Vec<(SocketAddr, bool)> {
        let members = self.cast.members().unwrap_or_default();
        let lacks = |state: MemberState| !matches!(state, MemberState::Dropped(_) | MemberState::Done(_));
        members
            .iter()
            .filter(|member| lacks(member.state))
            .map(|member| (member.address, member.state == MemberState::Laggard))
            .collect()
    }

    /// The group is going to be sent all of a file.
    pub(super) fn sends(&self, id: u64) {
        self.state().decide(id);
    }

    /// The group is going to be sent a file from `until` on, or nothing of it.
    pub(super) fn spares(&self, entry: &Entry, until: Option<u64>) {
        let mut state = self.state();
        state.decide(entry.id);
        let entry = entry.clone();
        state.spared.insert(entry.id, Spared { entry, until });
    }

    /// Sends one receiver what the group is not sent of a file: from `there` on, if that is its beginning.
    fn supply(
        &self,
        outbox: &mut Outbox<'_>,
        entry: &Entry,
        until: Option<u64>,
        there: (u64, Hash),
    ) -> Result<(), Fault> {
        match self.content(outbox, entry, until, there) {
            Err(Fault::Here(problem)) if problem.code != Code::Protocol => outbox.push(&Record::Withdraw {
                id: entry.id,
                problem,
            }),
            outcome => outcome,
        }
    }

    fn content(
        &self,
        outbox: &mut Outbox<'_>,
        entry: &Entry,
        until: Option<u64>,
        (offset, prefix): (u64, Hash),
    ) -> Result<(), Fault> {
        let (id, size) = (entry.id, entry.kind.size());
        let label = self.source.shown(&entry.path);
        let failed = |error: std::io::Error| Problem::io(&label, &error);
        let mut file = self.source.file(&RelPath::from_peer(&entry.path)?, &label)?;
        check_unchanged(&file, entry, None, &label)?;
        let pool = FileBuffers::default();
        if size <= INLINE_LIMIT {
            let content = pool.read(&mut file, size).map_err(failed)?;
            if content.len() as u64 != size {
                return Err(changed(&label).into());
            }
            check_unchanged(&file, entry, None, &label)?;
            let hash = *blake3::hash(&content).as_bytes();
            return outbox.push(&Record::Whole { id, hash, content });
        }
        let end = until.unwrap_or(size);
        let parts = [(offset, prefix)];
        let known = match offset <= end {
            true => common_beginning(&mut file, &parts, &label, || Ok(()))?,
            false => (Hasher::new(), 0),
        };
        let (mut hasher, mut at) = known;
        outbox.push(&Record::Begin { id, offset: at })?;
        while at < end {
            let content = pool
                .read(&mut file, (end - at).min(FileBuffers::OCTETS as u64))
                .map_err(failed)?;
            if content.is_empty() {
                return Err(changed(&label).into());
            }
            at += content.len() as u64;
            hasher.update(&content);
            outbox.piece(id, content)?;
        }
        check_unchanged(&file, entry, None, &label)?;
        match until {
            Some(_) => Ok(()),
            None => {
                let hash = *hasher.finalize().as_bytes();
                outbox.push(&Record::End { id, hash })
            }
        }
    }
}

/// Ends the taking of answers.
pub(super) struct Guard<'a>(&'a Inquiry<'a>);

impl Drop for Guard<'_> {
    fn drop(&mut self) {
        self.0.close();
    }
}

impl State {
    fn of(&mut self, number: u64) -> Option<&mut Respondent> {
        self.respondents
            .iter_mut()
            .find(|respondent| respondent.number == number)
    }

    /// Whether a receiver has nothing of a file, or says what cannot be.
    fn lacks(&self, id: u64, size: u64) -> bool {
        let most = if size <= INLINE_LIMIT { 0 } else { size };
        self.respondents.iter().any(|respondent| {
            let answer = respondent.answers.get(&id);
            matches!(answer, Some(Answer::Part(offset, _)) if *offset == 0 || *offset > most)
        })
    }

    fn decide(&mut self, id: u64) {
        self.decided = id + 1;
        for respondent in &mut self.respondents {
            respondent.answers.retain(|other, _| *other > id);
        }
    }
}

/// Where a file goes on for receivers that have these beginnings, and the hash up to there: behind the shortest one, if all of them are
/// beginnings of the file, else at 0. The file is ready to be read from there.
///
/// # Errors
/// If it cannot be read, or `check` says so.
pub(super) fn common_beginning(
    file: &mut std::fs::File,
    parts: &[(u64, Hash)],
    label: &str,
    check: impl Fn() -> Result<(), Fault>,
) -> Result<(Hasher, u64), Fault> {
    use std::io::{Read, Seek, SeekFrom};
    let failed = |error: std::io::Error| Problem::io(label, &error);
    let (mut hasher, mut at, mut buffer) = (Hasher::new(), 0, vec![0; FileBuffers::OCTETS]);
    let mut shortest: Option<(Hasher, u64)> = None;
    for (offset, prefix) in parts {
        while at < *offset {
            let part = usize::try_from(*offset - at)
                .unwrap_or(FileBuffers::OCTETS)
                .min(FileBuffers::OCTETS);
            let count = file.read(&mut buffer[..part]).map_err(failed)?;
            if count == 0 {
                return Err(changed(label).into());
            }
            hasher.update(&buffer[..count]);
            at += count as u64;
            check()?;
        }
        if hasher.finalize() != *prefix {
            file.seek(SeekFrom::Start(0)).map_err(failed)?;
            return Ok((Hasher::new(), 0));
        }
        shortest.get_or_insert_with(|| (hasher.clone(), at));
    }
    let (hasher, at) = shortest.unwrap_or_default();
    file.seek(SeekFrom::Start(at)).map_err(failed)?;
    Ok((hasher, at))
}

fn is_same(one: SocketAddr, other: SocketAddr) -> bool {
    one.port() == other.port() && one.ip().to_canonical() == other.ip().to_canonical()
}

#[cfg(test)]
#[path = "inquiry_tests.rs"]
mod tests;
