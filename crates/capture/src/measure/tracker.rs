//! A flow under way: both directions, each with data, with acknowledgments of the other's data, or with both.

use super::events::{ACKS, DATA, Event, WINDOW_CLOSED};
use super::{
    AckTimes, DataAcks, DataTimes, Disordered, Interval, Job, Measured, Probes, Times, direction_of,
};
use crate::packet::{ACK, FIN, RST, SYN};
use crate::round_trips::{AckArrival, RoundTrips, RttHistogram};
use crate::select::{Direction, Flow};
use crate::sequence::{Acked, Arrival, Disorder, Kind, Sequence};
use std::mem::take;

/// What every packet of a flow moves, in three lines of the cache. Arrays are by the direction's role: [`DATA`] or
/// [`ACKS`] of the connection.
#[repr(C, align(64))]
pub(super) struct Tracker {
    /// What the acknowledgments of each direction say of the other's data, and how much of it in the window.
    acked: [Acked; 2],
    window_acked: [u64; 2],
    transfer: Transfer,
    packets_left: [u64; 2],
}

const _: () = assert!(size_of::<Tracker>() == 192);

/// Data of one direction, and how they are acknowledged.
#[derive(Default)]
#[repr(C)]
struct Transfer {
    sequence: Sequence,
    trips: RoundTrips,
    /// The interval under way, and bytes acknowledged in it.
    bin: usize,
    bytes: u64,
    /// When data were last acknowledged; where no ACKs are read, when they were last seen.
    last_ns: u64,
}

/// What few packets of a flow need, but for its first line, where round-trip times go.
#[derive(Default)]
#[repr(C, align(64))]
pub(super) struct Rest {
    transfer: TransferRest,
    /// Data against those of the connection.
    reverse: Option<Box<(Transfer, TransferRest)>>,
    implausible: [u64; 2],
    /// By the role of their sender.
    probes: [Probes; 2],
    /// Of MPTCP.
    data_acks: [Option<Box<DataAcks>>; 2],
    /// Whether the direction is read in these files.
    is_here: [bool; 2],
}

/// Of a transfer, what few packets need.
#[derive(Default)]
#[repr(C)]
struct TransferRest {
    rtts: RttHistogram,
    /// Of the ACKs.
    intervals: Vec<Interval>,
    /// None until there is any.
    disorder: Option<Box<(Disorder, Disordered)>>,
    data_bins: Bins,
    ack_bins: Bins,
    first_data: Option<(u64, u32)>,
    acks: AckTimes,
}

/// Intervals from a direction's first packet to its last.
#[derive(Clone, Copy, Default)]
struct Bins {
    first: usize,
    count: usize,
}

impl Bins {
    fn of(direction: &Direction, times: &Times) -> Self {
        let first = times.bin(direction.first_ns);
        Self { first, count: times.bin(direction.last_ns) - first + 1 }
    }

    #[inline]
    fn index(self, bin: usize) -> usize {
        bin.saturating_sub(self.first)
    }
}

