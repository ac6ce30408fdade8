//! What the papers measured, as data: only numbers that they print, each with the place where it stands.
//!
//! The curves of the papers' figures carry no numbers, so they are not here; where a paper prints the parameters
//! of a curve (a fitted line, a buffer size and the equation that limits it) the curve is computed from them and
//! says so.

/// A paper (or thesis) whose experiments are repeated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Paper {
    /// Who wrote it.
    pub authors: &'static str,
    /// Its title.
    pub title: &'static str,
    /// The year.
    pub year: u16,
    /// The machines and the network it was measured on.
    pub machines: &'static str,
}

/// Strayer, Lewis and Cline: XTP, TCP and UDP for parallel programs.
pub const SANDIA: Paper = Paper {
    authors: "W. T. Strayer, M. J. Lewis, R. E. Cline, Jr. (Sandia National Laboratories)",
    title: "XTP as a Transport Protocol for Distributed Parallel Processing",
    year: 1994,
    machines: "two SPARCstation 10 Model 50, SunOS 5.3, 100 Mbit/s FDDI Gigaswitch, MXTP (XTP 3.7)",
};

/// Hartrick: the implementation of XTP 3.5 at the University of Virginia.
pub const VIRGINIA: Paper = Paper {
    authors: "T. W. Hartrick (University of Virginia)",
    title: "Performance Analysis of a Software Implementation of the Xpress Transfer Protocol",
    year: 1991,
    machines: "IBM PC/AT compatibles, 80386 at 16 to 25 MHz, DOS, 10 Mbit/s Ethernet (WD8003E) or 4 Mbit/s \
               Token Ring (p1340), UVa XTP 3.5; TCP is WIN/TCP 4.0",
};

/// Miyake, Kato and Suzuki: the transport library of KDD.
pub const KDD: Paper = Paper {
    authors: "Y. Miyake, T. Kato, K. Suzuki (KDD R & D Laboratories)",
    title: "Implementation Method of High Speed Protocol as Transport Library",
    year: 1995,
    machines: "SPARCserver 670MP (SunOS 4.1.2) and SPARCstation 20 (Solaris 2.3), ATM with a DS-3 bottleneck of \
               36.864 Mbit/s payload, a delay and error generator",
};

/// Hollingsworth, Guven and Akinlar: PVM over kernel TCP and over U-Net.
pub const MARYLAND: Paper = Paper {
    authors: "J. K. Hollingsworth, E. Guven, C. Akinlar (University of Maryland)",
    title: "Benchmarking a Network of PCs Running Parallel Applications",
    year: 1998,
    machines: "120 MHz Pentium PCs, 100 Mbit/s Ethernet, Linux 2.0.1 and Windows NT 4.0",
};

/// Every paper, oldest first.
pub const ALL: &[&Paper] = &[&VIRGINIA, &SANDIA, &KDD, &MARYLAND];

/// One printed figure.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Printed {
    /// The transport, with the name it has in our rows where it has one.
    pub transport: &'static str,
    /// What was measured beyond that (`checksum on`); empty if nothing.
    pub variant: &'static str,
    /// Message size in octets, if the paper gives one.
    pub size: Option<u64>,
    /// The figure, in the unit of its table.
    pub value: f64,
    /// Where it stands.
    pub place: &'static str,
}

const fn printed(transport: &'static str, size: u64, value: f64, place: &'static str) -> Printed {
    Printed {
        transport,
        variant: "",
        size: Some(size),
        value,
        place,
    }
}

const fn variant(transport: &'static str, variant: &'static str, value: f64, place: &'static str) -> Printed {
    Printed {
        transport,
        variant,
        size: None,
        value,
        place,
    }
}

/// One-way latency over an established connection as a line: `overhead_us + per_octet_us * size`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LatencyFit {
    /// The transport.
    pub transport: &'static str,
    /// Cost of a message, microseconds.
    pub overhead_us: f64,
    /// Cost of an octet, microseconds.
    pub per_octet_us: f64,
}

impl LatencyFit {
    /// One-way latency of a message of `size` octets in microseconds.
    pub fn one_way_us(&self, size: u64) -> f64 {
        self.overhead_us + self.per_octet_us * size as f64
    }
}

const fn fit(transport: &'static str, overhead_us: f64, per_octet_us: f64) -> LatencyFit {
    LatencyFit {
        transport,
        overhead_us,
        per_octet_us,
    }
}

/// [`SANDIA`], section 4, the fits to Figure 4 (20 timings of 50 iterations each, mean within 1 % at 95 %).
/// R-UDP's one-shot (Figure 5) is the same line, since it has no connection.
pub const ESTABLISHED: &[LatencyFit] = &[
    fit("udp", 554.301, 0.334),
    fit("xtp", 649.867, 0.344),
    fit("tcp", 650.137, 0.344),
    fit("r-udp", 1851.929, 0.347),
];

/// Where [`ESTABLISHED`] stands.
pub const ESTABLISHED_PLACE: &str = "section 4, lines fitted to Figure 4";

