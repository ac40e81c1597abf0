//! Assertions: the names of Linux's `struct tcp_info` and their values.

use super::connection::Connection;
use crate::script::{Assertion, Comparison, Expression, Operator};
use anabranch_transport::congestion::Recovery;
use anabranch_units::Span;

/// What Linux has for a threshold that was never set (TCP_INFINITE_SSTHRESH).
const NO_THRESHOLD: u64 = 0x7fff_ffff;

/// How a name gets its value.
type Measure = fn(&Connection) -> f64;

/// Every name that an assertion may use, and what it is.
const NAMES: &[(&str, Measure)] = &[
    ("tcpi_snd_cwnd", |c| whole(c.info().metrics.cwnd / c.info().full_payload)),
    ("tcpi_snd_ssthresh", |c| match c.info().metrics.ssthresh {
        threshold if threshold >= NO_THRESHOLD * c.info().full_payload => whole(NO_THRESHOLD),
        threshold => whole(threshold / c.info().full_payload),
    }),
    ("tcpi_rtt", |c| microseconds(c.info().metrics.srtt)),
    ("tcpi_rttvar", |c| microseconds(c.info().metrics.rttvar)),
    ("tcpi_min_rtt", |c| microseconds(c.info().metrics.min_rtt)),
    ("tcpi_rto", |c| microseconds(c.info().metrics.rto)),
    ("tcpi_unacked", |c| whole(c.info().outstanding_segments)),
    ("tcpi_sacked", |c| whole(c.info().sacked_segments)),
    ("tcpi_lost", |c| whole(c.info().lost_segments)),
    ("tcpi_retrans", |c| whole(c.info().retransmitted_segments)),
    ("tcpi_total_retrans", |c| whole(c.stats().retransmissions)),
    ("tcpi_backoff", |c| f64::from(c.info().backoff)),
    ("tcpi_snd_mss", |c| whole(c.info().full_payload)),
    ("tcpi_ca_state", |c| f64::from(congestion_state(c))),
    ("tcpi_options", |c| f64::from(options(c))),
    ("TCP_CA_Open", |_| 0.0),
    ("TCP_CA_Disorder", |_| 1.0),
    ("TCP_CA_CWR", |_| 2.0),
    ("TCP_CA_Recovery", |_| 3.0),
    ("TCP_CA_Loss", |_| 4.0),
    ("TCP_INFINITE_SSTHRESH", |_| whole(NO_THRESHOLD)),
    // Ours, in bytes where Linux counts segments, and what its structure has not.
    ("cwnd_bytes", |c| whole(c.info().metrics.cwnd)),
    ("ssthresh_bytes", |c| whole(c.info().metrics.ssthresh)),
    ("pipe_bytes", |c| whole(c.info().metrics.in_flight)),
    ("timeouts", |c| whole(c.stats().timeouts)),
    ("probes", |c| whole(c.stats().tail_loss_probes)),
    ("fast_recoveries", |c| whole(c.stats().fast_recoveries)),
    ("undone_recoveries", |c| whole(c.stats().undone_recoveries)),
    ("ecn_reductions", |c| whole(c.stats().ecn_reductions)),
];

fn whole(number: u64) -> f64 {
    number as f64
}

fn microseconds(span: Span) -> f64 {
    (span.as_ps() / 1_000_000) as f64
}

/// Linux's state CWR is told apart only where the window is led down behind a mark (`prr_in_segments`).
fn congestion_state(connection: &Connection) -> u8 {
    let info = connection.info();
    match info.recovery {
        Recovery::Fast => 3,
        Recovery::Loss => 4,
        Recovery::Open if info.reduces_behind_mark => 2,
        Recovery::Open => u8::from(info.sacked_segments > 0),
    }
}

/// The bits TCPI_OPT_TIMESTAMPS, TCPI_OPT_SACK and TCPI_OPT_ECN; scaling has none here.
fn options(connection: &Connection) -> u8 {
    let info = connection.info();
    u8::from(info.timestamps) + 2 * u8::from(info.sack) + 8 * u8::from(info.ecn)
}