/// What is kept of a flow from its first packet on. `is_read`: by file, whether it is read with the flow's.
pub(super) fn begin(job: &Job<'_>, flow: usize, is_read: &[bool]) -> (Tracker, Rest) {
    let Flow { directions, multipath, .. } = &job.selection.flows[flow];
    let roles = [DATA, ACKS].map(|role| &directions[direction_of(job, flow, role)]);
    let [data, acks] = roles;
    // All points of a direction are read together.
    let is_here = roles.map(|this| this.points.first().is_some_and(|point| is_read[point.file as usize]));
    let bins = [DATA, ACKS]
        .map(|role| if is_here[role] { Bins::of(roles[role], &job.times) } else { Bins::default() });
    let shares_a_point = is_here == [true; 2] && data.points.iter().any(|point| acks.points.contains(point));
    let transfer = |role: usize| {
        let (data_bins, ack_bins) = (bins[role], bins[1 - role]);
        let transfer = Transfer {
            sequence: Sequence::new(roles[role].isn),
            trips: RoundTrips::new(shares_a_point),
            bin: ack_bins.first,
            bytes: 0,
            last_ns: 0,
        };
        (transfer, TransferRest { data_bins, ack_bins, ..TransferRest::default() })
    };
    let (main, main_rest) = transfer(DATA);
    let mut rest = Rest { transfer: main_rest, is_here, ..Rest::default() };
    rest.transfer.intervals.reserve_exact(bins[ACKS].count);
    if is_here[ACKS] && acks.payload > 0 {
        rest.reverse = Some(Box::new(transfer(ACKS)));
    }
    if is_here[ACKS] && multipath.as_ref().is_some_and(|multipath| multipath.dss) {
        let series = vec![0; bins[ACKS].count];
        rest.data_acks[ACKS] = Some(Box::new(DataAcks { series, ..DataAcks::default() }));
    }
    let tracker = Tracker {
        acked: [Acked::new(acks.isn, acks.fin_end), Acked::new(data.isn, data.fin_end)],
        window_acked: [0; 2],
        transfer: main,
        packets_left: [DATA, ACKS].map(|role| if is_here[role] { roles[role].packets } else { 0 }),
    };
    (tracker, rest)
}

impl Tracker {
    /// Something of each line of the cache.
    #[inline]
    pub(super) fn lines(&self) -> u64 {
        self.window_acked[0] ^ self.transfer.sequence.packets() ^ self.packets_left[1]
    }

    /// Something of where the next segment goes, or the first one waits.
    #[inline]
    pub(super) fn next_slot(&self) -> u64 {
        self.transfer.trips.next_slot()
    }

    /// Whether an ACK in this interval ends the one under way.
    #[inline]
    pub(super) fn ends_with(&self, bin: usize) -> bool {
        self.transfer.bin != bin
    }

    /// Whether no packet is to come.
    #[inline]
    pub(super) fn is_done(&self) -> bool {
        self.packets_left == [0; 2]
    }

    /// Takes note of a packet; of a file that has grown, only of those that the survey knew.
    #[inline]
    pub(super) fn on_event(&mut self, rest: &mut Rest, event: &Event, job: &Job<'_>, most_waiting: u32) {
        let role = usize::from(event.role);
        if self.packets_left[role] == 0 {
            return;
        }
        self.packets_left[role] -= 1;
        let is_probe = event.payload < 2 && self.is_probe(rest, event, job);
        if event.payload > 0 && !is_probe {
            let most_waiting = if self.packets_left[1 - role] > 0 { most_waiting } else { 0 };
            if let Some((transfer, rest)) = transfer_of(&mut self.transfer, rest, role) {
                transfer.on_data(rest, event, job, most_waiting);
            }
        }
        if event.flags & (ACK | RST) == ACK {
            self.on_ack(rest, event, &job.times);
        }
    }

    /// Whether a segment with at most a byte of data asks whether the other end is there: a keep-alive (RFC 9293 section
    /// 3.8.4) or, where that end has closed its window, a probe of it (section 3.8.6.1). It has the number before the
    /// next one, which is acknowledged; or a new byte, which is not taken into a closed window.
    #[inline]
    fn is_probe(&mut self, rest: &mut Rest, event: &Event, job: &Job<'_>) -> bool {
        let role = usize::from(event.role);
        let peer = &self.acked[1 - role];
        let is_old = peer.next_seq() == Some(event.seq.wrapping_add(1));
        if event.flags & (SYN | FIN | RST) != 0 || !(is_old || event.payload == 1) {
            return false;
        }
        self.note_probe(rest, event, job, is_old)
    }

