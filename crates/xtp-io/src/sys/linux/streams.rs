//! Which standard streams a program was started without. The standard library opens `/dev/null` in the place of each before `main`, and
//! what is written there would look written: so the loader has this looked at before.

use std::sync::atomic::{AtomicBool, Ordering};

static OUTPUT_IS_CLOSED: AtomicBool = AtomicBool::new(false);

/// Called by the loader, before the standard library begins.
extern "C" fn look() {
    // SAFETY: the call asks for a number and takes no memory; an invalid descriptor is an error.
    let flags = unsafe { libc::fcntl(libc::STDOUT_FILENO, libc::F_GETFD) };
    OUTPUT_IS_CLOSED.store(flags == -1, Ordering::Relaxed);
}

// SAFETY: the section has pointers to functions of this type, which the loader calls once each, in one thread. `look` uses nothing that
// has to be set up.
#[used]
#[unsafe(link_section = ".init_array")]
static LOOK: extern "C" fn() = look;

/// Whether standard output was closed when the process began.
pub(crate) fn output_was_closed() -> bool {
    // A reference from here keeps the pointer in the program.
    std::hint::black_box(&LOOK);
    OUTPUT_IS_CLOSED.load(Ordering::Relaxed)
}
