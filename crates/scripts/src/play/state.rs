//! Assertions: the names of Linux's `struct tcp_info` and their values.

use super::connection::Connection;
use crate::script::{Comparison, Expression, Function, Operator, Statement};
use anabranch_transport::congestion::Recovery;
use anabranch_units::Span;
use std::collections::BTreeMap;

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
    ("tcpi_reordering", |c| whole(c.info().reordering_segments)),
    ("tcpi_reord_seen", |c| whole(c.info().reorderings)),
    ("tcpi_snd_mss", |c| whole(c.info().full_payload)),
    ("tcpi_advmss", |c| whole(c.advertised_mss())),
    ("tcpi_state", |c| f64::from(c.state())),
    ("tcpi_data_segs_out", |c| whole(c.stats().segments)),
    ("tcpi_data_segs_in", |c| whole(c.received_segments())),
    ("tcpi_notsent_bytes", |c| whole(c.unsent())),
    ("tcpi_snd_wscale", |c| f64::from(c.scales().0)),
    ("tcpi_rcv_wscale", |c| f64::from(c.scales().1)),
    ("tcpi_ca_state", |c| f64::from(congestion_state(c))),
    ("tcpi_options", |c| f64::from(options(c))),
    ("TCP_CA_Open", |_| 0.0),
    ("TCP_CA_Disorder", |_| 1.0),
    ("TCP_CA_CWR", |_| 2.0),
    ("TCP_CA_Recovery", |_| 3.0),
    ("TCP_CA_Loss", |_| 4.0),
    ("TCP_INFINITE_SSTHRESH", |_| whole(NO_THRESHOLD)),
    ("TCPI_OPT_TIMESTAMPS", |_| 1.0),
    ("TCPI_OPT_SACK", |_| 2.0),
    ("TCPI_OPT_WSCALE", |_| 4.0),
    ("TCPI_OPT_ECN", |_| 8.0),
    ("TCP_ESTABLISHED", |_| 1.0),
    ("TCP_SYN_SENT", |_| 2.0),
    ("TCP_SYN_RECV", |_| 3.0),
    ("TCP_FIN_WAIT1", |_| 4.0),
    ("TCP_FIN_WAIT2", |_| 5.0),
    ("TCP_TIME_WAIT", |_| 6.0),
    ("TCP_CLOSE", |_| 7.0),
    ("TCP_CLOSE_WAIT", |_| 8.0),
    ("TCP_LAST_ACK", |_| 9.0),
    ("TCP_LISTEN", |_| 10.0),
    ("TCP_CLOSING", |_| 11.0),
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

/// The bits TCPI_OPT_TIMESTAMPS, TCPI_OPT_SACK, TCPI_OPT_WSCALE and TCPI_OPT_ECN.
fn options(connection: &Connection) -> u8 {
    let info = connection.info();
    u8::from(info.timestamps)
        + 2 * u8::from(info.sack)
        + 4 * u8::from(connection.scales_windows())
        + 8 * u8::from(info.ecn)
}

/// What a script has assigned, by its names.
pub(super) type Variables = BTreeMap<String, f64>;

/// What names stand for.
struct Scope<'a> {
    connection: &'a Connection,
    variables: &'a Variables,
}

impl Scope<'_> {
    fn value(&self, name: &str) -> Option<f64> {
        let assigned = self.variables.get(name).copied();
        let measured = || NAMES.iter().find(|(field, _)| *field == name).map(|(_, of)| of(self.connection));
        assigned.or_else(measured)
    }
}

/// The first name of a script's code that has no value, with its line: neither of the model's, nor assigned before.
pub(super) fn beyond(code: &[Statement], assigned: &mut Vec<String>) -> Option<(usize, String)> {
    for statement in code {
        let mut names = Vec::new();
        collect(&statement.expression, &mut names);
        let is_known = |name: &str| {
            NAMES.iter().any(|(field, _)| *field == name) || assigned.iter().any(|one| one == name)
        };
        if let Some(unknown) = names.into_iter().find(|name| !is_known(name)) {
            return Some((statement.line, format!("the model has no {unknown}")));
        }
        if statement.assigns {
            assigned.push(statement.text.clone());
        }
    }
    None
}

