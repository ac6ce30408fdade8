//! Options structures: they begin with their size, so that programs and libraries of different age understand each other.
//!
//! A program sets `size` to what it was compiled with (`xtp_..._options_init` does). A library that is newer takes its own defaults for
//! what lies behind; one that is older takes what it knows and refuses the rest unless it is zero, which therefore means the default
//! in every field that is added.

use std::ffi::c_int;
use std::mem::MaybeUninit;
use std::ptr;

use crate::guard::{flag, guard, span};
use crate::status::{Failure, XTP_EOPTION};

/// A structure of options.
///
/// # Safety
/// `repr(C)`, every pattern of bits is a value, no padding, `size_t size` first, and `SIZES` are ends of fields.
pub(crate) unsafe trait Options: Copy {
    /// As the header calls it.
    const NAME: &'static str;
    /// Its size in each version of the library that changed it, the present one last.
    const SIZES: &'static [usize];
    /// As programs get it.
    const DEFAULTS: Self;
}

/// What a program set; the defaults if it gave no options.
///
/// # Safety
/// As the crate says.
pub(crate) unsafe fn read<T: Options>(options: *const T) -> Result<T, Failure> {
    if options.is_null() {
        return Ok(T::DEFAULTS);
    }
    if !options.is_aligned() {
        return Err(Failure::invalid(format!("{options:p} is no {}", T::NAME)));
    }
    // SAFETY: neither NULL nor misaligned; that it begins with its size is the caller's word.
    let size = unsafe { options.cast::<usize>().read() };
    known::<T>(size)?;
    let mut taken = MaybeUninit::new(T::DEFAULTS);
    // SAFETY: both have so many octets, and every pattern of bits is a value.
    let taken = unsafe {
        let common = size.min(size_of::<T>());
        ptr::copy_nonoverlapping(options.cast::<u8>(), taken.as_mut_ptr().cast::<u8>(), common);
        taken.assume_init()
    };
    for at in size_of::<T>()..size {
        // SAFETY: `size` octets lie there: the caller's word.
        if unsafe { options.cast::<u8>().add(at).read() } != 0 {
            let why = "is set, which this version of libxtp does not know";
            let message = format!("octet {at} of {} {why}: {}", T::NAME, env!("CARGO_PKG_VERSION"));
            return Err(Failure::new(XTP_EOPTION, message));
        }
    }
    Ok(taken)
}

/// Gives a program the defaults.
///
/// # Safety
/// As the crate says.
unsafe fn init<T: Options>(options: *mut T, size: usize) -> Result<(), Failure> {
    if options.is_null() || !options.is_aligned() {
        return Err(Failure::invalid(format!("no place for {}", T::NAME)));
    }
    known::<T>(size)?;
    let defaults = T::DEFAULTS;
    // SAFETY: `size` octets lie there, and it begins with its size: the caller's word.
    unsafe {
        ptr::write_bytes(options.cast::<u8>(), 0, size);
        let common = size.min(size_of::<T>());
        ptr::copy_nonoverlapping(
            ptr::from_ref(&defaults).cast::<u8>(),
            options.cast::<u8>(),
            common,
        );
        options.cast::<usize>().write(size);
    }
    Ok(())
}

/// Whether a structure of `size` octets was ever one, or may become one.
fn known<T: Options>(size: usize) -> Result<(), Failure> {
    // Longer than any will be: rather no size at all.
    const LONGEST: usize = 4_096;
    if T::SIZES.contains(&size) || (size_of::<T>()..=LONGEST).contains(&size) {
        return Ok(());
    }
    let message = format!(
        "{} of {size} octets: it has {}; call its init function first",
        T::NAME,
        size_of::<T>()
    );
    Err(Failure::invalid(message))
}

/// Poll for up to 100 us while that pays, then sleep.
pub const XTP_WAIT_ADAPTIVE: u32 = 0;
/// Sleep at once: least processor time.
pub const XTP_WAIT_BLOCK: u32 = 1;
/// Never sleep: least latency, a core is busy while a call waits.
pub const XTP_WAIT_SPIN: u32 = 2;

