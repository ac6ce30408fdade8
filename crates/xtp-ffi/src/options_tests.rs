//! Structures of other versions than the library's.

use super::*;
use crate::status::XTP_EINVAL;

/// As it is now: the second version, with two fields more than the first one.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq)]
struct Present {
    size: usize,
    old: u64,
    new: u64,
    newer: u64,
}

/// As a program of the first version has it.
#[repr(C)]
struct Old {
    size: usize,
    old: u64,
}

/// As a program of a later version has it.
#[repr(C)]
struct Later {
    present: Present,
    later: u64,
}

// SAFETY: integers without padding.
unsafe impl Options for Present {
    const NAME: &'static str = "present";
    const SIZES: &'static [usize] = &[size_of::<Old>(), size_of::<Self>()];
    const DEFAULTS: Self = Self {
        size: size_of::<Self>(),
        old: 1,
        new: 2,
        newer: 3,
    };
}

#[test]
fn an_older_program_has_defaults_for_what_it_does_not_know() {
    let old = Old {
        size: size_of::<Old>(),
        old: 9,
    };
    // SAFETY: it begins with its size.
    let taken = unsafe { read(ptr::from_ref(&old).cast::<Present>()) }.expect("served");
    assert_eq!((taken.old, taken.new, taken.newer), (9, 2, 3));
    let mut memory = [7_u64; 4];
    // SAFETY: two words of four are the structure.
    unsafe { init(memory.as_mut_ptr().cast::<Present>(), size_of::<Old>()) }.expect("initialised");
    assert_eq!(memory, [16, 1, 7, 7]);
}

#[test]
fn a_newer_program_may_set_nothing_that_is_unknown() {
    let mut later = Later {
        present: Present::DEFAULTS,
        later: 5,
    };
    // SAFETY: it has the octets that are said.
    unsafe { init(ptr::from_mut(&mut later).cast::<Present>(), size_of::<Later>()) }.expect("initialised");
    assert_eq!((later.present.size, later.later), (size_of::<Later>(), 0));
    later.present.newer = 8;
    // SAFETY: as above.
    let taken = unsafe { read(ptr::from_ref(&later).cast::<Present>()) }.expect("served");
    assert_eq!(taken.newer, 8);
    later.later = 1 << 63;
    // SAFETY: as above.
    let failure = unsafe { read(ptr::from_ref(&later).cast::<Present>()) }.expect_err("unknown");
    assert_eq!(failure.status, XTP_EOPTION);
    assert!(failure.text.contains("octet 39 of present"), "{}", failure.text);
}

#[test]
fn sizes_that_no_version_has() {
    for size in [0, 1, 8, 15, 17, 24, 31, 4_097, usize::MAX] {
        let options = Present {
            size,
            ..Present::DEFAULTS
        };
        // SAFETY: nothing behind the size is read.
        let failure = unsafe { read(&raw const options) }.expect_err("no size");
        assert_eq!(failure.status, XTP_EINVAL, "{size}");
    }
    assert_eq!(
        // SAFETY: NULL is none.
        unsafe { read::<Present>(ptr::null()) }.expect("defaults"),
        Present::DEFAULTS
    );
}
