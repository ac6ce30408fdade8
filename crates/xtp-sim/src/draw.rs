//! What a seed draws for one association: sizes, options, habits of its users.

use std::time::Duration;

use xtp_engine::{Confirm, CongestionKind, ErrorControl, Rate, Tuning};

use crate::app::{Pace, Script, Step};
use crate::flow::FlowSpec;
use crate::paradigm::{Paradigm, Size};
use crate::rng::Rng;

/// Payloads of frames: shorter than packets, as long, longer.
const FRAMES: [usize; 5] = [300, 1_168, 1_408, 1_440, 9_000];

/// Draws a flow of this paradigm; hosts and time are the caller's.
pub(crate) fn draw_flow(paradigm: Paradigm, rng: &mut Rng) -> FlowSpec {
    let size = draw_size(paradigm, rng);
    let mut flow = paradigm.flow(size);
    draw_congestion(&mut flow.open.tuning, rng);
    draw_congestion(&mut flow.listen.tuning, rng);
    flow.open.tuning.sort = rng.percent(15).then(|| rng.range(0, 0xffff) as u16);
    flow.listen.tuning.sort = rng.percent(15).then(|| rng.range(0, 0xffff) as u16);
    if paradigm.is_stream() {
        draw_stream(paradigm, &mut flow, size, rng);
    }
    // A quarter writes from frames. Nothing is drawn for that, so that a seed stays what it was.
    let frames = size.answer.is_multiple_of(4);
    let payload = FRAMES[size.message as usize % FRAMES.len()];
    flow.initiator_script.frames = frames.then_some(payload);
    flow.responder_script.frames = frames.then_some(payload);
    flow
}

fn draw_size(paradigm: Paradigm, rng: &mut Rng) -> Size {
    let pause = Duration::from_millis(rng.pick(&[0, 0, 0, 2, 30]));
    let short = rng.range(1, 1_000) as u32;
    let mut size = Size {
        message: short,
        count: 1,
        answer: rng.range(1, 1_000) as u32,
        pause,
    };
    match paradigm {
        Paradigm::LongDatagram => size.message = rng.range(1_500, 30_000) as u32,
        Paradigm::TransactionUnconfirmed => {}
        Paradigm::TransactionSlow => {
            size.pause = Duration::from_millis(rng.pick(&[1, 100, 1_500, 9_000]));
        }
        Paradigm::ByteStream => {
            size.message = rng.range(500, 10_000) as u32;
            size.answer = rng.range(1, 4_000) as u32;
            size.count = rng.range(5, 22) as u32;
        }
        Paradigm::MessageStream => {
            size.message = rng.range(1, 3_000) as u32;
            size.answer = rng.range(1, 2_000) as u32;
            size.count = rng.range(3, 30) as u32;
        }
        Paradigm::UnreliableStream => {
            size.message = rng.range(100, 6_000) as u32;
            size.count = rng.range(5, 24) as u32;
        }
        Paradigm::Tags => {
            size.message = rng.range(1, 2_500) as u32;
            size.answer = rng.range(1, 500) as u32;
            size.count = rng.range(2, 10) as u32;
        }
        _ if rng.percent(30) => {
            size.message = rng.range(1_000, 12_000) as u32;
            size.answer = rng.range(1_000, 12_000) as u32;
        }
        _ => {}
    }
    size
}

fn draw_congestion(tuning: &mut Tuning, rng: &mut Rng) {
    tuning.congestion = rng.pick(&[
        CongestionKind::Auto,
        CongestionKind::Kdd,
        CongestionKind::Fixed,
        CongestionKind::Cubic,
    ]);
    tuning.overrides.ecn = rng.percent(80);
    tuning.overrides.probe_mtu = rng.percent(80);
}

fn draw_stream(paradigm: Paradigm, flow: &mut FlowSpec, size: Size, rng: &mut Rng) {
    let unreliable = paradigm == Paradigm::UnreliableStream;
    for forward in [true, false] {
        let (writer, reader, script) = if forward {
            (
                &mut flow.open.tuning,
                &mut flow.listen.tuning,
                &mut flow.responder_script,
            )
        } else {
            (
                &mut flow.listen.tuning,
                &mut flow.open.tuning,
                &mut flow.initiator_script,
            )
        };
        draw_direction(writer, reader, script, size, rng);
        if unreliable && forward && rng.percent(30) {
            writer.no_flow = true;
        }
    }
    // Nothing is ever confirmed to a writer without error and flow control (§3.5(e)).
    let confirms = !(unreliable && flow.open.tuning.no_flow);
    if rng.percent(30) && confirms {
        add_marks(&mut flow.initiator_script, rng);
    }
    if rng.percent(20) {
        add_marks(&mut flow.responder_script, rng);
    }
    if rng.percent(5) {
        let place = rng.range(0, flow.initiator_script.steps.len() as u64 / 2) as usize;
        let step = rng.pick(&[ErrorControl::GoBackN, ErrorControl::Selective]);
        flow.initiator_script
            .steps
            .insert(place, Step::ErrorControl(step));
    }
}