/// How an endpoint works. xtp_endpoint_options_init() sets what is good for most programs.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct xtp_endpoint_options {
    /// Octets of this structure.
    pub size: usize,
    /// Longest time in ns that freeing the last handle waits until what was sent is confirmed. 1 s.
    pub linger: i64,
    /// Longest time in ns that xtp_close() waits. 10 s.
    pub close_timeout: i64,
    /// Longest time in ns that a message may take from its first octet to its last one at a listener. 30 s.
    pub message_timeout: i64,
    /// Longest message that is put together, octets. 64 MiB.
    pub message_limit: u64,
    /// Octets that all associations may keep together; 0: a share of the memory there is.
    pub memory_limit: u64,
    /// How calls wait: XTP_WAIT_ADAPTIVE, _BLOCK or _SPIN.
    pub wait: u32,
    /// 1: datagrams may go to addresses of broadcast.
    pub broadcast: u32,
    /// 1: no program had this UDP port within 50 s, so that old requests cannot come. 0.
    pub fresh_start: u32,
    /// 0: every short write leaves in its own call, and the library starts no thread. 1.
    pub gather_writes: u32,
}

// SAFETY: `repr(C)` of integers without padding between or behind.
unsafe impl Options for xtp_endpoint_options {
    const NAME: &'static str = "xtp_endpoint_options";
    const SIZES: &'static [usize] = &[size_of::<Self>()];
    const DEFAULTS: Self = Self {
        size: size_of::<Self>(),
        linger: 1_000_000_000,
        close_timeout: 10_000_000_000,
        message_timeout: 30_000_000_000,
        message_limit: 64 << 20,
        memory_limit: 0,
        wait: XTP_WAIT_ADAPTIVE,
        broadcast: 0,
        fresh_start: 0,
        gather_writes: 1,
    };
}

impl xtp_endpoint_options {
    pub(crate) fn apply(&self, config: &mut xtp::Config) -> Result<(), Failure> {
        let needs =
            |span: Option<_>, name| span.ok_or_else(|| Failure::invalid(format!("{name} needs an end")));
        config.linger = needs(span(self.linger, "linger")?, "linger")?;
        config.close_timeout = needs(span(self.close_timeout, "close_timeout")?, "close_timeout")?;
        config.message_timeout = needs(span(self.message_timeout, "message_timeout")?, "message_timeout")?;
        config.message_limit = usize::try_from(self.message_limit)
            .map_err(|_| Failure::invalid("message_limit is longer than memory"))?;
        config.memory_limit = (self.memory_limit != 0).then_some(self.memory_limit);
        config.wait = match self.wait {
            XTP_WAIT_ADAPTIVE => xtp::Wait::Adaptive,
            XTP_WAIT_BLOCK => xtp::Wait::Block,
            XTP_WAIT_SPIN => xtp::Wait::Spin,
            other => return Err(Failure::invalid(format!("wait is {other}: no way to wait"))),
        };
        config.broadcast = flag(self.broadcast, "broadcast")?;
        config.fresh_start = flag(self.fresh_start, "fresh_start")?;
        config.gather_writes = flag(self.gather_writes, "gather_writes")?;
        Ok(())
    }
}

/// Everything arrives, in order.
pub const XTP_RELIABLE: u32 = 0;
/// What is lost is not repeated: its reader passes over gaps.
pub const XTP_UNRELIABLE: u32 = 1;

/// How a stream works. xtp_stream_options_init() sets what is good for most programs.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct xtp_stream_options {
    /// Octets of this structure.
    pub size: usize,
    /// Octets that this end buffers for its reader at first; 0: 4 MiB, and more on a long path.
    pub receive_capacity: u64,
    /// Octets that this end keeps, unsent and unconfirmed; 0: 4 MiB, and more on a long path.
    pub send_capacity: u64,
    /// Silence in ns after which the peer is given up. 60 s.
    pub timeout: i64,
    /// The same before the peer was heard. At most 20 s. 20 s.
    pub connect_timeout: i64,
    /// XTP_RELIABLE or XTP_UNRELIABLE.
    pub reliability: u32,
    /// 1: keep trying although the peer's host says that no program has the UDP port yet. 0.
    pub wait_for_listener: u32,
}

