//! Queue disciplines: which packets wait in front of a link, in which order they leave, and which are dropped or
//! marked.
//!
//! A discipline is a type of its own that implements [`QueueDiscipline`], with its parameters declared beside it. It is
//! given the time and what arrives; it knows neither the event queue nor what a packet carries ([`Packets`] says the
//! little that it may ask). Each has a line in the registry at the end of this file, which makes the enumerations
//! [`Discipline`] (parameters) and [`Queue`] (state) of it, and one in [`DropCause`] if it drops packets by a law of its
//! own; counters and columns of the tables follow from that.
//!
//! | discipline | source |
//! |---|---|
//! | [`fifo`] | drop-tail |
//! | [`threshold`] | drop-tail with marks above a length (RFC 3168, RFC 8257 section 3.1) |
//! | [`codel`] | RFC 8289 |
//! | [`fq_codel`] | RFC 8290 |
//! | [`pie`] | RFC 8033 |
//! | [`red`] | Floyd and Jacobson 1993 |
//! | [`trim`] | UEC Specification 1.0.3 section 4.1 |

mod buffer;
pub mod codel;
pub mod fifo;
pub mod fq_codel;
pub mod pie;
#[cfg(test)]
mod properties;
pub mod red;
#[cfg(test)]
mod testing;
pub mod threshold;
pub mod trim;

pub use buffer::{Buffer, Waiting};
use fifo::Fifo;

use crate::packet::{PacketId, PacketPool};
use crate::random::{Stream, Streams};
use anabranch_units::declaration::{Kind, OutOfRange, Parameter, Parameters, Plain, Registry};
use anabranch_units::{Instant, Rate};

anabranch_units::leaf! {
    /// Most packets and bytes that may wait.
    #[derive(Copy, Eq, Default)]
    pub struct Limit: "limit" {
        /// Packets; `None` for no such bound.
        pub packets: Option<u64>,
        /// Bytes; `None` for no such bound.
        pub bytes: Option<u64>,
    }
}

const ROOM_TEXT: &str = "Room for waiting packets, such as `\"64 kB\"`, `\"20 ms\"` or `\"1 BDP\"`, or a list of rooms, \
     which all hold.";

/// The link that a queue stands in front of.
#[derive(Clone, Copy, Debug)]
pub struct QueueContext<'l> {
    /// Room for waiting packets.
    pub limit: Limit,
    /// Rate of the link.
    pub rate: Rate,
    /// Random streams of the run.
    pub streams: Streams,
    /// Name of the link.
    pub link: &'l str,
    /// Name of the random stream among those of the link.
    pub draws: &'l str,
}

impl QueueContext<'_> {
    /// The random stream of the queue, from its beginning.
    #[must_use]
    pub fn stream(&self) -> Stream {
        self.streams.stream(self.link, self.draws)
    }
}

/// What a discipline may know of packets and do with them.
pub trait Packets {
    /// Where the packets are; those that wait are linked through it ([`Buffer`]).
    fn pool(&mut self) -> &mut PacketPool;

    /// A packet is lost for this cause. It is no longer in the queue.
    fn drop(&mut self, packet: PacketId, cause: DropCause);

    /// Sets "congestion experienced" (RFC 3168) if the transport is ECN-capable; whether it is.
    fn mark(&mut self, packet: PacketId) -> bool;

    /// Whether the packet could be marked.
    fn is_ecn_capable(&self, packet: PacketId) -> bool;

    /// Whether the packet is of `spray` and has headers alone: an answer, a probe, or what was trimmed.
    fn is_control(&self, packet: PacketId) -> bool;

    /// Cuts the payload of a packet of `spray` off; whether it had one.
    fn trim(&mut self, packet: PacketId) -> bool;

    /// Whether the link leads to the packet's destination.
    fn is_last_hop(&self, packet: PacketId) -> bool;

    /// What distinguishes the packet's subflow and direction, the same for all its packets: it stands for the 5-tuple.
    fn flow(&self, packet: PacketId) -> u64;
}

/// What a discipline decides about the packets that wait. The one being sent does not count.
///
/// Calls come in the order of time. The buffer holds the packets and has room for so many. A discipline that keeps them
/// itself, because it sends them in another order, counts them in the buffer and implements
/// [`QueueDiscipline::flush`] and [`QueueDiscipline::packets`]. [`Packets::drop`] is called for each packet that was
/// taken and is given back by neither [`QueueDiscipline::dequeue`] nor [`QueueDiscipline::flush`].
pub trait QueueDiscipline: Sized {
    /// What can be set.
    type Parameters: Parameters;

