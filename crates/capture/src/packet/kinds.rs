//! What packets are: the headers around them, and the protocol in them.

/// A header around a packet that has a network layer of its own.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub(crate) enum Tunnel {
    #[default]
    Vxlan,
    Geneve,
    Gre,
    Erspan,
    GtpU,
    Mpls,
    MplsOverUdp,
    Pppoe,
    Snap,
    Ipip,
    L2tp,
    Teredo,
    EtherIp,
    Lisp,
    Nsh,
    ProviderBackbone,
    /// A tag of a virtual network; no tunnel, but told with them.
    Vlan,
}

impl Tunnel {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Vxlan => "vxlan",
            Self::Geneve => "geneve",
            Self::Gre => "gre",
            Self::Erspan => "erspan",
            Self::GtpU => "gtp-u",
            Self::Mpls => "mpls",
            Self::MplsOverUdp => "mpls-over-udp",
            Self::Pppoe => "pppoe",
            Self::Snap => "snap",
            Self::Ipip => "ipip",
            Self::L2tp => "l2tp",
            Self::Teredo => "teredo",
            Self::EtherIp => "etherip",
            Self::Lisp => "lisp",
            Self::Nsh => "nsh",
            Self::ProviderBackbone => "802.1ah",
            Self::Vlan => "vlan",
        }
    }

    /// Whether it is inside of an IP packet.
    fn is_over_ip(self) -> bool {
        match self {
            Self::Vxlan
            | Self::Geneve
            | Self::Gre
            | Self::Erspan
            | Self::GtpU
            | Self::MplsOverUdp
            | Self::Ipip
            | Self::L2tp
            | Self::Teredo
            | Self::EtherIp
            | Self::Lisp => true,
            Self::Mpls | Self::Pppoe | Self::Snap | Self::Nsh | Self::ProviderBackbone | Self::Vlan => false,
        }
    }

    /// Whether its number is agreed upon for each direction, or from router to router, so that packets of a connection
    /// may have several.
    fn has_changing_numbers(self) -> bool {
        matches!(self, Self::GtpU | Self::L2tp | Self::Mpls | Self::Nsh)
    }

    /// Whether the addresses at its ends tell it from others, since it has no number, or one that an end has chosen.
    fn is_known_by_its_ends(self, number: Option<u32>) -> bool {
        number.is_none() || matches!(self, Self::GtpU | Self::L2tp)
    }
}

/// Headers around a packet that are told; the innermost of more is in the last place.
const MOST_SHELLS: usize = 4;

/// A header around a packet, with the number that it has: VNI, TEID, key, label or session.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub(crate) struct Shell {
    pub tunnel: Tunnel,
    pub number: Option<u32>,
}

/// Everything around a packet, the outermost first.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Encapsulation {
    shells: [Shell; MOST_SHELLS],
    count: u8,
    /// Source and destination of the innermost IP header around the packet's own.
    pub ends: Option<[u128; 2]>,
}