// SAFETY: `repr(C)` of integers without padding between or behind.
unsafe impl Options for xtp_stream_options {
    const NAME: &'static str = "xtp_stream_options";
    const SIZES: &'static [usize] = &[size_of::<Self>()];
    const DEFAULTS: Self = Self {
        size: size_of::<Self>(),
        receive_capacity: 0,
        send_capacity: 0,
        timeout: 60_000_000_000,
        connect_timeout: 20_000_000_000,
        reliability: XTP_RELIABLE,
        wait_for_listener: 0,
    };
}

impl xtp_stream_options {
    pub(crate) fn open(&self, service_number: u16) -> Result<xtp::OpenOptions, Failure> {
        let mut options = match self.reliability {
            XTP_RELIABLE => xtp::paradigm::stream(service_number),
            XTP_UNRELIABLE => xtp::paradigm::unreliable_stream(service_number),
            other => return Err(Failure::invalid(format!("reliability is {other}: neither kind"))),
        };
        let tuning = &mut options.tuning;
        if self.receive_capacity != 0 {
            tuning.recv_capacity = self.receive_capacity;
        }
        if self.send_capacity != 0 {
            tuning.send_capacity = self.send_capacity;
        }
        let end =
            |value, name| span(value, name)?.ok_or_else(|| Failure::invalid(format!("{name} needs an end")));
        tuning.timeout = end(self.timeout, "timeout")?;
        tuning.connect_timeout = end(self.connect_timeout, "connect_timeout")?;
        options.wait_for_listener = flag(self.wait_for_listener, "wait_for_listener")?;
        Ok(options)
    }
}

/// What a listener takes. xtp_listen_options_init() sets what is good for most programs.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct xtp_listen_options {
    /// Octets of this structure.
    pub size: usize,
    /// Associations that wait here for the program, at least 1. 4 096.
    pub backlog: u64,
    /// 1: streams; 0: datagrams, messages and requests.
    pub streams: u32,
    /// 1: responses of one packet are not confirmed, but repeated when the request is. 0.
    pub unconfirmed_response: u32,
}

// SAFETY: `repr(C)` of integers without padding between or behind.
unsafe impl Options for xtp_listen_options {
    const NAME: &'static str = "xtp_listen_options";
    const SIZES: &'static [usize] = &[size_of::<Self>()];
    const DEFAULTS: Self = Self {
        size: size_of::<Self>(),
        backlog: 4_096,
        streams: 0,
        unconfirmed_response: 0,
    };
}

impl xtp_listen_options {
    pub(crate) fn listen(&self, service_number: u16) -> Result<xtp::ListenOptions, Failure> {
        let mut options = match flag(self.streams, "streams")? {
            true => xtp::ListenOptions::streams(service_number),
            false => xtp::ListenOptions::new(service_number),
        };
        options.backlog = usize::try_from(self.backlog).unwrap_or(usize::MAX);
        options.unconfirmed_response = flag(self.unconfirmed_response, "unconfirmed_response")?;
        Ok(options)
    }
}

/// How a call is made. xtp_call_options_init() sets what is good for most programs.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct xtp_call_options {
    /// Octets of this structure.
    pub size: usize,
    /// Longest time in ns for the whole call; -1: as long as the server's host answers. -1.
    pub timeout: i64,
    /// Longest answer that is taken, octets; 0: the endpoint's message_limit.
    pub longest_answer: u64,
    /// Octets expected back; of more than three times the request the request is padded, so that a server that does not know this address
    /// yet may answer at once. 0: unknown.
    pub expected_answer: u32,
    /// 1: the server may take longer than a round trip, and acknowledges the request first. 0.
    pub slow_server: u32,
    /// 1: the request may run twice. 0.
    pub repeatable: u32,
    /// 1: keep trying although the server's host says that no program has the UDP port yet. 0.
    pub wait_for_listener: u32,
}