    /// Packets that may wait where nobody has given a limit.
    const ROOM: u64 = 100;

    /// An empty queue.
    fn new(parameters: &Self::Parameters, place: &QueueContext<'_>) -> Self;

    /// Checks parameters against each other; each is within its bounds.
    ///
    /// # Errors
    /// The first that does not go with the others.
    fn check_together(_parameters: &Self::Parameters) -> Result<(), OutOfRange> {
        Ok(())
    }

    /// A packet arrives while the link is busy, and waits or is dropped.
    fn enqueue(&mut self, buffer: &mut Buffer, arrival: Waiting, packets: &mut impl Packets);

    /// A packet arrives while nothing waits and the link has had nothing to send since `idle_since`: whether it is sent
    /// at once. If not, it has been dropped.
    #[inline]
    fn pass(&mut self, _arrival: Waiting, _idle_since: Instant, _packets: &mut impl Packets) -> bool {
        true
    }

    /// The packet to send at `now`; `None` if none is left.
    fn dequeue(&mut self, buffer: &mut Buffer, now: Instant, packets: &mut impl Packets) -> Option<Waiting>;

    /// The link has another rate from now on.
    #[inline]
    fn set_rate(&mut self, _buffer: &Buffer, _now: Instant, _rate: Rate) {}

    /// Takes out all that waits, because the link goes down.
    fn flush(&mut self, buffer: &mut Buffer, _now: Instant, pool: &PacketPool) -> Vec<Waiting> {
        buffer.flush(pool)
    }

    /// The packets that wait, in some order.
    fn packets(&self, buffer: &Buffer, pool: &PacketPool) -> Vec<PacketId> {
        buffer.packets(pool)
    }
}

/// Makes the enumeration of causes, with the end of its column's name and a name for people.
macro_rules! causes {
    ($( $(#[doc = $text:literal])+ $variant:ident: $name:literal, $label:literal; )+) => {
        /// Why a packet was dropped.
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub enum DropCause {
            $( $(#[doc = $text])+ $variant, )+
        }

        impl DropCause {
            /// All of them, in the order of the columns.
            pub const ALL: &'static [Self] = &[$( Self::$variant ),+];

            /// Its column: `drops_queue`.
            #[must_use]
            pub const fn column(self) -> &'static str {
                match self {
                    $( Self::$variant => concat!("drops_", $name), )+
                }
            }

            /// What a figure calls it.
            #[must_use]
            pub const fn label(self) -> &'static str {
                match self {
                    $( Self::$variant => $label, )+
                }
            }
        }
    };
}

causes! {
    /// The queue was full.
    Queue: "queue", "full queue";
    /// Random loss.
    Random: "random", "random loss";
    /// The link or a node at it went down, or was down.
    Down: "down", "link down";
    /// CoDel chose it.
    Codel: "codel", "CoDel";
    /// No route leads to its destination.
    Unreachable: "unreachable", "no route";
    /// CoDel of a flow's own queue chose it.
    FqCodel: "fq_codel", "FQ-CoDel";
    /// PIE chose it.
    Pie: "pie", "PIE";
    /// RED chose it.
    Red: "red", "RED";
    /// A token bucket had not its bytes: that of a policer, or a shaper's that is smaller than the packet.
    Policed: "policed", "policer";
    /// The checksum failed at its destination, because a link had damaged it.
    Corrupted: "corrupted", "corrupted";
}

impl DropCause {
    /// Those that happen on a link; a packet without a route is on none, and a host finds out that one is damaged.
    pub fn on_links() -> impl Iterator<Item = Self> {
        Self::ALL.iter().copied().filter(|cause| !matches!(cause, Self::Unreachable | Self::Corrupted))
    }

    /// Whether a queue dropped the packet, for want of room or by its law.
    #[must_use]
    pub const fn is_queue(self) -> bool {
        !matches!(self, Self::Random | Self::Down | Self::Unreachable | Self::Policed | Self::Corrupted)
    }
}

/// Packets dropped, by cause.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Drops([u64; DropCause::ALL.len()]);

impl Drops {
    /// Counts so many more.
    #[inline]
    pub fn add(&mut self, cause: DropCause, packets: u64) {
        self.0[cause as usize] += packets;
    }

    /// Those for one cause.
    #[must_use]
    pub const fn of(&self, cause: DropCause) -> u64 {
        self.0[cause as usize]
    }

    /// All of them.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.0.iter().sum()
    }

    /// Those of queues.
    #[must_use]
    pub fn by_queues(&self) -> u64 {
        DropCause::ALL.iter().filter(|cause| cause.is_queue()).map(|&cause| self.of(cause)).sum()
    }
}

/// Makes the enumerations of disciplines: their parameters, and their states.
macro_rules! disciplines {
    ($( $name:literal => $variant:ident($type:ty) ),+ $(,)?) => {
        anabranch_units::registry! {
            /// The queue discipline of a link.
            pub enum Discipline: "queue" {
                $( $name => $variant(<$type as QueueDiscipline>::Parameters), )+
            }
        }

        impl Discipline {
            /// All disciplines with their parameters, the first of which is the room in front of a link.
            #[must_use]
            pub fn described_with_room() -> Registry {
                let rooms = [$( <$type as QueueDiscipline>::ROOM ),+];
                let mut registry = Self::described();
                for (discipline, room) in registry.algorithms.iter_mut().zip(rooms) {
                    let limit = Parameter::new("limit", &[ROOM_TEXT], &room);
                    // A room has its own forms, and its own check of the sign.
                    let room = Parameter { kind: Kind::Room, least: Plain::Absent, ..limit };
                    discipline.parameters.insert(0, room);
                }
                registry
            }

            /// Checks the parameters against their bounds and against each other.
            ///
            /// # Errors
            /// The first that does not hold.
            pub fn verify(&self) -> Result<(), OutOfRange> {
                self.check()?;
                match self {
                    $( Self::$variant(parameters) => <$type as QueueDiscipline>::check_together(parameters), )+
                }
            }
        }

        #[derive(Debug)]
        enum State {
            $( $variant($type), )+
        }

        /// The queue in front of a link: the packets that wait, and the discipline that rules them. The calls are those
        /// of [`QueueDiscipline`].
        #[derive(Debug)]
        #[repr(C)]
        pub struct Queue {
            buffer: Buffer,
            /// In a box, because links lie side by side; none for drop-tail, which most are, and which has no state.
            state: Option<Box<State>>,
        }

        impl Queue {
            /// An empty queue.
            #[must_use]
            pub fn new(discipline: &Discipline, place: &QueueContext<'_>) -> Self {
                let state = match discipline {
                    $( Discipline::$variant(parameters) => {
                        State::$variant(QueueDiscipline::new(parameters, place))
                    } )+
                };
                let state = (!matches!(state, State::Fifo(_))).then(|| Box::new(state));
                Self { buffer: Buffer::new(place.limit), state }
            }

            /// One in which nothing waits.
            #[must_use]
            pub fn without_room() -> Self {
                Self { buffer: Buffer::new(Limit { packets: Some(0), bytes: None }), state: None }
            }

            /// A packet arrives while the link is busy.
            pub fn enqueue(&mut self, arrival: Waiting, packets: &mut impl Packets) {
                match self.state.as_deref_mut() {
                    None => Fifo.enqueue(&mut self.buffer, arrival, packets),
                    $( Some(State::$variant(law)) => law.enqueue(&mut self.buffer, arrival, packets), )+
                }
            }

            /// A packet arrives while the link is idle.
            pub fn pass(&mut self, arrival: Waiting, idle_since: Instant, packets: &mut impl Packets) -> bool {
                match self.state.as_deref_mut() {
                    None => Fifo.pass(arrival, idle_since, packets),
                    $( Some(State::$variant(law)) => law.pass(arrival, idle_since, packets), )+
                }
            }

            /// The packet to send at `now`.
            pub fn dequeue(&mut self, now: Instant, packets: &mut impl Packets) -> Option<Waiting> {
                match self.state.as_deref_mut() {
                    None => Fifo.dequeue(&mut self.buffer, now, packets),
                    $( Some(State::$variant(law)) => law.dequeue(&mut self.buffer, now, packets), )+
                }
            }

            /// The link has another rate.
            pub fn set_rate(&mut self, now: Instant, rate: Rate) {
                match self.state.as_deref_mut() {
                    None => Fifo.set_rate(&self.buffer, now, rate),
                    $( Some(State::$variant(law)) => law.set_rate(&self.buffer, now, rate), )+
                }
            }

            /// Takes out all that waits.
            pub fn flush(&mut self, now: Instant, pool: &PacketPool) -> Vec<Waiting> {
                match self.state.as_deref_mut() {
                    None => Fifo.flush(&mut self.buffer, now, pool),
                    $( Some(State::$variant(law)) => law.flush(&mut self.buffer, now, pool), )+
                }
            }

            /// The packets that wait, in some order.
            #[must_use]
            pub fn packets(&self, pool: &PacketPool) -> Vec<PacketId> {
                match self.state.as_deref() {
                    None => Fifo.packets(&self.buffer, pool),
                    $( Some(State::$variant(law)) => law.packets(&self.buffer, pool), )+
                }
            }
        }
    };
}

impl Queue {
    /// Whether it is drop-tail, which asks nothing of a packet but its bytes: [`Queue::push`] and [`Queue::pop`] then do
    /// what [`Queue::enqueue`] and [`Queue::dequeue`] do, and fit into the loop of events.
    #[inline]
    #[must_use]
    pub fn is_drop_tail(&self) -> bool {
        self.state.is_none()
    }

    /// Puts a packet at the end of a drop-tail queue; whether there was room.
    #[inline]
    pub fn push(&mut self, arrival: Waiting, pool: &mut PacketPool) -> bool {
        let room = self.buffer.has_room(arrival.bytes);
        if room {
            self.buffer.push(arrival, pool);
        }
        room
    }

    /// Takes the first of a drop-tail queue.
    #[inline]
    pub fn pop(&mut self, pool: &PacketPool) -> Option<Waiting> {
        self.buffer.pop(pool)
    }

    /// Counts a packet that has been taken out and is not sent yet: it still takes its room.
    pub fn hold(&mut self, bytes: u32) {
        self.buffer.count(u64::from(bytes));
    }

    /// A packet of [`Queue::hold`] is gone.
    pub fn release(&mut self, bytes: u32) {
        self.buffer.discount(1, u64::from(bytes));
    }

    /// Packets that wait.
    #[inline]
    #[must_use]
    pub fn backlog(&self) -> u64 {
        self.buffer.backlog()
    }

    /// Their bytes.
    #[inline]
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.buffer.bytes()
    }

    /// Notes how many wait now, for [`Queue::longest`].
    #[inline]
    pub fn note_length(&mut self) {
        self.buffer.note_length();
    }

    /// Most packets that waited when somebody noted it.
    #[must_use]
    pub fn longest(&self) -> u64 {
        self.buffer.longest()
    }

    /// Whether none waits.
    #[inline]
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.buffer.is_empty()
    }

