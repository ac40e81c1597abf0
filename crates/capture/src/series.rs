//! Series over intervals, and what MPTCP's data ACKs say of a whole connection.

use crate::measure::{DataAcks, Measured, Times};
use crate::select::Flow;

/// Data ACKs of a connection's subflows, brought into one space.
pub(crate) struct DataLevel {
    /// Bytes acknowledged in each interval since the connection's first.
    pub series: Vec<u64>,
    /// In the window; None where no data ACK came before its start.
    pub window: Option<u64>,
    /// Between the first data ACK that acknowledged something new and the last; None where there are no two.
    pub own: Option<Span>,
}

/// Bytes acknowledged after a time, until another one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Span {
    pub from_ns: u64,
    pub until_ns: u64,
    pub bytes: u64,
}

impl Span {
    /// In Mbit/s; NaN without length.
    pub(crate) fn mbps(self) -> f64 {
        let seconds = self.until_ns.saturating_sub(self.from_ns) as f64 / 1e9;
        if seconds > 0.0 { self.bytes as f64 * 8.0 / 1e6 / seconds } else { f64::NAN }
    }
}

/// The subflows' data ACKs together: at any time the highest counts. Where only lower halves are sent, a
/// subflow's numbers are moved by multiples of 2^32 to the ones nearest to the connection's.
///
/// `members`: each flow with what the direction of its acknowledgments gave, and that direction.
pub(crate) fn data_level(members: &[(&Flow, usize, &Measured)], times: &Times) -> Option<DataLevel> {
    let advanced =
        members.iter().filter_map(|member| Some((member.0, member.1, member.2.data_acks.as_deref()?)));
    let with: Vec<_> = advanced.filter(|member| member.2.first.is_some()).collect();
    let bin_of = |member: &(&Flow, usize, &DataAcks)| times.bin(member.0.directions[member.1].first_ns);
    let first_bin = with.iter().map(bin_of).min()?;
    let end_bin = with.iter().map(|member| bin_of(member) + member.2.series.len()).max()?;
    let first_of_all = with.iter().min_by_key(|member| member.0.directions[member.1].first_ns)?;
    let begin = first_of_all.2.first?;
    let mut shifts: Vec<Option<u64>> = vec![None; with.len()];
    let mut highest = begin;
    let mut series = Vec::with_capacity(end_bin - first_bin);
    for bin in first_bin..end_bin {
        let before = highest;
        for (member, shift) in with.iter().zip(&mut shifts) {
            let value = bin.checked_sub(bin_of(member)).and_then(|at| member.2.series.get(at));
            // 0 stands for an interval without a data ACK; a number that is 0 is only passed over.
            let Some(&value) = value.filter(|value| **value != 0) else { continue };
            let shift = *shift.get_or_insert_with(|| shift_to(value, highest));
            let ahead = value.wrapping_add(shift).wrapping_sub(highest).cast_signed();
            highest = highest.wrapping_add_signed(ahead.max(0));
        }
        series.push(highest.wrapping_sub(before));
    }
    let at = |of: fn(&DataAcks) -> Option<u64>| {
        with.iter()
            .zip(&shifts)
            .filter_map(|(member, shift)| Some(of(member.2)?.wrapping_add(shift.unwrap_or(0))))
            .map(|value| value.wrapping_sub(begin).cast_signed())
            .max()
    };
    let window = match (at(|data| data.at_start), at(|data| data.at_end)) {
        (Some(start), Some(end)) => Some((end - start).max(0) as u64),
        _ => None,
    };
    let advances = with.iter().zip(&shifts).filter_map(|(member, shift)| {
        let (time_ns, value) = member.2.first_advance?;
        Some((time_ns, value.wrapping_add(shift.unwrap_or(0)), member.2.last_advance_ns))
    });
    let until_ns = advances.clone().map(|advance| advance.2).max();
    let own_time = advances.min().zip(until_ns).and_then(|((from_ns, value, _), until_ns)| {
        let bytes = u64::try_from(highest.wrapping_sub(value).cast_signed()).ok()?;
        (until_ns > from_ns).then_some(Span { from_ns, until_ns, bytes })
    });
    Some(DataLevel { series, window, own: own_time })
}

/// The multiple of 2^32 that brings `value` nearest to `reference`; 0 if it is near as it is.
fn shift_to(value: u64, reference: u64) -> u64 {
    let near = i64::from((value as u32).wrapping_sub(reference as u32).cast_signed());
    reference.wrapping_add_signed(near).wrapping_sub(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_are_moved_next_to_the_whole_number() {
        // 0x1_0000_0010 is nearest to 0x10 after 0xFFFF_FFF0: one more round.
        assert_eq!(shift_to(0x10, 0xFFFF_FFF0), 1 << 32);
        assert_eq!(shift_to(0xFFFF_FFF0, 0x5_0000_0010), 4 << 32);
        assert_eq!(shift_to(0x5_0000_0000, 0x5_0000_0010), 0);
    }
}
