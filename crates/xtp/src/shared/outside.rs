//! A program that sleeps in a loop of its own, on the endpoint's descriptor.

#[cfg(unix)]
use std::os::fd::{AsFd, BorrowedFd};

use super::Shared;
use crate::core::Core;
#[cfg(target_os = "linux")]
use crate::loop_descriptor::LoopDescriptor;

impl Shared {
    /// The descriptor on which a program's own loop sleeps; from the first call on nothing comes elsewhere.
    #[cfg(unix)]
    pub(crate) fn as_fd(&self) -> BorrowedFd<'_> {
        #[cfg(target_os = "linux")]
        if let Some(Some(descriptor)) = self.descriptor.get() {
            return descriptor.as_fd();
        }
        self.command(|core, _| core.go_outside());
        #[cfg(target_os = "linux")]
        {
            let descriptor = self.descriptor.get_or_init(|| {
                let made = LoopDescriptor::new(&self.socket);
                made.inspect_err(
                    |error| tracing::error!(%error, "groups are not told of by the endpoint's descriptor"),
                )
                .ok()
            });
            if let Some(descriptor) = descriptor {
                self.look(|core| descriptor.follow(&core.carrier.group_sockets()));
                return descriptor.as_fd();
            }
        }
        self.socket.as_fd()
    }

    /// The descriptor tells of the groups there are now.
    #[inline]
    pub(super) fn follow_groups(&self, core: &Core) {
        #[cfg(target_os = "linux")]
        if let Some(Some(descriptor)) = self.descriptor.get() {
            descriptor.follow(&core.carrier.group_sockets());
        }
        #[cfg(not(target_os = "linux"))]
        let _ = core;
    }
}
