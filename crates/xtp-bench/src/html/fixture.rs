//! A report with rows of every experiment, as a run on a small machine gives them: for tests only.

use crate::host::Host;
use crate::report::{Fit, Report, Series};
use crate::row::Row;

/// Time of 4 octets and of an octet beyond, microseconds.
type Line = (&'static str, f64, f64);

const SIZES: [u64; 8] = [4, 16, 64, 256, 512, 1024, 2048, 4096];

fn row(experiment: &str, transport: &str, path: &str, wait: &str) -> Row {
    Row {
        experiment: experiment.to_owned(),
        transport: transport.to_owned(),
        path: path.to_owned(),
        wait: (!wait.is_empty()).then(|| wait.to_owned()),
        rounds: 5,
        ..Row::default()
    }
}

fn timed(experiment: &str, path: &str, wait: &str, lines: &[Line], report: &mut Report) {
    let xtp = lines.iter().find(|(name, ..)| *name == "xtp").copied();
    for &(transport, overhead, per_octet) in lines {
        for (index, size) in SIZES.into_iter().enumerate() {
            let wobble = 1.0 + 0.02 * ((index * 7 + transport.len() * 3) % 5) as f64;
            let at = |overhead: f64, per_octet: f64| overhead + per_octet * size as f64;
            let p50 = at(overhead, per_octet) * wobble;
            report.rows.push(Row {
                size: Some(size),
                p50_us: Some(p50),
                p99_us: Some(p50 * 1.7),
                p50_us_spread: Some([p50 * 0.95, p50 * 1.08]),
                packets_per_op: Some(if transport.starts_with("tcp") { 9.0 } else { 3.0 }),
                syscalls_per_op: Some(6.0),
                ratio_to_xtp: xtp.map(|(_, base, slope)| p50 / at(base, slope)),
                ..row(experiment, transport, path, wait)
            });
        }
        report.fits.push(Fit {
            experiment: experiment.to_owned(),
            transport: transport.to_owned(),
            path: path.to_owned(),
            wait: wait.to_owned(),
            timings: 160,
            overhead_us: overhead,
            overhead_ci95: overhead * 0.01,
            per_octet_us: per_octet,
            per_octet_ci95: per_octet * 0.02,
        });
    }
}

fn latencies(report: &mut Report) {
    let polled = [
        ("xtp", 6.9, 0.0011),
        ("udp", 6.3, 0.0010),
        ("tcp", 7.6, 0.0009),
        ("quinn", 88.0, 0.004),
        ("r-udp", 12.9, 0.0013),
        ("fi_pingpong", 7.4, 0.0012),
    ];
    let blocking = [
        ("xtp", 41.0, 0.0011),
        ("udp", 40.0, 0.0010),
        ("tcp", 39.0, 0.0009),
        ("quinn", 92.0, 0.004),
    ];
    timed("pingpong", "loopback", "spin", &polled, report);
    timed("pingpong", "veth", "block", &blocking, report);
    let once = [
        ("xtp", 9.4, 0.001),
        ("r-udp", 8.5, 0.001),
        ("tcp", 36.0, 0.001),
        ("tcp-fastopen", 29.0, 0.001),
        ("quinn-0rtt", 715.0, 0.002),
    ];
    timed("oneshot", "loopback", "spin", &once, report);
    let both = [
        ("xtp", 9.6, 0.002),
        ("t-udp", 8.5, 0.002),
        ("tcp", 41.0, 0.002),
        ("quinn", 900.0, 0.003),
    ];
    timed("transaction", "loopback", "spin", &both, report);
}

fn volumes(report: &mut Report) {
    let bulk = [
        ("xtp", 35.1, 0.31),
        ("xtp-gbn", 33.9, 0.31),
        ("udp", 35.6, 0.29),
        ("tcp", 33.6, 0.34),
        ("tcp-bbr", 30.2, 0.36),
        ("quinn", 5.2, 2.4),
        ("iperf3", 33.0, 0.35),
    ];
    for (transport, gbit_s, cpu) in bulk {
        report.rows.push(Row {
            size: Some(1 << 20),
            gbit_s: Some(gbit_s),
            gbit_s_spread: Some([gbit_s * 0.94, gbit_s * 1.03]),
            cpu_s_per_gb: Some(cpu),
            softirq_s_per_gb: Some(cpu / 4.0),
            ratio_to_xtp: Some(gbit_s / 35.1),
            ratio_cpu_to_xtp: Some(cpu / 0.31),
            ..row("bulk", transport, "loopback", "adaptive")
        });
        for size in [1024, 4096, 8192, 16_384, 65_536] {
            let part = 1.0 - 700.0 / (700.0 + size as f64);
            report.rows.push(Row {
                size: Some(size),
                gbit_s: Some(gbit_s * part),
                gbit_s_spread: Some([gbit_s * part * 0.96, gbit_s * part * 1.02]),
                cpu_s_per_gb: Some(cpu / part),
                ..row("bulk", transport, "veth", "adaptive")
            });
        }
    }
    for (transport, rate, memory) in [
        ("xtp", 131_000.0, 912.0),
        ("tcp", 41_000.0, 3_890.0),
        ("quinn", 1_500.0, 36_000.0),
    ] {
        report.rows.push(Row {
            ops_per_s: Some(rate),
            octets_per_association: Some(memory),
            note: Some("64 in flight".to_owned()),
            ..row("scale", transport, "loopback", "adaptive")
        });
    }
    for experiment in ["stencil", "bag", "phases"] {
        for (transport, time) in [("xtp", 61.0), ("tcp-kept", 74.0), ("tcp-each", 190.0)] {
            report.rows.push(Row {
                size: Some(1024),
                p50_us: Some(time),
                p50_us_spread: Some([time * 0.9, time * 1.2]),
                ..row(experiment, transport, "loopback", "block")
            });
        }
    }
}

fn distances(report: &mut Report) {
    for rtt in [20.0, 100.0, 200.0] {
        for loss in [0.0, 0.01, 0.1, 1.0] {
            for (transport, share, fear) in [("xtp", 0.96, 0.02), ("tcp-bbr", 0.94, 0.06), ("tcp", 0.93, 1.5)]
            {
                let mbit_s = 500.0 * share * (1.0 - rtt / 1500.0) / (1.0 + fear * loss * rtt / 4.0);
                report.rows.push(Row {
                    gbit_s: Some(mbit_s / 1000.0),
                    gbit_s_spread: Some([mbit_s / 1050.0, mbit_s / 980.0]),
                    queue_mean_ms: Some(rtt / 40.0),
                    ..row("wan", transport, &format!("500mbit {rtt}ms {loss}%"), "")
                });
            }
        }
    }
    for (transport, decay) in [("xtp", 0.001), ("xtp-gbn", 0.01)] {
        for rtt in [0.0, 50.0, 100.0, 200.0] {
            report.rows.push(Row {
                gbit_s: Some(0.033 / (1.0 + decay * rtt)),
                ..row("gbn", transport, &format!("36.864mbit-{rtt}ms-0%-ber1e-8"), "")
            });
        }
    }
    for (transport, share) in [("xtp", 0.52), ("tcp", 0.48)] {
        let mut flow = Row {
            gbit_s: Some(share * 0.095),
            ..row("sharing", transport, "100mbit-20ms-0% xtp+tcp", "")
        };
        flow.distance.share = Some(share);
        flow.distance.jain = Some(0.998);
        report.rows.push(flow);
    }
    curves(report);
}

fn curves(report: &mut Report) {
    let mut add = |plot: &str, transport: &str, x: &str, y: &str, value: &dyn Fn(f64) -> f64| {
        report.series.push(Series {
            plot: plot.to_owned(),
            transport: transport.to_owned(),
            x_label: x.to_owned(),
            y_label: y.to_owned(),
            points: (0..=20).map(f64::from).map(|step| (step, value(step))).collect(),
        });
    };
    let time = "time, s";
    for (transport, ramp) in [("xtp", 0.4), ("tcp-bbr", 0.8), ("tcp", 2.0)] {
        add("goodput over time, 100 ms", transport, time, "Mbit/s", &|at| {
            480.0 * at / (at + ramp)
        });
    }
    let rtt = "round-trip time, ms";
    for buffers in [1.0, 2.0, 4.0, 8.0] {
        let name = format!("xtp {buffers} buffers");
        add("throughput by retained buffers", &name, rtt, "Mbit/s", &|at| {
            (480.0 * buffers / (1.0 + at)).min(480.0)
        });
    }
    add("go-back-N and selective repeat", "xtp", rtt, "Mbit/s", &|at| {
        470.0 - at
    });
    add(
        "go-back-N and selective repeat",
        "xtp-gbn",
        rtt,
        "Mbit/s",
        &|at| 475.0 - 12.0 * at,
    );
    add("rate control", "xtp", time, "Mbit/s", &|_| 93.0);
    add("rate control", "xtp-norate", time, "Mbit/s", &|at| {
        80.0 + at % 3.0
    });
}

/// The whole of it.
pub(super) fn report() -> Report {
    let mut report = Report {
        host: Host::default(),
        command: "xtp bench all --path loopback,veth --runs 5".to_owned(),
        notes: vec!["ucx_perftest is not installed and was left out".to_owned()],
        ..Report::default()
    };
    latencies(&mut report);
    volumes(&mut report);
    distances(&mut report);
    report
}
