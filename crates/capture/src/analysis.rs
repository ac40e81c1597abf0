use crate::align::align;
use crate::batch;
use crate::copies::Copies;
use crate::elsewhere::take_longer;
use crate::error::{CaptureError, FileProblem};
use crate::format::End;
use crate::group::group;
use crate::input::{Input, inputs};
use crate::measure::{self, Job, Measured, Times};
use crate::packet::link_type_name;
use crate::parallel::for_each;
use crate::progress::Meter;
use crate::protocols::{ProtocolCount, Protocols};
use crate::report::{Analysis, Findings, report};
use crate::select::{Direction, Flow, Selection, select};
use crate::steady;
use crate::survey::{FileSurvey, NEVER, survey};
use anabranch_units::Span;
use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
use std::path::PathBuf;

/// Most rows of the series of subflows: 80 MB while they are gathered, and as much again for round-trip times.
const MOST_ROWS: u64 = 5_000_000;

/// What to measure.
#[derive(Clone, Debug)]
pub struct Options {
    /// Length TM of the measuring window, which ends with the first FIN; None: from T1 on.
    pub window: Option<Span>,
    /// Length of the intervals of the series.
    pub interval: Span,
    /// Only flows with one of these ports; all if empty.
    pub ports: Vec<u16>,
    /// No packet passes two capture points: each is counted wherever it was seen.
    pub disjoint: bool,
    /// Files that are read at once.
    pub threads: usize,
}

/// How far an analysis is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ReadProgress {
    /// Bytes read, of both passes.
    pub bytes: u64,
    /// Bytes to be read.
    pub total_bytes: u64,
}

/// Analyses captures of one experiment. `progress` is called now and then and may end the work; while standard input is
/// read, it ends the reading, and what has come is analysed.
///
/// # Errors
/// If a file cannot be read, all such files together, and so if none is a capture; if there is no TCP in any; if the
/// series would have too many rows; if `progress` breaks.
pub fn analyze(
    paths: &[PathBuf],
    options: &Options,
    progress: impl FnMut(ReadProgress) -> ControlFlow<()>,
) -> Result<Analysis, CaptureError> {
    analyze_in_batches(paths, options, batch::PACKETS, progress)
}

/// As [`analyze`], with so many packets of a file at a time, which makes no difference but to speed.
pub(crate) fn analyze_in_batches(
    paths: &[PathBuf],
    options: &Options,
    batch: usize,
    mut progress: impl FnMut(ReadProgress) -> ControlFlow<()>,
) -> Result<Analysis, CaptureError> {
    let none = ReadProgress { bytes: 0, total_bytes: 0 };
    let (inputs, interrupted) = inputs(paths, &mut || progress(none))?;
    let meter = Meter::default();
    let whole_bytes: Vec<u64> = inputs.iter().map(Input::bytes).collect();
    // Of both passes, and of more where flows were captured at several places.
    let total_bytes = Cell::new(2 * whole_bytes.iter().sum::<u64>());
    let mut hear =
        || progress(ReadProgress { bytes: meter.bytes(), total_bytes: total_bytes.get() }).is_continue();
    let mut files = sort_out(for_each(inputs.len(), options.threads, &meter, &mut hear, |file| {
        survey(&inputs[file], &options.ports, batch, &meter)
    }))?;
    if meter.stopped() {
        return Err(CaptureError::Interrupted);
    }
    let mut warnings = describe(&inputs, &files);
    let (selection, later_ns) = choose(&inputs, &mut files, options, &mut warnings)?;
    let (connections, ties) = group(&selection.flows);
    let data_direction = data_directions(&selection.flows, &connections);
    let window_ns = options.window.map(nanoseconds);
    let steady = steady::find(&selection.flows, &data_direction, window_ns, &mut warnings);
    let times = steady.times(nanoseconds(options.interval));
    let packets: Vec<u64> = files.iter().map(|file| file.counts.packets).collect();
    let copies: Vec<&Copies> = files.iter().map(|file| &file.copies).collect();
    let elsewhere: Vec<Selection> = (0..).map_while(|number| selection.elsewhere(number)).collect();
    let passes: Vec<&Selection> = std::iter::once(&selection).chain(&elsewhere).collect();
    passes.iter().try_for_each(|selection| check_rows(&selection.flows, &times))?;
    total_bytes.set(bytes_of(&whole_bytes, &passes));
    let mut measured = measure_all(&passes, &times, |selection, times| {
        let job = Job {
            inputs: &inputs,
            ports: &options.ports,
            packets: &packets,
            copies: &copies,
            later_ns: &later_ns,
            selection,
            data_direction: &data_direction,
            times,
            batch,
            meter: &meter,
        };
        let measure = |index: usize| measure::measure(&job, &selection.groups[index]);
        together(for_each(selection.groups.len(), options.threads, &meter, &mut hear, measure))
    })?;
    if meter.stopped() {
        return Err(CaptureError::Interrupted);
    }
    take_off_fins(&selection.flows, &data_direction, &mut measured, &times);
    Ok(report(Findings {
        files: &files,
        selection: &selection,
        connections: &connections,
        ties: &ties,
        data_direction: &data_direction,
        measured: &measured,
        steady: &steady,
        times: &times,
        warnings,
    })
    .ended(interrupted))
}

