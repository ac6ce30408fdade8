//! Suite `wireshark`: the dissector that we ship, `docs/wireshark/xtp.lua`, run by tshark.
//!
//! Every packet of every paradigm, as IP protocol 36 and as UDP on whatever ports, must be taken for XTP with a good
//! checksum and without a complaint; of the reference packets each value looked at must be the right one; and packets
//! cut short anywhere are complained about, and never a fault of the script.

use std::collections::BTreeSet;
use std::path::Path;

use super::captures::{capture, checksum, paradigms, tshark, vectors, write};
use super::host::Host;

const SCRIPT: &str = include_str!("../../../docs/wireshark/xtp.lua");
/// Octets of a header, and where it has length and checksum.
const HEADER: usize = 32;
const DLEN: std::ops::Range<usize> = 12..16;
const CHECK: std::ops::Range<usize> = 16..18;
/// Formats the captures of the paradigms must show: DATA, CNTL, FIRST, ECNTL, TCNTL, JCNTL, DIAG, PATH, XCNTL, COOKIE, XDATA,
/// PARITY.
const FORMATS: &[&str] = &["0", "1", "2", "3", "5", "7", "8", "16", "17", "18", "19", "20"];
/// Formats of groups: captures must show each of them with MULTI set.
const GROUP_FORMATS: &[&str] = &["0", "2", "7", "17", "20"];
/// Of some reference packets the values of fields, as `crates/xtp-wire/tests/vectors.rs` has them.
const VALUES: &[(&str, &[(&str, &str)])] = &[
    (
        "V2",
        &[
            ("xtp4.key", "0x0123456789abcdef"),
            ("xtp4.rtn", "False"),
            ("xtp4.option.sreq", "True"),
            ("xtp4.option.edge", "False"),
            ("xtp4.dst4", "192.0.2.2"),
            ("xtp4.service_number", "7"),
            ("xtp4.source_port", "40000"),
            ("xtp4.service", "2"),
            ("xtp4.maxdata", "1440"),
            ("xtp4.data", "68656c6c6f"),
        ],
    ),
    (
        "V3",
        &[
            ("xtp4.rtn", "True"),
            ("xtp4.rseq", "5"),
            ("xtp4.alloc", "5"),
            ("xtp4.echo", "1"),
            ("xtp4.option.end", "True"),
        ],
    ),
    (
        "V6",
        &[
            ("xtp4.tag", "0x00000000feedface"),
            ("xtp4.data", "616263"),
            ("xtp4.sort", "5"),
        ],
    ),
    (
        "V7",
        &[
            ("xtp4.nspan", "2"),
            ("xtp4.span_left", "2000|4000"),
            ("xtp4.span_right", "3000|4500"),
        ],
    ),
    (
        "V9",
        &[
            ("xtp4.code", "1"),
            ("xtp4.val", "1"),
            ("xtp4.text", "no listener"),
        ],
    ),
    (
        "V11",
        &[
            ("xtp4.dst6", "2001:db8::2"),
            ("xtp4.src6", "2001:db8::1"),
            ("xtp4.service", "4"),
        ],
    ),
    (
        "V13",
        &[
            ("xtp4.credit", "1048576"),
            ("xtp4.caps", "0x00000087"),
            ("xtp4.inburst", "92160"),
        ],
    ),
    (
        "V14",
        &[
            ("xtp4.nspan", "1"),
            ("xtp4.delay", "150"),
            ("xtp4.ect0", "20"),
            ("xtp4.ce", "1"),
            ("xtp4.span_left", "2880"),
        ],
    ),
    (
        "V15",
        &[
            ("xtp4.path_kind", "1"),
            ("xtp4.path_size", "64"),
            ("xtp4.nonce", "0x1122334455667788"),
        ],
    ),
    (
        "V16",
        &[
            ("xtp4.delay", "37"),
            ("xtp4.data", "706f6e67"),
            ("xtp4.rseq", "1500"),
        ],
    ),
    (
        "V20",
        &[
            ("xtp4.gnack_count", "2"),
            ("xtp4.gnack_block", "0|2"),
            ("xtp4.gnack_need", "1|3"),
        ],
    ),
    (
        "V21",
        &[
            ("xtp4.tlv_type", "1|11|0"),
            ("xtp4.client", "0x0807060504030201"),
            ("xtp4.client_n", "42"),
        ],
    ),
    (
        "V23",
        &[("xtp4.delivered", "4096"), ("xtp4.flags.delivered", "True")],
    ),
    (
        "V24",
        &[
            ("xtp4.poll_m", "16"),
            ("xtp4.poll_r", "5"),
            ("xtp4.poll_grtt", "1500"),
        ],
    ),
];

pub(super) fn run(host: &Host) -> Result<String, String> {
    let folder = host.scratch("wireshark")?;
    let script = folder.join("xtp.lua");
    write(&script, SCRIPT.as_bytes())?;
    let vectors = vectors()?;
    let count = inspect(&script, &capture(&folder, "vectors.pcap", &vectors)?)?.len();
    if count != vectors.len() {
        return Err(format!("{count} of {} reference packets dissect", vectors.len()));
    }
    let values = check_values(&script, &folder, &vectors)?;
    let cut = check_cut(&script, &folder, &vectors)?;
    let mut packets = Vec::new();
    for (path, _) in paradigms(host, &folder)? {
        packets.extend(inspect(&script, &path)?);
    }
    let of_groups = shown(&packets)?;
    Ok(format!(
        "{} packets of all paradigms, {of_groups} of them of groups, {values} values of reference packets, {cut} packets cut \
         short",
        packets.len()
    ))
}

