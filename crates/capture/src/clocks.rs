//! Whether the times of a file go forward: windows and throughput are wrong where they do not.

/// Times a little out of order are usual: several processors, or devices, write into one file.
const USUAL_NS: u64 = 1_000_000_000;

/// Jumps back from one packet of an interface to its next.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub(crate) struct Jumps {
    /// How many there are of more than a second.
    pub count: u64,
    /// The largest of them, in nanoseconds.
    pub largest_ns: u64,
}

/// The times of a file's interfaces, of which each has a clock of its own.
#[derive(Default)]
pub(crate) struct Clocks {
    /// By interface, the time of its last packet.
    last_ns: Vec<u64>,
    jumps: Jumps,
}

impl Clocks {
    /// Takes note of a packet's time.
    #[inline]
    pub(crate) fn note(&mut self, interface: u32, time_ns: u64) {
        let Some(last_ns) = self.last_ns.get_mut(interface as usize) else {
            return self.begin(interface, time_ns);
        };
        let back_ns = last_ns.saturating_sub(time_ns);
        *last_ns = time_ns;
        if back_ns > USUAL_NS {
            self.jump(back_ns);
        }
    }

    /// The interfaces before it have no packet yet: their first times are behind 0.
    #[cold]
    fn begin(&mut self, interface: u32, time_ns: u64) {
        self.last_ns.resize(interface as usize + 1, 0);
        self.last_ns[interface as usize] = time_ns;
    }

    #[cold]
    fn jump(&mut self, back_ns: u64) {
        self.jumps.count += 1;
        self.jumps.largest_ns = self.jumps.largest_ns.max(back_ns);
    }

    /// What was noted so far.
    pub(crate) fn jumps(&self) -> Jumps {
        self.jumps
    }
}
