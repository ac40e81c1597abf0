//! The steady-state window: T1, T2 and [T2 - TM, T2] (Garcia-Aviles 2017, section IV-C).

use crate::select::Flow;
use crate::survey::NEVER;

/// When all subflows were connected, and what is measured.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Steady {
    /// First and last packet of all flows.
    pub origin_ns: u64,
    pub last_ns: u64,
    /// T1: the last ACK of a handshake; None if no handshake was seen.
    pub t1_ns: Option<u64>,
    /// T2: the first FIN; None if there was none.
    pub t2_ns: Option<u64>,
    pub start_ns: u64,
    pub end_ns: u64,
    /// Flows whose handshake was seen to its end, and those with a FIN.
    pub established: usize,
    pub finished: usize,
    /// Flows whose SYN was never answered: they take no part.
    pub unanswered: usize,
    /// Flows that were reset before T2.
    pub reset: usize,
}

/// Whether a flow never came to be: a SYN and no ACK of the client's, nor data.
pub(crate) fn is_unanswered(flow: &Flow) -> bool {
    let data: u64 = flow.directions.iter().map(|direction| direction.payload).sum();
    flow.opened && flow.established_ns() == NEVER && data == 0
}

/// Finds the window, and what there is to say about it.
pub(crate) fn find(flows: &[Flow], window_ns: Option<u64>, warnings: &mut Vec<String>) -> Steady {
    let took_part = || flows.iter().filter(|flow| !is_unanswered(flow));
    let origin_ns = flows.iter().map(Flow::first_ns).min().unwrap_or(0);
    let last_ns = flows.iter().map(Flow::last_ns).max().unwrap_or(0);
    let known = |ns: u64| (ns != NEVER).then_some(ns);
    let t1_ns = took_part().filter_map(|flow| known(flow.established_ns())).max();
    let t2_ns = took_part().filter_map(|flow| known(flow.fin_ns())).min();
    let end_ns = t2_ns.unwrap_or(last_ns);
    let mut steady = Steady {
        origin_ns,
        last_ns,
        t1_ns,
        t2_ns,
        start_ns: origin_ns,
        end_ns,
        established: took_part().filter(|flow| flow.established_ns() != NEVER).count(),
        finished: took_part().filter(|flow| flow.fin_ns() != NEVER).count(),
        unanswered: flows.iter().filter(|flow| is_unanswered(flow)).count(),
        reset: took_part().filter(|flow| flow.rst_ns() < end_ns).count(),
    };
    place(&mut steady, window_ns, warnings);
    describe(&steady, took_part().count(), warnings);
    steady
}

fn place(steady: &mut Steady, window_ns: Option<u64>, warnings: &mut Vec<String>) {
    let since = |ns: u64| ns.saturating_sub(steady.origin_ns) as f64 / 1e9;
    let connected_ns = steady.t1_ns.unwrap_or(steady.origin_ns);
    match window_ns {
        Some(length) => {
            steady.start_ns = steady.end_ns.saturating_sub(length);
            if steady.start_ns < steady.origin_ns {
                warnings.push(format!(
                    "the window of {} s is longer than what was captured before T2, {:.6} s; it begins with \
                     the first packet",
                    length as f64 / 1e9,
                    since(steady.end_ns)
                ));
                steady.start_ns = steady.origin_ns;
            }
            if steady.start_ns < connected_ns {
                warnings.push(format!(
                    "the window begins at {:.6} s, before T1 = {:.6} s, when the last subflow connected: what \
                     it shows is no steady state; a shorter --window, or a longer experiment, would",
                    since(steady.start_ns),
                    since(connected_ns)
                ));
            }
        }
        None if connected_ns < steady.end_ns => steady.start_ns = connected_ns,
        None => {
            warnings.push(format!(
                "T1 = {:.6} s, when the last subflow connected, is not before T2 = {:.6} s, the first FIN: \
                 there is no steady state, and the whole capture is measured",
                since(connected_ns),
                since(steady.end_ns)
            ));
            (steady.start_ns, steady.end_ns) = (steady.origin_ns, steady.last_ns);
        }
    }
}

fn describe(steady: &Steady, flows: usize, warnings: &mut Vec<String>) {
    let Steady { established, finished, unanswered, reset, .. } = *steady;
    if established < flows {
        let missing = flows - established;
        warnings.push(format!(
            "{missing} of {flows} TCP flows without the ACK of a handshake: the capture began later, or lost \
             it; T1 is {}",
            if established == 0 { "unknown" } else { "that of the others" }
        ));
    }
    if finished == 0 {
        warnings.push("no FIN was captured: the window ends with the last packet in place of T2".to_owned());
    } else if finished < flows {
        warnings.push(format!("{finished} of {flows} TCP flows with a FIN: T2 is the first of these"));
    }
    if unanswered > 0 {
        warnings.push(format!("connection attempts without an answer, left out of T1 and T2: {unanswered}"));
    }
    if reset > 0 {
        warnings.push(format!("{reset} of {flows} TCP flows reset before the window's end"));
    }
}
