//! The pcapng capture file (draft-ietf-opsawg-pcapng): sections, interfaces, packets; other blocks are
//! passed over.

use crate::format::{End, Next, Oddities, Record};
use crate::source::{LONGEST_BLOCK, Order, Source};
use std::io::{self, Read};

const SECTION_HEADER: u32 = 0x0A0D_0D0A;
const BYTE_ORDER_MAGIC: u32 = 0x1A2B_3C4D;
const INTERFACE_DESCRIPTION: u32 = 1;
/// Obsolete since 2009, still found.
const PACKET: u32 = 2;
const SIMPLE_PACKET: u32 = 3;
const ENHANCED_PACKET: u32 = 6;

const OPTION_END: u16 = 0;
const IF_NAME: u16 = 2;
const IF_TSRESOL: u16 = 9;
const IF_TSOFFSET: u16 = 14;

/// Type and total length; the length is repeated at the end of a block.
const BLOCK_HEADER: usize = 8;
const BLOCK_TRAILER: usize = 4;
const NS_PER_SECOND: u128 = 1_000_000_000;
/// Most interfaces of a file; tcpdump writes one, Wireshark one for each device.
const MOST_INTERFACES: usize = 1 << 16;

/// An interface of a section.
struct Interface {
    link_type: u16,
    ticks: Ticks,
    /// Seconds to be added to its times (if_tsoffset).
    offset_s: i64,
    name: Option<String>,
}

/// What a unit of an interface's time is (if_tsresol).
#[derive(Clone, Copy)]
enum Ticks {
    /// This many nanoseconds.
    Whole(u64),
    /// This many of them are a second.
    PerSecond(u128),
}

impl Ticks {
    /// The highest bit says whether the resolution is a power of 2 or of 10 (section 4.2).
    fn new(resolution: u8) -> Self {
        let exponent = u32::from(resolution & 0x7F);
        let per_second = if resolution & 0x80 == 0 {
            10u128.checked_pow(exponent).unwrap_or(u128::MAX)
        } else {
            1u128.checked_shl(exponent).unwrap_or(u128::MAX)
        };
        if NS_PER_SECOND.is_multiple_of(per_second) {
            Self::Whole((NS_PER_SECOND / per_second) as u64)
        } else {
            Self::PerSecond(per_second)
        }
    }

    #[inline]
    fn nanoseconds(self, count: u64) -> u64 {
        match self {
            Self::Whole(ns) => count.saturating_mul(ns),
            Self::PerSecond(per_second) => {
                u64::try_from(u128::from(count) * NS_PER_SECOND / per_second).unwrap_or(u64::MAX)
            }
        }
    }
}

/// Where in a pcapng file reading is.
pub(crate) struct PcapNg {
    order: Order,
    interfaces: Vec<Interface>,
    /// The section's first interface among them: numbers start again in each section.
    section: usize,
    pub(crate) oddities: Oddities,
}

impl Default for PcapNg {
    fn default() -> Self {
        Self { order: Order::Little, interfaces: Vec::new(), section: 0, oddities: Oddities::default() }
    }
}

/// Bytes before the packet in its block: the block's header, and five numbers.
const BEFORE_PACKET: usize = BLOCK_HEADER + 20;

/// What a packet's block says of it.
struct Packet {
    interface: usize,
    ticks: u64,
    captured: usize,
    original_len: u32,
}

impl PcapNg {
    /// Whether a file begins like this format.
    pub(crate) fn begins(head: &[u8]) -> bool {
        head.len() >= 4 && Order::Big.u32(head, 0) == SECTION_HEADER
    }

    pub(crate) fn name(&self, interface: u32) -> Option<&str> {
        self.interfaces.get(interface as usize)?.name.as_deref()
    }

