//! TCP ports of connections.

use crate::random::Stream;

/// Well-known port of the receiving ends.
pub const SERVER_PORT: u16 = 5001;
/// First and number of the ports that sending ends draw from (RFC 6335 section 6, dynamic ports).
const DYNAMIC: (u16, u64) = (49_152, 16_384);

/// The port of a sending end, each dynamic one equally likely (RFC 6056 section 3.3.1). Takes one draw.
#[must_use]
pub fn draw_source_port(stream: &mut Stream) -> u16 {
    DYNAMIC.0 + stream.below(DYNAMIC.1) as u16
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Streams;

    /// RFC 6335 section 6: dynamic ports are 49152 to 65535. Of 200,000 draws one in 12 hits any given
    /// port; that none of the lowest or highest ten comes up has a probability below 1e-40.
    #[test]
    fn source_ports_are_the_dynamic_ones() {
        let mut stream = Streams::new(1, 0).stream("a", "connection");
        let ports: Vec<u16> = (0..200_000).map(|_| draw_source_port(&mut stream)).collect();
        assert!(ports.iter().all(|&port| port >= 49_152));
        assert!(ports.iter().any(|&port| port < 49_162) && ports.iter().any(|&port| port > 65_525));
    }
}