fn nanoseconds(span: Span) -> u64 {
    (span.as_ps() / 1000).max(1)
}

/// The flows of all files, and what is added to the times of each file.
fn choose(
    inputs: &[Input],
    files: &mut [FileSurvey],
    options: &Options,
    warnings: &mut Vec<String>,
) -> Result<(Selection, Vec<i64>), CaptureError> {
    let mut selection = select(files, options.disjoint, false);
    if selection.flows.is_empty() {
        let problems: Vec<FileProblem> = files.iter_mut().filter_map(|file| file.problem.take()).collect();
        return Err(if problems.is_empty() {
            nothing(files, options)
        } else {
            CaptureError::Files { files: problems }
        });
    }
    let later_ns = align(files, &selection.flows);
    if selection.flows.iter().any(|flow| flow.apart_ns.is_some()) {
        describe_clocks(inputs, &later_ns, warnings);
        selection = select(files, options.disjoint, true);
    }
    if selection.told_apart > 0 {
        warnings.push(format!(
            "{} of {} subflows with the addresses and ports of others, told apart by the tunnels or virtual networks that \
             they are in: see encapsulation",
            selection.told_apart,
            selection.flows.len()
        ));
    }
    Ok((selection, later_ns))
}

type Surveyed = Result<Option<FileSurvey>, FileProblem>;

/// What the files have; or what is wrong with them, all together.
fn sort_out(surveyed: Vec<Surveyed>) -> Result<Vec<FileSurvey>, CaptureError> {
    let (mut files, mut problems) = (Vec::new(), Vec::new());
    for result in surveyed {
        match result {
            Ok(file) => files.extend(file),
            Err(problem) => problems.push(problem),
        }
    }
    if problems.is_empty() { Ok(files) } else { Err(CaptureError::Files { files: problems }) }
}

/// How many bytes are read in all: of each file once, and once more for each pass over it.
fn bytes_of(whole_bytes: &[u64], passes: &[&Selection]) -> u64 {
    let read = passes.iter().flat_map(|selection| selection.groups.iter().flatten());
    whole_bytes.iter().sum::<u64>() + read.map(|&file| whole_bytes[file]).sum::<u64>()
}

/// What all flows gave where they are read, with round-trip times of the other places where these are longer.
fn measure_all(
    passes: &[&Selection],
    times: &Times,
    mut read: impl FnMut(&Selection, Times) -> Result<measure::Results, CaptureError>,
) -> Result<Vec<[Measured; 2]>, CaptureError> {
    let mut measured = by_flow(passes[0], read(passes[0], *times)?);
    for (number, &place) in passes[1..].iter().enumerate() {
        let times_there = times.back_to(first_ns(&place.flows));
        let results = read(place, times_there)?;
        take_longer(&passes[0].flows, number, results, &mut measured, (times, &times_there));
    }
    Ok(measured)
}

