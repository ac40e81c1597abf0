//! Packets with other headers than a link layer that is usual and IP: one header after the other, in a loop that is
//! bounded, until TCP or what cannot be read.

use super::bytes::{u16_at, u32_at};
use super::kinds::{Encapsulation, Protocol, Tags, Tunnel};
use super::link::{
    ETHERNET, ETHERTYPE_IPV4, ETHERTYPE_IPV6, IPV4, IPV6, LINUX_SLL, LINUX_SLL2, LOOP, NULL, RAW, RAW_BSD,
    RAW_OPENBSD, TAGS, sll_view, sll2_view,
};
use super::link_types as types;
use super::network::{Transport, ipv4, ipv6};
use super::tunnels::{self, NextHeader};
use super::wireless::{self, Aggregate};
use super::{Dissected, PROTOCOL_TCP, Segment, tcp};

/// Most headers of a packet: some 15 tunnels in each other.
const MOST_HEADERS: usize = 64;

/// Lengths of IEEE 802.3 are up to this, and ethertypes are above it.
const LONGEST_802_3: u16 = 1500;
const ETHERTYPE_ARP: u16 = 0x0806;
const ETHERTYPE_BRIDGED: u16 = 0x6558;
const ETHERTYPE_MPLS: [u16; 2] = [0x8847, 0x8848];
const ETHERTYPE_PPPOE_DISCOVERY: u16 = 0x8863;
const ETHERTYPE_PPPOE_SESSION: u16 = 0x8864;
const ETHERTYPE_PPP: u16 = 0x880B;
/// Of the redundancy protocols HSR and PRP (IEC 62439-3): a tag of four bytes before the ethertype.
const ETHERTYPE_HSR: u16 = 0x892F;
const ETHERTYPE_CISCO_METADATA: u16 = 0x8909;
const ETHERTYPE_NSH: u16 = 0x894F;
/// Tag of a service instance (IEEE 802.1Q, formerly 802.1ah).
const ETHERTYPE_BACKBONE: u16 = 0x88E7;
const ETHERTYPE_MACSEC: u16 = 0x88E5;
/// Of LLDP, slow protocols, fault management, loopback tests, precision time and reverse ARP.
const ETHERTYPES_CONTROL: [u16; 6] = [0x88CC, 0x8809, 0x8902, 0x9000, 0x88F7, 0x8035];

/// What begins at the place that was reached.
#[derive(Clone, Copy, Debug)]
pub(super) enum Layer {
    Link(u16),
    Ethernet,
    /// A field with an ethertype or a length.
    EtherField,
    /// What an ethertype says.
    Payload(u16),
    Llc,
    Ppp,
    PppOrCisco,
    Pppoe,
    Ip,
    Mpls,
    Gre,
    Udp,
    Nsh,
}

/// Where reading of a packet is.
pub(super) struct Walk<'a> {
    pub data: &'a [u8],
    pub at: usize,
    pub original_len: u32,
    pub view: u64,
    pub encapsulation: Encapsulation,
    /// What the last IP header says.
    pub transport: Option<Transport>,
}

/// Why no layer follows.
#[derive(Clone, Copy, Debug)]
pub(super) enum Stop {
    /// No TCP, or none that can be read.
    Other(Protocol),
    UnknownLink,
    Fragment,
    Cut,
    /// Several packets in a frame, from this place on.
    Aggregate(usize),
    /// TCP, the length of whose IP packet is this on the wire.
    Tcp(u32),
}

/// The next layer, or why there is none.
pub(super) type Step = Result<Layer, Stop>;

/// Reads a packet of any link type; `original_len` is its length on the wire. What is around a segment that is
/// encapsulated, or around what is no TCP, is put into `around`.
#[cold]
#[inline(never)]
pub(crate) fn read<'a>(
    link_type: u16,
    data: &'a [u8],
    original_len: u32,
    around: &mut Encapsulation,
) -> Dissected<'a> {
    Walk::new(data, 0, original_len, 0).until_the_end(Layer::Link(link_type), around)
}

/// Reads what a subframe of an aggregate holds.
#[cold]
pub(super) fn read_subframe<'a>(
    frame: &'a [u8],
    at: usize,
    original_len: u32,
    view: u64,
    around: &mut Encapsulation,
) -> Dissected<'a> {
    Walk::new(frame, at, original_len, view).until_the_end(Layer::Llc, around)
}