    #[cold]
    fn note_probe(&mut self, rest: &mut Rest, event: &Event, job: &Job<'_>, is_acknowledged: bool) -> bool {
        let role = usize::from(event.role);
        let peer = &self.acked[1 - role];
        let (is_closed, is_peer_silent) = (peer.is_window_closed, peer.next_seq().is_none());
        let transfer = transfer_of(&mut self.transfer, rest, role);
        let next = transfer.as_ref().and_then(|(transfer, _)| transfer.sequence.next_seq());
        let is_before_next = next.is_none_or(|next| next == event.seq.wrapping_add(1));
        // Without ACKs, by what a retransmission would not be: the last byte of a longer segment.
        let is_a_part = transfer
            .as_ref()
            .is_some_and(|(transfer, _)| transfer.sequence.last_arrival() != Some(event.seq));
        if is_before_next
            && (is_acknowledged || is_closed || (is_peer_silent && event.payload == 1 && is_a_part))
        {
            let count =
                if is_closed { &mut rest.probes[role].window } else { &mut rest.probes[role].keep_alives };
            *count += 1;
            return true;
        }
        let is_new = next == Some(event.seq) && event.payload == 1;
        if let Some((transfer, transfer_rest)) = transfer.filter(|_| is_new && is_closed) {
            transfer.sequence.on_probe(transfer_rest.disorder(&job.selection.flows, event.flow));
            rest.probes[role].window += 1;
            return true;
        }
        false
    }

    #[inline]
    fn on_ack(&mut self, rest: &mut Rest, event: &Event, times: &Times) {
        let role = usize::from(event.role);
        self.acked[role].is_window_closed = event.flags & WINDOW_CLOSED != 0;
        match self.acked[role].on_ack(event.ack) {
            Some(0) => {}
            Some(bytes) => {
                if event.time_ns > times.start_ns && event.time_ns <= times.end_ns {
                    self.window_acked[role] += bytes;
                }
                let ack = self.acked[role].of_data(event.ack);
                if let Some((transfer, rest)) = transfer_of(&mut self.transfer, rest, 1 - role) {
                    transfer.on_ack(rest, event, ack, bytes);
                }
            }
            None => rest.implausible[role] += 1,
        }
        if let Some(number) = event.data_ack {
            let bins = if role == DATA { rest.transfer.data_bins } else { rest.transfer.ack_bins };
            let data_acks = rest.data_acks[role].get_or_insert_default();
            data_acks.on_data_ack(number, event.time_ns, bins.index(event.bin), times);
        }
    }

    /// By role, what was measured of the directions that are read here, when no more comes.
    pub(super) fn finish(&mut self, rest: Rest) -> [Option<Measured>; 2] {
        let Rest { transfer, reverse, implausible, probes, data_acks, is_here } = rest;
        let mut measured = data_acks.map(|data_acks| Measured { data_acks, ..Measured::default() });
        let transfers = [Some((take(&mut self.transfer), transfer)), reverse.map(|reverse| *reverse)];
        for (role, (transfer, rest)) in
            transfers.into_iter().enumerate().filter_map(|(role, it)| Some((role, it?)))
        {
            transfer.finish(rest, &mut measured, role);
        }
        for (role, measured) in measured.iter_mut().enumerate() {
            measured.acked = self.acked[role].bytes();
            measured.window_acked = self.window_acked[role];
            measured.implausible = implausible[role] + measured.data().implausible;
            measured.probes = probes[role];
        }
        let mut here = is_here.into_iter();
        measured.map(|measured| here.next().unwrap_or_default().then_some(measured))
    }
}

/// The data with this role, if there are any.
#[inline]
fn transfer_of<'a>(
    main: &'a mut Transfer,
    rest: &'a mut Rest,
    role: usize,
) -> Option<(&'a mut Transfer, &'a mut TransferRest)> {
    if role == DATA {
        return Some((main, &mut rest.transfer));
    }
    rest.reverse.as_deref_mut().map(|(transfer, rest)| (transfer, rest))
}

impl Rest {
    /// Something of the first line of the cache.
    #[inline]
    pub(super) fn line(&self) -> u64 {
        u64::from(self.transfer.rtts.waits())
    }

    /// Something of where an interval that ends goes.
    #[inline]
    pub(super) fn last_interval(&self) -> u64 {
        self.transfer.intervals.last().map_or(0, |interval| interval.bytes)
    }
}