impl Encapsulation {
    pub(super) fn push(&mut self, tunnel: Tunnel, number: Option<u32>) {
        let place = usize::from(self.count).min(MOST_SHELLS - 1);
        self.shells[place] = Shell { tunnel, number };
        self.count = self.count.saturating_add(1);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Whether there is more than tags of virtual networks.
    pub(crate) fn has_tunnel(&self) -> bool {
        self.tunnels().next().is_some()
    }

    fn tunnels(&self) -> impl Iterator<Item = Tunnel> {
        self.shells().iter().map(|shell| shell.tunnel).filter(|tunnel| *tunnel != Tunnel::Vlan)
    }

    /// Whether its innermost tunnel has a number that both directions share.
    pub(crate) fn has_one_number(&self) -> bool {
        let innermost = self.shells().iter().rfind(|shell| shell.tunnel != Tunnel::Vlan);
        innermost.is_some_and(|shell| shell.number.is_some() && !shell.tunnel.has_changing_numbers())
    }

    /// The network that the packet is in.
    pub(crate) fn network(&self) -> Network {
        let (mut kinds, mut numbers, mut count) = (0, 0, 0);
        let (mut changes, mut is_exact, mut is_in_ip) = (false, true, false);
        let mut inner = None;
        for Shell { tunnel, number } in self.shells().iter().rev() {
            let is_passed_over = match tunnel {
                // They are of a mirror, of a frame's form, or have labels inside.
                Tunnel::Erspan | Tunnel::Snap | Tunnel::MplsOverUdp => true,
                // The labels outside of the last one are of the way through the carrier's network.
                Tunnel::Mpls => is_in_ip || inner == Some(Tunnel::Mpls),
                // What is around a tunnel over IP is of the network that carries it.
                other => is_in_ip && !other.is_over_ip(),
            };
            is_in_ip |= tunnel.is_over_ip();
            if is_passed_over {
                continue;
            }
            let mut value = number.map_or(0, u64::from);
            is_exact &= value <= u64::from(Network::NUMBER);
            if tunnel.is_known_by_its_ends(*number)
                && let Some(ends) =
                    self.ends.filter(|_| inner.is_none_or(|inner: Tunnel| !inner.is_over_ip()))
            {
                let [low, high] = if ends[0] <= ends[1] { ends } else { [ends[1], ends[0]] };
                value = fold(fold(value, low as u64 ^ (low >> 64) as u64), high as u64 ^ (high >> 64) as u64);
                is_exact = false;
            }
            kinds = fold(kinds, *tunnel as u64 + 1);
            numbers = if count == 0 { value } else { fold(numbers, value) };
            (count, inner) = (count + 1, Some(*tunnel));
            changes |= tunnel.has_changing_numbers();
        }
        if count == 0 {
            return Network::default();
        }
        Network::new(kinds, if is_exact && count == 1 { numbers } else { fold(numbers, count) }, changes)
    }

    pub(crate) fn shells(&self) -> &[Shell] {
        &self.shells[..usize::from(self.count).min(MOST_SHELLS)]
    }

    /// Whether the tunnels are of the same kinds, whatever their numbers.
    pub(crate) fn has_same_kinds(&self, other: &Self) -> bool {
        self.tunnels().eq(other.tunnels())
    }

    /// The names of the tunnels, without their numbers.
    pub(crate) fn kinds(&self) -> String {
        let mut names: Vec<&str> = self.tunnels().map(Tunnel::name).collect();
        names.dedup();
        names.join(" > ")
    }
}

/// Names and numbers of the headers, as `gre > vxlan 42`; labels of MPLS are put together, as `mpls 16/17`.
impl std::fmt::Display for Encapsulation {
    fn fmt(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut before = None;
        for Shell { tunnel, number } in self.shells() {
            match (before, number) {
                (Some(Tunnel::Mpls), Some(label)) if *tunnel == Tunnel::Mpls => write!(to, "/{label}")?,
                _ => {
                    let (between, name) = (if before.is_some() { " > " } else { "" }, tunnel.name());
                    write!(to, "{between}{name}")?;
                    if let Some(number) = number {
                        write!(to, " {number}")?;
                    }
                }
            }
            before = Some(*tunnel);
        }
        Ok(())
    }
}

/// The network that a packet is in, by what is around it: the same addresses may be in use in another one. 0 outside of
/// all. It has the kinds of the headers around, and their numbers or what is left of these in 24 bits.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct Network(u32);

impl Network {
    const NUMBER: u32 = 0x00FF_FFFF;
    const CHANGES: u32 = 0x8000_0000;

    fn new(kinds: u64, number: u64, changes: bool) -> Self {
        let kinds = (kinds % 127 + 1) as u32;
        let number = (number ^ number >> 24 ^ number >> 48) as u32 & Self::NUMBER;
        Self(kinds << 24 | number | if changes { Self::CHANGES } else { 0 })
    }

    pub(crate) fn is_outside(self) -> bool {
        self.0 == 0
    }

    pub(crate) fn bits(self) -> u32 {
        self.0
    }

    /// Whether packets of one connection may have several numbers in headers of these kinds.
    pub(crate) fn changes(self) -> bool {
        self.0 & Self::CHANGES != 0
    }