impl<'a> Walk<'a> {
    fn new(data: &'a [u8], at: usize, original_len: u32, view: u64) -> Self {
        Self { data, at, original_len, view, encapsulation: Encapsulation::default(), transport: None }
    }

    fn until_the_end(mut self, first: Layer, around: &mut Encapsulation) -> Dissected<'a> {
        let mut layer = first;
        let mut end = Stop::Other(Protocol::TooDeep);
        for _ in 0..MOST_HEADERS {
            match self.step(layer) {
                Ok(next) => layer = next,
                Err(stop) => {
                    end = stop;
                    break;
                }
            }
        }
        *around = self.encapsulation;
        self.dissected(end)
    }

    /// What the packet is.
    fn dissected(self, stop: Stop) -> Dissected<'a> {
        match (stop, &self.transport) {
            (Stop::Other(protocol), _) => Dissected::Other(protocol),
            (Stop::UnknownLink, _) => Dissected::UnknownLink,
            (Stop::Fragment, _) => Dissected::Fragment,
            (Stop::Aggregate(at), _) => Dissected::Aggregate(Aggregate { at, view: self.view }),
            (Stop::Cut, _) | (Stop::Tcp(_), None) => Dissected::Cut,
            (Stop::Tcp(ip_len), Some(transport)) => {
                let is_encapsulated = !self.encapsulation.is_empty();
                tcp(self.rest(), transport, ip_len, self.view)
                    .map_or(Dissected::Cut, |segment| Dissected::Tcp(Segment { is_encapsulated, ..segment }))
            }
        }
    }

    pub(super) fn rest(&self) -> &'a [u8] {
        self.data.get(self.at..).unwrap_or(&[])
    }

    pub(super) fn u8(&self, ahead: usize) -> Result<u8, Stop> {
        self.data.get(self.at + ahead).copied().ok_or(Stop::Cut)
    }

    pub(super) fn u16(&self, ahead: usize) -> Result<u16, Stop> {
        u16_at(self.data, self.at + ahead).ok_or(Stop::Cut)
    }

    pub(super) fn u32(&self, ahead: usize) -> Result<u32, Stop> {
        u32_at(self.data, self.at + ahead).ok_or(Stop::Cut)
    }

    /// Goes on behind a header of so many bytes.
    pub(super) fn over(&mut self, bytes: usize, next: Layer) -> Step {
        self.at += bytes;
        Ok(next)
    }

    /// Goes on in a tunnel, behind a header of so many bytes.
    pub(super) fn into(&mut self, tunnel: Tunnel, number: Option<u32>, bytes: usize, next: Layer) -> Step {
        self.encapsulation.push(tunnel, number);
        self.over(bytes, next)
    }

    fn step(&mut self, layer: Layer) -> Step {
        match layer {
            Layer::Link(link_type) => self.link(link_type),
            Layer::Ethernet => self.over(12, Layer::EtherField),
            Layer::EtherField => match self.u16(0)? {
                length if length <= LONGEST_802_3 => {
                    if let Some([0xAA, 0xAA, 0x03, ..]) = self.data.get(self.at + 2..) {
                        self.encapsulation.push(Tunnel::Snap, None);
                    }
                    self.over(2, Layer::Llc)
                }
                ethertype => self.over(2, Layer::Payload(ethertype)),
            },
            Layer::Payload(ethertype) => self.payload(ethertype),
            Layer::Llc => self.llc(),
            Layer::Ppp => self.ppp(),
            Layer::PppOrCisco => match self.u8(0)? {
                // Addresses of Cisco's HDLC: unicast and broadcast; its protocols are ethertypes.
                0x0F | 0x8F => self.over(2, Layer::EtherField),
                _ => Ok(Layer::Ppp),
            },
            Layer::Pppoe => self.pppoe(),
            Layer::Ip => self.ip(),
            Layer::Mpls => tunnels::mpls(self),
            Layer::Gre => tunnels::gre(self),
            Layer::Udp => tunnels::udp(self),
            Layer::Nsh => tunnels::nsh(self),
        }
    }

    fn link(&mut self, link_type: u16) -> Step {
        match link_type {
            ETHERNET => Ok(Layer::Ethernet),
            RAW | RAW_BSD | RAW_OPENBSD | IPV4 | IPV6 => Ok(Layer::Ip),
            NULL | LOOP => self.over(4, Layer::Ip),
            LINUX_SLL => {
                self.view = sll_view(self.data).ok_or(Stop::Cut)?;
                match self.u16(14)? {
                    // Ethernet without LLC, and LLC.
                    1 => Err(Stop::Other(Protocol::Other)),
                    4 => self.over(16, Layer::Llc),
                    _ => self.over(14, Layer::EtherField),
                }
            }
            LINUX_SLL2 => {
                self.view = sll2_view(self.data).ok_or(Stop::Cut)?;
                match self.u16(0)? {
                    1 => Err(Stop::Other(Protocol::Other)),
                    4 => self.over(20, Layer::Llc),
                    ethertype => self.over(20, Layer::Payload(ethertype)),
                }
            }
            types::IEEE802_11 => wireless::frame(self, false),
            types::IEEE802_11_RADIOTAP => wireless::radiotap(self),
            types::IEEE802_11_PRISM => wireless::prism(self),
            types::IEEE802_11_AVS => wireless::avs(self),
            types::NFLOG => self.nflog(),
            _ => match types::next_header(link_type, self.data) {
                Some(Ok((bytes, next))) => self.over(bytes, next),
                Some(Err(())) => Err(Stop::Cut),
                None => Err(Stop::UnknownLink),
            },
        }
    }

    fn payload(&mut self, ethertype: u16) -> Step {
        match ethertype {
            ETHERTYPE_IPV4 | ETHERTYPE_IPV6 => Ok(Layer::Ip),
            _ if TAGS.contains(&ethertype) => {
                let tag = self.u16(0)? & Tags::IDENTIFIER;
                if tag != 0 {
                    self.encapsulation.push(Tunnel::Vlan, Some(u32::from(tag)));
                }
                self.over(2, Layer::EtherField)
            }
            _ if ETHERTYPE_MPLS.contains(&ethertype) => Ok(Layer::Mpls),
            ETHERTYPE_ARP => Err(Stop::Other(Protocol::Arp)),
            ETHERTYPE_BRIDGED => Ok(Layer::Ethernet),
            ETHERTYPE_PPPOE_SESSION => Ok(Layer::Pppoe),
            ETHERTYPE_PPPOE_DISCOVERY => {
                self.encapsulation.push(Tunnel::Pppoe, None);
                Err(Stop::Other(Protocol::Control))
            }
            ETHERTYPE_PPP => Ok(Layer::Ppp),
            ETHERTYPE_HSR => self.over(4, Layer::EtherField),
            // A version, a number of options of four bytes, and these.
            ETHERTYPE_CISCO_METADATA => {
                let options = usize::from(self.u8(1)?);
                self.over(2 + 4 * options, Layer::EtherField)
            }
            ETHERTYPE_NSH => Ok(Layer::Nsh),
            ETHERTYPE_BACKBONE => {
                let service = self.u32(0)? & 0x00FF_FFFF;
                self.into(Tunnel::ProviderBackbone, Some(service), 4, Layer::Ethernet)
            }
            ETHERTYPE_MACSEC => Err(Stop::Other(Protocol::MacSec)),
            _ if ETHERTYPES_CONTROL.contains(&ethertype) => Err(Stop::Other(Protocol::Control)),
            _ if ethertype <= LONGEST_802_3 => Ok(Layer::Llc),
            _ => Err(Stop::Other(Protocol::Other)),
        }
    }

    /// IEEE 802.2, with SNAP or the number of IP (RFC 1042).
    fn llc(&mut self) -> Step {
        match self.rest() {
            [0xAA, 0xAA, 0x03, 0, 0, 0 | 0xF8, ..] => {
                let ethertype = self.u16(6)?;
                self.over(8, Layer::Payload(ethertype))
            }
            [6, 6, 3, ..] => self.over(3, Layer::Ip),
            rest if rest.len() < 3 => Err(Stop::Cut),
            _ => Err(Stop::Other(Protocol::Llc)),
        }
    }

    /// RFC 1661 and RFC 1662, with address and control or without, protocols of one byte or of two.
    fn ppp(&mut self) -> Step {
        if let [0xFF, 0x03, ..] = self.rest() {
            self.at += 2;
        }
        let (protocol, bytes) = match self.u8(0)? {
            odd if odd & 1 == 1 => (u16::from(odd), 1),
            _ => (self.u16(0)?, 2),
        };
        match protocol {
            0x0021 | 0x0057 => self.over(bytes, Layer::Ip),
            0x0281 | 0x0283 => self.over(bytes, Layer::Mpls),
            // Bridged frames have flags and the kind of their network, of which 1 is Ethernet (RFC 3518).
            0x0031 if self.u8(bytes + 1)? == 1 => self.over(bytes + 2, Layer::Ethernet),
            // Van Jacobson's compression, multilink, encryption, compression, and ROHC.
            0x002D | 0x002F | 0x003D | 0x0053 | 0x0055 | 0x00FB | 0x00FD | 0x0003 | 0x0005 => {
                Err(Stop::Other(Protocol::PppPacked))
            }
            _ => Err(Stop::Other(Protocol::Control)),
        }
    }

    /// RFC 2516 section 4.
    fn pppoe(&mut self) -> Step {
        let (code, session) = (self.u8(1)?, self.u16(2)?);
        self.encapsulation.push(Tunnel::Pppoe, Some(u32::from(session)));
        if code != 0 {
            return Err(Stop::Other(Protocol::Control));
        }
        self.over(6, Layer::Ppp)
    }

    /// A packet that Linux' firewall has logged: values of which one is the packet, in the byte order of its host.
    fn nflog(&mut self) -> Step {
        const PAYLOAD: u16 = 9;
        self.at = 4;
        for _ in 0..MOST_HEADERS {
            let left = self.data.len().saturating_sub(self.at);
            let header = self.data.get(self.at..self.at + 4).ok_or(Stop::Cut)?;
            let fields =
                |read: fn([u8; 2]) -> u16| (read([header[0], header[1]]), read([header[2], header[3]]));
            let is_plausible = |(length, kind): &(u16, u16)| *length >= 4 && *kind < 256;
            let orders = [fields(u16::from_le_bytes), fields(u16::from_be_bytes)];
            let Some((length, kind)) = orders.into_iter().find(is_plausible) else {
                return Err(Stop::Cut);
            };
            if kind == PAYLOAD {
                return self.over(4, Layer::Ip);
            }
            let length = usize::from(length).next_multiple_of(4);
            if length > left {
                return Err(Stop::Cut);
            }
            self.at += length;
        }
        Err(Stop::Cut)
    }

    fn ip(&mut self) -> Step {
        let ip = self.data.get(self.at..).ok_or(Stop::Cut)?;
        let transport = match ip.first().map(|byte| byte >> 4) {
            Some(4) => ipv4(ip),
            Some(6) => ipv6(ip),
            Some(_) => return Err(Stop::Other(Protocol::Other)),
            None => None,
        };
        let transport = transport.ok_or(Stop::Cut)?;
        if let Some(outer) = &self.transport {
            self.encapsulation.ends = Some([outer.source, outer.destination]);
        }
        let (protocol, header, is_later_fragment) =
            (transport.protocol, transport.at, transport.is_later_fragment);
        self.transport = Some(transport);
        let next = tunnels::next_of_ip(protocol);
        if is_later_fragment {
            return Err(match next {
                NextHeader::Protocol(other) if protocol != PROTOCOL_TCP => Stop::Other(other),
                _ => Stop::Fragment,
            });
        }
        if protocol == PROTOCOL_TCP {
            return Err(Stop::Tcp(self.original_len.saturating_sub(self.at as u32)));
        }
        self.at += header;
        match next {
            NextHeader::Protocol(protocol) => Err(Stop::Other(protocol)),
            NextHeader::Layer(layer) => Ok(layer),
            NextHeader::Tunnel(tunnel, bytes, layer) => self.into(tunnel, None, bytes, layer),
            // RFC 4302 section 2.2, behind IPv4: in units of 4 bytes, minus 2.
            NextHeader::Authentication => {
                let (next, words) = (self.u8(0)?, usize::from(self.u8(1)?) + 2);
                tunnels::behind_authentication(self, next, words * 4)
            }
        }
    }
}