/// A packet as it was shown: its format, and whether its association is a group.
type Shown = (String, bool);

/// Every format must be there, those of groups with MULTI; how many packets of groups there are.
fn shown(packets: &[Shown]) -> Result<usize, String> {
    let formats: BTreeSet<&str> = packets.iter().map(|(format, _)| format.as_str()).collect();
    if let Some(missing) = FORMATS.iter().find(|format| !formats.contains(**format)) {
        return Err(format!("no capture shows packet format {missing}"));
    }
    let of_groups: Vec<&str> = packets
        .iter()
        .filter(|(_, multi)| *multi)
        .map(|(format, _)| format.as_str())
        .collect();
    match GROUP_FORMATS.iter().find(|format| !of_groups.contains(format)) {
        Some(missing) => Err(format!("no capture shows packet format {missing} with MULTI")),
        None => Ok(of_groups.len()),
    }
}

/// What tshark prints of these fields, a line a packet.
fn fields(script: &Path, path: &Path, names: &[&str]) -> Result<Vec<Vec<String>>, String> {
    let mut arguments = vec!["-T", "fields", "-E", "separator=;", "-E", "aggregator=|"];
    arguments.extend(names.iter().flat_map(|name| ["-e", *name]));
    let text = tshark(script, path, &arguments)?;
    Ok(text
        .lines()
        .map(|line| line.split(';').map(str::to_owned).collect())
        .collect())
}

/// No packet may be wrong; what each is.
fn inspect(script: &Path, path: &Path) -> Result<Vec<Shown>, String> {
    let mut packets = Vec::new();
    let names = [
        "xtp4.format",
        "xtp4.check_good",
        "_ws.expert.message",
        "xtp4.option.multi",
    ];
    let lines = fields(script, path, &names)?;
    for (number, line) in (1..).zip(&lines) {
        let [format, good, message, multi] = &line[..] else {
            return Err(format!("{}: packet {number} gives {line:?}", path.display()));
        };
        if format.is_empty() || !is_true(good) || !message.is_empty() {
            return Err(format!("{}: packet {number}: {line:?}", path.display()));
        }
        packets.push((format.clone(), is_true(multi)));
    }
    Ok(packets)
}

/// Compares [`VALUES`]; how many there are.
fn check_values(script: &Path, folder: &Path, vectors: &[(String, Vec<u8>)]) -> Result<usize, String> {
    let mut compared = 0;
    for (name, expected) in VALUES {
        let vector = vectors.iter().find(|(found, _)| found == name);
        let vector = vector.ok_or_else(|| format!("there is no reference packet {name}"))?;
        let path = capture(folder, &format!("{name}.pcap"), std::slice::from_ref(vector))?;
        let names: Vec<&str> = expected.iter().map(|(field, _)| *field).collect();
        let lines = fields(script, &path, &names)?;
        let shown = lines.first().ok_or_else(|| format!("{name} gives nothing"))?;
        for ((field, wanted), shown) in expected.iter().zip(shown) {
            if !is_same(wanted, shown) {
                return Err(format!("{name}: {field} is shown as {shown}, not {wanted}"));
            }
            compared += 1;
        }
    }
    Ok(compared)
}

/// Every reference packet cut at every length, with length and checksum made good. Which cuts are errors is the format's
/// matter; CNTL has one length only, and no cut of any may be an error of the script itself.
fn check_cut(script: &Path, folder: &Path, vectors: &[(String, Vec<u8>)]) -> Result<usize, String> {
    let mut packets = Vec::new();
    for (name, octets) in vectors {
        packets.extend((HEADER..octets.len()).map(|length| (name.clone(), cut(octets, length))));
    }
    let path = capture(folder, "cut.pcap", &packets)?;
    let names = ["xtp4.format", "xtp4.check_good", "_ws.expert.message"];
    let lines = fields(script, &path, &names)?;
    if lines.len() != packets.len() {
        return Err(format!(
            "{} of {} cut packets dissect",
            lines.len(),
            packets.len()
        ));
    }
    for ((name, packet), line) in packets.iter().zip(&lines) {
        let [format, good, message] = &line[..] else {
            return Err(format!("{name} cut gives {line:?}"));
        };
        let is_missed = format == "1" && message.is_empty();
        if is_missed || !is_true(good) || message.contains("Lua") {
            return Err(format!("{name} cut to {} octets gives {line:?}", packet.len()));
        }
    }
    Ok(packets.len())
}

fn cut(octets: &[u8], length: usize) -> Vec<u8> {
    let mut cut = octets[..length].to_vec();
    let dlen = u32::try_from(length - HEADER).unwrap_or(u32::MAX);
    cut[DLEN].copy_from_slice(&dlen.to_be_bytes());
    cut[CHECK].fill(0);
    let covered = match cut[8] & 0x40 {
        0 => length,
        _ => HEADER,
    };
    let check = checksum(&cut[..covered]);
    cut[CHECK].copy_from_slice(&check.to_be_bytes());
    cut
}

/// Versions of tshark write truth as words or as numbers.
fn is_true(shown: &str) -> bool {
    matches!(shown, "1" | "True")
}

fn is_same(wanted: &str, shown: &str) -> bool {
    match wanted {
        "True" => is_true(shown),
        "False" => matches!(shown, "0" | "False"),
        wanted => wanted == shown,
    }
}