    /// The next packet, or why there is none.
    pub(crate) fn next<'a, R: Read>(&mut self, source: &'a mut Source<R>) -> io::Result<Next<'a>> {
        loop {
            let offset = source.offset();
            let (kind, length) = match self.block(source)? {
                Ok(block) => block,
                Err(end) => return Ok(Next::End(end)),
            };
            let is_packet = matches!(kind, ENHANCED_PACKET | PACKET);
            if !is_packet && !matches!(kind, SECTION_HEADER | INTERFACE_DESCRIPTION | SIMPLE_PACKET) {
                if source.skip(length as u64)? < length as u64 {
                    return Ok(Next::End(End::Cut(offset)));
                }
                continue;
            }
            if length > LONGEST_BLOCK {
                return Ok(Next::End(End::Damaged(offset, format!("a block of {length} bytes"))));
            }
            if source.fill(length)? < length {
                return Ok(Next::End(End::Cut(offset)));
            }
            if !is_packet {
                let body = &source.bytes()[BLOCK_HEADER..length - BLOCK_TRAILER];
                if let Err(reason) = self.describe(kind, body) {
                    return Ok(Next::End(End::Damaged(offset, reason)));
                }
                source.consume(length);
                continue;
            }
            let Some(packet) = self.packet(kind, source.bytes(), length) else {
                let reason = "a packet block whose lengths contradict each other".to_owned();
                return Ok(Next::End(End::Damaged(offset, reason)));
            };
            let Some(record) = self.record(&packet) else {
                self.oddities.without_interface += 1;
                source.consume(length);
                continue;
            };
            let data = &source.take(length)[BEFORE_PACKET..BEFORE_PACKET + packet.captured];
            return Ok(Next::Record(Record { data, ..record }));
        }
    }

    /// The next packet, if it is in an enhanced packet block all of which is in memory, of an interface that is known.
    #[inline(always)]
    pub(crate) fn ready<'a, R: Read>(&self, source: &'a mut Source<R>) -> Option<Record<'a>> {
        let bytes = source.bytes();
        let head = bytes.first_chunk::<BLOCK_HEADER>()?;
        let length = self.order.u32(head, 4) as usize;
        let is_whole = length <= bytes.len().min(LONGEST_BLOCK) && length.is_multiple_of(4);
        if self.order.u32(head, 0) != ENHANCED_PACKET || !is_whole {
            return None;
        }
        let packet = self.packet(ENHANCED_PACKET, bytes, length)?;
        let record = self.record(&packet)?;
        let data = &source.take(length)[BEFORE_PACKET..BEFORE_PACKET + packet.captured];
        Some(Record { data, ..record })
    }

    /// A packet without its bytes; None if its interface is not known.
    #[inline]
    fn record(&self, packet: &Packet) -> Option<Record<'static>> {
        let number = self.section + packet.interface;
        let interface = self.interfaces.get(number)?;
        let ns = interface.ticks.nanoseconds(packet.ticks);
        Some(Record {
            time_ns: ns.saturating_add_signed(interface.offset_s.saturating_mul(NS_PER_SECOND as i64)),
            interface: number as u32,
            link_type: interface.link_type,
            data: &[],
            original_len: packet.original_len,
        })
    }

    /// Type and total length of the next block. A section's header also brings its byte order.
    #[inline]
    fn block<R: Read>(&mut self, source: &mut Source<R>) -> io::Result<Result<(u32, usize), End>> {
        let offset = source.offset();
        let there = source.fill(BLOCK_HEADER + BLOCK_TRAILER)?;
        if there < BLOCK_HEADER + BLOCK_TRAILER {
            return Ok(Err(if there == 0 { End::Complete } else { End::Cut(offset) }));
        }
        let head = source.bytes();
        if Self::begins(head) {
            self.order = match (Order::Little.u32(head, 8), Order::Big.u32(head, 8)) {
                (BYTE_ORDER_MAGIC, _) => Order::Little,
                (_, BYTE_ORDER_MAGIC) => Order::Big,
                _ => return Ok(Err(End::Damaged(offset, "a section without a byte order".to_owned()))),
            };
        }
        let kind = self.order.u32(head, 0);
        let length = self.order.u32(head, 4) as usize;
        if length < BLOCK_HEADER + BLOCK_TRAILER || !length.is_multiple_of(4) {
            return Ok(Err(End::Damaged(offset, format!("a block of {length} bytes"))));
        }
        Ok(Ok((kind, length)))
    }

    /// Takes note of a section, of an interface, or of a packet that cannot be used.
    #[cold]
    fn describe(&mut self, kind: u32, body: &[u8]) -> Result<(), String> {
        match kind {
            SECTION_HEADER => {
                if body.len() < 16 {
                    return Err("a section header that is too short".to_owned());
                }
                let major = self.order.u16(body, 4);
                if major != 1 {
                    return Err(format!("pcapng version {major}, of which only 1 is known"));
                }
                self.section = self.interfaces.len();
            }
            INTERFACE_DESCRIPTION => {
                if self.interfaces.len() == MOST_INTERFACES {
                    return Err(format!("more than {MOST_INTERFACES} interfaces"));
                }
                let interface = interface(self.order, body).ok_or("an interface that is cut short")?;
                self.interfaces.push(interface);
            }
            _ => self.oddities.without_time += 1,
        }
        Ok(())
    }

    /// Sections 4.3 (enhanced packet block) and A (packet block), of a block of this length; None if it is too short for
    /// its packet.
    #[inline]
    fn packet(&self, kind: u32, block: &[u8], length: usize) -> Option<Packet> {
        let numbers = block.first_chunk::<BEFORE_PACKET>()?;
        let interface = if kind == PACKET {
            usize::from(self.order.u16(numbers, 8))
        } else {
            self.order.u32(numbers, 8) as usize
        };
        let high = u64::from(self.order.u32(numbers, 12));
        let low = u64::from(self.order.u32(numbers, 16));
        let captured = self.order.u32(numbers, 20) as usize;
        let original_len = self.order.u32(numbers, 24);
        let is_there = captured <= length.checked_sub(BEFORE_PACKET + BLOCK_TRAILER)?;
        is_there.then_some(Packet { interface, ticks: high << 32 | low, captured, original_len })
    }
}

/// An interface description (section 4.2); None if it is too short.
fn interface(order: Order, body: &[u8]) -> Option<Interface> {
    if body.len() < 8 {
        return None;
    }
    let link_type = order.u16(body, 0);
    // Microseconds unless it says otherwise.
    let mut interface = Interface { link_type, ticks: Ticks::new(6), offset_s: 0, name: None };
    let mut options = &body[8..];
    while options.len() >= 4 {
        let (code, length) = (order.u16(options, 0), usize::from(order.u16(options, 2)));
        if code == OPTION_END {
            break;
        }
        let value = options.get(4..4 + length)?;
        match (code, length) {
            (IF_NAME, _) => interface.name = Some(String::from_utf8_lossy(value).into_owned()),
            (IF_TSRESOL, 1) => interface.ticks = Ticks::new(value[0]),
            (IF_TSOFFSET, 8) => {
                let (first, second) = (u64::from(order.u32(value, 0)), u64::from(order.u32(value, 4)));
                let raw = match order {
                    Order::Big => first << 32 | second,
                    Order::Little => second << 32 | first,
                };
                interface.offset_s = raw.cast_signed();
            }
            _ => {}
        }
        // Padded to four bytes; the last one may lack its padding.
        options = options.get(4 + length.next_multiple_of(4)..).unwrap_or(&[]);
    }
    Some(interface)
}