// SAFETY: `repr(C)` of integers without padding between or behind.
unsafe impl Options for xtp_call_options {
    const NAME: &'static str = "xtp_call_options";
    const SIZES: &'static [usize] = &[size_of::<Self>()];
    const DEFAULTS: Self = Self {
        size: size_of::<Self>(),
        timeout: -1,
        longest_answer: 0,
        expected_answer: 0,
        slow_server: 0,
        repeatable: 0,
        wait_for_listener: 0,
    };
}

impl xtp_call_options {
    pub(crate) fn call(&self) -> Result<xtp::CallOptions, Failure> {
        if self.timeout == 0 {
            return Err(Failure::invalid(
                "a call waits for its answer: its timeout is -1 or positive",
            ));
        }
        let mut options = xtp::CallOptions::default();
        options.timeout = span(self.timeout, "timeout")?;
        options.limit =
            (self.longest_answer != 0).then(|| usize::try_from(self.longest_answer).unwrap_or(usize::MAX));
        options.expected_answer = self.expected_answer;
        options.slow_server = flag(self.slow_server, "slow_server")?;
        options.repeatable = flag(self.repeatable, "repeatable")?;
        options.wait_for_listener = flag(self.wait_for_listener, "wait_for_listener")?;
        Ok(options)
    }
}

/// As many as join.
pub const XTP_ANY_NUMBER: u32 = u32::MAX;

/// How a group is sent to, and received. xtp_group_options_init() sets what is good for most programs.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct xtp_group_options {
    /// Octets of this structure.
    pub size: usize,
    /// Sending: how long in ns to wait for the expected members. 30 s.
    pub wait: i64,
    /// Sending: how long in ns a silent receiver is waited for. 30 s.
    pub patience: i64,
    /// Sending: octets kept for members that fell behind. 64 MiB.
    pub keep: u64,
    /// Sending: octets of UDP payload a second at most; 0: no limit.
    pub rate: u64,
    /// Receiving: octets buffered for the program; 0: 32 MiB.
    pub capacity: u64,
    /// The interface by its index; 0: where the route leads.
    pub interface: u32,
    /// Links that packets to the group may cross. 1: this one only.
    pub hops: u32,
    /// Receivers that joined with another number do not answer. 0.
    pub service_number: u32,
    /// Sending: how many receivers to wait for before data leaves, or XTP_ANY_NUMBER, which it is: of a list of addresses all.
    pub expect: u32,
}

// SAFETY: `repr(C)` of integers without padding between or behind.
unsafe impl Options for xtp_group_options {
    const NAME: &'static str = "xtp_group_options";
    const SIZES: &'static [usize] = &[size_of::<Self>()];
    const DEFAULTS: Self = Self {
        size: size_of::<Self>(),
        wait: 30_000_000_000,
        patience: 30_000_000_000,
        keep: 64 << 20,
        rate: 0,
        capacity: 0,
        interface: 0,
        hops: 1,
        service_number: 0,
        expect: XTP_ANY_NUMBER,
    };
}

impl xtp_group_options {
    fn common(&self) -> Result<(u16, u8, xtp::Interface), Failure> {
        let number = u16::try_from(self.service_number)
            .map_err(|_| Failure::invalid("service_number is at most 65 535"))?;
        let hops = u8::try_from(self.hops).map_err(|_| Failure::invalid("hops is at most 255"))?;
        let interface = match self.interface {
            0 => xtp::Interface::Route,
            index => xtp::Interface::Index(index),
        };
        Ok((number, hops, interface))
    }

    pub(crate) fn cast(&self) -> Result<xtp::CastOptions, Failure> {
        let (number, hops, interface) = self.common()?;
        let end =
            |value, name| span(value, name)?.ok_or_else(|| Failure::invalid(format!("{name} needs an end")));
        let options = xtp::CastOptions::new()
            .service_number(number)
            .hops(hops)
            .interface(interface)
            .wait(end(self.wait, "wait")?)
            .patience(end(self.patience, "patience")?)
            .keep(self.keep)
            .rate(self.rate);
        Ok(match self.expect {
            XTP_ANY_NUMBER => options,
            members => options.expect(members),
        })
    }