/// Draws one direction: options of its writer, capacity and habits of its reader.
fn draw_direction(writer: &mut Tuning, reader: &mut Tuning, script: &mut Script, size: Size, rng: &mut Rng) {
    writer.fast_nak = rng.percent(20);
    writer.no_flow = rng.percent(8);
    writer.send_capacity = rng.pick(&[4 << 20, 100_000, 5_000]);
    if rng.percent(15) {
        writer.out_rate = Rate {
            octets_per_second: rng.range(50_000, 2_000_000),
            burst: rng.range(300, 20_000) as u32,
        };
    }
    if rng.percent(10) {
        reader.in_rate = Rate {
            octets_per_second: rng.range(100_000, 2_000_000),
            burst: rng.range(1_500, 20_000) as u32,
        };
    }
    reader.recv_capacity = rng.pick(&[4 << 20, 4 << 20, 65_536, 16_384, 3_000, 900]);
    if writer.no_flow {
        // A reliable writer that ignores alloc sends again what found no room, as fast as it is told to.
        reader.recv_capacity = 4 << 20;
    }
    if rng.percent(20) {
        reader.error_control = ErrorControl::GoBackN;
    }
    if rng.percent(15) {
        (writer.reserve, reader.posts) = (true, true);
        script.reader.post = Some(rng.pick(&[2_000, 16_384, 100_000]));
        reader.recv_capacity = 4 << 20;
    }
    let total = u64::from(size.message) * u64::from(size.count);
    let every = Duration::from_millis(rng.pick(&[1, 10, 100]));
    script.reader.pace = match rng.range(0, 9) {
        0..=5 => Pace::Fast,
        6 => Pace::Slow {
            octets: (total / 20).max(100) as u32,
            every,
        },
        7 => Pace::Bursty { every: every * 5 },
        8 => Pace::StoppedUntil(Duration::from_millis(rng.range(500, 6_000))),
        _ => Pace::Slow {
            octets: (total / 5).max(100) as u32,
            every,
        },
    };
    script.reader.piece = rng.pick(&[1 << 16, 1_000, 8]);
    if rng.percent(20) {
        add_switches(script, total, rng);
    }
}

/// The reader changes its mind about holes in mid-stream.
fn add_switches(script: &mut Script, total: u64, rng: &mut Rng) {
    for kind in [ErrorControl::GoBackN, ErrorControl::Selective] {
        let octets = rng.range(1, total);
        let place = script
            .steps
            .iter()
            .position(|step| matches!(step, Step::AwaitEnd | Step::CloseWriter));
        let place = place.unwrap_or(script.steps.len());
        if matches!(script.steps.get(place), Some(Step::AwaitEnd)) {
            script.steps.insert(place, Step::AwaitOctets(octets));
            script.steps.insert(place + 1, Step::ErrorControl(kind));
        } else {
            script.steps.insert(place.min(1), Step::ErrorControl(kind));
        }
    }
}

/// The writer asks for confirmation now and then.
fn add_marks(script: &mut Script, rng: &mut Rng) {
    let sends = script
        .steps
        .iter()
        .enumerate()
        .filter(|(_, step)| matches!(step, Step::Send { .. }));
    let places: Vec<usize> = sends.map(|(place, _)| place + 1).collect();
    for place in places.into_iter().rev() {
        if rng.percent(25) {
            let what = rng.pick(&[Confirm::Received, Confirm::Delivered]);
            let step = rng.pick(&[Step::Mark as fn(Confirm) -> Step, Step::MarkQuietly]);
            script.steps.insert(place, step(what));
        }
    }
    if rng.percent(30)
        && let Some(close) = script.steps.iter().position(|step| *step == Step::CloseWriter)
        && script.steps[..close]
            .iter()
            .any(|step| matches!(step, Step::Mark(_)))
        && !script.steps[..close]
            .iter()
            .any(|step| matches!(step, Step::MarkQuietly(_)))
    {
        script.steps.insert(close, Step::AwaitMarks);
    }
}