/// What all groups gave; or what is wrong with their files, all together.
fn together(groups: Vec<Result<measure::Results, FileProblem>>) -> Result<measure::Results, CaptureError> {
    let (mut results, mut problems) = (Vec::new(), Vec::new());
    for group in groups {
        match group {
            Ok(group) => results.extend(group),
            Err(problem) => problems.push(problem),
        }
    }
    if problems.is_empty() { Ok(results) } else { Err(CaptureError::Files { files: problems }) }
}

/// What both directions of each flow gave; one that was not seen gave nothing.
fn by_flow(selection: &Selection, results: measure::Results) -> Vec<[Measured; 2]> {
    let mut all: Vec<[Measured; 2]> = Vec::new();
    all.resize_with(selection.flows.len(), Default::default);
    for (flow, direction, measured) in results {
        all[flow][direction] = measured;
    }
    all
}

/// For each flow, the direction in which its connection carries more payload; of a connection of which one end alone was
/// captured, the direction that this end acknowledges, if that is more than it sends.
fn data_directions(flows: &[Flow], connections: &[crate::group::Connection]) -> Vec<usize> {
    let mut directions = vec![0; flows.len()];
    for connection in connections {
        let sum = |by_client: bool, of: fn(&Direction) -> u64| -> u64 {
            let side = |flow: &Flow| if by_client { flow.client } else { 1 - flow.client };
            connection.flows.iter().map(|&flow| of(&flows[flow].directions[side(&flows[flow])])).sum()
        };
        let is_heard =
            |by_client: bool| sum(by_client, |direction| direction.packets - u64::from(direction.syns)) > 0;
        let sent = [true, false].map(|by_client| sum(by_client, |direction| direction.payload));
        let acknowledged = [true, false].map(|by_client| sum(by_client, |direction| direction.acknowledges));
        let from_client = match (is_heard(true), is_heard(false)) {
            (true, false) => sent[0] > 0 && sent[0] >= acknowledged[0],
            (false, true) => sent[1] < acknowledged[1],
            _ => sent[0] >= sent[1],
        };
        for &flow in &connection.flows {
            directions[flow] = if from_client { flows[flow].client } else { 1 - flows[flow].client };
        }
    }
    directions
}

/// Takes FINs off what was acknowledged of data that nobody captured.
fn take_off_fins(flows: &[Flow], data_direction: &[usize], measured: &mut [[Measured; 2]], times: &Times) {
    for ((flow, &data), measured) in flows.iter().zip(data_direction).zip(measured) {
        if flow.directions[data].packets == 0 && flow.directions[data].fin_end.is_none() {
            measured[1 - data].take_off_fin(times);
        }
    }
}

/// The first packet of these flows.
fn first_ns(flows: &[Flow]) -> u64 {
    flows.iter().map(Flow::first_ns).min().unwrap_or(NEVER)
}

fn check_rows(flows: &[Flow], times: &Times) -> Result<(), CaptureError> {
    let rows = |interval_ns: u64| {
        let times = Times { interval_ns, ..times.back_to(first_ns(flows)) };
        let bins = |flow: &Flow| (times.bin(flow.last_ns()) - times.bin(flow.first_ns())) as u64 + 1;
        flows.iter().filter(|flow| flow.is_read()).fold(0u64, |sum, flow| sum.saturating_add(bins(flow)))
    };
    // A flow has two rows at most if the interval is long enough.
    let most = MOST_ROWS.max(2 * flows.len() as u64);
    let asked = rows(times.interval_ns);
    if asked <= most {
        return Ok(());
    }
    // The rows of a flow go down with the interval but for those it begins and ends in, hence the search.
    let ns = u128::from(times.interval_ns) * u128::from(asked) / u128::from(most);
    let mut interval_ns = rounded_up(u64::try_from(ns).unwrap_or(u64::MAX));
    while rows(interval_ns) > most {
        interval_ns = rounded_up(interval_ns.saturating_add((interval_ns / 100).max(1)));
    }
    let interval = Span::from_ps(interval_ns.saturating_mul(1000));
    Err(CaptureError::TooManyRows { rows: asked, most, interval })
}