    pub(crate) fn join(&self) -> Result<xtp::JoinOptions, Failure> {
        let (number, hops, interface) = self.common()?;
        let options = xtp::JoinOptions::new()
            .service_number(number)
            .hops(hops)
            .interface(interface);
        Ok(match self.capacity {
            0 => options,
            octets => options.capacity(octets),
        })
    }
}

/// Sets the defaults. size is sizeof *options.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn xtp_group_options_init(options: *mut xtp_group_options, size: usize) -> c_int {
    // SAFETY: the caller's word.
    guard(|| unsafe { init(options, size) })
}

/// How a mesh begins. xtp_mesh_options_init() sets what is good for most programs.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct xtp_mesh_options {
    /// Octets of this structure.
    pub size: usize,
    /// How long in ns a peer may be silent to which something is to be said, or from which something is to come. 10 min.
    pub patience: i64,
    /// Most peers; 0: 1 048 576.
    pub max_peers: u64,
    /// Most receives that wait for a message; 0: 1 048 576.
    pub max_posted: u64,
    /// Most messages that wait for a receive; 0: 1 048 576.
    pub max_unexpected: u64,
    /// Service number at every peer; 0: that of meshes.
    pub service_number: u32,
    /// 0.
    pub reserved: u32,
}

// SAFETY: `repr(C)` of integers without padding between or behind.
unsafe impl Options for xtp_mesh_options {
    const NAME: &'static str = "xtp_mesh_options";
    const SIZES: &'static [usize] = &[size_of::<Self>()];
    const DEFAULTS: Self = Self {
        size: size_of::<Self>(),
        patience: 600_000_000_000,
        max_peers: 0,
        max_posted: 0,
        max_unexpected: 0,
        service_number: 0,
        reserved: 0,
    };
}

impl xtp_mesh_options {
    pub(crate) fn mesh(&self) -> Result<xtp::mesh::MeshOptions, Failure> {
        let mut options = xtp::mesh::MeshOptions::default();
        options.patience =
            span(self.patience, "patience")?.ok_or_else(|| Failure::invalid("patience needs an end"))?;
        let set = |place: &mut usize, value: u64| {
            if value != 0 {
                *place = usize::try_from(value).unwrap_or(usize::MAX);
            }
        };
        set(&mut options.max_peers, self.max_peers);
        set(&mut options.max_posted, self.max_posted);
        set(&mut options.max_unexpected, self.max_unexpected);
        if self.service_number != 0 {
            options.service_number = u16::try_from(self.service_number)
                .map_err(|_| Failure::invalid("service_number is at most 65 535"))?;
        }
        match self.reserved {
            0 => Ok(options),
            _ => Err(Failure::new(XTP_EOPTION, "reserved of xtp_mesh_options is not 0")),
        }
    }
}

/// Sets the defaults. size is sizeof *options.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn xtp_mesh_options_init(options: *mut xtp_mesh_options, size: usize) -> c_int {
    // SAFETY: the caller's word.
    guard(|| unsafe { init(options, size) })
}

/// Sets the defaults. size is sizeof *options.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn xtp_endpoint_options_init(options: *mut xtp_endpoint_options, size: usize) -> c_int {
    // SAFETY: the caller's word.
    guard(|| unsafe { init(options, size) })
}

/// Sets the defaults. size is sizeof *options.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn xtp_stream_options_init(options: *mut xtp_stream_options, size: usize) -> c_int {
    // SAFETY: the caller's word.
    guard(|| unsafe { init(options, size) })
}

/// Sets the defaults. size is sizeof *options.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn xtp_listen_options_init(options: *mut xtp_listen_options, size: usize) -> c_int {
    // SAFETY: the caller's word.
    guard(|| unsafe { init(options, size) })
}

/// Sets the defaults. size is sizeof *options.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn xtp_call_options_init(options: *mut xtp_call_options, size: usize) -> c_int {
    // SAFETY: the caller's word.
    guard(|| unsafe { init(options, size) })
}

#[cfg(test)]
#[path = "options_tests.rs"]
mod tests;
