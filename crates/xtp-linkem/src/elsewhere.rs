//! Systems without network namespaces: the same interface, of which nothing can be had.

use std::net::{Ipv4Addr, Ipv6Addr};
use std::process::Command;

use xtp_link::LinkConfig;

use crate::config::Config;
use crate::error::Error;
use crate::report::Report;

/// A network namespace; none exists on this system.
#[derive(Debug)]
pub struct HeldNetwork(Never);

impl HeldNetwork {
    /// Needs Linux.
    ///
    /// # Errors
    /// Always [`Error::Unsupported`].
    pub fn new() -> Result<Self, Error> {
        Err(Error::Unsupported)
    }

    /// The process that holds it.
    pub fn process(&self) -> u32 {
        match self.0 {}
    }

    /// The command that runs what follows it there.
    pub fn enter(&self) -> Vec<String> {
        match self.0 {}
    }

    /// A program to run there.
    pub fn command(&self, _program: impl AsRef<std::ffi::OsStr>) -> Command {
        match self.0 {}
    }
}

/// One side of an emulated link; none exists on this system.
#[derive(Debug)]
pub struct Namespace {
    /// The namespace's name.
    pub name: String,
    /// Its IPv4 address on the link.
    pub address: Ipv4Addr,
    /// Its IPv6 address on the link.
    pub address_v6: Ipv6Addr,
    /// The other side's IPv4 address.
    pub peer: Ipv4Addr,
    /// The other side's IPv6 address.
    pub peer_v6: Ipv6Addr,
    never: Never,
}

#[derive(Debug)]
enum Never {}

impl Namespace {
    /// A program inside the namespace, not yet started.
    pub fn command(&self, _program: &str) -> Command {
        match self.never {}
    }

    /// Asks every process in the namespace to end.
    pub fn end_processes(&self) {
        match self.never {}
    }
}

/// A running emulator; none exists on this system.
#[derive(Debug)]
pub struct Emulator(Never);

impl Emulator {
    /// Needs Linux.
    ///
    /// # Errors
    /// Always [`Error::Unsupported`], or what is wrong with the configuration.
    pub fn start(config: Config) -> Result<Self, Error> {
        config.links()?;
        Err(Error::Unsupported)
    }

    /// The left side.
    pub fn left(&self) -> &Namespace {
        match self.0 {}
    }

    /// The right side.
    pub fn right(&self) -> &Namespace {
        match self.0 {}
    }

    /// Changes both directions.
    ///
    /// # Errors
    /// Never reached.
    pub fn set_links(&self, left_to_right: LinkConfig, right_to_left: LinkConfig) -> Result<(), Error> {
        let _ = crate::config::with_queues(left_to_right, right_to_left)?;
        match self.0 {}
    }

    /// Switches the link down or up.
    ///
    /// # Errors
    /// Never reached.
    pub fn set_up(&self, _up: bool) -> Result<(), Error> {
        match self.0 {}
    }

    /// Begins to count afresh.
    ///
    /// # Errors
    /// Never reached.
    pub fn reset_report(&self) -> Result<(), Error> {
        match self.0 {}
    }

    /// What happened so far.
    ///
    /// # Errors
    /// Never reached.
    pub fn report(&self) -> Result<Report, Error> {
        match self.0 {}
    }

    /// Stops.
    ///
    /// # Errors
    /// Never reached.
    pub fn stop(self) -> Result<Report, Error> {
        match self.0 {}
    }
}