/// The message sizes of [`SANDIA`], in octets.
pub const SIZES: &[u64] = &[4, 16, 64, 256, 512, 1024, 2048, 4096];

/// [`SANDIA`], section 4 on Figure 8: overhead of a transaction with set-up and tear-down as a multiple of T-UDP's
/// ("roughly four and six times"; the sentence says UDP where Figure 8 and the text around it mean TCP).
pub const TRANSACTION_OVERHEAD: &[Printed] = &[
    variant("t-udp", "", 1.0, "section 4, Figure 8"),
    variant("xtp", "", 4.0, "section 4, Figure 8"),
    variant("tcp", "", 6.0, "section 4, Figure 8"),
];

/// Packets of a one-shot in [`SANDIA`]: figure 1, and sections 3.2 and 4.
pub const ONE_SHOT_PACKETS: &[Printed] = &[
    variant("r-udp", "", 3.0, "section 4"),
    variant("xtp", "without a dally timer, in theory", 3.0, "section 4"),
    variant("xtp", "MXTP through TLI", 5.0, "section 4"),
    variant("tcp", "at least", 9.0, "section 3.1, Figure 1"),
];

/// [`VIRGINIA`], section 3.4.5: open, send 16 octets, close; microseconds, Ethernet, data checksum on.
pub const ONE_SHOT_US: &[Printed] = &[
    printed("xtp", 16, 4110.0, "Figure 3.18"),
    printed("tcp", 16, 17_320.0, "Figure 3.18"),
];

/// [`VIRGINIA`], section 3.4.4: half of an echo of 16 octets, microseconds. XTP's driver took four packets for it,
/// TCP two.
pub const ONE_WAY_US: &[Printed] = &[
    printed("tcp", 16, 1090.0, "section 3.4.4, Figure 3.17"),
    printed("xtp", 16, 2030.0, "section 3.4.4, Figure 3.17"),
];

/// [`VIRGINIA`], throughput against message size, Mbit/s, class 2 machines, XTP with its data checksum.
pub const THROUGHPUT_MBIT_S: &[Printed] = &[
    printed("tcp", 4096, 2.68, "section 3.4.3, Figure 3.16"),
    printed("tcp", 8192, 2.39, "section 4.2.3.1, Figure 3.16"),
    printed("xtp", 4096, 3.16, "section 3.4.3, Figure 3.16"),
    printed("xtp", 8192, 3.18, "section 3.4.3, Figure 3.16"),
];

/// [`VIRGINIA`], the best throughput without the data checksum, Mbit/s, and what the interface could do.
pub const BEST_MBIT_S: &[Printed] = &[
    Printed {
        transport: "xtp",
        variant: "Ethernet, 5.5 Mbit/s at the MAC",
        size: Some(8192),
        value: 4.7,
        place: "sections 3.2.2.1 and 4.2.1.1, Figure 3.5",
    },
    Printed {
        transport: "xtp",
        variant: "Token Ring, 4 Mbit/s",
        size: Some(16_384),
        value: 2.21,
        place: "section 4.2.1.1, Figure 3.1",
    },
];

/// The plots of [`VIRGINIA`]'s figures about groups, repeated: names of ours, in the order of the thesis.
pub const GROUP_PLOTS: [&str; 8] = [
    "Figure 3.9: throughput over 4 Mbit/s, against message size",
    "Figure 3.10: throughput over 10 Mbit/s, against message size",
    "Figure 3.11: what all receivers get, against one by unicast",
    "Figure 3.12: the longest pause that buckets make, 1-to-4",
    "Figure 3.13: throughput by the number of buckets, 1-to-4",
    "Figure 3.14: slotting, damping and control packets, 1-to-4",
    "Figure 3.14 for 1-to-10: slotting, damping and control packets",
    "Figure 3.15: slotting, damping and throughput, 1-to-4",
];

/// [`VIRGINIA`], section 3.3: throughput as the transmitter sees it, Mbit/s.
pub const GROUP_MBIT_S: &[Printed] = &[
    Printed {
        transport: "xtp",
        variant: "Token Ring, unicast",
        size: Some(4096),
        value: 0.991,
        place: "section 3.3.2.1, Figure 3.9",
    },
    Printed {
        transport: "xtp",
        variant: "Token Ring, 1-to-4",
        size: Some(4096),
        value: 0.985,
        place: "section 3.3.2.1, Figure 3.9",
    },
    Printed {
        transport: "xtp",
        variant: "Ethernet, unicast",
        size: Some(2048),
        value: 2.53,
        place: "section 3.3.3.1, Figure 3.10",
    },
    Printed {
        transport: "xtp",
        variant: "Ethernet, 1-to-6",
        size: Some(2048),
        value: 0.985,
        place: "section 3.3.3.1, Figure 3.10",
    },
];