/// The next number of three significant digits.
fn rounded_up(number: u64) -> u64 {
    let step = 10u64.pow(number.checked_ilog10().unwrap_or(0).saturating_sub(2));
    number.div_ceil(step).saturating_mul(step)
}

/// What the reader of files should know of them.
fn describe(inputs: &[Input], files: &[FileSurvey]) -> Vec<String> {
    let mut warnings = Vec::new();
    for (input, file) in inputs.iter().zip(files) {
        describe_file(&input.name().display().to_string(), file, &mut warnings);
    }
    warnings
}

/// What was added to the times of files.
fn describe_clocks(inputs: &[Input], later_ns: &[i64], warnings: &mut Vec<String>) {
    for (input, &later_ns) in inputs.iter().zip(later_ns).filter(|(_, later_ns)| **later_ns != 0) {
        warnings.push(format!(
            "{}: its clock is {:.6} s {} that of the file with the other direction, by the handshakes; its times are moved \
             by as much, which is right to half a round trip",
            input.name().display(),
            later_ns.unsigned_abs() as f64 / 1e9,
            if later_ns > 0 { "behind" } else { "ahead of" }
        ));
    }
}

/// What a file's reader should know of it.
fn describe_file(name: &str, file: &FileSurvey, warnings: &mut Vec<String>) {
    let mut warn = |text: String| warnings.push(format!("{name}: {text}"));
    if let Some(FileProblem { problem, .. }) = &file.problem {
        warn(format!("left out, for it {problem}"));
        return;
    }
    let counts = &file.counts;
    match (&file.trouble, &file.end) {
        (Some(trouble), _) => warn(format!(
            "{trouble}; what could be unpacked is used, {} bytes and {} packets",
            file.bytes, counts.packets
        )),
        (None, End::Complete) => {}
        (None, End::Cut(at)) => warn(format!(
            "the file ends inside a record that begins at byte {at}, as when the capture or a copy was \
             stopped; the {} packets before it are used",
            counts.packets
        )),
        (None, End::Damaged(at, what)) => warn(format!(
            "damaged at byte {at}: {what}; what follows is not read, the {} packets before it are used",
            counts.packets
        )),
    }
    if counts.tcp == 0 {
        warn(format!("no TCP among its {} packets", counts.packets));
    }
    if counts.unknown_link > 0 {
        warn(format!("packets passed over, of {}: {}", unknown_links(&[file]), counts.unknown_link));
    }
    let hidden = file.protocols.hidden();
    if !hidden.is_empty() {
        let sum: u64 = hidden.iter().map(|(_, packets)| packets).sum();
        let parts = hidden.iter().map(|(protocol, packets)| {
            format!("{packets} {} ({})", protocol.name(), protocol.hides_tcp().unwrap_or_default())
        });
        let parts = parts.collect::<Vec<_>>().join(", ");
        warn(format!("packets that may hold TCP which cannot be read here: {sum}, of which {parts}"));
    }
    let several = [
        (
            file.copies.count(),
            "copies of packets that were captured before, as a mirror port or a bridge gives them, left out",
        ),
        (counts.headers_cut, "packets that end before their TCP header does, or contradict themselves"),
        (
            counts.options_cut,
            "TCP headers cut inside their options, where MPTCP is (160 bytes of each packet would do)",
        ),
        (counts.fragments, "later fragments of IP packets passed over"),
        (counts.beyond, "packets of more flows than are followed (choose with --port)"),
        (file.oddities.without_time, "packets without a time passed over"),
        (file.oddities.without_interface, "packets of an interface that is not described passed over"),
    ];
    for (count, what) in several {
        if count > 0 {
            warn(format!("{what}: {count}"));
        }
    }
    if file.jumps.count > 0 {
        warn(format!(
            "times go back by more than a second, by {:.1} s at most, as when a clock is set or captures are \
             put one behind the other; the window and what is measured in it are wrong then, so give the parts \
             before and behind (editcap -A and -B cut a file by time): {}",
            file.jumps.largest_ns as f64 / 1e9,
            file.jumps.count
        ));
    }
}

