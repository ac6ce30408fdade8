//! Control messages of `sendmsg` and `recvmsg`: written and read field by field.

use std::mem::size_of;
use std::ptr;

/// Room for control messages, aligned as the kernel wants it.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(8))]
pub(crate) struct ControlBuffer<const N: usize> {
    octets: [u8; N],
}

impl<const N: usize> ControlBuffer<N> {
    /// Empty room.
    pub(crate) fn new() -> Self {
        Self { octets: [0; N] }
    }

    /// For the kernel to read or write.
    pub(crate) fn as_mut_ptr(&mut self) -> *mut libc::c_void {
        self.octets.as_mut_ptr().cast()
    }

    /// Appends a message behind the first `used` octets; returns how many are used then.
    ///
    /// # Panics
    /// If the message does not fit: `N` is chosen for all messages a caller writes.
    pub(crate) fn push(&mut self, used: usize, level: i32, kind: i32, value: &[u8]) -> usize {
        let length = u32::try_from(value.len()).expect("control values are short");
        // SAFETY: only computes a length.
        let (space, whole) = unsafe { (libc::CMSG_SPACE(length), libc::CMSG_LEN(length)) };
        let (end, data) = (used + space as usize, used + whole as usize - value.len());
        assert!(end <= N, "{end} octets of control messages, room for {N}");
        // SAFETY: a C struct of integers, for which all zeros is a value.
        let mut header: libc::cmsghdr = unsafe { std::mem::zeroed() };
        header.cmsg_len = whole as _;
        header.cmsg_level = level;
        header.cmsg_type = kind;
        // SAFETY: the header lies before `data`, hence inside `octets`; no alignment is assumed.
        unsafe { ptr::write_unaligned(self.octets.as_mut_ptr().add(used).cast(), header) };
        self.octets[data..data + value.len()].copy_from_slice(value);
        end
    }

    /// The messages in the first `used` octets.
    pub(crate) fn messages(&self, used: usize) -> Messages<'_> {
        Messages {
            octets: &self.octets[..used.min(N)],
        }
    }
}

/// One control message.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ControlMessage<'a> {
    pub(crate) level: i32,
    pub(crate) kind: i32,
    pub(crate) value: &'a [u8],
}

impl ControlMessage<'_> {
    /// The `N` octets at `offset`, if the message is long enough.
    pub(crate) fn octets<const N: usize>(&self, offset: usize) -> Option<[u8; N]> {
        self.value.get(offset..offset + N)?.try_into().ok()
    }

    /// The 32-bit word in host order at `offset`.
    pub(crate) fn word(&self, offset: usize) -> Option<u32> {
        self.octets(offset).map(u32::from_ne_bytes)
    }

    /// A small number the kernel writes as one octet or as an int.
    pub(crate) fn octet_or_word(&self) -> Option<u32> {
        self.word(0)
            .or_else(|| self.value.first().map(|octet| u32::from(*octet)))
    }
}

/// Iterator over control messages; ends at the first that makes no sense.
#[derive(Debug)]
pub(crate) struct Messages<'a> {
    octets: &'a [u8],
}

impl<'a> Iterator for Messages<'a> {
    type Item = ControlMessage<'a>;

    fn next(&mut self) -> Option<ControlMessage<'a>> {
        if self.octets.len() < size_of::<libc::cmsghdr>() {
            return None;
        }
        // SAFETY: there are enough octets for a header of plain integers; no alignment is assumed.
        let header: libc::cmsghdr = unsafe { ptr::read_unaligned(self.octets.as_ptr().cast()) };
        // SAFETY: only computes a length.
        let start = unsafe { libc::CMSG_LEN(0) } as usize;
        #[allow(
            clippy::unnecessary_cast,
            reason = "the length's type differs between C libraries"
        )]
        let end = header.cmsg_len as usize;
        let value = self.octets.get(start..end)?;
        self.octets = self
            .octets
            .get(end.next_multiple_of(size_of::<usize>())..)
            .unwrap_or(&[]);
        Some(ControlMessage {
            level: header.cmsg_level,
            kind: header.cmsg_type,
            value,
        })
    }
}

#[cfg(test)]
#[path = "cmsg_tests.rs"]
mod tests;
