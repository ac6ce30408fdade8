//! The transmitter's account of one block: which parity rows went, which are going to, and how many more a report asks for.
//!
//! A report says what its sender lacked when it had seen packet `echo`. Rows that left after that packet, and rows that wait
//! to leave, it could not have seen; they count as given. So no row is sent twice for the same need, without any timer.

use std::collections::VecDeque;

use xtp_wire::serial_gt;

/// A row that is to leave now.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct NextRow {
    /// Its number.
    pub row: u8,
    /// Whether no other row of this block waits behind it.
    pub last: bool,
}

/// Parity rows of one block.
#[derive(Debug, Clone)]
pub(crate) struct RowAccount {
    rows: u8,
    next: u8,
    scheduled: u16,
    /// Syncs of the latest rows, oldest first; at most as many as there are rows.
    sent: VecDeque<u32>,
}

impl RowAccount {
    /// Of a code with this many rows, at least 1; nothing was sent yet.
    #[must_use]
    pub(crate) fn new(rows: u8) -> Self {
        Self {
            rows: rows.max(1),
            next: 0,
            scheduled: 0,
            sent: VecDeque::new(),
        }
    }

    /// Takes a report: `need` symbols were missing when packet `echo` had come. Returns how many rows it added to those that
    /// wait. More than there are rows of the code can not be of use to anybody and are not added.
    pub(crate) fn report(&mut self, need: u16, echo: u32) -> u16 {
        let newer = self
            .sent
            .iter()
            .rev()
            .take_while(|sync| serial_gt(**sync, echo))
            .count();
        let under_way = u16::try_from(newer)
            .unwrap_or(u16::MAX)
            .saturating_add(self.scheduled);
        let added = need.min(self.rows.into()).saturating_sub(under_way);
        self.scheduled += added;
        added
    }

    /// Adds rows that nobody asked for; together with those that wait not more than there are.
    pub(crate) fn schedule(&mut self, rows: u16) {
        self.scheduled = self.scheduled.saturating_add(rows).min(self.rows.into());
    }

    /// Rows that wait.
    #[must_use]
    pub(crate) const fn scheduled(&self) -> u16 {
        self.scheduled
    }

    /// The row that leaves next, in the packet `sync`; `None` if none waits. After the last row the first comes again: a row
    /// that a receiver lacks helps it, whichever it is.
    pub(crate) fn send(&mut self, sync: u32) -> Option<NextRow> {
        self.scheduled = self.scheduled.checked_sub(1)?;
        let row = self.next;
        self.next = (row + 1) % self.rows;
        if self.sent.len() == usize::from(self.rows) {
            self.sent.pop_front();
        }
        self.sent.push_back(sync);
        Some(NextRow {
            row,
            last: self.scheduled == 0,
        })
    }
}

#[cfg(test)]
#[path = "rows_tests.rs"]
mod tests;