fn nothing(files: &[FileSurvey], options: &Options) -> CaptureError {
    let sum = |of: fn(&FileSurvey) -> u64| files.iter().map(of).sum::<u64>();
    let packets = sum(|file| file.counts.packets);
    let tcp = sum(|file| file.counts.tcp);
    if packets == 0 {
        if let Some(message) = unusable(files) {
            return CaptureError::Nothing(message);
        }
        let cut = files.iter().any(|file| file.end != End::Complete);
        let why = if cut { "the file ends, or is damaged, before the first" } else { "nothing was captured" };
        return CaptureError::Nothing(format!("no packets: {why}"));
    }
    if tcp > 0 {
        let ports: Vec<String> = options.ports.iter().map(u16::to_string).collect();
        return CaptureError::Nothing(format!(
            "none of the {tcp} TCP packets has port {}; leave out --port for all",
            ports.join(" or ")
        ));
    }
    if files.iter().any(|file| !file.unknown_link_types.is_empty()) {
        let files: Vec<&FileSurvey> = files.iter().collect();
        return CaptureError::Nothing(format!("no TCP that can be read: {}", unknown_links(&files)));
    }
    let parts: Vec<String> = Protocols::together(files.iter().map(|file| &file.protocols), 0)
        .into_iter()
        .map(|ProtocolCount { encapsulation, protocol, packets }| {
            let around = if encapsulation.is_empty() { String::new() } else { format!("{encapsulation} > ") };
            format!("{packets} {around}{}", protocol.name())
        })
        .chain(said(sum(|file| file.counts.fragments), "later fragments of IP packets"))
        .chain(said(sum(|file| file.counts.headers_cut), "cut before their TCP header"))
        .collect();
    let hidden = files.iter().flat_map(|file| file.protocols.hidden()).collect::<BTreeMap<_, _>>();
    let hints = hidden.keys().map(|protocol| {
        format!("; {} may hold TCP: {}", protocol.name(), protocol.hides_tcp().unwrap_or_default())
    });
    CaptureError::Nothing(format!(
        "no TCP among {packets} packets: {}{}",
        parts.join(", "),
        hints.collect::<String>()
    ))
}

/// A number of things, unless there are none.
fn said(count: u64, what: &str) -> Option<String> {
    (count > 0).then(|| format!("{count} {what}"))
}

/// The link types of files that cannot be read, by their names, and what to do about them.
fn unknown_links(files: &[&FileSurvey]) -> String {
    let types: BTreeSet<u16> = files.iter().flat_map(|file| &file.unknown_link_types).copied().collect();
    let names: Vec<String> = types.iter().map(|number| link_type_name(*number)).collect();
    format!(
        "link type {} is not known; capture at a device with IP or Ethernet, or, where each packet has a header of N bytes \
         before IP, cut it off: editcap -C N -T rawip IN OUT (-T ether before Ethernet)",
        names.join(", ")
    )
}

/// What files have that hold packets, and none that can be used.
fn unusable(files: &[FileSurvey]) -> Option<String> {
    let sum = |of: fn(&FileSurvey) -> u64| files.iter().map(of).sum::<u64>();
    let kinds = [
        (
            sum(|file| file.oddities.without_time),
            "in Simple Packet Blocks of pcapng, which have no time (Enhanced Packet Blocks, as tcpdump and \
             dumpcap write them, do)",
        ),
        (
            sum(|file| file.oddities.without_interface),
            "of an interface that the file does not describe, so that their link type is not known (capture \
             again, or copy the file with its beginning)",
        ),
    ];
    let there: Vec<String> =
        kinds.iter().filter(|(count, _)| *count > 0).map(|(count, what)| format!("{count} {what}")).collect();
    (!there.is_empty()).then(|| format!("no packets that can be used: {}", there.join("; ")))
}
