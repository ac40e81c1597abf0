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
        }
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

    pub(crate) fn shells(&self) -> &[Shell] {
        &self.shells[..usize::from(self.count).min(MOST_SHELLS)]
    }

    /// Whether the headers are of the same kinds, whatever their numbers.
    pub(crate) fn has_same_kinds(&self, other: &Self) -> bool {
        let pairs = self.shells().iter().zip(other.shells());
        self.count == other.count && pairs.into_iter().all(|(one, other)| one.tunnel == other.tunnel)
    }

    /// The names of the headers, without their numbers.
    pub(crate) fn kinds(&self) -> String {
        let mut names: Vec<&str> = self.shells().iter().map(|shell| shell.tunnel.name()).collect();
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