/// [`VIRGINIA`], Figure 3.11: what six receivers get together, percent of unicast.
pub const GROUP_EFFICIENCY_PERCENT: Printed = Printed {
    transport: "xtp",
    variant: "Ethernet, 1-to-6",
    size: Some(1024),
    value: 221.0,
    place: "section 3.3.3.1, Figure 3.11",
};

/// [`VIRGINIA`], Figure 3.12: the pause of four buckets with messages of half a ring of 32 Kbytes, milliseconds.
pub const BUCKET_PAUSE_MS: Printed = Printed {
    transport: "xtp",
    variant: "4 buckets",
    size: Some(16_384),
    value: 165.0,
    place: "section 3.3.3.2, Figure 3.12",
};

/// [`VIRGINIA`], Figure 3.14: control packets of receivers that slotting with damping saves, percent, mean over message
/// sizes, 1-to-4.
pub const SAVED_CONTROL_PERCENT: Printed = Printed {
    transport: "xtp",
    variant: "1-to-4",
    size: None,
    value: 21.0,
    place: "section 3.3.3.3, Figure 3.14",
};

/// The capacity that limited [`KDD`]: what ATM cells carry over DS-3, Mbit/s (section 4.1).
pub const KDD_LINK_MBIT_S: f64 = 36.864;

/// Throughput of the KDD library without added delay, Mbit/s ("about 32"; section 4.2.1).
pub const KDD_MBIT_S: f64 = 32.0;

/// Throughput of ttcp over the same link without added delay, Mbit/s (section 4.2.1).
pub const KDD_TCP_MBIT_S: f64 = 26.78;

/// Socket buffer of that TCP in octets: 52 Kbytes (section 4.2.1).
pub const KDD_TCP_BUFFER: f64 = 52.0 * 1024.0;

/// One application buffer in bits as the paper's equation has it (512 Kbytes x 8; section 4.2.1).
const KDD_BUFFER_BITS: f64 = 512_000.0 * 8.0;

/// Throughput that `buffers` retained application buffers of 512 Kbytes allow at a round-trip time, Mbit/s:
/// computed, not measured.
///
/// A buffer can be filled again when the acknowledgement of its last packet is there: it takes its own sending
/// time (128 ms at 32 Mbit/s, the paper's equation) and a round-trip time, so `buffers` of them are sent in
/// that. Two buffers stay flat up to 128 ms ("larger than 120 msec" in Figure 6); four and eight stay flat over the
/// whole range, as the paper reports.
pub fn kdd_limit_mbit_s(buffers: u32, rtt_ms: f64) -> f64 {
    let sending_ms = KDD_BUFFER_BITS / KDD_MBIT_S / 1000.0;
    let cycle_ms = sending_ms + rtt_ms.max(0.0);
    (f64::from(buffers) * KDD_BUFFER_BITS / cycle_ms / 1000.0).min(KDD_MBIT_S)
}

/// Throughput that a TCP with 52 Kbytes of socket buffer can reach at a round-trip time, Mbit/s: computed.
pub fn kdd_tcp_limit_mbit_s(rtt_ms: f64) -> f64 {
    if rtt_ms <= 0.0 {
        return KDD_TCP_MBIT_S;
    }
    (KDD_TCP_BUFFER * 8.0 / rtt_ms / 1000.0).min(KDD_TCP_MBIT_S)
}

/// [`KDD`], Table 2: from the fast to the slow machine over 10 Mbit/s Ethernet, Mbit/s.
pub const RATE_CONTROL_MBIT_S: &[Printed] = &[
    variant("xtp", "rate control on", 8.92, "Table 2"),
    variant("xtp", "rate control off", 8.31, "Table 2"),
    variant("tcp", "ttcp", 8.09, "Table 2"),
];

/// [`KDD`], Table 2: requests for retransmission in the same transfers.
pub const RATE_CONTROL_REQUESTS: &[Printed] = &[
    variant("xtp", "rate control on", 60.0, "Table 2"),
    variant("xtp", "rate control off", 164.0, "Table 2"),
];

/// [`KDD`], section 4.2.3 on Figure 7 (bit error rate 1e-8), in words since the figure prints no numbers.
pub const GO_BACK_N: &str = "At small round-trip times go-back-N was a little faster, since it is simpler to \
                             handle; selective retransmission works effectively over long distances.";

/// [`MARYLAND`], section 3: round trip of 4 octets through PVM, microseconds.
pub const PVM_ROUND_TRIP_US: &[Printed] = &[
    Printed {
        transport: "tcp",
        variant: "PVM, Linux",
        size: Some(4),
        value: 527.0,
        place: "section 3, Figure 1(a)",
    },
    Printed {
        transport: "u-net",
        variant: "PVM, Linux",
        size: Some(4),
        value: 151.0,
        place: "section 3, Figure 1(a)",
    },
    Printed {
        transport: "tcp",
        variant: "PVM, Windows NT",
        size: Some(4),
        value: 1300.0,
        place: "section 3",
    },
];

#[cfg(test)]
#[path = "papers_tests.rs"]
mod tests;