fn collect<'a>(expression: &'a Expression, names: &mut Vec<&'a str>) {
    match expression {
        Expression::Number(_) => {}
        Expression::Name(name) => names.push(name),
        Expression::Not(inner) | Expression::Negative(inner) | Expression::Inverted(inner) => {
            collect(inner, names);
        }
        Expression::Binary(left, _, right) => {
            collect(left, names);
            collect(right, names);
        }
        Expression::Chain(first, links) => {
            collect(first, names);
            links.iter().for_each(|(_, part)| collect(part, names));
        }
        Expression::Member(one, _, members) => {
            collect(one, names);
            members.iter().for_each(|part| collect(part, names));
        }
        Expression::Conditional(parts) => parts.iter().for_each(|part| collect(part, names)),
        Expression::All(parts) | Expression::AnyOf(parts) | Expression::Function(_, parts) => {
            parts.iter().for_each(|part| collect(part, names));
        }
    }
}

/// Runs the code of a script: what does not hold, with the values; none if all holds.
pub(super) fn violation(
    code: &[Statement],
    connection: &Connection,
    variables: &mut Variables,
) -> Option<String> {
    for statement in code {
        let scope = Scope { connection, variables };
        let value = evaluate(&statement.expression, &scope);
        if statement.assigns {
            let _ = variables.insert(statement.text.clone(), value);
            continue;
        }
        // 0/0 holds nothing.
        if value != 0.0 && !value.is_nan() {
            continue;
        }
        let mut names = Vec::new();
        collect(&statement.expression, &mut names);
        names.dedup();
        let values: Vec<String> = names
            .iter()
            .filter(|name| !name.starts_with("TCP"))
            .filter_map(|name| Some(format!("{name} is {}", scope.value(name)?)))
            .collect();
        return Some(format!("assert {}: {}", statement.text, values.join(", ")));
    }
    None
}

/// Numbers; 1 and 0 for true and false, as in Python. Names are known ([`beyond`]).
fn evaluate(expression: &Expression, scope: &Scope<'_>) -> f64 {
    let truth = |holds: bool| if holds { 1.0 } else { 0.0 };
    let all = |parts: &[Expression]| -> Vec<f64> { parts.iter().map(|part| evaluate(part, scope)).collect() };
    match expression {
        Expression::Number(number) => *number,
        Expression::Name(name) => scope.value(name).unwrap_or(f64::NAN),
        Expression::Not(inner) => truth(evaluate(inner, scope) == 0.0),
        Expression::Negative(inner) => -evaluate(inner, scope),
        Expression::Inverted(inner) => -evaluate(inner, scope) - 1.0,
        Expression::Binary(left, operator, right) => {
            combine(evaluate(left, scope), *operator, evaluate(right, scope))
        }
        Expression::Chain(first, links) => {
            let mut left = evaluate(first, scope);
            truth(links.iter().all(|(comparison, part)| {
                let right = evaluate(part, scope);
                let holds = compare(left, *comparison, right);
                left = right;
                holds
            }))
        }
        Expression::Member(one, among, members) => {
            truth(all(members).contains(&evaluate(one, scope)) == *among)
        }
        Expression::Conditional(parts) => {
            let [condition, value, other] = &**parts;
            evaluate(if evaluate(condition, scope) == 0.0 { other } else { value }, scope)
        }
        Expression::Function(function, parts) => apply(*function, &all(parts)),
        Expression::All(parts) => truth(parts.iter().all(|part| evaluate(part, scope) != 0.0)),
        Expression::AnyOf(parts) => truth(parts.iter().any(|part| evaluate(part, scope) != 0.0)),
    }
}

fn combine(left: f64, operator: Operator, right: f64) -> f64 {
    let bits = |of: fn(i64, i64) -> i64| of(left as i64, right as i64) as f64;
    match operator {
        Operator::Plus => left + right,
        Operator::Minus => left - right,
        Operator::Times => left * right,
        Operator::Divide => left / right,
        Operator::DivideWhole => (left / right).floor(),
        Operator::Remainder => left - right * (left / right).floor(),
        Operator::And => bits(|left, right| left & right),
        Operator::Or => bits(|left, right| left | right),
        Operator::ExclusiveOr => bits(|left, right| left ^ right),
        Operator::ShiftLeft => left * 2.0_f64.powf(right),
        Operator::ShiftRight => (left / 2.0_f64.powf(right)).floor(),
        Operator::Power => left.powf(right),
    }
}

fn apply(function: Function, values: &[f64]) -> f64 {
    let first = values.first().copied().unwrap_or(f64::NAN);
    match function {
        Function::Absolute => first.abs(),
        Function::Least => values.iter().copied().fold(first, f64::min),
        Function::Largest => values.iter().copied().fold(first, f64::max),
        Function::Truncated => first.trunc(),
        // Python rounds halves to the even neighbour.
        Function::Rounded => first.round_ties_even(),
        Function::Plain => first,
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