fn value(name: &str, connection: &Connection) -> Option<f64> {
    NAMES.iter().find(|(field, _)| *field == name).map(|(_, of)| of(connection))
}

/// A name that the model has no value for.
pub(super) fn beyond(assertion: &Assertion) -> Option<String> {
    let mut names = Vec::new();
    collect(&assertion.expression, &mut names);
    let unknown = names.into_iter().find(|name| NAMES.iter().all(|(field, _)| field != name))?;
    Some(format!("the model has no {unknown}"))
}

fn collect<'a>(expression: &'a Expression, names: &mut Vec<&'a str>) {
    match expression {
        Expression::Number(_) => {}
        Expression::Name(name) => names.push(name),
        Expression::Not(inner) | Expression::Negative(inner) => collect(inner, names),
        Expression::Binary(left, _, right) => {
            collect(left, names);
            collect(right, names);
        }
        Expression::Chain(first, links) => {
            collect(first, names);
            links.iter().for_each(|(_, part)| collect(part, names));
        }
        Expression::All(parts) | Expression::AnyOf(parts) => {
            parts.iter().for_each(|part| collect(part, names));
        }
    }
}

/// What does not hold, with the values; none if it holds.
pub(super) fn violation(assertion: &Assertion, connection: &Connection) -> Option<String> {
    let value_now = evaluate(&assertion.expression, connection);
    // 0/0 holds nothing.
    if value_now != 0.0 && !value_now.is_nan() {
        return None;
    }
    let mut names = Vec::new();
    collect(&assertion.expression, &mut names);
    names.dedup();
    let values: Vec<String> = names
        .iter()
        .filter(|name| !name.starts_with("TCP_"))
        .filter_map(|name| Some(format!("{name} is {}", value(name, connection)?)))
        .collect();
    Some(format!("assert {}: {}", assertion.text, values.join(", ")))
}

/// Numbers; 1 and 0 for true and false, as in Python. Names are known ([`beyond`]).
fn evaluate(expression: &Expression, connection: &Connection) -> f64 {
    let truth = |holds: bool| if holds { 1.0 } else { 0.0 };
    match expression {
        Expression::Number(number) => *number,
        Expression::Name(name) => value(name, connection).unwrap_or(f64::NAN),
        Expression::Not(inner) => truth(evaluate(inner, connection) == 0.0),
        Expression::Negative(inner) => -evaluate(inner, connection),
        Expression::Binary(left, operator, right) => {
            let (left, right) = (evaluate(left, connection), evaluate(right, connection));
            match operator {
                Operator::Plus => left + right,
                Operator::Minus => left - right,
                Operator::Times => left * right,
                Operator::Divide => left / right,
                Operator::DivideWhole => (left / right).floor(),
                Operator::Remainder => left - right * (left / right).floor(),
            }
        }
        Expression::Chain(first, links) => {
            let mut left = evaluate(first, connection);
            truth(links.iter().all(|(comparison, part)| {
                let right = evaluate(part, connection);
                let holds = compare(left, *comparison, right);
                left = right;
                holds
            }))
        }
        Expression::All(parts) => truth(parts.iter().all(|part| evaluate(part, connection) != 0.0)),
        Expression::AnyOf(parts) => truth(parts.iter().any(|part| evaluate(part, connection) != 0.0)),
    }
}

fn compare(left: f64, comparison: Comparison, right: f64) -> bool {
    match comparison {
        Comparison::Equal => left == right,
        Comparison::Different => left != right,
        Comparison::Less => left < right,
        Comparison::LessOrEqual => left <= right,
        Comparison::Greater => left > right,
        Comparison::GreaterOrEqual => left >= right,
    }
}

#[cfg(test)]
mod tests {
    use super::NAMES;

    #[test]
    fn the_manual_has_every_name() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/scripts.md");
        let manual = std::fs::read_to_string(path).expect("the manual");
        let absent: Vec<&str> = NAMES
            .iter()
            .map(|(name, _)| *name)
            .filter(|name| !manual.contains(&format!("`{name}`")))
            .collect();
        assert_eq!(absent, ["TCP_CA_CWR"; 0]);
    }
}