    /// Whether it is another network behind headers of the same kinds.
    pub(crate) fn is_beside(self, other: Self) -> bool {
        self != other && self.0 & !Self::NUMBER == other.0 & !Self::NUMBER
    }
}

/// Multiplies and folds.
fn fold(sum: u64, value: u64) -> u64 {
    let product = u128::from(sum ^ 0x9E37_79B9_7F4A_7C15) * u128::from(value ^ 0xD6E8_FEB8_6659_FD93);
    (product as u64) ^ (product >> 64) as u64
}

/// The tags of virtual networks (IEEE 802.1Q) right around a packet: the two innermost, without those that have a priority
/// alone.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub(crate) struct Tags(u32);

impl Tags {
    /// The part of a tag that is the number of a network.
    pub(super) const IDENTIFIER: u16 = 0x0FFF;

    pub(super) fn push(&mut self, tag: u16) {
        let number = u32::from(tag & Self::IDENTIFIER);
        if number != 0 {
            self.0 = (self.0 << 12 | number) & Network::NUMBER;
        }
    }

    pub(crate) fn is_empty(self) -> bool {
        self.0 == 0
    }

    pub(crate) fn encapsulation(self) -> Encapsulation {
        let mut encapsulation = Encapsulation::default();
        let identifier = u32::from(Self::IDENTIFIER);
        for number in [self.0 >> 12, self.0 & identifier] {
            if number != 0 {
                encapsulation.push(Tunnel::Vlan, Some(number));
            }
        }
        encapsulation
    }
}

/// What a packet holds, as far as it can be read.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Protocol {
    Tcp,
    Udp,
    Icmp,
    Arp,
    Sctp,
    /// Another protocol of IP.
    OtherIp,
    /// Control messages of a tunnel or link, such as those of PPP and GTP-U.
    Control,
    /// Frames of IEEE 802.2 without SNAP, such as those of spanning trees.
    Llc,
    /// Frames of a wireless network that carry no data.
    WirelessControl,
    /// Another ethertype.
    Other,
    Esp,
    WireGuard,
    OpenVpn,
    MacSec,
    WirelessProtected,
    /// In PPP, compressed, encrypted or in parts of several links.
    PppPacked,
    /// In a tunnel or under labels, of no kind that is known.
    TunnelPayload,
    TooDeep,
}

impl Protocol {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Tcp => "tcp",
            Self::Udp => "udp",
            Self::Icmp => "icmp",
            Self::Arp => "arp",
            Self::Sctp => "sctp",
            Self::OtherIp => "other ip",
            Self::Control => "control",
            Self::Llc => "llc",
            Self::WirelessControl => "802.11 without data",
            Self::Other => "other",
            Self::Esp => "esp",
            Self::WireGuard => "wireguard",
            Self::OpenVpn => "openvpn",
            Self::MacSec => "macsec",
            Self::WirelessProtected => "802.11 protected",
            Self::PppPacked => "ppp packed",
            Self::TunnelPayload => "unknown payload",
            Self::TooDeep => "nested too deep",
        }
    }

    /// Why TCP may be in it that cannot be read, and what to do; None if none is.
    pub(crate) fn hides_tcp(self) -> Option<&'static str> {
        match self {
            Self::Tcp
            | Self::Udp
            | Self::Icmp
            | Self::Arp
            | Self::Sctp
            | Self::OtherIp
            | Self::Control
            | Self::Llc
            | Self::WirelessControl => None,
            Self::Other => Some("of an ethertype that is not known"),
            Self::Esp | Self::WireGuard | Self::OpenVpn | Self::MacSec => {
                Some("encrypted; capture at the inner device of the tunnel")
            }
            Self::WirelessProtected => Some("encrypted; capture at the host or behind the access point"),
            Self::PppPacked => Some("compressed, encrypted or multilink; capture behind it"),
            Self::TunnelPayload => Some("a tunnel with a payload of no known kind"),
            Self::TooDeep => Some("more headers than are followed"),
        }
    }
}