    /// Another queue, empty so far, takes its place. What waits moves there in the order of arrival, as if it arrived
    /// there: it is taken, marked or dropped. The time that it has waited counts on.
    pub fn hand_over(&mut self, now: Instant, to: Self, packets: &mut impl Packets) {
        let mut before = std::mem::replace(self, to);
        self.buffer.remember(&before.buffer);
        let mut moving = before.flush(now, packets.pool());
        moving.sort_by_key(|waiting| waiting.since);
        for waiting in moving {
            self.enqueue(waiting, packets);
        }
    }
}

disciplines! {
    "fifo" => Fifo(fifo::Fifo),
    "threshold" => Threshold(threshold::Threshold),
    "codel" => Codel(codel::Codel),
    "fq-codel" => FqCodel(fq_codel::FqCodel),
    "pie" => Pie(pie::Pie),
    "red" => Red(red::Red),
    "trim" => Trim(trim::Trim),
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A queue drops for want of room or by its law; loss of the link, failures, missing routes, token buckets and damage are
    /// none of its own.
    #[test]
    fn loss_failures_and_missing_routes_are_not_of_a_queue() {
        let mut drops = Drops::default();
        DropCause::ALL.iter().for_each(|&cause| drops.add(cause, 1 << cause as u64));
        let mut others = vec![DropCause::Random, DropCause::Down, DropCause::Unreachable];
        others.extend([DropCause::Policed, DropCause::Corrupted]);
        let of_others: u64 = others.into_iter().map(|cause| drops.of(cause)).sum();
        assert_eq!(drops.by_queues(), drops.total() - of_others);
    }
}