impl Transfer {
    /// A data segment; so many may wait for their ACKs at most.
    #[inline]
    fn on_data(&mut self, rest: &mut TransferRest, event: &Event, job: &Job<'_>, most_waiting: u32) {
        let is_syn = u32::from(event.flags & SYN != 0);
        let arrival = Arrival {
            // The SYN has the number before that of the first byte.
            seq: event.seq.wrapping_add(is_syn),
            payload: event.payload,
            time_ns: event.time_ns,
            timestamp: event.timestamps.map(|timestamps| timestamps.value),
        };
        if self.sequence.packets() == 0 {
            rest.first_data = Some((event.time_ns, event.payload));
        }
        if most_waiting == 0 && rest.ack_bins.count == 0 {
            self.last_ns = event.time_ns;
        }
        let kind = self.sequence.on_data(|| rest.disorder(&job.selection.flows, event.flow), &arrival);
        if matches!(kind, Kind::Reordered | Kind::Retransmission) {
            rest.count(kind, event.bin);
        }
        if most_waiting > 0 {
            self.trips.on_data(&arrival, kind, event.at, most_waiting);
        }
    }

    /// An ACK of so many new bytes; `ack` is its number without the FIN.
    #[inline]
    fn on_ack(&mut self, rest: &mut TransferRest, event: &Event, ack: u32, bytes: u64) {
        if event.bin != self.bin {
            self.close_bin(rest);
            self.bin = event.bin;
        }
        self.bytes += bytes;
        if self.last_ns == 0 || bytes == 1 {
            rest.acks.note(event.time_ns, bytes, self.last_ns);
        }
        self.last_ns = event.time_ns;
        let (timestamps, time_ns, point) = (event.timestamps, event.time_ns, event.at);
        if let Some(rtt_ns) = self.trips.on_ack(&AckArrival { ack, timestamps, time_ns, point }) {
            rest.rtts.record(rtt_ns);
        }
    }

    #[cold]
    fn close_bin(&mut self, rest: &mut TransferRest) {
        let (rtt_ns, samples) = self.trips.take_sum();
        let bytes = take(&mut self.bytes);
        if bytes == 0 {
            return;
        }
        let closed = Interval { bin: rest.ack_bins.index(self.bin) as u32, samples, bytes, rtt_ns };
        Interval::insert(&mut rest.intervals, closed);
    }

    /// Puts what was measured to the directions, by role, that of the data and that of its ACKs.
    fn finish(mut self, mut rest: TransferRest, measured: &mut [Measured; 2], role: usize) {
        self.close_bin(&mut rest);
        let disorder = rest.disorder.map(|both| {
            let (disorder, mut series) = *both;
            series.counts = disorder.finish();
            Box::new(series)
        });
        let has_acks = rest.ack_bins.count > 0;
        let last_data_ns = if has_acks { 0 } else { self.last_ns };
        let data = &mut measured[role];
        data.data_times = rest.first_data.map(|(first_ns, first_bytes)| DataTimes {
            first_ns,
            first_bytes,
            last_ns: last_data_ns,
        });
        (data.packets, data.payload, data.disorder) =
            (self.sequence.packets(), self.sequence.payload(), disorder);
        let acks = &mut measured[1 - role];
        acks.ack_times = AckTimes { last_ns: if has_acks { self.last_ns } else { 0 }, ..rest.acks };
        acks.intervals = rest.intervals;
        acks.rtts = (rest.rtts.count() > 0).then(|| Box::new(rest.rtts));
    }
}

impl TransferRest {
    #[cold]
    fn disorder(&mut self, flows: &[Flow], flow: u32) -> &mut Disorder {
        let fresh = || Box::new((Disorder::new(flows, flow), Disordered::default()));
        &mut self.disorder.get_or_insert_with(fresh).0
    }

    /// Counts a data segment that is out of order in its interval.
    #[cold]
    fn count(&mut self, kind: Kind, bin: usize) {
        let Some(disorder) = &mut self.disorder else { return };
        let series =
            if kind == Kind::Reordered { &mut disorder.1.reordered } else { &mut disorder.1.retransmissions };
        series.resize(self.data_bins.count, 0);
        if let Some(count) = series.get_mut(self.data_bins.index(bin)) {
            *count += 1;
        }
    }
}
